//! Why a capture cannot be read, or not further.

use std::io;

use thiserror::Error;

use super::compression::Compression;
use super::limits::{MOST_CAPTURED, MOST_INTERFACES};
use crate::DecodeError;

/// Why an input is no capture that is read here.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It could not be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("is an empty file")]
    Empty,
    /// It is text.
    #[error("is a text file, not a capture")]
    Text,
    /// It is something else that has a name.
    #[error("is {name}, which is not read here; pcap and pcapng are")]
    Foreign {
        /// What it is, with its article.
        name: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// It begins as nothing that is known here.
    #[error("is no capture file that is known here: it begins with {}", Hex(.0))]
    Unknown(Vec<u8>),
    /// It is a capture file, of which not even the header is there.
    #[error("ends within its header: {have} bytes are there where {need} are needed")]
    Short {
        /// How many bytes there are.
        have: usize,
        /// How many a header takes.
        need: usize,
    },
    /// A pcap file of another version than 2.
    #[error("is a pcap file of version {0}.{1}; only version 2 is known")]
    Version(u16, u16),
    /// Its first block is no whole section header.
    #[error("is a pcapng file that does not begin as one: {0}")]
    Pcapng(#[from] DecodeError),
}

impl OpenError {
    /// What to do about it, where something can be done.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Foreign { hint, .. } => Some(hint),
            Self::Text => Some("text that names packets can be turned into pcap by `text2pcap`"),
            Self::Unknown(_) => Some("`capinfos FILE` may know it, and `editcap -F pcap` turn it"),
            Self::Empty => Some("was the capture stopped before its first packet was written?"),
            Self::Io(_) | Self::Short { .. } | Self::Version(..) | Self::Pcapng(_) => None,
        }
    }
}

struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Where a capture stops to make sense, and why. All before it has been read.
#[derive(Debug, Error)]
#[error("at byte {offset}{}: {fault}", of_what(*.compression))]
pub struct ReadError {
    /// Where the record begins that is at fault, in bytes from the beginning of the file, or of what
    /// it was before it was compressed.
    pub offset: u64,
    /// How the file is compressed, if it is.
    pub compression: Option<Compression>,
    /// What is wrong.
    pub fault: Fault,
}

fn of_what(compression: Option<Compression>) -> String {
    compression.map_or_else(String::new, |compression| {
        format!(" of what the {} file holds", compression.name())
    })
}

/// What is wrong with a record.
#[derive(Debug, Error)]
pub enum Fault {
    /// The input fails, or what it was compressed with is broken.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file ends within a record.
    #[error("the file ends within a record: {have} bytes are there where {need} are needed")]
    Cut {
        /// How many bytes there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// A record claims more than any packet has.
    #[error("a record claims to hold {0} bytes; more than {MOST_CAPTURED} no packet has")]
    TooLong(usize),
    /// More capture points than there are.
    #[error("more than {MOST_INTERFACES} interfaces are described")]
    Interfaces,
    /// A block contradicts itself.
    #[error("{0}")]
    Block(#[from] DecodeError),
}
