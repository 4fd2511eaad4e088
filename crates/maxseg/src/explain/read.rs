//! Opening the capture that is to be explained.

use std::fs::File;
use std::io;
use std::path::Path;

use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::{self, ReadOptions, Reading, ReadingError};

use super::Explanation;
use crate::failure::Failure;

/// The connections of a capture, each made when it is asked for.
pub(crate) type Connections = Box<dyn Iterator<Item = Evidence>>;

/// Reads the capture at this path, or standard input for `-`, to its end or its first fault. The explanation has no
/// connections yet: there may be more than fit into memory at once.
///
/// # Errors
/// It cannot be opened, is no capture, or does not have the interface.
pub(crate) fn read(
    file: &str,
    options: &ReadOptions<'_>,
) -> Result<(Explanation, Connections), Failure> {
    if file == "-" {
        return explained(file, reading::read(io::stdin().lock(), options));
    }
    let input = File::open(file).map_err(|error| Failure::file("read", Path::new(file), &error))?;
    explained(file, reading::read(input, options))
}

fn explained<C: Iterator<Item = Evidence> + 'static>(
    file: &str,
    reading: Result<Reading<C>, ReadingError>,
) -> Result<(Explanation, Connections), Failure> {
    let Reading { summary, connections } = reading.map_err(|error| refused(file, &error))?;
    Ok((Explanation::new(file, summary), Box::new(connections)))
}

fn refused(file: &str, error: &ReadingError) -> Failure {
    let what = match error {
        ReadingError::Open(error) if file == "-" => format!("standard input {error}"),
        ReadingError::Open(error) => format!("{file} {error}"),
        ReadingError::NoSuchInterface { .. } => error.to_string(),
    };
    match error.hint() {
        Some(hint) => Failure::with_hint(what, hint),
        None => Failure::new(what),
    }
}
