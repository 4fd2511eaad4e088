//! What ends a command early, and how it is told.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use maxseg_core::engine::EngineError;
use maxseg_core::excerpt::{escaped, escaped_lines, shortened};
use maxseg_core::scenario::{Excerpt, Location, ScenarioError};
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
    #[cfg_attr(
        not(feature = "lab"),
        expect(dead_code, reason = "a lab's commands alone run others")
    )]
    NotRun {
        /// Which, and why.
        what: String,
        /// The exit code that says so.
        code: u8,
    },
    /// What was asked for was done and printed, and something was found that should not be: exit code 3.
    #[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "`path` alone finds something"))]
    Found,
    /// What was to be reached was not, or not tested: exit code 3.
    #[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "`path` alone has thresholds"))]
    NotMet {
        /// What, and why.
        what: String,
        /// How to have it tested.
        hint: String,
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
            what: file_error::what(doing, file, error),
            hint: file_error::hint(doing, file, error),
        }
    }

    /// As the exit code says it: 1 for input and machine, 2 for usage, 3 for what was found, 130 after an interrupt.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Workbench(_) | Self::Other { .. } => 1,
            Self::Usage { .. } => 2,
            Self::Interrupted(_) => 130,
            Self::NotRun { code, .. } => *code,
            Self::Found | Self::NotMet { .. } => 3,
            Self::BrokenPipe => 0,
        }
    }

    /// What to print: what, where, why, and how to mend it; nothing for what needs no words.
    pub(crate) fn render(&self) -> String {
        match self {
            Self::Workbench(Error::Scenario(error)) => render_scenario_error(error),
            Self::Workbench(Error::Document(error)) => {
                render(&error.what, &render_excerpt(&error.excerpt), &error.hint)
            }
            Self::Workbench(error) => {
                render(&error.to_string(), "", &error.hint().unwrap_or_else(of_the_machine))
            }
            Self::Other { what, hint } => {
                render(what, "", &hint.clone().unwrap_or_else(of_the_machine))
            }
            Self::Usage { what, hint } | Self::NotMet { what, hint } => render(what, "", hint),
            Self::NotRun { what, code: 127 } => {
                render(what, "", "name a program that is installed, or its path: -- /bin/ls")
            }
            Self::NotRun { what, .. } => {
                render(what, "", "name a program that may be executed: `ls -l` shows its rights")
            }
            Self::Interrupted(what) => format!("interrupted: {}\n", quoted(what, LONGEST_WHAT)),
            Self::Found | Self::BrokenPipe => String::new(),
        }
    }
}

/// Characters of an error's first line, its place and its hint: together they fit a screen, whatever was given.
const LONGEST_WHAT: usize = 800;
const LONGEST_PLACE: usize = 240;
const LONGEST_HINT: usize = 700;

/// For an error of the machine, not of the input.
fn of_the_machine() -> String {
    "`maxseg doctor` checks what this machine allows, and how to fix it".to_owned()
}

/// `what`, `place` (whole lines, or none) and `hint`, as every error is told.
fn render(what: &str, place: &str, hint: &str) -> String {
    let (what, hint) = (quoted(&without_number(what), LONGEST_WHAT), quoted(hint, LONGEST_HINT));
    format!("error: {what}\n{place}hint: {hint}\n")
}

/// `what` without the number that the standard library appends to the system's words: ` (os error 2)`.
fn without_number(what: &str) -> Cow<'_, str> {
    match what.split_once(" (os error ") {
        Some((words, rest)) => {
            let after = rest.split_once(')').map_or("", |(_, after)| after);
            Cow::Owned(format!("{words}{after}"))
        }
        None => Cow::Borrowed(what),
    }
}

/// Text that may come from outside, for a terminal: escaped and bounded; lines after the first are indented.
fn quoted(text: &str, most: usize) -> String {
    // Shortened before as well: escaping 10 MB is not free.
    let short = shortened(text, most);
    let mut told = String::new();
    for (number, line) in short.lines().enumerate() {
        let indent = if line.starts_with(' ') { "\n" } else { "\n       " };
        told += if number == 0 { "" } else { indent };
        told += &escaped(line.trim_end());
    }
    shortened(&told, most).into_owned()
}

fn render_scenario_error(error: &ScenarioError) -> String {
    let location = match &error.location {
        Location::File(excerpt) => render_excerpt(excerpt),
        Location::Argument(argument) => format!("  --> in `{}`\n", quoted(argument, LONGEST_PLACE)),
        Location::Missing(file) => format!("  --> {}\n", quoted(file, LONGEST_PLACE)),
    };
    render(&error.what, &location, &error.hint)
}

/// The line of the file, with carets below what is at fault.
fn render_excerpt(excerpt: &Excerpt) -> String {
    let number = excerpt.line.to_string();
    let margin = " ".repeat(number.len());
    let piece = |from: usize, count: usize| -> String {
        excerpt.text.chars().skip(from).take(count).collect()
    };
    // Tabs stay tabs below, so that the caret stands under what it points at.
    let before = piece(0, excerpt.before);
    let indent: String =
        escaped_lines(&before).chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let width = escaped_lines(&piece(excerpt.before, excerpt.width)).chars().count().max(1);
    format!(
        "{margin}--> {}:{}:{}\n{margin} |\n{number} | {}\n{margin} | {indent}{}\n",
        quoted(&excerpt.file, LONGEST_PLACE),
        excerpt.line,
        excerpt.column,
        escaped_lines(&excerpt.text),
        "^".repeat(width)
    )
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Workbench(error.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if matches!(error, Error::Engine(EngineError::Cancelled)) {
            Self::Interrupted("a run was stopped".to_owned())
        } else {
            Self::Workbench(error)
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
            Self::with_hint(
                format!("cannot write: {}", file_error::reason(&error)),
                "write to another place, such as > /tmp/out",
            )
        }
    }
}
