//! What a change gains.

use schemars::JsonSchema;
use serde::Serialize;

use super::Request;
use super::bench::{AS_IT_IS, Bench};
use super::goal::{Goal, Standing};
use crate::stats::Summary;

/// What an interval is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GainOf {
    /// Goodput.
    #[default]
    Goodput,
    /// Round trip under load.
    RoundTrip,
    /// Goodput over round trip under load.
    GoodputPerRoundTrip,
    /// The mean time of a request.
    RequestTime,
}

impl GainOf {
    const fn of(goal: Goal, is_requests: bool) -> Self {
        match goal {
            Goal::Throughput if is_requests => Self::RequestTime,
            Goal::Throughput => Self::Goodput,
            Goal::Latency => Self::RoundTrip,
            Goal::Balanced => Self::GoodputPerRoundTrip,
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::RoundTrip => "the round trip",
            Self::GoodputPerRoundTrip => "goodput over round trip",
            Self::RequestTime => "the time of a request",
        }
    }
}

/// What a gain is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GainOver {
    /// The path as it is, against all the changes of the point.
    #[default]
    AsItIs,
    /// All the other changes without this one.
    OtherChanges,
}

/// What a change gains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct AdviceGain {
    /// Goodput with it over goodput without it, less 1, in percent; null where none is measured.
    pub goodput_pct: Option<f64>,
    /// The same of the round trip under load: below 0 it is shorter.
    pub ping_pct: Option<f64>,
    /// The same of the mean time of a request; null where no requests are sent.
    pub request_time_pct: Option<f64>,
    /// 95% interval, in percent, of `ci95_of`. Null where fewer than two runs tell.
    pub ci95: Option<[f64; 2]>,
    /// What the goal measures.
    pub ci95_of: GainOf,
    /// What it is compared with.
    pub over: GainOver,
    /// Pairs of runs with the same draws.
    pub runs: usize,
    /// Whether needless retransmissions, which there are without it, end.
    pub ends_needless_retransmissions: bool,
}

/// The gain of `b` over `a`, by the draws that chose nothing; by all of both where there are none.
pub(super) fn gain(bench: &Bench, [a, b]: [usize; 2], request: &Request<'_>) -> AdviceGain {
    let fresh = bench.pairs(a, b, super::search::is_fresh);
    let pairs = if fresh.len() >= 2 { fresh } else { bench.pairs(a, b, |_| true) };
    let change_of = |of: &dyn Fn(&Standing) -> Option<f64>| {
        let logs: Vec<f64> = pairs
            .iter()
            .filter_map(|(a, b)| Some(libm::log(of(b)?.max(1e-12)) - libm::log(of(a)?.max(1e-12))))
            .collect();
        (!logs.is_empty()).then(|| Summary::of(&logs))
    };
    let in_percent = |log: f64| 100.0 * (libm::exp(log) - 1.0);
    let rate = change_of(&|standing| Some(standing.rate));
    let ping = change_of(&|standing| standing.ping_s);
    let is_requests = bench.is_requests();
    let ci95_of = GainOf::of(request.goal, is_requests);
    let measured = match ci95_of {
        GainOf::RequestTime => change_of(&|standing| Some(1.0 / standing.rate.max(1e-12))),
        GainOf::Goodput => rate,
        GainOf::RoundTrip => ping,
        GainOf::GoodputPerRoundTrip => {
            change_of(&|standing| Some(standing.rate / standing.ping_s?))
        }
    };
    AdviceGain {
        goodput_pct: rate.filter(|_| !is_requests).map(|log| in_percent(log.mean)),
        ping_pct: ping.map(|log| in_percent(log.mean)),
        request_time_pct: rate.filter(|_| is_requests).map(|log| in_percent(-log.mean)),
        ci95: measured.and_then(|log| {
            let half = log.ci95()?;
            Some([in_percent(log.mean - half), in_percent(log.mean + half)])
        }),
        ci95_of,
        over: if a == AS_IT_IS { GainOver::AsItIs } else { GainOver::OtherChanges },
        runs: pairs.len(),
        ends_needless_retransmissions: super::search::mends(bench, a, b),
    }
}
