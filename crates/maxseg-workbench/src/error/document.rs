//! Documents of settings that cannot be read.

use maxseg_core::scenario::Excerpt;

/// What is wrong with a document of settings, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct DocumentError {
    /// The fault and its reason.
    pub what: String,
    /// The key concerned; empty for the whole document.
    pub key: String,
    /// Its place in the file.
    pub excerpt: Box<Excerpt>,
    /// A line, key or value that works.
    pub hint: String,
}
