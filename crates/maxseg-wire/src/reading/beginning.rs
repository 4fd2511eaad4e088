//! Which file follows which: known before they are read.

use std::io::Read;

use maxseg_core::units::Time;

use super::series::{MOST_OVERLAP, follows};
use crate::capture_file::{CaptureFile, OpenError, Record};

/// How a file begins: where it stands among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beginning {
    /// Its first packet cannot be read, or has no time.
    Unknown,
    /// The time of its first packet, since 1970.
    At(Time),
    /// No packet is in it: it is empty, has a header alone, or ends within its header or first packet.
    NoPacket,
}

impl Beginning {
    /// Reads a file as far as its first packet.
    ///
    /// # Errors
    /// `input` cannot be read, or is no capture that is read here.
    pub fn of<R: Read>(input: R) -> Result<Self, OpenError> {
        let mut file = match CaptureFile::open(input) {
            Ok(file) => file,
            Err(OpenError::Empty | OpenError::Short { .. }) => return Ok(Self::NoPacket),
            Err(other) => return Err(other),
        };
        Ok(match file.next() {
            Ok(Some(Record { at_nanos: Some(at), .. })) => Self::At(Time::from_nanos(at)),
            Ok(Some(_)) => Self::Unknown,
            Ok(None) => Self::NoPacket,
            Err(error) if error.fault.is_cut() => Self::NoPacket,
            Err(_) => Self::Unknown,
        })
    }

    /// Whether a file that begins so follows the one in `input`, which is read as far as it takes to know: the times of one capture
    /// follow those of the other.
    ///
    /// # Errors
    /// `input` cannot be read, or is no capture that is read here.
    pub fn follows<R: Read>(self, input: R) -> Result<bool, OpenError> {
        let Self::At(begin) = self else { return Ok(false) };
        let mut file = CaptureFile::open(input)?;
        let (mut first, mut last) = (None, 0);
        // A fault is told where the file is read.
        while let Ok(Some(record)) = file.next() {
            let Some(at) = record.at_nanos else { continue };
            last = at;
            if at > begin.as_nanos().saturating_add(MOST_OVERLAP) {
                return Ok(false);
            }
            first.get_or_insert(at);
        }
        Ok(first.is_some_and(|first| follows((first, last), begin.as_nanos())))
    }
}
