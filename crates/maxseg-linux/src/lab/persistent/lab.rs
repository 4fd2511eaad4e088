//! The state of a persistent lab: network, relays, and the scenario as it is now.

use std::io;

use maxseg_core::scenario::{Draft, LabBackend, Scenario};

use super::{LabStatus, address, status};
use crate::lab::error::LabError;
use crate::lab::feasible;
use crate::lab::flows::congestion_of;
use crate::lab::header_limits;
use crate::lab::host::{get, set};
use crate::lab::host_setup::{bounded_by_the_kernel, left_to_the_kernel};
use crate::lab::network::Network;
use crate::lab::relays::Relays;
use crate::lab::topology::settings_at;
use crate::sys::{Clock, ControlListener};

/// A lab that exists as long as this value. Its namespaces and interfaces live in file descriptors of this process.
#[derive(Debug)]
pub struct PersistentLab {
    pub(super) name: String,
    pub(super) draft: Draft,
    pub(super) scenario: Scenario,
    pub(super) network: Network,
    pub(super) relays: Relays,
    pub(super) notes: Vec<String>,
    pub(super) listener: ControlListener,
    clock: Clock,
    drops_before: u64,
}

impl PersistentLab {
    /// Builds the hosts and links of a scenario in this process.
    ///
    /// # Errors
    /// A lab of this name is up, the scenario is wrong, or the kernel refuses a part of it.
    pub fn up(name: &str, draft: Draft) -> Result<Self, LabError> {
        let listener = ControlListener::new(&address(name)?).map_err(|error| taken(name, error))?;
        let scenario = draft.scenario()?;
        if scenario.lab.backend == LabBackend::Netem {
            return Err(LabError::PersistentNetem);
        }
        feasible::mtus(&scenario)?;
        let mut network = Network::build(&scenario)?;
        let clock = Clock::start();
        let relays = Relays::start(
            &scenario,
            network.tun_pairs(),
            clock,
            header_limits::of_any_program,
            |_, _| None,
        )?;
        let notes = notes(&set_congestion(&mut network, &scenario));
        let drops_before = network.drops()?;
        let name = name.to_owned();
        Ok(Self { name, draft, scenario, network, relays, notes, listener, clock, drops_before })
    }

    /// Hosts, addresses and link counters.
    ///
    /// # Errors
    /// A relay thread has ended.
    pub fn status(&self) -> Result<LabStatus, LabError> {
        self.check()?;
        let reports = self.relays.reports()?;
        let of_relay: u64 = reports.iter().flatten().map(|report| report.meter.kernel_drops).sum();
        let kernel_drops = self.network.drops()?.saturating_sub(self.drops_before) + of_relay;
        Ok(LabStatus {
            name: self.name.clone(),
            scenario: self.scenario.name.clone(),
            process: std::process::id(),
            up_s: self.clock.now().as_secs_f64(),
            hosts: status::hosts(&self.scenario, &self.network),
            links: status::links(&self.scenario, &reports),
            lateness: status::lateness(&reports),
            kernel_drops,
            relay_cpu_s: reports.iter().flatten().map(|report| report.cpu.as_secs_f64()).sum(),
            notes: self.notes.iter().cloned().chain(settings_notes(&self.scenario)).collect(),
        })
    }

    /// Whether all relay threads run.
    pub(super) fn check(&self) -> Result<(), LabError> {
        self.relays.check().map_err(|error| LabError::LinkFailed {
            lab: self.name.clone(),
            error: Box::new(error),
        })
    }
}

fn taken(name: &str, error: io::Error) -> LabError {
    if error.kind() == io::ErrorKind::AddrInUse {
        return LabError::AlreadyUp(name.to_owned());
    }
    LabError::Connection { name: name.to_owned(), error }
}

