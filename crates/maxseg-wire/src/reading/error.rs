//! Why a capture cannot be read at all.

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
}

impl ReadingError {
    /// What to do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(error) => error.hint().map(str::to_owned),
            Self::NoSuchInterface { names, .. } => Some(format!("it has: {}", names.join(", "))),
        }
    }
}
