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

#[cfg(test)]
mod tests {
    use maxseg_core::advise::one_by_one;

    use super::*;

    #[test]
    fn outcomes_are_those_of_one_run_after_the_other() {
        let of_rate = |megabits: u64| {
            let text = format!(
                "seed = {megabits}\n[[hop]]\nrate = \"{megabits} Mbit/s\"\ndelay = \"5 ms\"\n[until]\ntime = \"1 s\""
            );
            Scenario::from_toml_over("rfc", "test", &text).unwrap()
        };
        // The first ones take longest, so that later ones end before them.
        let scenarios: Vec<Scenario> = (1..9).rev().map(of_rate).collect();
        let goodputs = |outcomes: Vec<Result<Outcome, EngineError>>| -> Vec<Option<f64>> {
            outcomes.into_iter().map(|outcome| outcome.unwrap().headline_goodput_bps()).collect()
        };
        let (at_once, in_turn) =
            (goodputs(simulate_all(&scenarios)), goodputs(one_by_one(&scenarios)));
        assert_eq!(at_once, in_turn);
        assert!(in_turn.is_sorted_by(|a, b| a > b), "{in_turn:?}");
        assert!(simulate_all(&[]).is_empty());
    }
}
