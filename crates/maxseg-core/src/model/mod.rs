//! The closed form: what formulas say, which one it was, and how far it can be trusted.
//!
//! A bulk flow gets the least of its bounds: its window per round trip, how fast it is read, the slowest
//! link (less what a saw-tooth leaves unused), the way back of its acknowledgements, what its hosts take
//! for each packet, and what losses allow, by its congestion control: PFTK for Reno, the square-root law for Linux's Reno with
//! SACK, RFC 9438's response function for CUBIC; BBR goes by the link's rate. Datagrams get their rate less what is lost; echo requests
//! the round trip with what bulk flows leave standing in the queue. A request takes what its handshake,
//! its upload and the slow start of its reply take, with what losses add to short transfers.

pub mod ack_path;
pub mod bbr;
mod bulk;
pub mod cardwell;
mod caveats;
pub mod cubic;
mod datagrams;
pub mod fec;
mod flow_path;
pub mod frames;
pub mod host;
pub mod mathis;
pub mod measured;
pub mod optimum;
pub mod pftk;
pub mod recovery;
pub mod requests;
pub mod rfc6349;
pub mod saw_tooth;
mod shares;
mod slow_start;
pub mod tfrc;

use crate::engine::{
    Caveat, Engine, EngineError, Watch, assumed_by_formulas, name_flows, size_caveats,
};
use crate::framing::IpPacket;
use crate::outcome::Outcome;
use crate::scenario::{End, Flow, FlowKind, Scenario, Until};
use crate::units::Time;
use shares::Shares;

/// The closed-form engine. The seed means nothing to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Model;

/// Which formula gave a goodput.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    /// Window ÷ round trip.
    Window,
    /// As fast as the receiving application reads.
    Reader,
    /// The slowest link's rate less headers.
    Link,
    /// The same, less what the saw-tooth of Reno or CUBIC leaves unused.
    SawTooth,
    /// As many acknowledgements as the way back carries (RFC 3449 §3.1).
    AckPath,
    /// As many packets as the slower host has time for.
    Host,
    /// PFTK, full model, goodput form.
    PftkFull,
    /// The square-root law, for Reno with SACK.
    SquareRoot,
    /// CUBIC's response function (RFC 9438 §5).
    Cubic,
    /// The slowest link's rate less headers and losses: BBR's.
    Bbr,
    /// Every segment is lost.
    NothingArrives,
    /// Rate × delivery.
    Datagrams,
    /// Short transfers: handshake, slow start in whole rounds, and what losses add to them.
    Cardwell,
}

impl Formula {
    /// The word that results carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window/rtt",
            Self::Reader => "reader",
            Self::Link => "link",
            Self::SawTooth => "link*saw-tooth",
            Self::AckPath => "ack-path",
            Self::Host => "host",
            Self::PftkFull => "pftk-full",
            Self::SquareRoot => "square-root",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::NothingArrives => "nothing-arrives",
            Self::Datagrams => "rate*delivery",
            Self::Cardwell => "cardwell",
        }
    }
}

/// An outcome with what is to be known about it.
struct Estimate {
    outcome: Outcome,
    caveats: Vec<Caveat>,
}

impl Engine for Model {
    fn caveats(&self, scenario: &Scenario) -> Vec<Caveat> {
        let mut caveats = size_caveats(scenario);
        caveats.extend(assumed_by_formulas(scenario));
        let bulk = scenario.flows.iter().filter(|flow| flow.kind == FlowKind::Bulk).count();
        if bulk > 1 {
            let text =
                format!("{bulk} bulk flows: the formulas give each an equal share of the path");
            caveats.push(Caveat::new("shared", text));
        }
        for estimate in estimates(scenario) {
            caveats.extend(estimate.caveats);
        }
        caveats.extend(caveats::of_links(scenario));
        let mut seen = Vec::new();
        caveats.retain(|caveat| {
            let new = !seen.contains(caveat);
            seen.push(caveat.clone());
            new
        });
        caveats
    }

    fn run(&mut self, scenario: &Scenario, _: &mut dyn Watch) -> Result<Outcome, EngineError> {
        let flows = estimates(scenario).into_iter().map(|estimate| estimate.outcome);
        let flows = of_one_run(flows.collect());
        let mut outcome = match flows.as_slice() {
            [only] => only.clone(),
            _ => total(scenario, flows),
        };
        name_flows(&mut outcome, scenario);
        Ok(outcome)
    }
}

