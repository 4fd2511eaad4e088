//! The lists of a recording.

use std::path::Path;

use super::{ConnectionsArgs, Shown};
use crate::cli::recording::{of_file, open};
use crate::failure::Failure;
use crate::printer::Printer;

/// Prints every sample, each compared with the one before.
pub(super) fn print(
    args: &ConnectionsArgs,
    file: &Path,
    shown: &Shown,
    printer: Printer,
) -> Result<(), Failure> {
    let recording = open(file, printer)?;
    for (at, snapshot) in recording.play(0..recording.frames().len()).enumerate() {
        let mut snapshot = snapshot.map_err(|error| of_file("read", file, &error))?;
        args.selection.retain(&mut snapshot);
        let host = recording.host().map(str::to_owned);
        args.print_next(snapshot, at == 0, host, shown, printer)?;
    }
    Ok(())
}
