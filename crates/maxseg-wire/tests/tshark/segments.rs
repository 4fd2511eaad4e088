//! The TCP segments of a capture file.

use std::fs::File;
use std::path::Path;

use maxseg_wire::capture_file::{CaptureFile, OpenError};
use maxseg_wire::flow::{Decoder, Seen, Skimmed};

/// Hands over every segment up to the end, or to where the file is broken. What is no capture for us is
/// told by its name.
pub(crate) fn each(capture: &Path, mut take: impl FnMut(&Seen<'_>)) -> Result<(), &'static str> {
    let mut file = match CaptureFile::open(File::open(capture).unwrap()) {
        Ok(file) => file,
        Err(OpenError::Foreign { name, .. }) => return Err(name),
        Err(error) => panic!("{}: {error}", capture.display()),
    };
    let mut decoder = Decoder::default();
    while let Ok(Some(record)) = file.next() {
        if let Skimmed::Tcp(seen) = decoder.decode(&record).what {
            take(&seen);
        }
    }
    Ok(())
}
