//! The state of a persistent lab: network, relays, and the scenario as it is now.

use std::io;

use maxseg_core::engine::EngineError;
use maxseg_core::scenario::{Draft, LabBackend, Scenario, ScenarioError};

use super::{LabStatus, address, status};
use crate::lab::failure::LabError;
use crate::lab::feasible;
use crate::lab::flows::congestion_of;
use crate::lab::host::set;
use crate::lab::network::Network;
use crate::lab::relays::Relays;
use crate::lab::topology::settings_at;
use crate::sys::{Clock, ControlListener};

/// A lab that stays as long as this value.
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
    /// Makes the hosts and links of a scenario, in this process.
    ///
    /// # Errors
    /// There is a lab of this name, the scenario is wrong, or this machine or this user may not.
    pub fn up(name: &str, draft: Draft) -> Result<Self, EngineError> {
        let listener =
            ControlListener::new(&address(name)?).map_err(|error| taken(name, &error))?;
        let scenario = draft.scenario().map_err(wrong)?;
        if scenario.lab.backend == LabBackend::Netem {
            return Err(EngineError::Unable {
                what: "a lab that stays has links of this program, not netem's".to_owned(),
                hint: Some("leave `lab.backend` out".to_owned()),
            });
        }
        feasible::mtus(&scenario)?;
        let network = Network::build(&scenario)?;
        let clock = Clock::start();
        let relays = Relays::start(&scenario, network.tun_pairs(), clock, |_, _| None)?;
        let notes = set_congestion(&network, &scenario);
        let drops_before = network.drops()?;
        let name = name.to_owned();
        Ok(Self { name, draft, scenario, network, relays, notes, listener, clock, drops_before })
    }

    /// How it is.
    ///
    /// # Errors
    /// A link's thread has ended.
    pub fn status(&self) -> Result<LabStatus, EngineError> {
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

    /// Whether its links carry packets.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        self.relays.check().map_err(|error| EngineError::Unable {
            what: format!("a link of the lab `{}` has failed: {error}", self.name),
            hint: Some("take the lab down, and up again".to_owned()),
        })
    }
}

fn taken(name: &str, error: &io::Error) -> EngineError {
    if error.kind() != io::ErrorKind::AddrInUse {
        return EngineError::Unable { what: format!("the lab `{name}`: {error}"), hint: None };
    }
    EngineError::Unable {
        what: format!("a lab called `{name}` is up already"),
        hint: Some(format!(
            "`maxseg lab down --name {name}` ends it; --name gives this one another name"
        )),
    }
}

/// A scenario's fault in the words of the lab.
pub(super) fn wrong(error: ScenarioError) -> EngineError {
    let what =
        if error.key.is_empty() { error.what } else { format!("{}: {}", error.key, error.what) };
    EngineError::Unable { what, hint: error.hint }
}

/// What connections begin with in each host, as far as the kernel lets a namespace have it. Gives what it did
/// not.
pub(super) fn set_congestion(network: &Network, scenario: &Scenario) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, host) in network.hosts.iter().enumerate() {
        let Some((_, settings)) = settings_at(scenario, index) else { continue };
        let name = congestion_of(settings);
        let done: Result<(), LabError> = host.inside(|| set("ipv4/tcp_congestion_control", name));
        if done.is_err() {
            notes.push(format!(
                "{}: this kernel lets no namespace begin connections with {name}; programs may choose it per socket",
                host.name
            ));
        }
    }
    notes
}
