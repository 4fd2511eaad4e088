//! What the shipped analysis says of a capture.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use maxseg_core::diagnose::diagnose;
use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::{ReadOptions, read};

use super::score::Said;

/// What is said of the connection that carried most.
///
/// # Errors
/// The capture cannot be read to its end, or holds no connection.
pub(super) fn of_capture(file: &Path) -> Result<Said> {
    let reading = read(File::open(file)?, &ReadOptions::default())?;
    if let Some(fault) = reading.summary.fault() {
        bail!("{}", fault.kind);
    }
    let carried = |evidence: &Evidence| evidence.stats(evidence.data_direction()).payload_bytes;
    let largest = reading.connections.max_by_key(carried);
    let diagnosis = diagnose(&largest.context("there is no connection in it")?);
    Ok(Said { limited_by: Some(diagnosis.limited_by), limits: diagnosis.limits })
}
