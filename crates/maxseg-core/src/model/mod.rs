//! The closed form: what formulas say, which one it was, and how far it can be trusted.
//!
//! A bulk flow gets the least of three bounds: its window per round trip, the slowest link, and what
//! losses allow (PFTK). Datagrams get their rate less what is lost; echo requests the round trip with
//! what bulk flows leave standing in the queue.

mod bulk;
mod datagrams;
pub mod mathis;
pub mod pftk;
mod way;

use crate::engine::{Caveat, Engine, EngineError, Watch, path_mtu_caveats};
use crate::outcome::Outcome;
use crate::scenario::{Flow, FlowKind, Scenario};
use crate::units::Time;

/// The closed-form engine. The seed means nothing to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Model;

/// Which formula gave a goodput.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    /// Window ÷ round trip.
    Window,
    /// The slowest link's rate less headers.
    Link,
    /// PFTK, full model, goodput form.
    PftkFull,
    /// Rate × delivery.
    Datagrams,
}

impl Formula {
    /// The word that results carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window/rtt",
            Self::Link => "link",
            Self::PftkFull => "pftk-full",
            Self::Datagrams => "rate*delivery",
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
        let mut caveats = path_mtu_caveats(scenario);
        let bulk = scenario.flows.iter().filter(|flow| flow.kind == FlowKind::Bulk).count();
        if bulk > 1 {
            let text =
                format!("{bulk} bulk flows: the formulas give each an equal share of the path");
            caveats.push(Caveat::new("shared", text));
        }
        for estimate in estimates(scenario) {
            caveats.extend(estimate.caveats);
        }
        let mut seen = Vec::new();
        caveats.retain(|caveat| {
            let new = !seen.contains(caveat);
            seen.push(caveat.clone());
            new
        });
        caveats
    }

    fn run(&mut self, scenario: &Scenario, _: &mut dyn Watch) -> Result<Outcome, EngineError> {
        let flows: Vec<Outcome> =
            estimates(scenario).into_iter().map(|estimate| estimate.outcome).collect();
        Ok(match flows.as_slice() {
            [only] => only.clone(),
            _ => total(flows),
        })
    }
}

/// Every flow's estimate, in order.
fn estimates(scenario: &Scenario) -> Vec<Estimate> {
    let bulk = scenario.flows.iter().filter(|flow| flow.kind == FlowKind::Bulk).count().max(1);
    let taken: f64 =
        scenario.flows.iter().map(|flow| datagrams::share_of_bottleneck(scenario, flow)).sum();
    let share = (1.0 - taken).max(0.0) / bulk as f64;
    let bulk_flow = |flow: &&Flow| flow.kind == FlowKind::Bulk;
    // What bulk flows leave in the queue, everybody behind them waits for.
    let standing = scenario
        .flows
        .iter()
        .filter(bulk_flow)
        .filter_map(|flow| bulk::estimate(scenario, flow, share).outcome.queue_mean_s)
        .fold(0.0, f64::max);
    scenario
        .flows
        .iter()
        .map(|flow| match flow.kind {
            FlowKind::Bulk => bulk::estimate(scenario, flow, share),
            FlowKind::Cbr { size, header, interval } => {
                datagrams::constant_rate(scenario, flow, size, header, interval)
            }
            FlowKind::Ping { size, header, .. } => {
                datagrams::echo(scenario, flow, size + header, Time::from_secs_f64(standing))
            }
        })
        .collect()
}

/// A count that a formula gave.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are not negative, and saturate where a formula runs away"
)]
fn whole(count: f64) -> u64 {
    count as u64
}

/// The sum of several flows, with each one's own.
fn total(flows: Vec<Outcome>) -> Outcome {
    let sum = |of: fn(&Outcome) -> Option<f64>| {
        let known: Vec<f64> = flows.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>())
    };
    let leader = flows
        .iter()
        .max_by(|a, b| a.goodput_bps.unwrap_or(0.0).total_cmp(&b.goodput_bps.unwrap_or(0.0)))
        .cloned()
        .unwrap_or_default();
    let payload: Option<u64> = flows.iter().map(|flow| flow.payload_bytes).sum();
    Outcome {
        goodput_bps: sum(|flow| flow.goodput_bps),
        payload_bytes: payload,
        in_flight_mean_bytes: sum(|flow| flow.in_flight_mean_bytes),
        ping_mean_s: flows.iter().find_map(|flow| flow.ping_mean_s),
        flows,
        ..leader
    }
}

#[cfg(test)]
mod tests;
