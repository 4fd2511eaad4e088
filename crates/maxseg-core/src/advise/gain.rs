//! The gain of a change: the observed path run as it is, and again with the change.

use super::path::PathError;
use super::scenario_text::LossCause;
use crate::engine::EngineName;
use crate::outcome::LimitedBy;
use crate::units::approx;

/// The runs with and without a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// Goodput that the connection reached while it had data to send, in bits per second.
    pub observed_bps: f64,
    /// Payload that the line carries, or the observed goodput where that is more, in bits per second: no prediction exceeds
    /// it.
    pub most_bps: f64,
    /// Share of the time in which the application had nothing to send, from 0 to 1: the runs have none.
    pub idle_share: f64,
    /// The prediction of each engine, the simulator's first.
    pub predictions: Vec<Prediction>,
    /// The cause of loss in the runs, where there was any.
    pub loss: LossCause,
    /// Payload of a run in bytes, where the transfer was longer.
    pub shortened_to: Option<u64>,
    /// Whether the path's rate is a lower bound; the gain is one then, too.
    pub is_bound: bool,
}

/// The prediction of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The engine.
    pub engine: EngineName,
    /// Goodput of the path as it is, in bits per second.
    pub baseline_bps: f64,
    /// Goodput after the change, in bits per second; `None` where the baseline misses the observed goodput.
    pub without_bps: Option<f64>,
    /// The limit after the change.
    pub then_limited_by: Option<LimitedBy>,
}

/// A baseline explains the observed goodput within this relative difference.
pub const CLOSE: f64 = 0.15;

/// A smaller relative gain is worth no change.
pub const SMALL_GAIN: f64 = 0.03;

/// Why a connection's path cannot be run again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RerunError {
    /// The capture shows too little of the path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The observed values are no valid scenario.
    #[error("the observed path is no valid scenario: {0}")]
    Scenario(String),
}

/// Why no gain is given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoGain {
    /// The path cannot be run again.
    #[error("no gain is given: {0}")]
    Rerun(#[from] RerunError),
    /// The capture shows too little of the path.
    #[error("no gain is given: the capture shows too little of the path: {0}")]
    TooLittle(String),
    /// The runs predict a gain that is not worth a change.
    #[error("no gain is given: the runs predict {} at most", approx::whole_percent(SMALL_GAIN))]
    TooSmall,
    /// The capture does not show what limits the connection.
    #[error("no gain is given: the capture does not show what limits the connection")]
    Unfit,
    /// No change of path or ends removes the limit.
    #[error("no gain is given: no change of the path or its ends removes this limit")]
    NoChange,
    /// The application had nothing to send most of the time.
    #[error("no gain is given: the application had nothing to send most of the time")]
    ApplicationLimited,
    /// The rate of the path is unknown beyond the goodput.
    #[error(
        "no gain is given: the capture does not show the rate of the path beyond the goodput{}",
        if *.is_window { "; until the path is full, doubling the window doubles the goodput" } else { "" }
    )]
    RateUnknown {
        /// Whether the change is of a window or a buffer.
        is_window: bool,
    },
    /// The connection stalled: the gain is the stalled time, which no run shows.
    #[error("no gain is given: it is the stalled time, which no run shows")]
    Stalled,
    /// The runs predict less than the stalled time alone gains.
    #[error("no gain is given: the runs predict less than the stalled time alone costs")]
    BelowStalled,
    /// The baseline of every engine misses the observed goodput.
    #[error(
        "no gain is given: no run of the observed path comes within {:.0}% of the observed {}: {}",
        100.0 * CLOSE, approx::rate(*.observed_bps), listed(.baselines)
    )]
    BaselineMisses {
        /// The observed goodput, in bits per second.
        observed_bps: f64,
        /// The goodput of each engine, in bits per second.
        baselines: Vec<(EngineName, f64)>,
    },
}

fn listed(baselines: &[(EngineName, f64)]) -> String {
    let runs: Vec<String> = baselines
        .iter()
        .map(|(engine, bps)| format!("{engine} gives {}", approx::rate(*bps)))
        .collect();
    runs.join(", ")
}

impl Prediction {
    /// Whether the baseline explains the observed goodput; see [`CLOSE`].
    pub fn is_close(&self, observed_bps: f64) -> bool {
        (self.baseline_bps / observed_bps - 1.0).abs() <= CLOSE
    }
}

impl Gain {
    /// The prediction that counts: the simulator's, or else the model's.
    pub fn leading(&self) -> Option<&Prediction> {
        self.predictions.iter().find(|prediction| prediction.without_bps.is_some())
    }

    /// The predicted goodput of the whole connection, idle times included, in bits per second.
    pub fn expected_bps(&self) -> Option<f64> {
        let without = self.leading()?;
        // The ratio of both runs: an error of the baseline is in either.
        let ratio = without.without_bps? / without.baseline_bps;
        let ratio = ratio.min(self.most_bps / self.observed_bps);
        let busy = (1.0 - self.idle_share) / ratio;
        Some(self.observed_whole_bps() / (self.idle_share + busy))
    }

    /// The observed goodput of the whole connection, idle times included, in bits per second.
    pub fn observed_whole_bps(&self) -> f64 {
        self.observed_bps * (1.0 - self.idle_share)
    }

    /// Expected ÷ observed goodput − 1.
    pub fn relative(&self) -> Option<f64> {
        Some(self.expected_bps()? / self.observed_whole_bps() - 1.0)
    }

    /// Whether the change gains too little to be worth it.
    pub fn is_small(&self) -> bool {
        self.relative().is_some_and(|relative| relative <= SMALL_GAIN)
    }

    /// Why the runs give no gain; `None` where they do.
    pub fn missing(&self) -> Option<NoGain> {
        let baselines = || self.predictions.iter().map(|run| (run.engine, run.baseline_bps));
        self.leading().is_none().then(|| NoGain::BaselineMisses {
            observed_bps: self.observed_bps,
            baselines: baselines().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_times_remain() {
        let gain = Gain {
            observed_bps: 8e6,
            most_bps: 1e9,
            idle_share: 0.5,
            predictions: vec![Prediction {
                engine: EngineName::Sim,
                baseline_bps: 8e6,
                without_bps: Some(80e6),
                then_limited_by: None,
            }],
            loss: LossCause::Random,
            shortened_to: None,
            is_bound: false,
        };
        // Half of the time stays; the other half shrinks to a tenth: 1 / 0.55.
        assert!((gain.relative().unwrap() - (1.0 / 0.55 - 1.0)).abs() < 1e-9);
    }
}
