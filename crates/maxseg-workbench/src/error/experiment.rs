//! Experiments that are too large.

/// Why an experiment has no points.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The product of the axes exceeds every count.
    #[error("the sweep has more points than can be counted")]
    Uncountable,
    /// More runs than are taken at once.
    #[error("{runs} runs are more than the {most} that one command takes")]
    TooManyRuns {
        /// How many: points × engines × seeds.
        runs: u128,
        /// How many are taken.
        most: u128,
    },
}

impl ExperimentError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Uncountable => "it is the product of all axes: shorten one",
            Self::TooManyRuns { .. } => {
                "shorten an axis, or take fewer seeds; `maxseg check` counts without running"
            }
        }
        .to_owned()
    }
}
