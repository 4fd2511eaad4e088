//! Simulated runs that need no plan, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use maxseg_core::engine::{Engine as _, EngineError, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

use crate::environment::cores;

/// The outcomes of scenarios, in their order, simulated on all cores.
pub(crate) fn simulate_all(scenarios: &[Scenario]) -> Vec<Result<Outcome, EngineError>> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::with_capacity(scenarios.len()));
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(scenario) = scenarios.get(place) else { return };
            let outcome = Sim.run(scenario, &mut Unwatched);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((place, outcome));
        }
    };
    thread::scope(|scope| {
        // This thread works too: alone where there is one core or one scenario.
        for _ in 1..cores().min(scenarios.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
