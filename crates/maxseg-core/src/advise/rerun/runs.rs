//! Runs of a scenario, as many as chance asks for.

use super::{MOST_PACKETS, Rerun};
use crate::advise::gain::Prediction;
use crate::engine::{Engine, EngineName, Unwatched};
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::Scenario;
use crate::settings::CongestionName;
use crate::stats::Summary;
use crate::units::{Bytes, Time};

/// A run by chance is repeated with so many seeds at most, and at least, to see its spread.
const SEEDS: u64 = 8;
const LEAST_SEEDS: u64 = 3;

/// Without chance a queue that overflows a moment earlier or later makes as much difference: the delay is varied, by a
/// percent each time, which is how well a round trip is known.
const VARIANTS: u64 = 5;
const VARIANT_PERCENT: u64 = 1;

/// Sets the delay of the `number`-th variant: that of `scenario`, longer, shorter, and so on.
fn vary(run: &mut Scenario, scenario: &Scenario, number: u64) {
    let percent = number.div_ceil(2) * VARIANT_PERCENT;
    let percents = if number % 2 == 1 { 100 + percent } else { 100 - percent };
    for (hop, as_it_is) in run.path.hops.iter_mut().zip(&scenario.path.hops) {
        let part = Time::from_nanos(as_it_is.forward.delay.as_nanos() * percents / 100);
        hop.forward.delay = part;
        hop.reverse.delay = part;
    }
}

/// The means of some runs of a scenario.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    pub(super) goodput_bps: f64,
    /// Standard deviation of one run's goodput, over the mean.
    pub(super) spread: f64,
    pub(super) retransmissions: f64,
    /// `None` of formulas, which know no round trips under load.
    pub(super) rtt_s: Option<f64>,
    pub(super) then_limited_by: Option<LimitedBy>,
}

impl Prediction {
    pub(super) fn of(engine: EngineName, baseline: &Runs, after: Option<&Runs>) -> Self {
        Self {
            engine,
            baseline_bps: baseline.goodput_bps,
            without_bps: after.map(|after| after.goodput_bps),
            baseline_spread: baseline.spread,
            spread: after.map_or(0.0, |after| after.spread),
            then_limited_by: after.and_then(|after| after.then_limited_by),
        }
    }
}

impl Rerun {
    /// Runs a scenario with as many seeds as chance and time ask for.
    pub(super) fn runs(
        &self,
        engine: &mut dyn Engine,
        name: EngineName,
        scenario: &Scenario,
    ) -> Option<Runs> {
        let bytes = scenario.until.bytes.map_or(0, Bytes::get);
        let packets = bytes / u64::from(self.path.segment.value.max(1)) + 1;
        let is_chance = scenario.is_random() || scenario.sender.congestion == CongestionName::Bbr;
        let (least, most) = match (name, is_chance) {
            (EngineName::Model, _) => (1, 1),
            (_, true) => (LEAST_SEEDS, SEEDS),
            (_, false) => (1, VARIANTS),
        };
        let mut run = scenario.clone();
        let mut outcomes: Vec<(f64, Outcome)> = Vec::new();
        for number in 0..(MOST_PACKETS / packets).clamp(least, most) {
            run.seed = scenario.seed + number;
            if !is_chance {
                vary(&mut run, scenario, number);
            }
            outcomes.push(self.goodput(engine, &run)?);
        }
        let mean = |of: &dyn Fn(&Outcome) -> Option<f64>| {
            let values: Vec<f64> = outcomes.iter().filter_map(|(_, outcome)| of(outcome)).collect();
            (!values.is_empty()).then(|| Summary::of(&values).mean)
        };
        let goodputs: Vec<f64> = outcomes.iter().map(|(goodput, _)| *goodput).collect();
        let goodput = Summary::of(&goodputs);
        Some(Runs {
            spread: goodput.coefficient_of_variation().unwrap_or(0.0),
            retransmissions: mean(&|outcome| outcome.retransmitted_packets.map(|n| n as f64))
                .unwrap_or(0.0),
            rtt_s: mean(&|outcome| outcome.rtt_mean_s).filter(|_| name == EngineName::Sim),
            then_limited_by: outcomes.first().and_then(|(_, outcome)| outcome.limited_by),
            goodput_bps: goodput.mean,
        })
    }

    /// Goodput from the first data on, as a capture counts it: a run's elapsed time includes the handshake.
    pub(super) fn goodput(
        &self,
        engine: &mut dyn Engine,
        scenario: &Scenario,
    ) -> Option<(f64, Outcome)> {
        let outcome = engine.run(scenario, &mut Unwatched).ok()?;
        let (bytes, elapsed) = (outcome.payload_bytes? as f64, outcome.elapsed_s?);
        let since_data = elapsed - Time::from_secs_f64(self.path.rtt_s.value).as_secs_f64();
        (since_data > 0.0 && bytes > 0.0).then(|| (8.0 * bytes / since_data, outcome))
    }
}
