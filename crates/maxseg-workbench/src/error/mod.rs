//! Why something could not be done, by kind, with a hint.

mod capture;
mod compare;
mod document;
mod experiment;
mod formula;
mod import;
mod measured;
#[cfg(feature = "lab")]
mod path;
mod series;
mod store;
#[cfg(feature = "lab")]
mod tune;

use std::io;
use std::path::{Path, PathBuf};

use maxseg_core::engine::EngineError;
use maxseg_core::scenario::ScenarioError;
use maxseg_wire::joined::JoinError;
use maxseg_wire::reading::{CaptureSummary, ReadingError};

use crate::file_error::{self, for_shell};

pub use capture::CaptureError;
pub use compare::CompareError;
pub use document::DocumentError;
pub use experiment::ExperimentError;
pub use formula::FormulaError;
pub use import::ImportError;
pub use measured::MeasuredError;
#[cfg(feature = "lab")]
pub use path::{PathError, Sayer};
pub use series::SeriesError;
pub use store::StoreError;
#[cfg(feature = "lab")]
pub use tune::TuningError;

/// Why something could not be done. Its text says what and why, [`Error::hint`] what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scenario or an argument is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An engine cannot run a scenario, or was stopped.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The lab was asked for, and this build has none.
    #[error("this build has no lab: it was built without the feature `lab`")]
    NoLab,
    /// What was measured on a real path was to be run.
    #[error("no engine runs `measured`: its rows come from a report of `maxseg path`")]
    NoEngine,
    /// An experiment is too large.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A time series cannot be recorded.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// A folder of results cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run cannot be captured.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Two things cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A formula cannot be computed.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A topology cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A report of a path gives no rows.
    #[error(transparent)]
    Measured(#[from] MeasuredError),
    /// A document of settings is wrong.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Input is no capture, or not the one that was asked for.
    #[error("{}", reading_text(name, source))]
    Reading {
        /// What the capture is called.
        name: String,
        /// Why it cannot be read.
        source: ReadingError,
    },
    /// A capture of two has a fault before its end.
    #[error("{name} is at fault: {}", fault_text(summary))]
    Fault {
        /// What the capture is called.
        name: String,
        /// What was read up to there.
        summary: Box<CaptureSummary>,
    },
    /// Two captures do not fit together.
    #[error("{first} and {second} cannot be joined: {source}")]
    Join {
        /// What the first is called.
        first: String,
        /// What the second is called.
        second: String,
        /// Why not.
        source: JoinError,
    },
    /// A path cannot be tested.
    #[cfg(feature = "lab")]
    #[error(transparent)]
    Path(#[from] PathError),
    /// Settings of this host are not changed.
    #[cfg(feature = "lab")]
    #[error(transparent)]
    Tuning(Box<TuningError>),
    /// Rows cannot be written as Parquet.
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A file could not be used.
    #[error("{}", file_error::what(doing, file, source))]
    File {
        /// What was to be done with it: a verb, such as `read`.
        doing: &'static str,
        /// Which file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// What an error is about: whom to tell, and the exit code of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was given: a scenario, an argument, a file's content.
    Input,
    /// This machine, its file system or this build.
    Machine,
    /// A run was stopped.
    Stopped,
}

impl Error {
    /// A file could not be used.
    pub(crate) fn file(doing: &'static str, file: &Path, source: io::Error) -> Self {
        Self::File { doing, file: file.to_owned(), source }
    }

    /// What it is about.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Scenario(_)
            | Self::Experiment(_)
            | Self::Series(_)
            | Self::Store(_)
            | Self::Capture(_)
            | Self::Compare(_)
            | Self::Formula(_)
            | Self::Import(_)
            | Self::Measured(_)
            | Self::NoEngine
            | Self::Document(_)
            | Self::Reading { .. }
            | Self::Fault { .. }
            | Self::Join { .. } => ErrorKind::Input,
            #[cfg(feature = "lab")]
            Self::Path(error) => error.kind(),
            #[cfg(feature = "lab")]
            Self::Tuning(error) => error.kind(),
            Self::Engine(EngineError::Cancelled) => ErrorKind::Stopped,
            Self::Engine(EngineError::Unable { .. })
            | Self::NoLab
            | Self::Parquet(_)
            | Self::File { .. } => ErrorKind::Machine,
        }
    }

    /// The value, option or command that would work, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Scenario(error) => Some(error.hint.clone()),
            Self::Engine(EngineError::Unable { hint, .. }) => hint.clone(),
            Self::NoLab => {
                Some("--engine model,sim; on Linux, build with `--features lab`".to_owned())
            }
            Self::Experiment(error) => Some(error.hint()),
            Self::Series(error) => Some(error.hint()),
            Self::Store(error) => Some(error.hint()),
            Self::Capture(error) => Some(error.hint()),
            Self::Compare(error) => Some(error.hint()),
            Self::Formula(error) => Some(error.hint()),
            Self::Import(error) => Some(error.hint()),
            Self::Measured(error) => Some(error.hint()),
            Self::NoEngine => Some("`Measured::read` reads them".to_owned()),
            Self::Document(error) => Some(error.hint.clone()),
            #[cfg(feature = "lab")]
            Self::Path(error) => error.hint(),
            #[cfg(feature = "lab")]
            Self::Tuning(error) => Some(error.hint()),
            Self::Reading { name, source } => {
                Some(source.hint().unwrap_or_else(|| file_error::what_it_is(name)))
            }
            Self::Join { source, .. } => Some(source.hint().to_owned()),
            Self::Fault { name, .. } => {
                Some(format!("explain it alone: maxseg explain {}", for_shell(name)))
            }
            Self::File { doing, file, source } => file_error::hint(doing, file, source),
            Self::Engine(EngineError::Cancelled) | Self::Parquet(_) => None,
        }
    }
}

#[cfg(feature = "lab")]
impl From<TuningError> for Error {
    fn from(error: TuningError) -> Self {
        Self::Tuning(Box::new(error))
    }
}

fn fault_text(summary: &CaptureSummary) -> String {
    summary.fault().map_or_else(String::new, |fault| fault.kind.to_string())
}

fn reading_text(name: &str, error: &ReadingError) -> String {
    match error {
        ReadingError::Open(error) => format!("{name} {error}"),
        ReadingError::NoSuchInterface { .. } | ReadingError::Overlap { .. } => error.to_string(),
    }
}

#[cfg(test)]
impl Error {
    /// What, where it was written on a command line, and the hint, a line each.
    pub(crate) fn told(&self) -> String {
        use maxseg_core::scenario::Location;

        let mut place = String::new();
        if let Self::Scenario(ScenarioError { location: Location::Argument(argument), .. }) = self {
            place = format!("  --> in `{argument}`\n");
        }
        let hint = self.hint().map_or_else(String::new, |hint| format!("hint: {hint}\n"));
        format!("error: {self}\n{place}{hint}")
    }
}
