//! Runs of a scenario, as many as chance asks for.

use super::{MOST_PACKETS, Rerun};
use crate::advise::Case;
use crate::advise::gain::{CLOSE, FOUR_FIFTHS, Prediction};
use crate::engine::{Engine, EngineName, Unwatched};
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{FlowKind, Scenario};
use crate::settings::CongestionName;
use crate::sim::Sim;
use crate::stats::Summary;
use crate::units::{Bytes, Time};

/// A run by chance is repeated with so many seeds at most, and at least, to see its spread.
const SEEDS: u64 = 8;
const LEAST_SEEDS: u64 = 3;

/// Without chance a queue that overflows a moment earlier or later makes as much difference: the delay is varied, by a
/// percent each time, which is how well a round trip is known.
const VARIANTS: u64 = 5;
const VARIANT_PERCENT: u64 = 1;

/// A run whose goodput is off by twice what it may be is one of another path, whatever the others would have. That is so where a run is
/// too long for more than [`LEAST_SEEDS`]: chance evens out in it. In a short one a timeout more or less makes all the difference.
const FAR: f64 = 2.0 * CLOSE;

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

/// Lets a run have so many requests.
pub(super) fn limit_requests(scenario: &mut Scenario, count: u64) {
    for flow in &mut scenario.flows {
        if let FlowKind::Request(plan) = &mut flow.kind {
            plan.count = Some(count);
        }
    }
}

/// How many requests a run has; `None` of a transfer.
fn requests_of(scenario: &Scenario) -> Option<u64> {
    let count =
        |kind: &FlowKind| if let FlowKind::Request(plan) = kind { plan.count } else { None };
    scenario.flows.iter().find_map(|flow| count(&flow.kind))
}

/// The means of some runs of a scenario.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    pub(super) goodput_bps: f64,
    /// Half of its 95% interval; `None` of one run.
    half_bps: Option<f64>,
    /// How many.
    pub(super) count: usize,
    /// Standard deviation of one run's goodput, over the mean.
    pub(super) spread: f64,
    pub(super) retransmissions: f64,
    /// `None` of formulas, which know no round trips under load.
    pub(super) rtt_s: Option<f64>,
    /// From a request to the end of its reply, in seconds; `None` of a transfer.
    pub(super) request_s: Option<f64>,
    /// The limit of most of them.
    pub(super) limited_by: Option<LimitedBy>,
}

impl Runs {
    /// Whether their goodput is off by more than this share of what was observed, and what chance adds.
    pub(super) fn is_off(&self, observed_bps: f64, share: f64) -> bool {
        (self.goodput_bps / observed_bps - 1.0).abs() > share + FOUR_FIFTHS * self.spread
    }

    /// The means of these, with the goodput of each.
    fn of(name: EngineName, outcomes: &[(f64, Outcome)]) -> Self {
        let mean = |of: &dyn Fn(&Outcome) -> Option<f64>| {
            let values: Vec<f64> = outcomes.iter().filter_map(|(_, outcome)| of(outcome)).collect();
            (!values.is_empty()).then(|| Summary::of(&values).mean)
        };
        let goodputs: Vec<f64> = outcomes.iter().map(|(goodput, _)| *goodput).collect();
        let goodput = Summary::of(&goodputs);
        Self {
            half_bps: goodput.ci95(),
            count: outcomes.len(),
            spread: goodput.coefficient_of_variation().unwrap_or(0.0),
            retransmissions: mean(&|outcome| outcome.retransmitted_packets.map(|n| n as f64))
                .unwrap_or(0.0),
            request_s: mean(&|outcome| outcome.request_mean_s),
            rtt_s: mean(&|outcome| outcome.rtt_mean_s).filter(|_| name == EngineName::Sim),
            limited_by: LimitedBy::of_most(outcomes.iter().filter_map(|(_, it)| it.limited_by)),
            goodput_bps: goodput.mean,
        }
    }
}

