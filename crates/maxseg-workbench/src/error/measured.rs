//! Reports of a path that cannot stand beside the runs of a scenario.

/// Why what was measured on a path gives no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasuredError {
    /// The file is no JSON, or a value in it is wrong.
    #[error("{file} cannot be read: {what}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong in it.
        what: String,
    },
    /// The file is JSON, and not what `maxseg path --json` prints.
    #[error("{file} is not a report of `maxseg path`: it has no `{missing}`")]
    NoReport {
        /// The file.
        file: String,
        /// A key that every report has.
        missing: &'static str,
    },
    /// The report's keys are those of another version.
    #[error("{file} has schema version {version}; this program reads {}", Self::VERSION)]
    Version {
        /// The file.
        file: String,
        /// What it says.
        version: String,
    },
    /// Nothing was transferred.
    #[error("{file} has no throughput: {why}")]
    NoRows {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// No point of the scenario is what was measured.
    #[error("no point of the scenario has the segment size and the window of a row of {file}")]
    NoPoint {
        /// The file.
        file: String,
        /// What its rows have.
        settings: String,
        /// What the first point has.
        point: String,
    },
}

impl MeasuredError {
    /// The version of the reports that are read.
    pub(crate) const VERSION: u64 = 1;

    pub(super) fn hint(&self) -> String {
        let command = "maxseg path HOST --far-end responder --table --json > path.json";
        match self {
            Self::Unreadable { .. } | Self::NoReport { .. } => format!("write one: {command}"),
            Self::Version { .. } => format!("measure again with this program: {command}"),
            Self::NoRows { .. } => {
                format!("a far end measures throughput: {command}")
            }
            Self::NoPoint { settings, point, .. } => {
                format!(
                    "its rows: {settings}; the first point: {point}; --axis and --set change these"
                )
            }
        }
    }
}
