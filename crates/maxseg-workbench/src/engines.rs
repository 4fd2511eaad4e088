//! The engines by name: formulas, simulator, and the lab where this build has it.

use maxseg_core::engine::{Engine, EngineError, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

use crate::error::Error;
use crate::parallel::in_parallel;

/// Whether this build can run the lab: it has the cargo feature `lab`.
pub const HAS_LAB: bool = cfg!(feature = "lab");

/// The engine of this name.
///
/// # Errors
/// [`Error::NoLab`]: the lab is asked for and is not in this build. [`Error::NoEngine`]: nothing runs it.
pub fn engine(name: EngineName) -> Result<Box<dyn Engine>, Error> {
    match name {
        EngineName::Model => Ok(Box::new(Model)),
        EngineName::Sim => Ok(Box::new(Sim)),
        EngineName::Lab => lab(),
        EngineName::Measured => Err(Error::NoEngine),
    }
}

/// The outcomes of scenarios, in their order, simulated on all cores.
pub(crate) fn simulate_all(scenarios: &[Scenario]) -> Vec<Result<Outcome, EngineError>> {
    in_parallel(scenarios, |scenario| Sim.run(scenario, &mut Unwatched))
}

#[cfg(feature = "lab")]
#[expect(clippy::unnecessary_wraps, reason = "a build without the lab has an error here")]
fn lab() -> Result<Box<dyn Engine>, Error> {
    Ok(Box::new(maxseg_linux::lab::Lab::default()))
}

#[cfg(not(feature = "lab"))]
fn lab() -> Result<Box<dyn Engine>, Error> {
    Err(Error::NoLab)
}

/// Whether the lab can run `scenario` on this machine, without running it.
///
/// # Errors
/// The reason, with a hint; [`Error::NoLab`] in a build without the lab.
#[cfg(feature = "lab")]
pub fn check_lab(scenario: &Scenario) -> Result<(), Error> {
    Ok(maxseg_linux::lab::check(scenario)?)
}

/// Whether the lab can run `scenario` on this machine, without running it.
///
/// # Errors
/// [`Error::NoLab`]: this build has no lab.
#[cfg(not(feature = "lab"))]
pub fn check_lab(scenario: &Scenario) -> Result<(), Error> {
    let _ = scenario;
    Err(Error::NoLab)
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
