//! Reads two captures of the same connections, one at each end.

use std::io;
use std::path::Path;

use maxseg_wire::joined::Capture as Which;
use maxseg_wire::reading::{self, PairError, ReadOptions};

use super::inputs::Inputs;
use super::{Capture, CapturePair};
use crate::error::Error;

/// Reads the captures in two files, given in any order, whose connections then know what became of their packets between
/// them. Where their times follow each other they are two places only if they hold the same packets.
pub(super) fn read_pair(
    files: [&String; 2],
    inputs: &mut Inputs<'_>,
    do_follow: bool,
    options: &ReadOptions<'_>,
) -> Result<Capture<'static>, Error> {
    let mut open = |which: Which| inputs.open(which.index());
    let joined = reading::read_pair(&mut open, do_follow, options)
        .map_err(|error| pair_error(files, error))?;
    let main = joined.main.index();
    let [first, second] = joined.summaries;
    let (summary, other) = if main == 0 { (first, second) } else { (second, first) };
    let pair =
        CapturePair { names: files.map(String::clone), main, other, only_in: joined.only_in };
    let reading = reading::Reading { summary, connections: joined.connections };
    let mut capture = Capture::new(files[main], reading);
    capture.pair = Some(pair);
    Ok(capture)
}

fn input_error(name: &str, error: io::Error) -> Error {
    Error::file("read", Path::new(name), error)
}

fn pair_error(files: [&String; 2], error: PairError) -> Error {
    let name = |which: Which| files[which.index()];
    match error {
        PairError::Io(which, error) => input_error(name(which), error),
        PairError::Reading(which, source) => Error::Reading { name: name(which).clone(), source },
        PairError::Fault(which, summary) => Error::Fault { name: name(which).clone(), summary },
        PairError::Join(source) => {
            let [first, second] = files.map(String::clone);
            Error::Join { first, second, source }
        }
    }
}