/// Every flow's estimate, in order. Where those that come to an end end the run before its time limit, the others end with them.
fn estimates(scenario: &Scenario) -> Vec<Estimate> {
    let estimates = estimates_up_to(scenario);
    let Some(time) = early_end(scenario, &estimates) else { return estimates };
    let until = Until { time, ..scenario.until };
    let shortened = estimates_up_to(&Scenario { until, ..scenario.clone() });
    let pairs = scenario.flows.iter().zip(estimates.into_iter().zip(shortened));
    pairs.map(|(flow, (entire, cut))| if flow.is_waited_for() { entire } else { cut }).collect()
}

/// When the last flow that a run waits for is done, where that is before its time limit.
fn early_end(scenario: &Scenario, estimates: &[Estimate]) -> Option<Time> {
    if scenario.flows.iter().all(Flow::is_waited_for) {
        return None; // nobody is cut off
    }
    let awaited = scenario.flows.iter().zip(estimates).filter(|(flow, _)| flow.is_waited_for());
    let ends = awaited.filter_map(|(_, estimate)| estimate.outcome.elapsed_s);
    let end = Time::from_secs_f64(ends.reduce(f64::max)?);
    (end < scenario.until.time).then_some(end)
}

/// The same up to the time limit.
fn estimates_up_to(scenario: &Scenario) -> Vec<Estimate> {
    let flows = &scenario.flows;
    // What requests take of links is known only after the queues that they wait in.
    let alone = Shares::new(scenario);
    let queues = Queues::new(scenario, &alone);
    let requests: Vec<(usize, Estimate)> = flows
        .iter()
        .enumerate()
        .filter_map(|(index, flow)| match flow.kind {
            FlowKind::Request(plan) => {
                let estimate = requests::estimate(scenario, flow, &plan, queues.of(flow));
                Some((index, estimate))
            }
            FlowKind::Bulk | FlowKind::Cbr { .. } | FlowKind::Ping { .. } => None,
        })
        .collect();
    let (shares, requests) = requests::side_by_side(scenario, requests);
    let mut requests = requests.into_iter();
    let mut estimates: Vec<Estimate> = flows
        .iter()
        .map(|flow| match (flow.kind, flow.kind.interval_s()) {
            (FlowKind::Cbr { size, header, .. }, Some(interval)) => {
                datagrams::constant_rate(scenario, flow, (size, header, interval), &shares)
            }
            (FlowKind::Ping { size, header, .. }, _) => {
                let queues = Time::from_secs_f64(queues.mean_of(flow, scenario.until.time));
                datagrams::echo(scenario, flow, IpPacket::from(size + header), queues, &shares)
            }
            (FlowKind::Request(_), _) => requests.next().expect("one for each such flow"),
            (FlowKind::Bulk | FlowKind::Cbr { .. }, _) => bulk::estimate(scenario, flow, &shares),
        })
        .collect();
    forget_losses_beside_bulk(scenario, &mut estimates);
    estimates
}

/// A queue that bulk flows overflow refuses packets of others as well, and no formula counts how many.
fn forget_losses_beside_bulk(scenario: &Scenario, estimates: &mut [Estimate]) {
    let overflowing: Vec<&Flow> = (scenario.flows.iter().zip(estimates.iter()))
        .filter(|(flow, it)| flow.kind == FlowKind::Bulk && it.outcome.segment_loss.is_none())
        .map(|(flow, _)| flow)
        .collect();
    for (flow, estimate) in scenario.flows.iter().zip(estimates) {
        let meets = |bulk: &&Flow| {
            let is_met = match flow.kind {
                FlowKind::Cbr { .. } => bulk.from == flow.from,
                FlowKind::Bulk => false,
                FlowKind::Ping { .. } | FlowKind::Request(_) => true,
            };
            is_met && bulk.hops.meets(flow.hops)
        };
        if overflowing.iter().any(meets) {
            estimate.outcome.segment_loss = None;
        }
    }
}

/// What stands in queues, for all who meet them: what bulk flows leave there, or datagrams that do not fit.
struct Queues<'a> {
    /// Bulk flows with their standing queue, in seconds, and their end.
    standing: Vec<(&'a Flow, f64, Time)>,
    shares: &'a Shares<'a>,
}

