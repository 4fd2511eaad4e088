use thiserror::Error;

/// An invalid scenario: the fault, its location and a hint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct ScenarioError {
    /// The fault and its reason.
    pub what: String,
    /// The key concerned, as `--set` would name it; empty for the whole file.
    pub key: String,
    /// The location of the value.
    pub location: Location,
    /// A value, key or command that works.
    pub hint: String,
}

/// The location of a key or value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In a file.
    File(Box<Excerpt>),
    /// On the command line, with the whole argument.
    Argument(String),
    /// None: the key is missing from this file.
    Missing(String),
}

/// A part of a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The file's name.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line, or the part of a long one around the column.
    pub text: String,
    /// Characters of `text` before the column.
    pub before: usize,
    /// Characters of `text` concerned, at least 1.
    pub width: usize,
}
