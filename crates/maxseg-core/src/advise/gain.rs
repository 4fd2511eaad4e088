//! The gain of a change: the observed path run as it is, and again with the change.

mod no_gain;

use std::fmt;

use super::scenario_text::LossModel;
use crate::engine::EngineName;
use crate::outcome::LimitedBy;
use crate::units::approx;
pub(super) use no_gain::listed;
pub use no_gain::{NoGain, RerunError};

/// The runs with and without a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// Goodput that the connection reached while it had data to send, in bits per second.
    pub observed_bps: f64,
    /// Payload that the line carries, or the observed goodput where that is more, in bits per second: no prediction exceeds
    /// it.
    pub most_bps: f64,
    /// The share by which a prediction may be off where runs and observation agree: how well the path is known. The
    /// simulator's own goodput is within 1% of the kernel's (docs/validation-lab.md).
    pub path_uncertainty: f64,
    /// The standard deviation of the logarithm of a goodput that losses limit, for so few were seen; 0 where the change mends them, or there were none.
    pub loss_uncertainty: f64,
    /// Share of the time in which the application had nothing to send, from 0 to 1: the runs have none.
    pub idle_share: f64,
    /// The prediction of each engine, the simulator's first. Only the simulator's is a gain; formulas stand beside it. Where two
    /// causes of loss explain what was observed, the simulator's second one is of the other.
    pub predictions: Vec<Prediction>,
    /// What the simulator's run of the path as it is has otherwise than what was observed.
    pub misses: Vec<Miss>,
    /// What lost packets in the runs, where anything did.
    pub loss: LossModel,
    /// Whether the runs lose the packets that were lost, and no others, for these were lost in a part of the transfer, and none since.
    pub loses_as_observed: bool,
    /// Payload of a run in bytes, where the transfer was longer.
    pub shortened_to: Option<u64>,
    /// Whether the gain is a lower bound: where the path's rate is one, and where `misses` are.
    pub is_bound: bool,
}

/// The prediction of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The engine.
    pub engine: EngineName,
    /// Goodput of the path as it is, in bits per second.
    pub baseline_bps: f64,
    /// Goodput after the change, in bits per second; `None` where the baseline misses what was observed, and what it misses
    /// may be what the change depends on.
    pub without_bps: Option<f64>,
    /// The same with that queue of those which the path may have that costs most, and without SACK where it may not be in use, in bits per second: a
    /// flight that overflows a queue costs what no run with more room, or with SACK, shows. `None` where both were seen, or the change sends no larger
    /// flight.
    pub at_worst_bps: Option<f64>,
    /// Standard deviation of one run's goodput as it is, over its mean: what chance does.
    pub baseline_spread: f64,
    /// The same after the change.
    pub spread: f64,
    /// How many runs of the path as it is there were, and how many after the change.
    pub runs: [usize; 2],
    /// Half of the 95% interval of the mean of each, in bits per second; `None` where that is not known of the runs.
    pub half_bps: [Option<f64>; 2],
    /// Mean time from a request to the end of its reply, in seconds, as it is and after the change; `None` of transfers.
    pub request_s: [Option<f64>; 2],
    /// The limit of the path as it is; `None` where that was not run.
    pub limited_by: Option<LimitedBy>,
    /// The limit after the change.
    pub then_limited_by: Option<LimitedBy>,
}

impl Prediction {
    /// Whether losses limit the goodput after the change, and did not before: then their share matters, which the runs before do not prove.
    fn meets_losses(&self) -> bool {
        let is_of_losses = |limit| matches!(limit, Some(LimitedBy::Congestion | LimitedBy::Rto));
        is_of_losses(self.then_limited_by) && !is_of_losses(self.limited_by)
    }
}

/// What a run of the path as it is had otherwise than what was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Miss {
    /// The number.
    pub of: Measured,
    /// As it was observed.
    pub observed: f64,
    /// In the rerun.
    pub rerun: f64,
}

/// A number by which a run of the path as it is is compared with what was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Goodput while there was data to send, in bits per second.
    Goodput,
    /// Retransmitted packets.
    Retransmissions,
    /// Mean round trip, in seconds.
    RoundTrip,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, observed, rerun } = *self;
        match of {
            Measured::Goodput => {
                let (rerun, observed) = (approx::rate(rerun), approx::rate(observed));
                write!(f, "{rerun} instead of {observed} while there is data to send")
            }
            Measured::Retransmissions => {
                write!(f, "{rerun:.0} instead of {observed:.0} retransmissions")
            }
            Measured::RoundTrip => write!(
                f,
                "round trips of {} instead of {}",
                approx::time(rerun),
                approx::time(observed)
            ),
        }
    }
}

/// A baseline explains the observed goodput within this relative difference, and what chance adds.
pub const CLOSE: f64 = 0.15;

/// What gains less at worst, as a share, is printed as no gain.
const LEAST_GAIN: f64 = 0.005;

/// A smaller relative gain is worth no change.
pub const SMALL_GAIN: f64 = 0.03;

/// A transfer is one run: of a normal distribution four fifths lie within so many standard deviations.
pub(super) const FOUR_FIFTHS: f64 = 1.28;
/// The same of 95%.
const NINETEEN_OF_TWENTY: f64 = 1.96;

/// The goodput after a change, with the interval in which it is expected, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// The middle of the interval.
    pub goodput_bps: f64,
    /// Its lower end.
    pub low_bps: f64,
    /// Its upper end.
    pub high_bps: f64,
}

impl Gain {
    /// Whether the run of the path as it is has what was observed.
    pub fn explains(&self) -> bool {
        self.misses.is_empty() && self.leading().is_some()
    }

