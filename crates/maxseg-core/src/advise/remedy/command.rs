//! A change with the commands that look and that make it.

use std::fmt::Display;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::linux;
use crate::advise::{Change, HostSystem, System};

/// A change with the commands that look and that make it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remedy {
    /// The change, in the imperative: `let 10.0.0.2 offer a window of 1 MiB`.
    pub change: String,
    /// Its commands of every system: those that only look first, then those that change, the best first.
    pub commands: Vec<Command>,
    /// What a capture shows where no command does; a clause.
    pub wanted: Option<String>,
    /// What to consider before making the change.
    pub note: Option<String>,
    /// The change as a scenario can express it; empty where none can.
    pub what_if: Vec<Change>,
    /// What its commands set, or what it asks for; `None` where it only looks, or is about a program.
    pub advises: Option<Change>,
}

/// Whether a command changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandKind {
    /// It only shows what decides about the change.
    Look,
    /// It makes the change, and nothing where that is made already.
    Change,
}

/// A command of an operating system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Command {
    /// Whether it changes anything.
    pub kind: CommandKind,
    /// The operating system.
    pub system: System,
    /// Whether the host it is for probably runs that system; false where the host is unknown, or a hop.
    pub fits_host: bool,
    /// The host to run it on: an address, or its role.
    pub on: String,
    /// The command line.
    pub line: String,
    /// The command that takes the change back, where that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The condition for running it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_where: Option<String>,
}

/// A host that a command is for: its address or role, and its system where that is known.
#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) name: String,
    system: System,
}

impl Host {
    pub(super) fn new(address: IpAddr, system: &HostSystem) -> Self {
        Self { name: address.to_string(), system: system.name }
    }

    /// Whether words of Linux may be those of its settings.
    pub(super) fn may_be_linux(&self) -> bool {
        self.system.may_be_linux()
    }

    /// What its counters show where its send buffer is full: a clause.
    pub(super) fn shows_full_buffer(&self) -> String {
        let sign = if self.system.may_be_linux() { "`sndbuf_limited`" } else { "a full buffer" };
        format!("{} shows {sign}", self.system.sender_state(&self.name))
    }

    /// A host of which the system is known.
    pub(super) fn of_system(name: impl Into<String>, system: System) -> Self {
        Self { name: name.into(), system }
    }

    /// A host by its role on the path: its system is not known.
    pub(super) fn role(role: &str) -> Self {
        Self { name: role.to_owned(), system: System::Unknown }
    }
}

impl Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.name)
    }
}

impl Remedy {
    /// The change with a capital letter.
    pub fn sentence(&self) -> String {
        let mut letters = self.change.chars();
        let first = letters.next().map(char::to_uppercase);
        first.map_or_else(String::new, |first| first.chain(letters).collect())
    }

    /// The commands for the systems that the hosts probably run; at most one for each thing to do.
    pub fn for_hosts(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.fits_host)
    }

    /// Without the commands that change something.
    #[must_use]
    pub(in crate::advise) fn only_looks(mut self) -> Self {
        self.commands.retain(|command| command.kind == CommandKind::Look);
        self.advises = None;
        self
    }

    pub(super) fn new(change: impl Into<String>) -> Self {
        Self { change: change.into(), ..Self::default() }
    }

    /// Adds a command that only looks, before every one that changes something.
    pub(super) fn look(self, system: System, on: &Host, line: impl Into<String>) -> Self {
        self.command(CommandKind::Look, system, on, line.into())
    }

    /// Adds a command that changes something. It must be safe as it stands: it lowers no limit, and drops no attribute.
    pub(super) fn change(self, system: System, on: &Host, line: impl Into<String>) -> Self {
        self.command(CommandKind::Change, system, on, line.into())
    }

    fn command(mut self, kind: CommandKind, system: System, on: &Host, line: String) -> Self {
        self.commands.push(Command {
            kind,
            system,
            fits_host: on.system == system,
            on: on.name.clone(),
            line,
            undo: None,
            only_where: None,
        });
        self.commands.sort_by_key(|command| command.kind);
        self
    }

    /// Binds the last command to a condition.
    pub(super) fn only_where(mut self, condition: impl Into<String>) -> Self {
        if let Some(command) = self.commands.last_mut() {
            command.only_where = Some(condition.into());
        }
        self
    }

    /// Binds every command that changes something, and has no condition yet, to one.
    pub(super) fn changes_only_where(mut self, condition: &str) -> Self {
        for command in self.commands.iter_mut().filter(|it| it.kind == CommandKind::Change) {
            command.only_where.get_or_insert_with(|| condition.to_owned());
        }
        self
    }

    /// Adds what takes the last command back.
    pub(super) fn undo(mut self, line: impl Into<String>) -> Self {
        if let Some(command) = self.commands.last_mut() {
            command.undo = Some(line.into());
        }
        self
    }

    /// Gives the route of Linux to one host an attribute more, under a condition where there is one.
    pub(super) fn linux_route(
        self,
        on: &Host,
        to: IpAddr,
        attribute: &str,
        condition: Option<&str>,
    ) -> Self {
        let version = to.into();
        let is_by_tune = linux::is_taken_by_tune(version, attribute);
        let mut remedy = self;
        if is_by_tune {
            remedy = remedy
                .linux(on, linux::tune_route(version, to, attribute))
                .undo(linux::TUNE_UNDO)
                .only_where_all(&[condition]);
        }
        remedy
            .linux(on, linux::add_host_route(version, to, attribute))
            .undo(linux::delete_host_route(version, to))
            .only_where_all(&[condition, is_by_tune.then_some(linux::WITHOUT_TUNE)])
    }

    /// Binds the last command to those of several conditions that there are.
    fn only_where_all(self, conditions: &[Option<&str>]) -> Self {
        let conditions: Vec<&str> = conditions.iter().copied().flatten().collect();
        if conditions.is_empty() { self } else { self.only_where(conditions.join(", and ")) }
    }

    pub(super) fn look_linux(self, on: &Host, line: impl Into<String>) -> Self {
        self.look(System::Linux, on, line)
    }

    pub(super) fn linux(self, on: &Host, line: impl Into<String>) -> Self {
        self.change(System::Linux, on, line)
    }

    /// What a capture shows where no command does.
    pub(super) fn wanted(mut self, capture: impl Into<String>) -> Self {
        self.wanted = Some(capture.into());
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub(super) fn what_if(mut self, change: Change) -> Self {
        self.what_if.push(change);
        self
    }

    /// What its commands set, or what it asks for.
    pub(super) const fn advises(mut self, change: Change) -> Self {
        self.advises = Some(change);
        self
    }

    /// The change that is run, and is also what it advises.
    pub(super) fn tries(self, change: Change) -> Self {
        self.what_if(change).advises(change)
    }
}
