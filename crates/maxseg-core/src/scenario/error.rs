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
    /// How to mend it.
    pub hint: Option<String>,
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
    /// The line as it stands there.
    pub text: String,
    /// How many characters it concerns, at least 1, within that line.
    pub width: usize,
}
