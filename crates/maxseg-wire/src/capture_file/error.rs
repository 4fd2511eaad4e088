//! Errors of opening and reading capture files.

use std::io;

use thiserror::Error;

use super::compression::Compression;
use super::limits::{MOST_CAPTURED, MOST_INTERFACES};
use crate::DecodeError;

/// Why an input cannot be opened as a capture file.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It could not be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is empty.
    #[error("is an empty file")]
    Empty,
    /// It is text.
    #[error("is a text file, not a capture")]
    Text,
    /// It has a known format that is not supported.
    #[error("is {name}; only pcap and pcapng are supported")]
    Foreign {
        /// The format's name, with its article.
        name: &'static str,
        /// How to convert or unpack it.
        hint: &'static str,
    },
    /// Its first bytes are those of no known format.
    #[error("is in no known capture format: it begins with {}", Hex(.0))]
    Unknown(Vec<u8>),
    /// It is a capture file that ends within its header.
    #[error("ends within its header: it has {have} bytes of {need}")]
    Short {
        /// Bytes present.
        have: usize,
        /// Bytes of a header.
        need: usize,
    },
    /// A pcap file of another version than 2.
    #[error("is a pcap file of version {0}.{1}; only version 2 is supported")]
    Version(u16, u16),
    /// Its section header is malformed.
    #[error("is a pcapng file with a malformed section header: {0}")]
    Pcapng(#[from] DecodeError),
}

impl OpenError {
    /// What the system says, where the input cannot be read; else the error as it is.
    ///
    /// # Errors
    /// It was read, and is no capture.
    pub fn of_system(self) -> Result<io::Error, Self> {
        if let Self::Io(error) = self { Ok(error) } else { Err(self) }
    }

    /// What to do about it, where something helps.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Foreign { hint, .. } => Some(hint),
            Self::Text => Some("`text2pcap` converts a hex dump of packets to pcap"),
            Self::Unknown(_) => Some(
                "`capinfos FILE` may know its format, and `editcap -F pcap FILE NEW.pcap` convert it",
            ),
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

/// Where a capture cannot be read further, and why. All records before it have been read.
#[derive(Debug, Error)]
#[error("at byte {offset}{}: {fault}", of_what(*.compression))]
pub struct ReadError {
    /// Offset of the malformed record, in bytes of the decompressed file.
    pub offset: u64,
    /// The file's compression; `None` for a plain file.
    pub compression: Option<Compression>,
    /// What is wrong.
    pub fault: Fault,
}

fn of_what(compression: Option<Compression>) -> String {
    compression.map_or_else(String::new, |compression| {
        format!(" of the decompressed {} file", compression.name())
    })
}

/// What is wrong with a record.
#[derive(Debug, Error)]
pub enum Fault {
    /// Reading or decompression fails.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file ends within a record.
    #[error("the file ends within a record: it has {have} bytes of {need}")]
    Cut {
        /// Bytes present.
        have: usize,
        /// Bytes of the record.
        need: usize,
    },
    /// A record states more bytes than [`MOST_CAPTURED`].
    #[error("a record states {0} bytes; no packet has more than {MOST_CAPTURED}")]
    TooLong(usize),
    /// More interfaces than [`MOST_INTERFACES`].
    #[error("more than {MOST_INTERFACES} interfaces")]
    Interfaces,
    /// A block contradicts itself.
    #[error("{0}")]
    Block(#[from] DecodeError),
}

impl Fault {
    /// Whether the file only ends too early, as that of a capture that was killed does: what is there is whole.
    pub fn is_cut(&self) -> bool {
        match self {
            Self::Cut { .. } => true,
            Self::Io(error) => error.kind() == io::ErrorKind::UnexpectedEof,
            Self::TooLong(_) | Self::Interfaces | Self::Block(_) => false,
        }
    }
}
