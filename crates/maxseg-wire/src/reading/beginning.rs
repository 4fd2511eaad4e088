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
    /// The time of its first packet, since 1970; where it has several interfaces, the latest time among its first packets: what one
    /// received may stand behind what another did later.
    At(Time),
    /// No packet is in it: it is empty, has a header alone, or ends within its header or first packet.
    NoPacket,
}

/// Packets that an interface may have received in the quarter of a second for which dumpcap waits for a block of it.
const FIRST_PACKETS: usize = 4096;

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
        let first = match file.next() {
            Ok(Some(Record { at_nanos: Some(at), .. })) => at,
            Ok(None) => return Ok(Self::NoPacket),
            Err(error) if error.fault.is_cut() => return Ok(Self::NoPacket),
            Ok(Some(_)) | Err(_) => return Ok(Self::Unknown),
        };
        let mut latest = first;
        let others = if file.interfaces().len() > 1 { FIRST_PACKETS } else { 0 };
        for _ in 0..others {
            // A fault is told where the file is read.
            let Ok(Some(record)) = file.next() else { break };
            latest = latest.max(record.at_nanos.unwrap_or(latest));
        }
        Ok(Self::At(Time::from_nanos(latest)))
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
        while let Ok(Some(record)) = file.next() {
            let Some(at) = record.at_nanos else { continue };
            last = at;
            if at > begin.as_nanos().saturating_add(MOST_OVERLAP) {
                return Ok(false);
            }
            first.get_or_insert(at);
        }
        Ok(first.is_some_and(|first| {
            follows((first, last), begin.as_nanos(), file.interfaces().len() > 1)
        }))
    }
}
