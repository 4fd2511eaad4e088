//! What would be, if a limit were gone: each change alone, then together.

use super::change::{Change, changed};
use super::data_flow::{data_goodput_bps, data_rate, of_data, others_goodput_bps};
use crate::engine::{Engine, EngineError, Unwatched};
use crate::model::Model;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::stats::Summary;
use crate::units::{BitsPerSec, Bytes, Time};

/// A scenario with some changes, run.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What was changed; nothing for the scenario as it is.
    pub changes: Vec<Change>,
    /// The scenario with the changes made.
    pub scenario: Scenario,
    /// Goodput in bits per second over the seeds: of all bulk flows on the way of the first together, or of the first with requests.
    pub goodput: Summary,
    /// Round trip of echo requests under load, in seconds, over the seeds; of no samples where none are sent.
    pub ping: Summary,
    /// Mean time of a request, in seconds, over the seeds; of no samples where there are none.
    pub request: Summary,
    /// Goodput of all other flows in bits per second over the seeds; of no samples where none carries data.
    pub others: Summary,
    /// What limits it then for the largest share of the time, in the mean over the seeds.
    pub limited_by: LimitedBy,
    /// The first seed's outcome, with the limits of all of them ([`Outcome::first_of`]).
    pub outcome: Outcome,
}

/// The scenario as it is, each change that could matter alone, and all of them together.
///
/// # Errors
/// The engine has none for one of them.
pub fn what_if(
    scenario: &Scenario,
    engine: &mut dyn Engine,
    seeds: u64,
) -> Result<Vec<Trial>, EngineError> {
    let candidates = candidates(scenario);
    let mut sets: Vec<Vec<Change>> = vec![Vec::new()];
    sets.extend(candidates.iter().map(|change| vec![*change]));
    if candidates.len() > 1 {
        sets.push(candidates);
    }
    sets.into_iter().map(|changes| try_out(scenario, changes, engine, seeds)).collect()
}

fn try_out(
    scenario: &Scenario,
    changes: Vec<Change>,
    engine: &mut dyn Engine,
    seeds: u64,
) -> Result<Trial, EngineError> {
    let scenario = changed(scenario, &changes);
    let seeds = if scenario.is_random() { seeds.max(1) } else { 1 };
    let mut run = scenario.clone();
    let outcomes: Vec<Outcome> = (0..seeds)
        .map(|n| {
            run.seed = scenario.seed + n;
            engine.run(&run, &mut Unwatched)
        })
        .collect::<Result<_, _>>()?;
    Ok(Trial::of_runs(changes, scenario, outcomes))
}

impl Trial {
    /// A scenario with these changes made, by its runs.
    pub fn of_runs(changes: Vec<Change>, scenario: Scenario, outcomes: Vec<Outcome>) -> Self {
        let outcomes: Vec<Outcome> =
            outcomes.into_iter().map(|outcome| of_data(&scenario, outcome)).collect();
        let summary = |of: &dyn Fn(&Outcome) -> Option<f64>| {
            Summary::of(&outcomes.iter().filter_map(of).collect::<Vec<_>>())
        };
        let outcome = Outcome::first_of(&outcomes).unwrap_or_default();
        Self {
            changes,
            goodput: summary(&|outcome| data_goodput_bps(&scenario, outcome)),
            ping: summary(&|outcome| outcome.ping_mean_s),
            request: summary(&|outcome| outcome.request_mean_s),
            others: summary(&|outcome| others_goodput_bps(&scenario, outcome)),
            limited_by: outcome.limited_by.unwrap_or(LimitedBy::Unknown),
            outcome,
            scenario,
        }
    }

    /// What formulas say of its goodput; `None` where they know nothing of it.
    pub fn model_bps(&self) -> Option<f64> {
        let outcome = Model.run(&self.scenario, &mut Unwatched).ok()?;
        data_goodput_bps(&self.scenario, &outcome)
    }
}

/// The changes that could make the bulk flow from the sender faster.
fn candidates(scenario: &Scenario) -> Vec<Change> {
    let bulk = |flow: &&Flow| flow.kind == FlowKind::Bulk && flow.from == End::Sender;
    let Some(flow) = scenario.flows.iter().find(bulk) else { return Vec::new() };
    let mss = scenario.mss(flow).effective.bytes();
    let (sender, receiver) = scenario.agreed_settings(flow);
    let wanted = covering(scenario);
    let mut changes = Vec::new();
    if receiver.offered_window(mss) < wanted {
        changes.push(Change::Window(wanted));
    }
    if sender.send_buffer.is_some_and(|buffer| buffer < wanted) {
        changes.push(Change::SendBuffer(wanted));
    }
    if scenario.path.hops.iter().any(|hop| hop.forward.errors.is_random()) {
        changes.push(Change::NoErrors);
    }
    changes
}

/// A window that keeps the path full while a loss is repaired: twice the bandwidth-delay product, rounded up to a
/// power of two.
pub fn covering(scenario: &Scenario) -> Bytes {
    covering_window(data_rate(scenario), scenario.path.propagation_rtt())
}

/// [`covering`] for a link of this rate and a path of this round trip.
pub(super) fn covering_window(rate: BitsPerSec, rtt: Time) -> Bytes {
    let bdp = rate.bytes_in(rtt.max(Time::from_millis(1))).get();
    let largest = 1 << 29;
    Bytes::new((2 * bdp.min(largest)).next_power_of_two().clamp(1 << 16, largest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Sim;

    const SLOW: &str = "[[hop]]\nrate = \"200 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"1000 packets\"\n\
                        errors = { model = \"uniform\", rate = \"0.05%\" }\n\
                        [receiver]\nwindow = \"64 KiB\"\n[until]\ntime = \"20 s\"";

    #[test]
    fn each_limit_alone_then_all_together() {
        let scenario = Scenario::from_toml("test", SLOW).unwrap();
        let trials = what_if(&scenario, &mut Sim, 5).unwrap();
        let changes: Vec<&[Change]> = trials.iter().map(|trial| trial.changes.as_slice()).collect();
        // 80 ms at 200 Mbit/s hold 2 MB: twice that is covered by 4 MiB.
        let window = Change::Window(Bytes::new(4 << 20));
        let wanted: [&[Change]; 4] =
            [&[], &[window], &[Change::NoErrors], &[window, Change::NoErrors]];
        assert_eq!(changes, wanted);
        let goodput: Vec<f64> = trials.iter().map(|trial| trial.goodput.mean).collect();
        assert!(goodput[1] > goodput[0] && goodput[2] > goodput[0]);
        assert!(goodput[3] > 5.0 * goodput[1].max(goodput[2]), "either alone hides the other");
    }

    #[test]
    fn where_nothing_limits_nothing_is_tried() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"";
        let scenario = Scenario::from_toml("test", text).unwrap();
        assert_eq!(what_if(&scenario, &mut Sim, 5).unwrap().len(), 1);
    }
}
