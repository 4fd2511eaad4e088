//! The TCP segments of a capture file.

use std::fs::File;

use maxseg_wire::capture_file::{CaptureFile, OpenError};
use maxseg_wire::flow::{Decoded, Seen};
use maxseg_wire::reading::PacketReader;

/// Hands over every segment up to the end, or to where the file is broken.
pub(crate) fn each(file: File, mut take: impl FnMut(&Seen<'_>)) {
    let mut packets = PacketReader::open(file, None).unwrap();
    let end = packets.for_each(|_, packet| {
        if let Decoded::Tcp(seen) = &packet.what {
            take(seen);
        }
    });
    // tshark, too, counts what lies before the fault.
    drop(end);
}

/// What a file is, if it is another program's format.
pub(crate) fn foreign(file: File) -> Option<&'static str> {
    match CaptureFile::open(file) {
        Err(OpenError::Foreign { name, .. }) => Some(name),
        _ => None,
    }
}