    /// The prediction that counts, the simulator's, where there is one of the change.
    pub fn leading(&self) -> Option<&Prediction> {
        self.counting().next()
    }

    fn counting(&self) -> impl Iterator<Item = &Prediction> {
        let counts = |run: &&Prediction| run.engine == EngineName::Sim && run.without_bps.is_some();
        self.predictions.iter().filter(counts)
    }

    /// With the prediction of another path that explains what was observed as well.
    #[must_use]
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.predictions.extend(other.counting().cloned());
        self
    }

    /// The predicted goodput of the whole connection, idle times included. Of two paths that explain what was observed either
    /// may be the real one.
    pub fn expected(&self) -> Option<Expected> {
        self.expected_within(FOUR_FIFTHS)
    }

    /// The same with an interval of so many standard deviations to each side.
    fn expected_within(&self, deviations: f64) -> Option<Expected> {
        let by_each = self.counting().filter_map(|run| self.expected_by(run, deviations));
        by_each.reduce(|one, other| Expected {
            goodput_bps: libm::sqrt(one.goodput_bps * other.goodput_bps),
            low_bps: one.low_bps.min(other.low_bps),
            high_bps: one.high_bps.max(other.high_bps),
        })
    }

    fn expected_by(&self, leading: &Prediction, deviations: f64) -> Option<Expected> {
        let without = leading.without_bps?;
        let path_uncertainty = self.path_uncertainty * (deviations / FOUR_FIFTHS);
        let of_losses = if leading.meets_losses() { self.loss_uncertainty } else { 0.0 };
        let spread = libm::hypot(leading.spread, of_losses);
        let by_chance = libm::hypot(path_uncertainty, deviations * spread);
        if !self.misses.is_empty() {
            // All that the baseline missed may be in the run with the change as well.
            let kept = (self.observed_bps / leading.baseline_bps).min(1.0);
            let without = leading.at_worst_bps.unwrap_or(without).min(without);
            let least = self.whole_bps(without * kept * libm::exp(-by_chance));
            let most = self.whole_bps(self.most_bps);
            let is_worth_it = least > (1.0 + SMALL_GAIN) * self.observed_whole_bps();
            let bound = Expected { goodput_bps: least, low_bps: least, high_bps: most };
            return is_worth_it.then_some(bound);
        }
        // What the baseline missed, beyond what chance explains, may be in the run with the change as well, or not: the
        // middle of both, and either end is possible.
        let miss = beyond_chance(
            libm::log(self.observed_bps / leading.baseline_bps),
            leading.baseline_spread,
        );
        let width = miss.abs() / 2.0 + by_chance;
        let middle = libm::log(without) + miss / 2.0;
        let middle = middle.min(libm::log(self.most_bps));
        // The line's rate is no better known than the rest of the path.
        let high = (middle + width).min(libm::log(self.most_bps) + path_uncertainty);
        let low = libm::exp(middle - width);
        Some(Expected {
            goodput_bps: self.whole_bps(libm::exp(middle)),
            low_bps: self.whole_bps(leading.at_worst_bps.map_or(low, |least| least.min(low))),
            high_bps: self.whole_bps(libm::exp(high)),
        })
    }

    /// Goodput of the whole connection where it is `busy_bps` while there is data to send.
    fn whole_bps(&self, busy_bps: f64) -> f64 {
        let busy = (1.0 - self.idle_share) * self.observed_bps / busy_bps;
        self.observed_whole_bps() / (self.idle_share + busy)
    }

    /// Mean time from a request to the end of its reply in the runs, in seconds, as it is and after the change; `None` of transfers.
    pub fn request_s(&self) -> Option<[f64; 2]> {
        let [now, then] = self.leading()?.request_s;
        Some([now?, then?])
    }

    /// The observed goodput of the whole connection, idle times included, in bits per second.
    pub fn observed_whole_bps(&self) -> f64 {
        self.observed_bps * (1.0 - self.idle_share)
    }

    /// Expected ÷ observed goodput − 1.
    pub fn relative(&self) -> Option<f64> {
        Some(self.expected()?.goodput_bps / self.observed_whole_bps() - 1.0)
    }

    /// The interval of [`relative`](Self::relative).
    pub fn relative_interval(&self) -> Option<(f64, f64)> {
        let (expected, now) = (self.expected()?, self.observed_whole_bps());
        Some((expected.low_bps / now - 1.0, expected.high_bps / now - 1.0))
    }

    /// The interval of [`relative`](Self::relative) in 19 cases of 20.
    pub(super) fn relative_ci95(&self) -> Option<(f64, f64)> {
        let (expected, now) =
            (self.expected_within(NINETEEN_OF_TWENTY)?, self.observed_whole_bps());
        Some((expected.low_bps / now - 1.0, expected.high_bps / now - 1.0))
    }

    /// Why the runs give no gain; `None` where they do.
    pub fn missing(&self) -> Option<NoGain> {
        let Some(relative) = self.relative() else {
            return Some(NoGain::BaselineMisses { misses: self.misses.clone() });
        };
        if relative <= SMALL_GAIN {
            return Some(NoGain::TooSmall);
        }
        let (low, high) = self.relative_interval()?;
        (low < LEAST_GAIN).then_some(NoGain::Uncertain { low, high })
    }
}

/// The part of a deviation that chance of this standard deviation does not explain.
fn beyond_chance(deviation: f64, spread: f64) -> f64 {
    let square = deviation * deviation;
    if square <= spread * spread { 0.0 } else { deviation * (1.0 - spread * spread / square) }
}

#[cfg(test)]
mod tests;
