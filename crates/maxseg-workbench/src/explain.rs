//! Captures: evidence and findings of every connection.
//!
//! ```
//! use maxseg_core::diagnose::diagnose;
//! use maxseg_wire::reading::ReadOptions;
//! use maxseg_workbench::explain;
//!
//! let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/captures/d_rwnd.sender.pcap.gz");
//! let reading = explain::read_file(file.as_ref(), &ReadOptions::default())?;
//! let mut findings = Vec::new();
//! for evidence in reading.connections {
//!     let diagnosis = diagnose(&evidence);
//!     findings.extend(diagnosis.findings.iter().map(|finding| finding.kind));
//!     assert!(!diagnosis.limits.is_empty());
//! }
//! println!("{findings:?}");
//! # Ok::<(), maxseg_workbench::Error>(())
//! ```

use std::fs::File;
use std::io::Read;
use std::path::Path;

use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::{self, ReadOptions, Reading};

use crate::error::Error;

/// The connections of a capture, each made when it is asked for: there may be more than fit into memory at once.
pub type Connections = Box<dyn Iterator<Item = Evidence>>;

/// Reads the capture in a file to its end or its first fault; see [`reading::read`].
///
/// # Errors
/// The file cannot be opened, is no capture, or does not have the interface that is asked for.
pub fn read_file(file: &Path, options: &ReadOptions<'_>) -> Result<Reading<Connections>, Error> {
    let input = File::open(file).map_err(|error| Error::file("read", file, error))?;
    read(input, &file.display().to_string(), options)
}

/// Reads a capture of this name to its end or its first fault; see [`reading::read`].
///
/// # Errors
/// It is no capture, or does not have the interface that is asked for.
pub fn read<R: Read + 'static>(
    input: R,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Reading<Connections>, Error> {
    let reading = reading::read(input, options)
        .map_err(|source| Error::Reading { name: name.to_owned(), source })?;
    Ok(Reading { summary: reading.summary, connections: Box::new(reading.connections) })
}
