//! Why a capture cannot be read at all.

use maxseg_core::units::{Time, approx};
use thiserror::Error;

use crate::capture_file::OpenError;

/// Why nothing of an input was read.
#[derive(Debug, Error)]
pub enum ReadingError {
    /// It is no capture, or broken before its first packet.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The capture does not have the interface that is asked for.
    #[error("the capture has no interface `{wanted}`")]
    NoSuchInterface {
        /// The name or number that is asked for.
        wanted: String,
        /// The names of those that there are.
        names: Vec<String>,
    },
    /// Of several files, one begins long before another ends.
    #[error(
        "{} and {} are of the same time, for {}: files of one capture follow each other",
        names[0], names[1], approx::time(by.as_secs_f64())
    )]
    Overlap {
        /// The one that begins first, and the other.
        names: [String; 2],
        /// From the begin of the second to the end of the first.
        by: Time,
    },
}

impl ReadingError {
    /// What to do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(error) => error.hint().map(str::to_owned),
            Self::Overlap { names: [first, second], .. } => Some(format!(
                "of one transfer at two places they are explained together, one file of each: sender.pcap receiver.pcap; of a ring at each place, \
                 make one file of each first: mergecap -a -w sender.pcapng FILES; of several interfaces at one place, put them in order: \
                 mergecap -w all.pcapng {first} {second} ..."
            )),
            Self::NoSuchInterface { names, .. } => Some(format!("it has: {}", names.join(", "))),
        }
    }
}
