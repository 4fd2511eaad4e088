//! A value with how reliable it is.

/// How reliable a value is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Assumed, or only a bound.
    Low,
    /// Derived from measurements; wrong on an unusual path.
    Medium,
    /// Measured.
    High,
}

impl Confidence {
    /// The word that reports and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A value with its confidence and source.
#[derive(Debug, Clone, PartialEq)]
pub struct Known<T> {
    /// The value.
    pub value: T,
    /// How reliable it is.
    pub confidence: Confidence,
    /// Where it comes from, as a phrase.
    pub how: String,
}

impl<T> Known<T> {
    pub(super) fn new(value: T, confidence: Confidence, how: impl Into<String>) -> Self {
        Self { value, confidence, how: how.into() }
    }
}
