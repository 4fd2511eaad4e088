//! Captures explained: evidence, limits and findings of every connection, and the conclusion about the one that
//! matters most.
//!
//! ```text
//! read_file ─→ Capture: Evidence of each connection, one at a time
//!                 └ explain ─→ Explanation: those of the highest impact ─→ Case: limits, findings ─→ Headline: change, gain
//! ```
//!
//! ```
//! use maxseg_core::diagnose::FindingKind;
//! use maxseg_workbench::explain::{self, ReadOptions};
//!
//! let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/captures/d_rwnd.sender.pcap.gz");
//! let explanation = explain::read_file(file.as_ref(), &ReadOptions::default(), None)?.explain();
//! let case = explanation.matters_most().expect("a connection");
//! let kinds: Vec<FindingKind> = case.diagnosis.findings.iter().map(|finding| finding.kind).collect();
//! assert!(kinds.contains(&FindingKind::WindowClamped), "{kinds:?}");
//! # Ok::<(), maxseg_workbench::Error>(())
//! ```
//!
//! Of several, [`read_files`] makes one: of files that follow each other, or of two places, whose connections then know what was lost
//! between them.
//!
//! As JSON, CSV and a page: [`report::explain`](crate::report::explain).

mod capture;
mod capture_pair;
mod explanation;
#[cfg(test)]
pub(crate) mod fixtures;
mod inputs;
mod read_files;
mod read_pair;

pub use capture::{Capture, read, read_file};
pub use capture_pair::CapturePair;
pub use explanation::Explanation;
pub use maxseg_wire::reading::ReadOptions;
pub use read_files::read_files;
use read_pair::read_pair;
