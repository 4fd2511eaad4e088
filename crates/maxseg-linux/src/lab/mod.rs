//! The lab: hosts and links in network namespaces, and the real kernel's TCP between them.
//!
//! ```text
//! Scenario → Network (namespaces, interfaces, routes) → flows over sockets ─┬→ Outcome with its proof
//!                 ├→ relay: TUN → Line of the core, in real time → TUN ─────┤
//!                 └→ boxes: veth → tbf, netem of the kernel → veth ─────────┘
//! ```
//! Each run has a network of its own: no connection inherits what another learnt, and when the process ends,
//! however it ends, nothing is left.

mod boxes;
mod caveats;
mod failure;
mod feasible;
mod flows;
mod host_setup;
pub mod iperf3;
mod kernel_links;
mod meter;
mod network;
mod proof;
mod relay;
mod run;
mod tally;
mod topology;

use std::path::PathBuf;

pub mod netem;

use maxseg_core::engine::{Caveat, Engine, EngineError, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{LabBackend, Scenario};

use network::Network;

/// The lab. Every run has namespaces, links and connections of its own.
#[derive(Debug, Clone, Default)]
pub struct Lab {
    /// Where every packet at every interface goes, if anywhere: a pcapng file.
    capture: Option<PathBuf>,
    /// What was found out before the run.
    found: Vec<Caveat>,
}

impl Lab {
    /// A lab whose packets go to this file, if there is one.
    pub fn capturing(capture: Option<PathBuf>) -> Self {
        Self { capture, found: Vec::new() }
    }
}

impl Engine for Lab {
    fn caveats(&self, scenario: &Scenario) -> Vec<Caveat> {
        let mut caveats = caveats::of(scenario);
        caveats.extend_from_slice(&self.found);
        caveats
    }

    fn run(&mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Result<Outcome, EngineError> {
        if caveats::beyond(scenario).is_some() {
            return Ok(Outcome::default()); // unknown, and the caveat says why
        }
        if self.capture.is_some() && scenario.lab.backend == LabBackend::Netem {
            let hint = Some("leave out --pcap, or use the relay's links".to_owned());
            let what = "packets on the kernel's links pass this program by: it cannot capture them";
            return Err(EngineError::Unable { what: what.to_owned(), hint });
        }
        self.found = feasible::check(scenario)?;
        let network = Network::build(scenario)?;
        let ran = run::run(scenario, &network, watch)?;
        Ok(tally::outcome(scenario, &ran))
    }
}