impl<'a> Queues<'a> {
    fn new(scenario: &'a Scenario, shares: &'a Shares<'a>) -> Self {
        let is_met = scenario
            .flows
            .iter()
            .any(|flow| matches!(flow.kind, FlowKind::Ping { .. } | FlowKind::Request(_)));
        let bulk = scenario.flows.iter().filter(|flow| is_met && flow.kind == FlowKind::Bulk);
        let standing = bulk.filter_map(|flow| {
            let outcome = bulk::estimate(scenario, flow, shares).outcome;
            let queue = outcome.rtt_mean_s? - outcome.rtt_min_s?;
            let end = outcome.elapsed_s.map_or(scenario.until.time, Time::from_secs_f64);
            Some((flow, queue, end.min(flow.stop)))
        });
        Self { standing: standing.collect(), shares }
    }

    /// How long a flow's packets and their answers wait while bulk flows send.
    fn of(&self, flow: &Flow) -> f64 {
        self.weighed(flow, |_, _| 1.0)
    }

    /// The same as a mean over the flow's own time, which ends with the run at `end` or, by bytes, with the last bulk flow.
    fn mean_of(&self, flow: &Flow, end: Time) -> f64 {
        let of_bulk = self.standing.iter().map(|(_, _, end)| *end).max();
        let end = flow.stop.min(of_bulk.unwrap_or(end).min(end));
        let own = end.since(flow.start).as_secs_f64();
        self.weighed(flow, |bulk, bulk_end| {
            let common = bulk_end.min(end).since(bulk.start.max(flow.start)).as_secs_f64();
            if own > 0.0 { common / own } else { 1.0 }
        })
    }

    /// The longest queue of each direction, each bulk flow's by the share of the time that it is met.
    fn weighed(&self, flow: &Flow, share: impl Fn(&Flow, Time) -> f64) -> f64 {
        let from = |end: End| {
            let met = self
                .standing
                .iter()
                .filter(|(bulk, ..)| bulk.from == end && bulk.hops.meets(flow.hops));
            met.map(|(bulk, queue, end)| queue * share(bulk, *end)).fold(0.0, f64::max)
        };
        let ways = [*flow, flow.reversed()];
        let full: f64 = ways.iter().map(|way| self.shares.full_queues(way)).sum();
        (from(End::Sender) + from(End::Receiver)).max(full)
    }
}

/// The same where each has its goodput as a mean of the whole run, which ends with the last of them.
fn of_one_run(mut flows: Vec<Outcome>) -> Vec<Outcome> {
    let end = flows.iter().filter_map(|flow| flow.elapsed_s).fold(0.0, f64::max);
    for flow in &mut flows {
        let own = flow.elapsed_s.replace(end).unwrap_or(end);
        if own < end {
            flow.goodput_bps = flow.goodput_bps.map(|goodput| goodput * own / end);
        }
    }
    flows
}

/// A count that a formula gave.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are not negative, and saturate where a formula runs away"
)]
fn whole(count: f64) -> u64 {
    // To the nearest: a rate times a time falls short of the bytes that it came from by a rounding error.
    libm::round(count) as u64
}

/// The mean over all requests of all flows.
fn mean_request_time(flows: &[Outcome]) -> Option<f64> {
    let weighed = flows.iter().filter_map(|flow| Some((flow.requests?, flow.request_mean_s?)));
    let (count, time) = weighed.fold((0.0, 0.0), |(count, time), (requests, mean)| {
        (count + requests as f64, time + requests as f64 * mean)
    });
    (count > 0.0).then(|| time / count)
}

/// The mean over all echo requests of all flows.
fn mean_ping(scenario: &Scenario, flows: &[Outcome]) -> Option<f64> {
    let end = scenario.until.time;
    let weighed = scenario.flows.iter().zip(flows).filter_map(|(flow, outcome)| {
        let active = flow.stop.min(end).since(flow.start).as_secs_f64();
        Some((active / flow.kind.interval_s()?, outcome.ping_mean_s?))
    });
    let (count, time) = weighed
        .fold((0.0, 0.0), |(count, time), (pings, mean)| (count + pings, time + pings * mean));
    (count > 0.0).then(|| time / count)
}

/// Several flows as one.
fn total(scenario: &Scenario, flows: Vec<Outcome>) -> Outcome {
    let leader = Outcome::leader(&flows);
    let of_run = Outcome {
        elapsed_s: flows.iter().filter_map(|flow| flow.elapsed_s).reduce(f64::max),
        // No formula has samples to take a mean of.
        rtt_mean_s: leader.and_then(|leader| leader.rtt_mean_s),
        formula: leader.and_then(|leader| leader.formula.clone()),
        ping_mean_s: mean_ping(scenario, &flows),
        request_mean_s: mean_request_time(&flows),
        ..Outcome::default()
    };
    Outcome::total(flows, of_run)
}

#[cfg(test)]
mod tests;