impl Prediction {
    pub(super) fn of(engine: EngineName, baseline: &Runs, after: Option<&Runs>) -> Self {
        Self {
            engine,
            baseline_bps: baseline.goodput_bps,
            without_bps: after.map(|after| after.goodput_bps),
            at_worst_bps: None,
            baseline_spread: baseline.spread,
            spread: after.map_or(0.0, |after| after.spread),
            runs: [baseline.count, after.map_or(0, |after| after.count)],
            half_bps: [baseline.half_bps, after.and_then(|after| after.half_bps)],
            request_s: [baseline.request_s, after.and_then(|after| after.request_s)],
            limited_by: baseline.limited_by,
            then_limited_by: after.and_then(|after| after.limited_by),
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
        self.runs_until(engine, name, scenario, |_, _| false)
    }

    /// The same by the simulator; of long ones none behind one that is [far](FAR) from what was observed.
    pub(super) fn runs_until_far(&self, case: &Case<'_>, scenario: &Scenario) -> Option<Runs> {
        let observed_bps = self.observed_bps(case);
        self.runs_until(&mut Sim, EngineName::Sim, scenario, |so_far, wanted| {
            wanted <= LEAST_SEEDS && Runs::of(EngineName::Sim, so_far).is_off(observed_bps, FAR)
        })
    }

    /// The same, until those so far, of as many as are wanted, are enough.
    fn runs_until(
        &self,
        engine: &mut dyn Engine,
        name: EngineName,
        scenario: &Scenario,
        are_enough: impl Fn(&[(f64, Outcome)], u64) -> bool,
    ) -> Option<Runs> {
        let packets = self.payload_of_run(scenario) / u64::from(self.path.segment.value.max(1)) + 1;
        let is_chance = scenario.is_random() || scenario.sender.congestion == CongestionName::Bbr;
        let (least, most) = match (name, is_chance) {
            (EngineName::Model, _) => (1, 1),
            (_, true) => (LEAST_SEEDS, SEEDS),
            (_, false) => (1, VARIANTS),
        };
        let wanted = (MOST_PACKETS / packets).clamp(least, most);
        let mut run = scenario.clone();
        let mut outcomes: Vec<(f64, Outcome)> = Vec::new();
        for number in 0..wanted {
            run.seed = scenario.seed + number;
            if !is_chance {
                vary(&mut run, scenario, number);
            }
            outcomes.push(self.goodput(engine, &run)?);
            if are_enough(&outcomes, wanted) {
                break;
            }
        }
        let mut runs = Runs::of(name, &outcomes);
        if self.path.runs_buffer_as_window() && runs.limited_by == Some(LimitedBy::ReceiveWindow) {
            runs.limited_by = Some(LimitedBy::SendBuffer);
        }
        Some(runs)
    }

    /// What a run takes before a packet of it would be captured, and behind the last, in seconds: acknowledgements that wait for a narrow link do so
    /// behind a capture at their sender.
    fn beside_capture_s(&self, outcome: &Outcome) -> f64 {
        let (before, path) = (self.path.before_capture_s, self.path.rtt_s.value);
        let waited = match (&self.path.reverse_link, outcome.rtt_mean_s) {
            (Some(_), Some(mean)) if path > 0.0 => (mean - path).max(0.0) * before / path,
            _ => 0.0,
        };
        before + waited
    }

    /// Payload that a run carries, in bytes.
    fn payload_of_run(&self, scenario: &Scenario) -> u64 {
        let of_requests = self.path.dialogue.as_ref().zip(requests_of(scenario));
        let bytes = || scenario.until.bytes.map_or(0, Bytes::get);
        of_requests.map_or_else(bytes, |(dialogue, count)| dialogue.bytes_of(count))
    }

    /// Goodput from the first data on, as a capture counts it: a run's elapsed time includes the handshake, and that of requests a round
    /// trip and the server's time before the first reply, or behind the last request.
    pub(super) fn goodput(
        &self,
        engine: &mut dyn Engine,
        scenario: &Scenario,
    ) -> Option<(f64, Outcome)> {
        let outcome = engine.run(scenario, &mut Unwatched).ok()?;
        let elapsed = outcome.elapsed_s?;
        let handshake_s = Time::from_secs_f64(self.path.rtt_s.value).as_secs_f64();
        let (bytes, before_s) = match &self.path.dialogue {
            Some(dialogue) => {
                let done = outcome.requests?.checked_mul(dialogue.data_bytes())?;
                (done as f64, handshake_s + dialogue.think.value.as_secs_f64())
            }
            None => (outcome.payload_bytes? as f64, handshake_s),
        };
        let since_data = elapsed - before_s - self.beside_capture_s(&outcome);
        (since_data > 0.0 && bytes > 0.0).then(|| (8.0 * bytes / since_data, outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(goodput_bps: f64, spread: f64) -> Runs {
        let rtt_s = Some(0.02);
        Runs {
            goodput_bps,
            half_bps: None,
            count: 3,
            spread,
            retransmissions: 0.0,
            request_s: None,
            rtt_s,
            limited_by: None,
        }
    }

    /// What is far is off in any case: who stops at it has a run that does not explain what was observed.
    #[test]
    fn chance_adds_to_what_runs_may_be_off_by() {
        for (goodput_bps, spread, expected) in [
            (11e6, 0.0, [false, false]),
            (12e6, 0.0, [true, false]),
            (14e6, 0.0, [true, true]),
            (6e6, 0.0, [true, true]),
            (14e6, 0.1, [true, false]),
            (14e6, 0.3, [false, false]),
        ] {
            let is_off = [CLOSE, FAR].map(|share| runs(goodput_bps, spread).is_off(10e6, share));
            assert_eq!(is_off, expected, "{goodput_bps} bit/s, spread {spread}");
        }
    }
}
