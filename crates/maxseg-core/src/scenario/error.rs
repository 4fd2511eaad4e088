use thiserror::Error;

/// A scenario that cannot be used: what is wrong, where it was written, how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct ScenarioError {
    /// What is wrong, and why.
    pub what: String,
    /// The key that it concerns, as `--set` would name it; empty for the file as a whole.
    pub key: String,
    /// Where the value was written.
    pub place: Place,
    /// A value, key or command that would work.
    pub hint: String,
}

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File(Box<Excerpt>),
    /// On the command line: the whole argument.
    Argument(String),
    /// Nowhere: it is missing from this file.
    Missing(String),
}

/// A piece of one line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The file's name.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The line, or of a long one the piece around the column.
    pub text: String,
    /// Characters of that piece before the column.
    pub before: usize,
    /// How many characters of the piece it concerns, at least 1.
    pub width: usize,
}
