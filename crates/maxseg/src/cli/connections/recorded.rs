//! The lists of a recording.

use std::path::Path;

use super::{ConnectionsArgs, Origin, Shown, time_of};
use crate::cli::recording::{of_file, open};
use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::connections::Frame;

/// Prints one list of a whole recording.
pub(super) fn print_whole(
    args: &ConnectionsArgs,
    file: &Path,
    shown: &Shown,
    printer: Printer,
) -> Result<(), Failure> {
    let recording = open(file, printer)?;
    let select = &mut |snapshot: &mut _| args.selection.retain(snapshot);
    let whole = recording.whole(select).map_err(|error| of_file("read", file, &error))?;
    if !args.json && !args.csv {
        let time = |frame: Option<&Frame>| time_of(frame.map_or(0.0, |frame| frame.time_s));
        let frames = recording.frames();
        let (first, last) = (time(frames.first()), time(frames.last()));
        let count = frames.len();
        printer.text(&format!("{first} to {last} UTC, {count} samples\n"))?;
    }
    args.print(
        whole,
        shown,
        &Origin { time: None, host: recording.host().map(str::to_owned) },
        printer,
    )
}

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
