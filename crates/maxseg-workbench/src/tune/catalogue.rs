//! The catalogue of tunables beside what this host has: the current value, and who set it, where that can be known.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use maxseg_core::tunables::{Tunable, tunables};
use maxseg_linux::observe::host::sysctl;

use super::sysctl_files::{FileSetting, file_settings};

/// A tunable, as this host has it.
#[derive(Debug, Clone)]
pub struct Listed {
    /// What it is.
    pub tunable: &'static Tunable,
    /// What it is set to.
    pub current: Current,
    /// Whether that is another value than the kernel's own; `None` where the default depends on the machine.
    pub is_modified: Option<bool>,
    /// The lines of this host's files that set it, those that hold when the machine has started last.
    pub files: Vec<FileSetting>,
}

/// The current value of a tunable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// The value.
    Value(String),
    /// It is not there, or this user may not read it: why.
    Unknown(String),
    /// Each interface has its own: name and value.
    Each(Vec<(String, String)>),
    /// Each route, interface or socket has its own, or none.
    ByTarget,
}

/// Every tunable, as this namespace has it.
pub fn listed() -> Vec<Listed> {
    let files = file_settings(Path::new("/"));
    tunables().iter().map(|tunable| of(tunable, &files)).collect()
}

/// One tunable, as this namespace has it.
pub fn listed_one(tunable: &'static Tunable) -> Listed {
    of(tunable, &file_settings(Path::new("/")))
}

fn of(tunable: &'static Tunable, files: &BTreeMap<String, Vec<FileSetting>>) -> Listed {
    let current = current(tunable);
    let is_modified = match &current {
        Current::Value(value) => tunable.is_default(value).map(|is_default| !is_default),
        Current::Unknown(_) | Current::Each(_) | Current::ByTarget => None,
    };
    let files = tunable.sysctl().and_then(|name| files.get(name)).cloned().unwrap_or_default();
    Listed { tunable, current, is_modified, files }
}

fn current(tunable: &Tunable) -> Current {
    match tunable.sysctl() {
        Some(name) => match sysctl(name) {
            Ok(value) => Current::Value(value),
            Err(error) => Current::Unknown(why_not(tunable, &error)),
        },
        None if tunable.name == "interface.mtu" => Current::Each(interface_mtus()),
        None => Current::ByTarget,
    }
}

fn why_not(tunable: &Tunable, error: &io::Error) -> String {
    match (error.kind(), &tunable.since) {
        (io::ErrorKind::NotFound, Some(since)) => {
            format!("not here: it is of Linux {since}, and not in every namespace")
        }
        (io::ErrorKind::NotFound, None) => {
            "not here: this kernel, or this namespace, does not have it".to_owned()
        }
        _ => format!("unknown: {}", crate::file_error::reason(error)),
    }
}

/// The MTUs of the namespace's interfaces: /sys shows those of the namespace in which it was mounted, netlink those of this one.
fn interface_mtus() -> Vec<(String, String)> {
    let interfaces = maxseg_linux::observe::host::interface_mtus().unwrap_or_default();
    interfaces.into_iter().map(|(name, mtu)| (name, mtu.to_string())).collect()
}

impl Listed {
    /// Whether the last line that sets it gives the current value; `None` where no file does.
    pub fn holds(&self) -> Option<bool> {
        let last = self.files.last()?;
        match &self.current {
            Current::Value(value) => {
                Some(value.split_whitespace().eq(last.value.split_whitespace()))
            }
            Current::Unknown(_) | Current::Each(_) | Current::ByTarget => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tunable_is_listed_with_what_this_host_has() {
        let all = listed();
        assert_eq!(all.len(), tunables().len());
        let of = |name: &str| all.iter().find(|one| one.tunable.name == name).unwrap();
        assert!(matches!(of("sysctl.net.ipv4.tcp_rmem").current, Current::Value(_)));
        assert!(matches!(of("socket.rcvbuf").current, Current::ByTarget));
        let Current::Each(mtus) = &of("interface.mtu").current else { panic!("of each interface") };
        assert!(mtus.iter().any(|(name, _)| name == "lo"), "{mtus:?}");
    }
}
