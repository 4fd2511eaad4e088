//! The lab: hosts and links in network namespaces, and the real kernel's TCP between them.
//!
//! ```text
//! Scenario → Network (namespaces, interfaces, routes) → flows over sockets ─┬→ Outcome with its proof
//!                 ├→ relay: TUN → LinkChain of the core, in real time → TUN ─────┤
//!                 └→ boxes: veth → tbf, netem of the kernel → veth ─────────┘
//! ```
//! Each run has its own network: no connection inherits the metrics of another, and when the process ends, however it
//! ends, nothing is left.

mod capture;
mod caveats;
mod error;
mod feasible;
pub(crate) mod flows;
mod header_limits;
mod host;
mod host_setup;
mod kernel_links;
pub mod netem;
mod netem_bridge;
mod network;
pub mod persistent;
mod proof;
mod relay;
mod relays;
mod run;
mod tally;
mod topology;

use std::fmt;
use std::io::Write;

use maxseg_core::engine::{Caveat, Engine, EngineError, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{LabBackend, Scenario};

pub use error::{Capacity, LabError};

use network::Network;

/// The lab. Every run has namespaces, links and connections of its own.
#[derive(Default)]
pub struct Lab<'a> {
    /// The output of a capture of every packet at every interface, if one is wanted: a pcapng section, complete when the run
    /// has an outcome with a proof.
    capture: Option<&'a mut (dyn Write + Send)>,
    /// What runs in its hosts before the flows begin.
    commands: Vec<HostCommand>,
    /// The caveats found before the run.
    found: Vec<Caveat>,
}

/// A command of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCommand {
    /// The host's name: `sender`, `r1`, …, `receiver`.
    pub host: String,
    /// The command line, for `sh`.
    pub line: String,
}

impl<'a> Lab<'a> {
    /// A lab whose packets are captured to `capture`.
    pub fn capturing(capture: &'a mut (dyn Write + Send)) -> Self {
        Self { capture: Some(capture), ..Self::default() }
    }

    /// The same, with commands that run in its hosts, in this order, before the flows begin. One that fails ends the run.
    #[must_use]
    pub fn after_commands(self, commands: Vec<HostCommand>) -> Self {
        Self { commands, ..self }
    }
}

/// Checks, before anything runs, whether this machine and this user can run the scenario; a run checks the same.
/// Above 1 Gbit/s it measures for 250 ms what the machine carries.
///
/// # Errors
/// [`EngineError::Unable`], with a [`LabError`] as its source.
pub fn check(scenario: &Scenario) -> Result<(), EngineError> {
    if caveats::beyond(scenario).is_none() {
        feasible::check(scenario)?;
    }
    Ok(())
}

impl fmt::Debug for Lab<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lab").field("captures", &self.capture.is_some()).finish()
    }
}

impl Engine for Lab<'_> {
    fn caveats(&self, scenario: &Scenario) -> Vec<Caveat> {
        let mut caveats = caveats::of(scenario);
        caveats.extend_from_slice(&self.found);
        caveats
    }

    fn run(&mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Result<Outcome, EngineError> {
        if caveats::beyond(scenario).is_some() {
            return Ok(Outcome::default()); // all numbers unknown; a caveat gives the reason
        }
        if self.capture.is_some() && scenario.lab.backend == LabBackend::Netem {
            return Err(LabError::CaptureOnNetem.into());
        }
        self.found = feasible::check(scenario)?;
        let network = Network::build(scenario)?;
        self.commands.iter().try_for_each(|command| network.command(command))?;
        let capture = self.capture.as_mut().map(|out| &mut **out as &mut (dyn Write + Send));
        let ran = run::run(scenario, &network, watch, capture)?;
        Ok(tally::outcome(scenario, &ran))
    }
}
