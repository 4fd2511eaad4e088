//! What is wrong with a scenario that could be read.

/// A value at fault, or two that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// The key at fault, with indices.
    pub(super) key: String,
    /// What is wrong with it.
    pub(super) what: String,
    /// A value that would work.
    pub(super) hint: String,
}

pub(super) fn problem(
    key: impl Into<String>,
    what: impl Into<String>,
    hint: impl Into<String>,
) -> Problem {
    Problem { key: key.into(), what: what.into(), hint: hint.into() }
}
