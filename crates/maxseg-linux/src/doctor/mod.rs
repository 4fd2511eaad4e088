//! Checks whether the lab can run on this host, and what of its connections this user may see and change, with the commands
//! that fix what is missing.
//!
//! Each check tries the operation as this user, in a child process, since settings alone do not show whether it works.
//! The host is unchanged, except that the kernel may load a module (`tun`, `sch_netem`), as it would for the lab.

mod changes;
mod host;
mod live;
mod namespaces;
mod packets;
mod programs;
mod qdiscs;
mod tcp;
mod timing;
mod tun;

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;
use serde_json::Value;

pub use crate::sys::find_program;

/// The result of all checks.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// Version of this document; raised when a key changes its meaning or is removed.
    pub schema_version: u32,
    /// Whether the lab can run: no required check is missing.
    pub able: bool,
    /// The checks, in the order in which to fix them.
    pub checks: Vec<Check>,
}

/// A check of a requirement or an option of the lab.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Its name; stable.
    pub name: &'static str,
    /// The result.
    pub state: State,
    /// Whether the lab requires it.
    pub required: bool,
    /// Its purpose.
    pub purpose: &'static str,
    /// What was found, as text.
    pub found: String,
    /// Commands that fix it, in order; empty where nothing is wrong or no command helps.
    pub mend: Vec<String>,
    /// What was found, as values in base units, which the keys name.
    pub values: BTreeMap<&'static str, Value>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is available.
    Ok,
    /// It is available, but below what a lab can use.
    Limited,
    /// It is not available, or not permitted to this user.
    Missing,
}

impl Check {
    /// A check with the result `Ok`, which further calls may change.
    fn new(name: &'static str, purpose: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            required: false,
            purpose,
            found: found.into(),
            mend: Vec::new(),
            values: BTreeMap::new(),
        }
    }

    fn required(self) -> Self {
        Self { required: true, ..self }
    }

    fn state(self, state: State) -> Self {
        Self { state, ..self }
    }

    fn mend(self, commands: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { mend: commands.into_iter().map(Into::into).collect(), ..self }
    }

    fn value(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.values.insert(key, value.into());
        self
    }
}

impl Diagnosis {
    /// Runs all checks, in at most a second.
    pub fn here() -> Self {
        let host = host::Host::read();
        let (namespaces, way) = namespaces::check(&host);
        let mut checks = vec![host::kernel(&host), namespaces];
        checks.push(tun::device(way, &host));
        checks.push(tun::offload(way));
        checks.push(tcp::congestion(way, &host));
        checks.push(tcp::buffers());
        checks.push(tcp::memory());
        checks.push(host::cores());
        checks.push(timing::wake_up());
        checks.push(timing::clock_source());
        checks.push(qdiscs::check(way, &host));
        checks.push(packets::check());
        checks.extend(programs::check());
        checks.extend(live::check(&host));
        checks.extend(changes::check(&host));
        Self::of(checks)
    }

    fn of(checks: Vec<Check>) -> Self {
        let lacks = |check: &Check| check.required && check.state == State::Missing;
        Self { schema_version: 1, able: !checks.iter().any(lacks), checks }
    }
}

/// The trimmed text of a file; `None` where it cannot be read.
fn text_of(file: &str) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().to_owned())
}

/// A sysctl by its dotted name; `None` where this kernel does not have it.
fn sysctl(name: &str) -> Option<String> {
    text_of(&format!("/proc/sys/{}", name.replace('.', "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_runs_unless_something_required_is_missing() {
        let check = |required, state| {
            let check = Check::new("x", "y", "z").state(state);
            if required { check.required() } else { check }
        };
        let cases = [
            (vec![], true),
            (vec![check(false, State::Missing), check(true, State::Limited)], true),
            (vec![check(true, State::Ok), check(true, State::Missing)], false),
        ];
        for (checks, able) in cases {
            assert_eq!(Diagnosis::of(checks).able, able);
        }
    }

    #[test]
    fn whatever_machine_this_is_a_diagnosis_is_whole() {
        let diagnosis = Diagnosis::here();
        let names: Vec<&str> = diagnosis.checks.iter().map(|check| check.name).collect();
        let once: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(once.len(), names.len(), "{names:?}");
        for check in &diagnosis.checks {
            assert!(!check.found.is_empty() && !check.purpose.is_empty(), "{check:?}");
            assert!(check.state != State::Ok || check.mend.is_empty(), "{check:?}");
        }
    }
}
