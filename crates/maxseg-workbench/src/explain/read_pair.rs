//! Reads two captures of the same connections, one at each end.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use maxseg_wire::joined::Capture as Which;
use maxseg_wire::reading::{self, PairError, ReadOptions};

use super::{Capture, CapturePair};
use crate::error::Error;

/// Reads the captures in two files, given in any order, whose connections then know what became of their packets between
/// them. `-` is standard input, which is kept in a temporary file: both are read twice.
///
/// # Errors
/// A file cannot be opened, is no capture, or the two share no connection.
pub fn read_pair(files: [&str; 2], options: &ReadOptions<'_>) -> Result<Capture<'static>, Error> {
    let mut spooled = [None, None];
    for (place, name) in spooled.iter_mut().zip(files) {
        if name == "-" {
            *place = Some(spool(io::stdin()).map_err(|error| input_error(name, error))?);
        }
    }
    let mut open = |which: Which| match &spooled[which.index()] {
        // The clones share their position; one ends before the next begins.
        Some(file) => file.try_clone().and_then(|mut file| file.rewind().map(|()| file)),
        None => File::open(files[which.index()]),
    };
    let joined =
        reading::read_pair(&mut open, options).map_err(|error| pair_error(files, error))?;
    let main = joined.main.index();
    let [first, second] = joined.summaries;
    let (summary, other) = if main == 0 { (first, second) } else { (second, first) };
    let pair =
        CapturePair { names: files.map(str::to_owned), main, other, only_in: joined.only_in };
    let reading = reading::Reading { summary, connections: joined.connections };
    let mut capture = Capture::new(files[main], reading);
    capture.pair = Some(pair);
    Ok(capture)
}

/// Keeps what can be read once only.
fn spool(mut input: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut input, &mut file)?;
    Ok(file)
}

fn input_error(name: &str, error: io::Error) -> Error {
    Error::file("read", Path::new(name), error)
}

fn pair_error(files: [&str; 2], error: PairError) -> Error {
    let name = |which: Which| files[which.index()];
    match error {
        PairError::Io(which, error) => input_error(name(which), error),
        PairError::Reading(which, source) => {
            Error::Reading { name: name(which).to_owned(), source }
        }
        PairError::Fault(which, summary) => Error::Fault { name: name(which).to_owned(), summary },
        PairError::Join(source) => {
            let [first, second] = files.map(str::to_owned);
            Error::Join { first, second, source }
        }
    }
}
