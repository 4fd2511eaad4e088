//! What the shipped analysis says of a capture.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use maxseg_core::diagnose::diagnose;
use maxseg_core::evidence::Evidence;
use maxseg_wire::capture_file::CaptureFile;
use maxseg_wire::flow::{Decoder, FlowOptions, Flows};

use super::score::Said;

/// What is said of the connection that carried most.
///
/// # Errors
/// The capture cannot be read to its end, or holds no connection.
pub(super) fn of_capture(file: &Path) -> Result<Said> {
    let mut capture = CaptureFile::open(File::open(file)?)?;
    let (mut decoder, mut flows) = (Decoder::default(), Flows::new(FlowOptions::default()));
    while let Some(record) = capture.next()? {
        flows.on_packet(&decoder.decode(&record));
    }
    let carried = |evidence: &Evidence| evidence.direction(evidence.data_way()).payload_bytes;
    let largest = flows.finish().connections.max_by_key(carried);
    let diagnosis = diagnose(&largest.context("there is no connection in it")?);
    Ok(Said { limited_by: diagnosis.limited_by, limits: diagnosis.limits })
}
