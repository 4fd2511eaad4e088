//! What is to be run: a scenario, changed from the command line, with its sweep, engines and seeds.

use std::collections::BTreeSet;

use maxseg_core::engine::EngineName;
use maxseg_core::scenario::{Draft, Point, Sweep};

use crate::error::{Error, ExperimentError};

/// Everything that is to be run. Its points are built only when they are asked for: a sweep of a few
/// axes has more of them than memory.
#[derive(Debug)]
pub struct Experiment {
    /// The scenario as written, after `--set`.
    pub draft: Draft,
    /// The file's text, to be run again.
    pub text: String,
    /// What is swept.
    pub sweep: Sweep,
    /// Who runs it, each once.
    pub engines: Vec<EngineName>,
    /// How many seeds.
    pub seeds: u64,
}

/// More runs than one command takes: their rows would not fit in memory.
pub const MOST_RUNS: u128 = 10_000_000;

impl Experiment {
    /// An experiment with the draft's own sweep: each engine once, with this many seeds from the scenario's own on.
    /// `text` is what the draft was parsed from.
    ///
    /// # Errors
    /// The scenario or its sweep is wrong.
    pub fn new(
        draft: Draft,
        text: impl Into<String>,
        engines: Vec<EngineName>,
        seeds: u64,
    ) -> Result<Self, Error> {
        let sweep = draft.sweep()?;
        // Without its sweep the scenario must stand too: its errors have better places.
        draft.scenario()?;
        Ok(Self { draft, text: text.into(), sweep, engines, seeds })
    }

    /// How many points the sweep has.
    ///
    /// # Errors
    /// No number holds them.
    pub fn point_count(&self) -> Result<usize, Error> {
        self.sweep.len().ok_or_else(|| ExperimentError::Uncountable.into())
    }

    /// How many runs each point takes.
    pub fn runs_per_point(&self) -> u64 {
        self.engines.iter().map(|engine| runs_of(*engine, self.seeds)).sum()
    }

    /// How many runs there are in all.
    ///
    /// # Errors
    /// No number holds the points.
    pub fn run_count(&self) -> Result<u128, Error> {
        Ok(self.point_count()? as u128 * u128::from(self.runs_per_point()))
    }

    /// Every point of the sweep.
    ///
    /// # Errors
    /// There are too many runs, or a value does not fit its key.
    pub fn points(&self) -> Result<Vec<Point>, Error> {
        let runs = self.run_count()?;
        if runs > MOST_RUNS {
            return Err(ExperimentError::TooManyRuns { runs, most: MOST_RUNS }.into());
        }
        Ok(self.sweep.points(&self.draft)?)
    }

    /// At most `most` points with their places in the sweep: all of them, or some that lie evenly
    /// along every axis.
    ///
    /// # Errors
    /// A value does not fit its key.
    pub fn sample(&self, most: usize) -> Result<Vec<Point>, Error> {
        let count = self.point_count()?;
        let places: BTreeSet<usize> = if count <= most {
            (0..count).collect()
        } else {
            (0..most as u64).map(|n| spread(n, count)).collect()
        };
        places.into_iter().map(|place| Ok(self.sweep.point(&self.draft, place)?)).collect()
    }
}

/// How many runs an engine takes at a point.
pub fn runs_of(engine: EngineName, seeds: u64) -> u64 {
    if engine.uses_chance() { seeds } else { 1 }
}

/// The n-th of places below `count` that fill the range evenly, however many of them are taken:
/// multiples of the golden ratio. Equal steps would meet the same value of the last axis again and again.
fn spread(n: u64, count: usize) -> usize {
    /// The golden ratio's fraction, of 2^64.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let place = (u128::from(n.wrapping_mul(GOLDEN)) * count as u128) >> 64;
    usize::try_from(place).unwrap_or(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[sweep]\n\
                        \"sender.mss\" = \"100..1400..100\"\n\"hop.0.queue\" = [\"9 packets\", \"7 packets\"]\n\
                        [[sweep.point]]\n\"receiver.mss\" = 1200\n\"hop.0.mtu\" = 1400\n\
                        [[sweep.point]]\n\"receiver.mss\" = 500\n\"hop.0.mtu\" = 1500\n";

    fn experiment(text: &str, axes: &[&str], seeds: u64) -> Experiment {
        let mut draft = Draft::parse("test", text).unwrap();
        for axis in axes {
            draft.sweep_argument(axis).unwrap();
        }
        let sweep = draft.sweep().unwrap();
        let engines = vec![EngineName::Model, EngineName::Sim];
        Experiment { draft, text: text.to_owned(), sweep, engines, seeds }
    }

    #[test]
    fn a_sample_of_all_is_the_sweep() {
        let experiment = experiment(TEXT, &["sender.mss=300,400"], 5);
        let values = |points: Vec<Point>| points.into_iter().map(|p| p.values).collect::<Vec<_>>();
        let all = values(experiment.points().unwrap());
        assert_eq!(all.len(), 8);
        assert_eq!(values(experiment.sample(8).unwrap()), all);
        assert_eq!(experiment.run_count().unwrap(), 8 * (1 + 5));
    }

    #[test]
    fn a_sample_meets_every_value_of_every_axis() {
        let experiment = experiment(TEXT, &["sender.mss=100..1400..1"], 1);
        let sample = experiment.sample(200).unwrap();
        assert_eq!(sample.len(), 200);
        for axis in experiment.sweep.axes().iter().filter(|axis| axis.steps.len() < 10) {
            for step in &axis.steps {
                let met = |point: &&Point| {
                    let wanted = axis.keys.iter().cloned().zip(step.iter().cloned());
                    wanted.into_iter().all(|value| point.values.contains(&value))
                };
                let count = sample.iter().filter(met).count();
                let fair = 200 / axis.steps.len();
                assert!(count.abs_diff(fair) < fair / 4, "{:?} {step:?}: {count}", axis.keys);
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_sampled_value_is_told_where_it_was_written() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
        let experiment = experiment(text, &["sender.mss=0"], 1);
        let told = |failure: Error| failure.told();
        let by_sample = told(experiment.sample(1).unwrap_err());
        assert_eq!(by_sample, told(experiment.points().unwrap_err()));
        assert!(by_sample.contains("--axis sender.mss=0"), "{by_sample}");
    }

    #[test]
    fn too_many_runs_are_counted_and_refused() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
        let axes = ["sender.mss=1..60000..1", "hop.0.mtu=100..60000..1"];
        let experiment = experiment(text, &axes, 1_000_000);
        assert_eq!(experiment.run_count().unwrap(), 60_000 * 59_901 * 1_000_001);
        let failure = experiment.points().unwrap_err().told();
        assert!(failure.contains("more than the 10000000 that one command takes"), "{failure}");
    }
}
