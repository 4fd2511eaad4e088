//! Two runs, engines, stacks or captures side by side: as lines for a terminal, JSON, CSV and a page.

mod captures;
mod cautions;
mod chance;
mod conclusion;
mod csv;
mod document;
mod page;
mod runs;

pub use captures::{CaptureLine, CapturePairing};
pub use csv::write_csv;
pub use document::CompareDocument;
pub use page::page;
pub use runs::{NumberLine, RunPairing};

/// What is compared.
#[derive(Debug)]
pub enum Compared<'a> {
    /// Results of runs.
    Runs(&'a RunPairing),
    /// Captures.
    Captures(&'a CapturePairing<'a>),
}

#[cfg(test)]
mod capture_tests;
#[cfg(test)]
mod tests;
