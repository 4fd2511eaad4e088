//! Runs with draws that have chosen nothing, and two sides beside each other over the same ones.

use anyhow::Result;
use maxseg_core::advise::varied;
use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_core::stats::Summary;
use serde::{Deserialize, Serialize};

/// The draws that score, and those that choose the best of a sweep.
const SCORING: u64 = 900;
const CHOOSING: u64 = 500;
/// So many are made at least, and at most where the error of a ratio is larger than this.
const LEAST: usize = 5;
const MOST: usize = 40;
const ERROR: f64 = 0.01;

/// Goodput in bits per second and round trip under load in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) rate: f64,
    pub(super) ping_s: f64,
}

impl Standing {
    /// Of the run with this number: its seed, and its variation of the path's delay. Where no echo came back, it would have taken
    /// the run's whole time at least.
    pub(super) fn of(scenario: &Scenario, number: u64) -> Result<Self> {
        let run = varied(scenario, number);
        let outcome = Sim.run(&run, &mut Unwatched)?;
        Ok(Self {
            rate: outcome.headline_goodput_bps().unwrap_or(0.0),
            ping_s: outcome.ping_mean_s.unwrap_or(run.until.time.as_secs_f64()),
        })
    }

    /// The means.
    pub(super) fn mean(runs: &[Self]) -> Self {
        let mean =
            |of: fn(&Self) -> f64| Summary::of(&runs.iter().map(of).collect::<Vec<_>>()).mean;
        Self { rate: mean(|run| run.rate), ping_s: mean(|run| run.ping_s) }
    }
}

/// A scenario and its runs with fresh draws.
#[derive(Debug, Clone)]
pub(super) struct Fresh {
    scenario: Scenario,
    /// The number of the first draw.
    first: u64,
    runs: Vec<Standing>,
}

/// One mean over another, of the same draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// The runs of each side.
    pub(super) runs: usize,
}

impl Fresh {
    /// With the draws that score.
    pub(super) const fn of(scenario: Scenario) -> Self {
        Self { scenario, first: SCORING, runs: Vec::new() }
    }

    /// With the draws that choose.
    pub(super) const fn choosing(scenario: Scenario) -> Self {
        Self { scenario, first: CHOOSING, runs: Vec::new() }
    }

    /// The first runs, so many.
    pub(super) fn runs(&mut self, count: usize) -> Result<&[Standing]> {
        while self.runs.len() < count {
            let number = self.first + self.runs.len() as u64;
            self.runs.push(Standing::of(&self.scenario, number)?);
        }
        Ok(&self.runs[..count])
    }

    /// The means over all runs that were made, of the least number at least.
    pub(super) fn mean(&mut self) -> Result<Standing> {
        self.runs(LEAST)?;
        Ok(Standing::mean(&self.runs))
    }

    /// The goodput over as many draws as make its mean certain.
    pub(super) fn certain_rate(&mut self) -> Result<f64> {
        let mut count = LEAST;
        loop {
            let runs = self.runs(count)?;
            let rate = Summary::of(&runs.iter().map(|run| run.rate).collect::<Vec<_>>());
            let error = rate.standard_error().unwrap_or(0.0) / rate.mean.max(1e-9);
            if error <= ERROR || count >= MOST {
                return Ok(rate.mean);
            }
            count += LEAST;
        }
    }

    /// This side's mean over the other's, with as many draws as make that certain.
    pub(super) fn over(&mut self, other: &mut Self, of: fn(&Standing) -> f64) -> Result<Ratio> {
        let mut count = LEAST;
        loop {
            let ratio = Ratio::of(self.runs(count)?, other.runs(count)?, of);
            if ratio.error <= ERROR || count >= MOST {
                return Ok(ratio);
            }
            count += LEAST;
        }
    }
}

/// The draws that two sides need until the mean of what `of` says of each pair has an error of a hundredth at most.
pub(super) fn differences(
    before: &mut Fresh,
    after: &mut Fresh,
    of: impl Fn(&Standing, &Standing) -> f64,
) -> Result<Summary> {
    let mut count = LEAST;
    loop {
        let pairs = before.runs(count)?.iter().zip(after.runs(count)?);
        let summary =
            Summary::of(&pairs.map(|(before, after)| of(before, after)).collect::<Vec<_>>());
        if summary.standard_error().unwrap_or(0.0) <= ERROR || count >= MOST {
            return Ok(summary);
        }
        count += LEAST;
    }
}

impl Ratio {
    /// The ratio of the means, with the error of a ratio of paired samples (Cochran, "Sampling Techniques", section 2.11).
    fn of(above: &[Standing], below: &[Standing], of: fn(&Standing) -> f64) -> Self {
        let [over, under] = [above, below].map(|runs| runs.iter().map(of).collect::<Vec<f64>>());
        let mean = Summary::of(&under).mean.max(1e-9);
        let value = Summary::of(&over).mean / mean;
        let aside: Vec<f64> = over.iter().zip(&under).map(|(a, b)| a - value * b).collect();
        let error = Summary::of(&aside).standard_error().unwrap_or(0.0) / mean;
        Self { value, error, runs: aside.len() }
    }

    /// Whether it is below a bar beyond chance: 1.65 standard errors, one-sided 95%.
    pub(super) fn is_surely_below(self, bar: f64) -> bool {
        self.value + 1.65 * self.error < bar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_vary_together_have_a_certain_ratio() {
        let runs = |rates: [f64; 4]| rates.map(|rate| Standing { rate, ping_s: 0.1 });
        let (below, above) = (runs([1.0, 2.0, 3.0, 4.0]), runs([0.9, 1.8, 2.7, 3.6]));
        let ratio = Ratio::of(&above, &below, |run| run.rate);
        assert!((ratio.value - 0.9).abs() < 1e-12 && ratio.error < 1e-12);
        let apart = Ratio::of(&runs([3.6, 2.7, 1.8, 0.9]), &below, |run| run.rate);
        assert!((apart.value - 0.9).abs() < 1e-12);
        assert!(apart.error > 0.3, "{apart:?}");
        assert!(!apart.is_surely_below(0.95) && ratio.is_surely_below(0.95));
    }
}
