//! What can be tuned of TCP on Linux: each setting with its meaning, range, scope, and whether it acts on running
//! connections. Data files (`crates/maxseg-core/tunables/`), checked against the running kernel by `maxseg-linux`'s tests.

mod range;
mod retired;
mod words;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use range::{Range, ValueError};
pub use retired::retired;
pub use words::{Acts, ActsBy, ChildNamespace, Scope, Unit};

use crate::similar::closest;

/// A setting of the kernel, a route, an interface or a socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tunable {
    /// As `sysctl.net.ipv4.tcp_rmem`, `route.mtu`, `interface.mtu`, `socket.rcvbuf` or `clamp`.
    pub name: String,
    /// What it does, in sentences.
    pub meaning: String,
    /// Unit of its numbers, the kernel's own.
    pub unit: Unit,
    /// What each of several numbers is; empty of a single one.
    #[serde(default)]
    pub items: Vec<String>,
    /// What it acts on.
    pub scope: Scope,
    /// When it acts.
    pub acts: Acts,
    /// How that is known.
    pub acts_by: ActsBy,
    /// What `acts` leaves out.
    pub acts_note: Option<String>,
    /// The values that it takes.
    pub range: Range,
    /// Whether the kernel itself refuses numbers outside of the range.
    #[serde(default)]
    pub enforced: bool,
    /// As the kernel has it when nobody has set it; `None` where that depends on the machine.
    pub default: Option<String>,
    /// What the default depends on.
    pub default_note: Option<String>,
    /// Whether the default is another one with other memory, or of other kernels: then no other value is known to be a change.
    #[serde(default)]
    pub default_varies: bool,
    /// The first Linux that has it; `None` for all that matter.
    pub since: Option<String>,
    /// What it is in network namespaces other than the first.
    #[serde(default)]
    pub child_namespace: ChildNamespace,
    /// Names of tunables to look at beside it.
    pub coupled_with: Vec<String>,
    /// What can go wrong.
    pub risk: String,
    /// What stays after its value has been restored.
    pub leaves_behind: Option<String>,
    /// The same on FreeBSD; `None` where no such setting is known.
    pub freebsd: Option<String>,
    /// The same on macOS.
    pub macos: Option<String>,
    /// The same on Windows.
    pub windows: Option<String>,
    /// The same on Open Transport, STCP, `TCP_OS` and older BSD.
    pub historic: Option<String>,
    /// Kernel files, manual pages, RFCs.
    pub source: Vec<String>,
}

/// A name that no tunable has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no tunable `{asked}`")]
pub struct TunableError {
    /// The name that was asked for.
    pub asked: String,
    /// A name that it may have meant.
    pub similar: Option<&'static str>,
}

impl TunableError {
    /// How to mend it.
    pub fn hint(&self) -> String {
        match self.similar {
            Some(similar) => format!("did you mean `{similar}`? `maxseg tune list` lists all"),
            None => "`maxseg tune list` lists them".to_owned(),
        }
    }
}

/// The data files, in the order in which they are listed.
const FILES: [&str; 7] = [
    include_str!("../../tunables/routes.toml"),
    include_str!("../../tunables/segment_size.toml"),
    include_str!("../../tunables/windows.toml"),
    include_str!("../../tunables/sending.toml"),
    include_str!("../../tunables/timers.toml"),
    include_str!("../../tunables/opening.toml"),
    include_str!("../../tunables/sockets.toml"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataFile {
    tunable: Vec<Tunable>,
}

/// Every tunable, in the order in which they are listed.
///
/// # Panics
/// Never: that every data file is well formed is tested.
pub fn tunables() -> &'static [Tunable] {
    static ALL: LazyLock<Vec<Tunable>> = LazyLock::new(|| {
        let read = |text| toml::from_str::<DataFile>(text).expect("a data file is well formed");
        FILES.into_iter().flat_map(|text| read(text).tunable).collect()
    });
    &ALL
}

/// The tunable called `name`: by its full name, without `sysctl.` or down to the last word of a sysctl, or as a target of
/// `maxseg tune apply` (`route.10.0.0.0/8.mtu`).
///
/// # Errors
/// [`TunableError`], with a similar name where there is one.
pub fn tunable(name: &str) -> Result<&'static Tunable, TunableError> {
    let name = name.trim();
    find(name).ok_or_else(|| {
        let names = || tunables().iter().flat_map(Tunable::names);
        let similar = closest(name, names()).or_else(|| closest(&general_name(name), names()));
        TunableError { asked: name.to_owned(), similar: similar.map(full_name) }
    })
}

/// The same, without a look for a similar name where there is none.
pub(crate) fn find(name: &str) -> Option<&'static Tunable> {
    let general = general_name(name);
    let is_called = |tunable: &&Tunable| tunable.name == name || tunable.name == general;
    let ends_so = |tunable: &&Tunable| tunable.short_name() == name;
    let all = tunables().iter();
    all.clone().find(is_called).or_else(|| all.clone().find(ends_so))
}

/// The name under which the catalogue has what a target sets: without the prefix, interface or socket.
fn general_name(target: &str) -> String {
    match target.split_once('.') {
        Some((kind @ ("route" | "interface" | "socket"), rest)) => {
            let word = rest.rsplit_once('.').map_or(rest, |(_, word)| word);
            format!("{kind}.{word}")
        }
        Some(("clamp", _)) => "clamp".to_owned(),
        Some(("sysctl", name)) => format!("sysctl.{}", name.replace('/', ".")),
        _ => format!("sysctl.{}", target.replace('/', ".")),
    }
}

/// The name of the tunable that is also called `name`.
fn full_name(name: &str) -> &'static str {
    let of = tunables().iter().find(|tunable| tunable.names().contains(&name));
    of.map_or("", |tunable| tunable.name.as_str())
}

impl Tunable {
    /// The name of its sysctl, as `net.ipv4.tcp_rmem`; `None` of what is none.
    pub fn sysctl(&self) -> Option<&str> {
        self.name.strip_prefix("sysctl.")
    }

    /// The last word of a sysctl or an option.
    pub fn short_name(&self) -> &str {
        let Some(name) = self.sysctl() else {
            return self.name.strip_prefix("socket.").unwrap_or(&self.name);
        };
        // `route.mtu_expires` of IPv6 is not that of IPv4.
        name.strip_prefix("net.ipv4.").or_else(|| name.strip_prefix("net.core.")).unwrap_or(name)
    }

    /// Every name that finds it.
    fn names(&self) -> [&str; 3] {
        [&self.name, self.sysctl().unwrap_or(&self.name), self.short_name()]
    }

    /// Whether it takes this value: the right number of items, each inside of the range.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, value: &str) -> Result<(), ValueError> {
        self.range.check(value, &self.items)
    }

    /// Whether a value is the default; `None` where the default depends on the machine.
    pub fn is_default(&self, value: &str) -> Option<bool> {
        let default = self.default.as_deref()?;
        let is_it = value.split_whitespace().eq(default.split_whitespace());
        (is_it || !self.default_varies).then_some(is_it)
    }
}

#[cfg(test)]
mod tests;
