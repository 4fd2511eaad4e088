//! How to make a change, by system.

mod historic;
mod linux;
mod others;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::ends::Ends;
use crate::advise::change::has_route_sizes;
use crate::advise::data_flow::data_hosts;
use crate::advise::{Change, CommandKind};
use crate::scenario::Scenario;
use crate::units::{Mss, Mtu};

/// Ways to make a change by system: `linux`, `freebsd`, `macos`, `windows`, `open-transport`, `stcp`; the best first, after
/// what only looks.
pub type Commands = BTreeMap<&'static str, Vec<HowTo>>;

/// One way to make a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HowTo {
    /// Whether it changes anything.
    pub kind: CommandKind,
    /// What it is: a line of a shell, of systemd-networkd's file of the interface, a call in a program, or an entry of a settings
    /// file.
    pub form: Form,
    /// The host to make it on: an address, or its role.
    pub on: String,
    /// The line. A word in capitals such as `RECEIVER` stands for the address of a described host.
    pub line: String,
    /// What takes it back, where that is one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The condition for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_where: Option<String>,
    /// Whether it acts only together with the line behind it; left out where it acts alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_next: bool,
    /// How it is known to work.
    pub known: Ran,
}

/// What a line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A shell.
    Shell,
    /// systemd-networkd's file of the interface.
    Networkd,
    /// A program.
    Setsockopt,
    /// A settings file or a panel.
    Settings,
}

/// How a command is known to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Ran {
    /// The tests run it on the Linux that they run on.
    #[serde(rename = "ran on Linux 6.18")]
    Linux618,
    /// From the system's documentation; no test runs it.
    #[serde(rename = "from documentation")]
    Documentation,
}

impl Ran {
    /// As documents and pages have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Linux618 => "ran on Linux 6.18",
            Self::Documentation => "from documentation",
        }
    }
}

/// Lines of one system.
#[derive(Default)]
struct Lines {
    lines: Vec<HowTo>,
}

impl Lines {
    /// A line as the documentation has it.
    fn add(&mut self, kind: CommandKind, form: Form, on: &str, line: String) -> &mut HowTo {
        self.lines.push(HowTo {
            kind,
            form,
            on: on.to_owned(),
            line,
            undo: None,
            only_where: None,
            with_next: false,
            known: Ran::Documentation,
        });
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    fn look(&mut self, on: &str, line: impl Into<String>) {
        self.add(CommandKind::Look, Form::Shell, on, line.into());
    }

    fn change(&mut self, on: &str, line: impl Into<String>) -> &mut HowTo {
        self.add(CommandKind::Change, Form::Shell, on, line.into())
    }

    /// Looks first, then changes in their order.
    fn sorted(mut self) -> Vec<HowTo> {
        self.lines.sort_by_key(|line| line.kind);
        self.lines
    }
}

/// How to make `change`, on every system that has a way.
pub(super) fn commands(
    change: Change,
    ends: &Ends,
    scenario: &Scenario,
    is_raise: bool,
) -> Commands {
    let case = Case { change, ends, scenario, is_raise };
    let mut all = Commands::new();
    let systems = [
        ("linux", linux::lines(&case)),
        ("freebsd", others::free_bsd(&case)),
        ("macos", others::mac_os(&case)),
        ("windows", others::windows(&case)),
        ("open-transport", historic::open_transport(&case)),
        ("stcp", historic::stcp(&case)),
    ];
    for (system, lines) in systems {
        if !lines.is_empty() {
            all.insert(system, lines);
        }
    }
    all
}

/// A change for which lines are written.
struct Case<'a> {
    change: Change,
    ends: &'a Ends,
    scenario: &'a Scenario,
    is_raise: bool,
}

impl Case<'_> {
    fn sender(&self) -> (String, String) {
        (self.ends.sender.to_string(), self.ends.receiver.for_commands())
    }

    fn receiver(&self) -> (String, String) {
        (self.ends.receiver.to_string(), self.ends.sender.for_commands())
    }

    /// Whether sizes of a route replace those of the sockets' buffers (FreeBSD 2.2.5).
    fn has_route_sizes(&self) -> bool {
        data_hosts(self.scenario).into_iter().any(has_route_sizes)
    }

    /// IP and TCP headers without options, in bytes.
    fn headers(&self) -> u64 {
        self.scenario.tcp_ip_headers().get()
    }

    /// The largest packet with segments of this MSS.
    fn packet_of(&self, mss: Mss) -> u64 {
        u64::from(mss.get()) + self.headers()
    }

    /// The MSS of packets of this size.
    fn mss_of(&self, mtu: Mtu) -> u64 {
        u64::from(mtu.get()).saturating_sub(self.headers())
    }
}
