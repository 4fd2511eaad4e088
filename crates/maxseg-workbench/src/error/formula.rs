//! Formulas that cannot be computed.

/// Why a formula has no answer. A wrong value is an [`Error::Scenario`](super::Error::Scenario), with its argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaError {
    /// There is no formula of this name.
    #[error("there is no formula `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// A name that is close to it.
        similar: Option<&'static str>,
    },
    /// Parameters without a value.
    #[error("`{formula}` needs {} too", missing.join(" and "))]
    Missing {
        /// The formula.
        formula: &'static str,
        /// Which, each with its kind.
        missing: Vec<String>,
        /// Arguments that work.
        example: &'static str,
    },
}

impl FormulaError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Unknown { similar: Some(similar), .. } => format!("did you mean `{similar}`?"),
            Self::Unknown { similar: None, .. } => "`maxseg calc --list` lists them".to_owned(),
            Self::Missing { formula, example, .. } => {
                format!("for example maxseg calc {formula} {example}")
            }
        }
    }
}
