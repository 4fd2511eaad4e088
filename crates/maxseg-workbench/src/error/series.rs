//! Time series that cannot be recorded.

use std::path::PathBuf;

use maxseg_core::units::{Time, approx};

/// Why there is no time series.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// The interval is zero.
    #[error("--series 0 s never ends")]
    ZeroInterval,
    /// The simulator is not among the engines.
    #[error("--series records simulated senders, and the simulator is not asked for")]
    NoSimulator,
    /// No flow has a TCP sender.
    #[error("--series records TCP senders, and no flow of this scenario has one")]
    NoSender,
    /// More samples than a file holds.
    #[error("--series {every} gives up to {samples} samples, more than {most}")]
    TooManySamples {
        /// The interval asked for.
        every: Time,
        /// How many samples it gives at the most.
        samples: u128,
        /// How many are taken.
        most: u128,
        /// The shortest interval that gives no more, in seconds.
        coarser_s: f64,
    },
    /// The folder's series has another interval.
    #[error("{} holds samples every {kept}, not every {asked}", file.display())]
    OtherInterval {
        /// The series.
        file: PathBuf,
        /// Its index.
        index: PathBuf,
        /// Its interval.
        kept: Time,
        /// The interval asked for.
        asked: Time,
    },
}

impl SeriesError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::ZeroInterval => "write for example --series 100ms".to_owned(),
            Self::NoSimulator => "add --engine sim, or leave --series out".to_owned(),
            Self::NoSender => "leave --series out".to_owned(),
            Self::TooManySamples { coarser_s, .. } => format!(
                "take one every {} or more, fewer runs, or a shorter until.time",
                approx::time(*coarser_s)
            ),
            Self::OtherInterval { file, index, kept, .. } => {
                let name = |file: &PathBuf| {
                    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
                };
                let (series, index) = (name(file), name(index));
                format!("take --series {kept}, or another folder, or remove {series} and {index}")
            }
        }
    }
}
