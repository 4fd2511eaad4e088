//! Why something could not be done.

use std::io;
use std::path::{Path, PathBuf};

use maxseg_core::engine::EngineError;
#[cfg(test)]
use maxseg_core::scenario::Place;
use maxseg_core::scenario::ScenarioError;

/// Why something could not be done, by kind.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario or an argument is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An engine could not run a scenario, or was stopped.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The lab was asked for, and this build has none.
    #[error("this build has no lab: it was built without the feature `lab`")]
    NoLab,
    /// A file could not be used.
    #[error("cannot {doing} {}: {source}", file.display())]
    File {
        /// What was to be done with it: a verb, such as `read`.
        doing: &'static str,
        /// Which file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What was asked for cannot be done.
    #[error("{what}")]
    Refused {
        /// What could not be done, and why.
        what: String,
        /// How to ask for it.
        hint: Option<String>,
    },
}

impl Error {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), hint: None }
    }

    pub(crate) fn with_hint(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), hint: Some(hint.into()) }
    }

    /// A file could not be used.
    pub(crate) fn file(doing: &'static str, file: &Path, source: io::Error) -> Self {
        Self::File { doing, file: file.to_owned(), source }
    }

    /// How to mend it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Scenario(error) => error.hint.clone(),
            Self::Engine(EngineError::Unable { hint, .. }) | Self::Refused { hint, .. } => {
                hint.clone()
            }
            Self::NoLab => {
                Some("--engine model,sim; on Linux, build with `--features lab`".to_owned())
            }
            Self::Engine(EngineError::Cancelled) | Self::File { .. } => None,
        }
    }
}

#[cfg(test)]
impl Error {
    /// What, where it was written on a command line, and the hint, a line each.
    pub(crate) fn told(&self) -> String {
        let mut told = format!("error: {self}\n");
        if let Self::Scenario(ScenarioError { place: Place::Argument(argument), .. }) = self {
            told += &format!("  --> in `{argument}`\n");
        }
        told + &self.hint().map_or_else(String::new, |hint| format!("hint: {hint}\n"))
    }
}
