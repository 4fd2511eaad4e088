//! A change with the commands that make it.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advise::Change;

/// A change with the commands that make it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remedy {
    /// The change, in the imperative: `let 10.0.0.2 offer a window of 1 MiB`.
    pub change: String,
    /// Its commands, the best first.
    pub commands: Vec<Command>,
    /// What to consider before making the change.
    pub note: Option<String>,
    /// The change as a scenario can express it; empty where none can.
    pub what_if: Vec<Change>,
}

/// A command of an operating system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Command {
    /// The operating system.
    pub system: System,
    /// The host to run it on: an address, or its role.
    pub on: String,
    /// The command line.
    pub line: String,
    /// The condition for running it: otherwise the command would lower a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_where: Option<String>,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// Linux.
    Linux,
    /// FreeBSD.
    FreeBsd,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// Its name as its maker writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::FreeBsd => "FreeBSD",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
        }
    }
}

impl Remedy {
    /// The change with a capital letter.
    pub fn sentence(&self) -> String {
        let mut letters = self.change.chars();
        let first = letters.next().map(char::to_uppercase);
        first.map_or_else(String::new, |first| first.chain(letters).collect())
    }

    pub(super) fn new(change: impl Into<String>) -> Self {
        Self { change: change.into(), ..Self::default() }
    }

    pub(super) fn command(
        mut self,
        system: System,
        on: impl Display,
        line: impl Into<String>,
    ) -> Self {
        self.commands.push(Command {
            system,
            on: on.to_string(),
            line: line.into(),
            only_where: None,
        });
        self
    }

    /// Binds the last command to a condition.
    pub(super) fn only_where(mut self, condition: impl Into<String>) -> Self {
        if let Some(command) = self.commands.last_mut() {
            command.only_where = Some(condition.into());
        }
        self
    }

    pub(super) fn linux(self, on: impl Display, line: impl Into<String>) -> Self {
        self.command(System::Linux, on, line)
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub(super) fn what_if(mut self, change: Change) -> Self {
        self.what_if.push(change);
        self
    }
}
