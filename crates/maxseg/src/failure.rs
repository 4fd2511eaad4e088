//! What ends a command early, and how it is told.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use maxseg_core::engine::EngineError;
use maxseg_core::scenario::{Place, ScenarioError};
use maxseg_workbench::{Error, file_error};

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The workbench could not do it.
    Workbench(Error),
    /// Anything else that is the input's or the machine's fault.
    Other {
        /// What could not be done, and why.
        what: String,
        /// How to mend it.
        hint: Option<String>,
    },
    /// The arguments ask for something that cannot be.
    Usage {
        /// What, and why not.
        what: String,
        /// What to ask for instead.
        hint: String,
    },
    /// The user interrupted it. In words: what became of what was done, and how to go on.
    Interrupted(String),
    /// The command that this process was to become cannot be run.
    NotRun {
        /// Which, and why.
        what: String,
        /// The exit code that says so.
        code: u8,
    },
    /// Whoever read our output has gone.
    BrokenPipe,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self::Other { what: what.into(), hint: None }
    }

    pub(crate) fn with_hint(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Other { what: what.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    /// A file could not be used.
    pub(crate) fn file(doing: &str, file: &Path, error: &io::Error) -> Self {
        Self::Other {
            what: format!("cannot {doing} {}: {}", file.display(), file_error::reason(error)),
            hint: file_error::hint(file, error),
        }
    }

    /// As the exit code says it: 1 for input and machine, 2 for usage, 130 after an interrupt.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Workbench(_) | Self::Other { .. } => 1,
            Self::Usage { .. } => 2,
            Self::Interrupted(_) => 130,
            Self::NotRun { code, .. } => *code,
            Self::BrokenPipe => 0,
        }
    }

    /// What to print: what, where, why, and how to mend it; nothing for what needs no words.
    pub(crate) fn render(&self) -> String {
        match self {
            Self::Workbench(error) => render_error(error),
            Self::Other { what, hint } => with_hint(format!("error: {what}\n"), hint.as_deref()),
            Self::Usage { what, hint } => with_hint(format!("error: {what}\n"), Some(hint)),
            Self::NotRun { what, .. } => format!("error: {what}\n"),
            Self::Interrupted(what) => format!("interrupted: {what}\n"),
            Self::BrokenPipe => String::new(),
        }
    }
}

fn with_hint(mut text: String, hint: Option<&str>) -> String {
    if let Some(hint) = hint {
        let _ = writeln!(text, "hint: {hint}");
    }
    text
}

fn render_error(error: &Error) -> String {
    if let Error::Scenario(error) = error {
        return render_scenario_error(error);
    }
    with_hint(format!("error: {error}\n"), error.hint().as_deref())
}

fn render_scenario_error(error: &ScenarioError) -> String {
    let mut text = format!("error: {}\n", error.what);
    match &error.place {
        Place::File(excerpt) => {
            let number = excerpt.line.to_string();
            let margin = " ".repeat(number.len());
            // Tabs stay tabs below, so that the caret stands under what it points at.
            let indent: String = excerpt
                .text
                .chars()
                .take(excerpt.column - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let _ = writeln!(
                text,
                "{margin}--> {}:{}:{}\n{margin} |\n{number} | {}\n{margin} | {indent}{}",
                excerpt.file,
                excerpt.line,
                excerpt.column,
                excerpt.text,
                "^".repeat(excerpt.width)
            );
        }
        Place::Argument(argument) => {
            let _ = writeln!(text, "  --> in `{argument}`");
        }
        Place::Missing(file) => {
            let _ = writeln!(text, "  --> {file}");
        }
    }
    with_hint(text, error.hint.as_deref())
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Workbench(error.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(EngineError::Cancelled) => {
                Self::Interrupted("a run was stopped".to_owned())
            }
            error => Self::Workbench(error),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Error::from(error).into()
    }
}

/// For output: a reader that has gone is no failure of ours.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::new(format!("cannot write: {}", file_error::reason(&error)))
        }
    }
}
