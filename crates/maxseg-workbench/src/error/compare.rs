//! What cannot be compared.

use std::path::PathBuf;

use crate::file_error::{for_shell, path_for_shell};

/// Why two things cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A file of results is broken.
    #[error("{} is not a result of `maxseg run`: {why}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file is the table of a run.
    #[error("{} is a table of `maxseg run --csv`, which lacks the scenario", file.display())]
    Table {
        /// The file.
        file: PathBuf,
    },
    /// A file is a scenario.
    #[error("{} is a scenario, which has no results", file.display())]
    Scenario {
        /// The file.
        file: PathBuf,
    },
    /// A folder has no results.
    #[error("{} holds no rows.jsonl", folder.display())]
    NoRows {
        /// The folder.
        folder: PathBuf,
    },
    /// Rows of several scenarios, and nothing tells which are meant.
    #[error("{} holds runs of several scenarios at one point, and does not tell which are meant", file.display())]
    SeveralScenarios {
        /// The folder or file.
        file: PathBuf,
    },
    /// One is a capture, the other are results.
    #[error(
        "{capture} is a capture and {results} are results of runs: they have nothing in common to compare"
    )]
    Kinds {
        /// The capture.
        capture: String,
        /// The results.
        results: String,
    },
    /// No run of one has a counterpart in the other.
    #[error("{}", no_pair(a, b, why))]
    NoPair {
        /// The one.
        a: String,
        /// The other.
        b: String,
        /// What differs.
        why: String,
        /// What would make counterparts of them.
        hint: String,
    },
    /// A capture has no connection to compare.
    #[error("{capture} has no TCP connection{of}")]
    NoConnection {
        /// The capture.
        capture: String,
        /// Which one was asked for.
        of: String,
    },
}

/// That nothing stands beside anything, of two results or of two values within one.
fn no_pair(a: &str, b: &str, why: &str) -> String {
    if a == b {
        format!("no two runs of {a} stand side by side: {why}")
    } else {
        format!("no run of {a} has a counterpart in {b}: {why}")
    }
}

impl CompareError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Broken { .. } | Self::Table { .. } => {
                "name what `maxseg run --out DIR` or `maxseg run --json > FILE` wrote, or a capture"
                    .to_owned()
            }
            Self::Scenario { file } => {
                format!("maxseg run {} --out DIR writes what can be compared", path_for_shell(file))
            }
            Self::NoRows { folder } => {
                format!("maxseg run SCENARIO --out {} writes them", path_for_shell(folder))
            }
            Self::SeveralScenarios { file } => format!(
                "the command of `maxseg run` that is meant, once more with --out {}, marks its rows and runs none again",
                path_for_shell(file)
            ),
            Self::Kinds { capture, .. } => {
                format!("maxseg explain {} explains the capture alone", for_shell(capture))
            }
            Self::NoPair { hint, .. } => hint.clone(),
            Self::NoConnection { capture, .. } => {
                format!("maxseg explain {} lists what it holds", for_shell(capture))
            }
        }
    }
}