/// Makes the scenario's congestion control the default of each end host's namespace, or, where the kernel allows no
/// namespace to have it (`tcp_set_default_congestion_control`, `net/ipv4/tcp_cong.c`), that of the host's routes, which
/// programs cannot change. Gives the hosts with such routes, and those where the kernel has neither.
pub(super) fn set_congestion(network: &mut Network, scenario: &Scenario) -> Vec<LabError> {
    let ends = (0..network.hosts.len()).filter_map(|index| {
        let (_, settings) = settings_at(scenario, index)?;
        Some((index, congestion_of(settings)))
    });
    let ends: Vec<(usize, &'static str)> = ends.collect();
    ends.into_iter()
        .filter_map(|(index, wanted)| set_congestion_at(network, scenario, index, wanted))
        .collect()
}

fn set_congestion_at(
    network: &mut Network,
    scenario: &Scenario,
    index: usize,
    wanted: &'static str,
) -> Option<LabError> {
    const DEFAULT: &str = "ipv4/tcp_congestion_control";
    let set = network.hosts[index].namespace.run(|| set(DEFAULT, wanted));
    let of_routes = set.is_err().then_some(wanted);
    let routed = network.set_congctl(scenario, index, of_routes);
    let error = set.err()?;
    let host = &network.hosts[index];
    let used = host.namespace.run(|| get(DEFAULT));
    Some(LabError::DefaultCongestion {
        host: host.name.clone(),
        wanted: wanted.to_owned(),
        used: match routed {
            Ok(()) => None,
            Err(_) => Some(used.unwrap_or_else(|_| "the kernel's default".to_owned())),
        },
        allowed: get("ipv4/tcp_allowed_congestion_control").unwrap_or_default(),
        error: io::Error::from(error.kind()),
    })
}

/// The first of `errors` that leaves a host without the scenario's congestion control.
pub(super) fn unmet(errors: Vec<LabError>) -> Option<LabError> {
    errors
        .into_iter()
        .find(|error| !matches!(error, LabError::DefaultCongestion { used: None, .. }))
}

/// The notes of a status: each error with its hint; hosts with the same one together.
pub(super) fn notes(errors: &[LabError]) -> Vec<String> {
    let note = |error: &LabError| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    let notes: Vec<String> = errors.iter().map(note).collect();
    let pairs = notes.iter().map(|note| note.split_once(": ").unwrap_or(("", note)));
    of_hosts(pairs.map(|(host, what)| (host, what.to_owned())))
}

/// `HOST: WHAT`, once for all hosts of which the same is said: the others are named behind it.
fn of_hosts<'a>(said: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut notes: Vec<(Vec<&str>, String)> = Vec::new();
    for (host, what) in said {
        match notes.iter_mut().find(|(_, known)| *known == what) {
            Some((hosts, _)) => hosts.push(host),
            None => notes.push((vec![host], what)),
        }
    }
    let line = |(hosts, what): (Vec<&str>, String)| match hosts.as_slice() {
        [first, others @ ..] if !others.is_empty() => {
            format!("{first}: {what} ({} too)", others.join(", "))
        }
        hosts => format!("{}: {what}", hosts.concat()),
    };
    notes.into_iter().map(line).collect()
}

/// What the hosts' settings ask for and this lab does otherwise.
fn settings_notes(scenario: &Scenario) -> Vec<String> {
    let ends = [("sender", &scenario.sender), ("receiver", &scenario.receiver)];
    let bounds = ends.into_iter().flat_map(|(host, settings)| {
        bounded_by_the_kernel(settings).into_iter().map(move |what| (host, what))
    });
    without_effect(scenario).into_iter().chain(of_hosts(bounds)).collect()
}

/// Keys of the hosts that this kernel decides for itself, and those that only a run's own programs heed.
fn without_effect(scenario: &Scenario) -> Vec<String> {
    let ends = [("sender", &scenario.sender), ("receiver", &scenario.receiver)];
    let said = ends.into_iter().filter_map(|(host, settings)| {
        let mut keys = left_to_the_kernel(settings);
        keys.extend(settings.mss_option.is_some().then_some("mss_option"));
        keys.extend(settings.read_rate.is_some().then_some("read_rate"));
        let what = format!("keys without effect in this lab: {}", keys.join(", "));
        (!keys.is_empty()).then_some((host, what))
    });
    of_hosts(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_without_effect_are_told_once_for_both_hosts() {
        let notes = |hosts: &str| {
            let text = format!("[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{hosts}");
            without_effect(&Scenario::from_toml("test", &text).unwrap())
        };
        assert_eq!(notes(""), Vec::<String>::new());
        assert_eq!(
            notes("[receiver]\nread_rate = \"1 Mbit/s\"\nmss_option = 1000\n"),
            ["receiver: keys without effect in this lab: mss_option, read_rate"]
        );
        let both = "packet_cost = \"1 ms\"\n";
        assert_eq!(
            notes(&format!("[sender]\n{both}[receiver]\n{both}")),
            ["sender: keys without effect in this lab: packet_cost (receiver too)"]
        );
    }

    #[test]
    fn what_is_the_same_at_several_hosts_is_said_once() {
        let error = |host: &str, used: Option<&str>| LabError::DefaultCongestion {
            host: host.to_owned(),
            wanted: "bbr".to_owned(),
            used: used.map(str::to_owned),
            allowed: "reno cubic".to_owned(),
            error: io::Error::from(io::ErrorKind::PermissionDenied),
        };
        let told =
            notes(&[error("sender", None), error("r1", Some("cubic")), error("receiver", None)]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("sender: its routes have bbr"), "{told:?}");
        assert!(told[0].ends_with(" (receiver too)"), "{told:?}");
        assert!(told[1].starts_with("r1: new connections use cubic"), "{told:?}");
    }
}
