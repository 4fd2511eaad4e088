//! Recordings of `maxseg top --record`.

use std::path::Path;

use maxseg_workbench::connections::{Recording, RecordingError};

use crate::failure::Failure;
use crate::printer::Printer;

/// Opens a recording, and says where its last sample was cut.
pub(super) fn open(file: &Path, printer: Printer) -> Result<Recording, Failure> {
    let recording = Recording::open(file).map_err(|error| of_file("open", file, &error))?;
    if recording.cut_bytes() > 0 {
        printer.note(&format!(
            "note: the last sample of {} was cut, {} bytes: the recorder was killed",
            file.display(),
            recording.cut_bytes()
        ));
    }
    Ok(recording)
}

/// A recording cannot be used.
pub(super) fn of_file(doing: &str, file: &Path, error: &RecordingError) -> Failure {
    match error {
        RecordingError::Io(error) => Failure::file(doing, file, error),
        RecordingError::Written => Failure::with_hint(
            format!("{}: {error}", file.display()),
            "record to a file of its own",
        ),
        RecordingError::Other | RecordingError::Empty | RecordingError::Damaged(_) => {
            Failure::with_hint(
                format!("{}: {error}", file.display()),
                "`maxseg top --record FILE` writes such a file",
            )
        }
    }
}
