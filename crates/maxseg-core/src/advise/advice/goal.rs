//! What advice is for: goodput, short delays, or both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::advise::SMALL_GAIN;
use crate::stats::Summary;

/// What advice is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The most goodput; of equal ones, the one with the shorter round trips under load.
    #[default]
    Throughput,
    /// The shortest round trips under load that keep most of the goodput.
    Latency,
    /// The largest ratio of goodput to round trip under load (Kleinrock's power).
    Balanced,
}

/// Goodput, or requests per second, with the round trip of echo requests meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    /// What is to be large: goodput in bits per second, or requests per second.
    pub(super) rate: f64,
    /// Round trip under load in seconds.
    pub(super) ping_s: Option<f64>,
    /// Goodput of the other flows in bits per second; `None` where there are none.
    pub(super) others_bps: Option<f64>,
}

impl Standing {
    /// The time of a request, in seconds, where the rate is that of requests.
    pub(super) fn time_s(self) -> f64 {
        1.0 / self.rate.max(1e-9)
    }

    /// The means; `None` of none.
    pub(super) fn mean(all: &[Self]) -> Option<Self> {
        let rates: Vec<f64> = all.iter().map(|standing| standing.rate).collect();
        let mean = |of: fn(&Self) -> Option<f64>| {
            let known: Vec<f64> = all.iter().filter_map(of).collect();
            (!known.is_empty()).then(|| Summary::of(&known).mean)
        };
        (!rates.is_empty()).then(|| Self {
            rate: Summary::of(&rates).mean,
            ping_s: mean(|standing| standing.ping_s),
            others_bps: mean(|standing| standing.others_bps),
        })
    }
}

/// For the goal of short delays, this share of the most goodput is kept.
pub(super) const KEPT: f64 = 0.81;

/// How much a shorter round trip counts where goodput decides: it decides between equal ones.
const TIE: f64 = 0.01;
/// For the goal of short delays a hundredth of the round trip is worth about seven of the goodput.
const RATE: f64 = 0.15;

/// Hosts of their own accord vary by about so much from one echo to the next (timers, scheduling, interrupts that are held
/// together): what is shorter by less is not noticed. In seconds.
const LEAST_TIME: f64 = 0.0002;
/// A round trip that is shorter by less than this, as a logarithm, must not cost a larger share of the goodput than it gains: the
/// sweep of `cargo xtask validate advise` takes such round trips for about equal.
const CLOSE_PING: f64 = 0.1;

/// Below any that keeps its goodput.
const NOT_KEPT: f64 = -1e3;

impl Goal {
    /// The word that commands and documents use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::Balanced => "balanced",
        }
    }

    /// How good it is, as a logarithm: larger is better. `most` is the largest rate that is known.
    pub(super) fn value(self, standing: Standing, most: f64) -> f64 {
        let rate = libm::log(standing.rate.max(1e-9));
        let ping = libm::log(standing.ping_s.unwrap_or(1.0).max(1e-9));
        match self {
            Self::Throughput => rate - TIE * ping,
            Self::Latency if standing.rate >= KEPT * most => RATE * rate - ping,
            Self::Latency => NOT_KEPT + rate,
            Self::Balanced => rate - ping,
        }
    }

    /// The goal by which a change of such a point is judged: one that has too little goodput for the goal of short delays is
    /// to get more first. `most` is the largest rate that is known.
    pub(super) fn judging(self, before: Standing, most: f64) -> Self {
        match self {
            Self::Latency if before.rate < KEPT * most => Self::Throughput,
            Self::Throughput | Self::Latency | Self::Balanced => self,
        }
    }

    /// Whether what a change gains matters: a share, and of times also an absolute part. `after` and `before` are means over the
    /// same draws; their rates are requests per second where `is_requests`.
    pub(super) fn is_worth(self, before: Standing, after: Standing, is_requests: bool) -> bool {
        let faster = libm::log(after.rate.max(1e-9) / before.rate.max(1e-9));
        let saved_s = 1.0 / before.rate.max(1e-9) - 1.0 / after.rate.max(1e-9);
        let is_faster = faster > SMALL_GAIN && (!is_requests || saved_s > LEAST_TIME);
        let pings = before.ping_s.zip(after.ping_s);
        let is_shorter = pings.is_some_and(|(before, after)| {
            let shorter = libm::log(before.max(1e-9) / after.max(1e-9));
            before - after > LEAST_TIME
                && shorter > SMALL_GAIN
                && shorter >= (-faster).min(CLOSE_PING)
        });
        match self {
            Self::Throughput => is_faster,
            Self::Latency => is_shorter,
            Self::Balanced => {
                (is_faster || is_shorter) && self.measure(after) - self.measure(before) > SMALL_GAIN
            }
        }
    }

    /// The measure by which a change is judged: logarithms, larger is better.
    pub(super) fn measure(self, standing: Standing) -> f64 {
        let rate = libm::log(standing.rate.max(1e-9));
        let ping = libm::log(standing.ping_s.unwrap_or(1.0).max(1e-9));
        match self {
            Self::Throughput => rate,
            Self::Latency => -ping,
            Self::Balanced => rate - ping,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_notices_is_worth_no_change() {
        let at = |rate, ping_s| Standing { rate, ping_s: Some(ping_s), others_bps: None };
        let is_worth = |goal: Goal, before, after| goal.is_worth(before, after, false);
        // A tenth of the goodput for 0.1 ms.
        assert!(!is_worth(Goal::Latency, at(10e6, 0.0012), at(9e6, 0.0011)));
        assert!(is_worth(Goal::Latency, at(10e6, 0.012), at(9e6, 0.006)));
        assert!(!is_worth(Goal::Latency, at(10e6, 0.1), at(8.5e6, 0.095)), "5% for 15%");
        assert!(!is_worth(Goal::Throughput, at(10e6, 0.1), at(10.2e6, 0.1)));
        assert!(is_worth(Goal::Throughput, at(10e6, 0.1), at(11e6, 0.1)));
        assert!(is_worth(Goal::Balanced, at(10e6, 0.1), at(10e6, 0.05)));
        // A request of 1 ms that takes 0.9 ms.
        assert!(!Goal::Throughput.is_worth(at(1000.0, 0.1), at(1111.0, 0.1), true));
    }

    #[test]
    fn each_goal_prefers_another() {
        let at = |rate, ping_s| Standing { rate, ping_s: Some(ping_s), others_bps: None };
        let (full, half, short) = (at(10e6, 1.0), at(5e6, 0.05), at(9e6, 0.1));
        let best = |goal: Goal| {
            let all = [full, half, short];
            let most = 10e6;
            let best = all
                .into_iter()
                .max_by(|a, b| goal.value(*a, most).total_cmp(&goal.value(*b, most)));
            best.unwrap().rate
        };
        assert!((best(Goal::Throughput) - 10e6).abs() < 1.0);
        assert!((best(Goal::Latency) - 9e6).abs() < 1.0, "half of the goodput is not kept");
        assert!(
            (best(Goal::Balanced) - 5e6).abs() < 1.0,
            "100 Mbit a second of round trip, and 90"
        );
    }
}
