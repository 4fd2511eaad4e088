//! What a change gains.

use schemars::JsonSchema;
use serde::Serialize;

use super::Request;
use super::bench::{AS_IT_IS, Bench};
use super::goal::{Goal, Standing};
use super::ratio::Ratio;
use crate::units::Time;

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
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct AdviceGain {
    /// Goodput with it over goodput without it, less 1, in percent; null where none is measured.
    pub goodput_pct: Option<f64>,
    /// The same of the round trip under load: below 0 it is shorter.
    pub ping_pct: Option<f64>,
    /// The same of the mean time of a request; null where no requests are sent.
    pub request_time_pct: Option<f64>,
    /// The goodput of all other flows with it over that without it, less 1, in percent; null where no other flow carries data.
    pub others_pct: Option<f64>,
    /// 95% interval, in percent, of `ci95_of`. Null where fewer than two runs tell, and where the gain or the path's rate is a lower bound.
    pub ci95: Option<[f64; 2]>,
    /// Whether it is a lower bound: at least so much.
    pub is_bound: bool,
    /// What may hold it below that, and the runs have none of it, in words; null where nothing is known.
    pub unless: Option<String>,
    /// What the goal measures.
    pub ci95_of: GainOf,
    /// What it is compared with.
    pub over: GainOver,
    /// Pairs of runs with the same draws.
    pub runs: usize,
    /// Whether next to nothing gets through without it: what is gained then is no share of that, and `goodput_pct`,
    /// `request_time_pct` and `ci95` of them are null.
    pub over_nothing: bool,
    /// The time of these runs in seconds, where the scenario's own is longer; null where it is not.
    pub in_runs_of_s: Option<f64>,
    /// Whether needless retransmissions, which there are without it, end.
    pub ends_needless_retransmissions: bool,
}

/// How much larger the rate of the second is: of requests, how much shorter the time of one.
fn of_rates(pairs: &[(Standing, Standing)], is_requests: bool) -> Option<Ratio> {
    let of = |standing: Standing| if is_requests { standing.time_s() } else { standing.rate };
    let values: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (of(*a), of(*b))).collect();
    let ratio = Ratio::of(&values)?;
    Some(if is_requests { ratio.inverse() } else { ratio })
}

/// How much longer the round trip of the second is.
fn of_pings(pairs: &[(Standing, Standing)]) -> Option<Ratio> {
    let values = pairs.iter().map(|(a, b)| Some((a.ping_s?, b.ping_s?)));
    Ratio::of(&values.collect::<Option<Vec<_>>>()?)
}

/// How much more the other flows carry beside the second.
fn of_others(pairs: &[(Standing, Standing)]) -> Option<Ratio> {
    let values = pairs.iter().map(|(a, b)| Some((a.others_bps?, b.others_bps?)));
    Ratio::of(&values.collect::<Option<Vec<_>>>()?)
}

/// How much better the second is, by what a goal measures.
pub(super) fn measured(
    goal: Goal,
    pairs: &[(Standing, Standing)],
    is_requests: bool,
) -> Option<Ratio> {
    match goal {
        Goal::Throughput => of_rates(pairs, is_requests),
        Goal::Latency => of_pings(pairs).map(Ratio::inverse),
        Goal::Balanced => Some(of_rates(pairs, is_requests)?.over(&of_pings(pairs)?)),
    }
}

/// A rate below this share of another is next to nothing beside it: what gets through a black hole is a handshake and a few probes.
const NEXT_TO_NOTHING: f64 = 1e-4;

/// Whether a rate is next to nothing beside another, so that no ratio of them means anything.
pub fn is_over_nothing(before: f64, after: f64) -> bool {
    before < NEXT_TO_NOTHING * after
}

fn starts_from_nothing(pairs: &[(Standing, Standing)]) -> bool {
    let mean = |of: fn(&(Standing, Standing)) -> f64| pairs.iter().map(of).sum::<f64>();
    is_over_nothing(mean(|(a, _)| a.rate), mean(|(_, b)| b.rate))
}

/// The gain of `b` over `a`, by the draws that are `wanted`; by all of both where there are none.
pub(super) fn gain(
    bench: &Bench,
    [a, b]: [usize; 2],
    request: &Request<'_>,
    wanted: impl Fn(u64) -> bool,
) -> AdviceGain {
    let fresh = bench.pairs(a, b, wanted);
    let pairs = if fresh.is_empty() { bench.pairs(a, b, |_| true) } else { fresh };
    let in_percent = |log: f64| 100.0 * (libm::exp(log) - 1.0);
    let is_requests = bench.is_requests();
    let rate = of_rates(&pairs, is_requests).map(|ratio| ratio.log());
    let ping = of_pings(&pairs).map(|ratio| ratio.log());
    let ci95_of = GainOf::of(request.goal, is_requests);
    let measured = measured(request.goal, &pairs, is_requests).map(|better| match ci95_of {
        GainOf::RequestTime | GainOf::RoundTrip => better.inverse().log(),
        GainOf::Goodput | GainOf::GoodputPerRoundTrip => better.log(),
    });
    let over_nothing = starts_from_nothing(&pairs);
    let rate = rate.filter(|_| !over_nothing);
    let measured = measured.filter(|_| !over_nothing || ci95_of == GainOf::RoundTrip);
    AdviceGain {
        // More room brings more of what gains here; whether it costs more, no run tells.
        is_bound: request.rate_is_bound && rate.as_ref().is_some_and(|log| log.mean > 0.0),
        unless: None,
        over_nothing,
        goodput_pct: rate.filter(|_| !is_requests).map(|log| in_percent(log.mean)),
        ping_pct: ping.map(|log| in_percent(log.mean)),
        others_pct: of_others(&pairs).map(|ratio| in_percent(ratio.log().mean)),
        request_time_pct: rate.filter(|_| is_requests).map(|log| in_percent(-log.mean)),
        ci95: measured.filter(|_| !request.rate_is_bound).and_then(|log| {
            let half = log.ci95()?;
            Some([in_percent(log.mean - half), in_percent(log.mean + half)])
        }),
        ci95_of,
        over: if a == AS_IT_IS { GainOver::AsItIs } else { GainOver::OtherChanges },
        runs: pairs.len(),
        in_runs_of_s: bench.proof_shortened_to().map(Time::as_secs_f64),
        ends_needless_retransmissions: bench.mends(a, b),
    }
}
