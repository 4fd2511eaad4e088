//! The simulator: every packet, in virtual time.
//!
//! A packet's whole way is computed when it is sent ([`LinkChain`](crate::link::LinkChain)); it then rests in
//! an [`ArrivalQueue`](crate::link::ArrivalQueue) until it arrives. So a data packet costs two events, its own arrival and its
//! acknowledgement's, and the next event is the earliest of two queues' heads and one bound of all else: no
//! event heap. Paths that cannot be computed ahead are staged hop by hop; their events hide behind that
//! bound.

mod datagrams;
mod deadlines;
mod flow;
mod host;
mod host_work;
mod limits;
mod link_outcomes;
mod links;
mod linux;
mod losses;
mod meter;
mod net;
mod notices;
mod observe;
mod request;
mod sample;
mod send_schedule;
mod sizes;
mod tally;
mod tap;
mod world;

pub use tap::{CapturePoint, Content, Loss, PacketForm, PacketView, Sighting, Tap, TcpView};

use crate::engine::{Caveat, Engine, EngineError, Watch, assumed_by_simulator, size_caveats};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use tap::{NoObserver, Observer, TapObserver};
use world::World;

/// The packet-level simulator. The same scenario and seed give the same outcome on every machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sim;

impl Engine for Sim {
    fn caveats(&self, scenario: &Scenario) -> Vec<Caveat> {
        let mut caveats = size_caveats(scenario);
        caveats.extend(assumed_by_simulator(scenario));
        caveats
    }

    fn run(&mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Result<Outcome, EngineError> {
        run(scenario, watch, NoObserver)
    }
}

impl Sim {
    /// The same run with every packet shown to `tap`: it changes nothing of what happens.
    ///
    /// # Errors
    /// `watch` put an end to it.
    pub fn run_tapped(
        &mut self,
        scenario: &Scenario,
        watch: &mut dyn Watch,
        tap: &mut dyn Tap,
    ) -> Result<Outcome, EngineError> {
        run(scenario, watch, TapObserver::new(scenario, tap))
    }
}

fn run<E: Observer>(
    scenario: &Scenario,
    watch: &mut dyn Watch,
    observer: E,
) -> Result<Outcome, EngineError> {
    let mut world = World::new(scenario, observer);
    match watch.sample_every() {
        Some(every) => world.run_sampled(watch, every)?,
        None => world.run(watch)?,
    }
    Ok(world.outcome(scenario))
}

#[cfg(test)]
mod tests;
