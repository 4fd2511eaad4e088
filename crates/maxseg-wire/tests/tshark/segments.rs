//! The TCP segments of a capture file.

use std::fs::File;

use maxseg_wire::capture_file::{CaptureFile, OpenError};
use maxseg_wire::flow::{Decoded, Decoder, Seen};

/// Hands over every segment up to the end, or to where the file is broken.
pub(crate) fn each(file: File, mut take: impl FnMut(&Seen<'_>)) {
    let mut file = CaptureFile::open(file).unwrap();
    let mut decoder = Decoder::default();
    while let Ok(Some(record)) = file.next() {
        if let Decoded::Tcp(seen) = decoder.decode(&record).what {
            take(&seen);
        }
    }
}

/// What a file is, if it is another program's format.
pub(crate) fn foreign(file: File) -> Option<&'static str> {
    match CaptureFile::open(file) {
        Err(OpenError::Foreign { name, .. }) => Some(name),
        _ => None,
    }
}
