//! The state of a persistent lab: network, relays, and the scenario as it is now.

use std::io;

use maxseg_core::scenario::{Draft, LabBackend, Scenario};

use super::{LabStatus, address, status};
use crate::lab::error::LabError;
use crate::lab::feasible;
use crate::lab::flows::congestion_of;
use crate::lab::host::{get, set};
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
        let relays = Relays::start(&scenario, network.tun_pairs(), clock, |_, _| None)?;
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
            notes: self.notes.clone(),
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

/// The notes of a status: each error with its hint.
pub(super) fn notes(errors: &[LabError]) -> Vec<String> {
    let note = |error: &LabError| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    errors.iter().map(note).collect()
}
