//! From a path to settings with proof.
//!
//! ```text
//! Scenario, Goal → Axes (by rule) → places, ranked by formulas → Bench (runs within a budget) → Found
//!   Found → Advice: change, gain with its interval, proof, price, reason, risk, source, commands by system
//! ```

mod axes;
mod bench;
mod caution;
mod climb;
mod commands;
mod draws;
mod ends;
mod entry;
mod extras;
mod gained;
mod goal;
mod guide;
mod limit;
mod observed;
mod prepared;
mod price;
mod proof;
mod ranked;
mod ratio;
mod rules;
mod search;
mod tune;
mod value;
mod words;
mod worth;

pub use bench::{Simulate, one_by_one};
pub use commands::{Commands, Form, HowTo, Ran};
pub use ends::{Ends, HostEnd};
pub use entry::{Advice, ChangeEntry, ProofRow};
pub use gained::{AdviceGain, GainOf, GainOver, is_over_nothing};
pub use goal::Goal;
pub use guide::{Guide, GuideName, Judged, guides, judge};
pub use observed::ends_of;
pub use prepared::{prepared as as_run, varied};
pub use price::Price;
pub use tune::Setting;

use super::data_flow::{data_flow, data_links};
use super::path::whole;
use super::{Change, Trial};
use crate::engine::EngineError;
use crate::path::{Discipline, HopSpec};
use crate::scenario::Scenario;
use crate::units::Time;
use axes::Axes;
use bench::{AS_IT_IS, Bench};
use draws::FEW;
use proof::Found;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The path, its ends and their traffic.
    pub scenario: &'a Scenario,
    /// What the advice is for.
    pub goal: Goal,
    /// The hosts that commands are for.
    pub ends: &'a Ends,
    /// Advice that is not wanted, by its id.
    pub ignored: &'a [String],
    /// Connections that share what a change costs.
    pub connections: u64,
    /// Changes that are advised already, by evidence: what is looked for goes with them.
    pub given: &'a [Change],
    /// Whether the rate of the path is a lower bound: it is at least so fast.
    pub rate_is_bound: bool,
    /// What simulates the runs.
    pub simulate: Simulate,
}

impl<'a> Request<'a> {
    /// With nothing ignored, for one connection, one run after the other.
    pub const fn new(scenario: &'a Scenario, goal: Goal, ends: &'a Ends) -> Self {
        let (ignored, given): (&[String], &[Change]) = (&[], &[]);
        Self {
            scenario,
            goal,
            ends,
            ignored,
            connections: 1,
            given,
            rate_is_bound: false,
            simulate: one_by_one,
        }
    }

    /// What stands before the rate of the path, in words.
    const fn at_least(&self) -> &'static str {
        if self.rate_is_bound { "at least " } else { "" }
    }
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Advised {
    /// The changes that are worth it, the largest gain first; none where leaving it alone is best.
    pub advice: Vec<Advice>,
    /// The path as it is; with single changes and with all of them, where some are advised; and what a change of the path
    /// itself would add.
    pub trials: Vec<Trial>,
    /// Goodput against round trip under load, of every point that was run.
    pub points: Vec<FrontPoint>,
    /// The runs that were made.
    pub runs: u32,
    /// The time of a run that chooses, where the scenario's is longer.
    pub shortened_to: Option<Time>,
    /// The time of a run that proves, where the scenario's is longer.
    pub proof_shortened_to: Option<Time>,
    /// Whether the traffic is requests, whose time counts in the place of goodput.
    pub is_requests: bool,
    /// Why nothing can be advised, where that is so.
    pub unknown: Option<String>,
}

/// One point of the search.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontPoint {
    /// The changes.
    pub changes: Vec<Change>,
    /// Goodput in bits per second; requests per second where nothing else is sent.
    pub rate: f64,
    /// Round trip under load, in seconds.
    pub ping_s: f64,
    /// Whether no other point has both more goodput and a shorter round trip.
    pub is_on_front: bool,
}

impl Advised {
    /// The best point together: every change advised.
    pub fn best(&self) -> Option<&Trial> {
        self.trials.iter().skip(1).find(|trial| self.is_best(&trial.changes))
    }

    /// Whether these are the changes advised, all that runs show and no other.
    pub fn is_best(&self, changes: &[Change]) -> bool {
        let shown = || self.advice.iter().filter(|advice| !advice.proof.is_empty());
        !changes.is_empty()
            && changes.len() == shown().count()
            && shown().all(|advice| changes.contains(&advice.change))
    }
}

/// The limit of the path as it is, in words.
pub fn limit_in_words(trial: &Trial) -> String {
    limit::limit(&trial.scenario, &trial.outcome)
}

/// The changes that serve a goal on a path, proven by the simulator.
///
/// # Errors
/// The simulator cannot run the scenario.
pub fn advise(request: &Request<'_>) -> Result<Advised, EngineError> {
    let (base, shortened_to) = prepared::prepared(request.scenario);
    let mut advised =
        Advised { shortened_to, is_requests: bench::is_requests(&base), ..Advised::default() };
    let Some(flow) = data_flow(&base) else {
        advised.unknown =
            Some("nothing is sent over TCP: there are no TCP settings to choose".to_owned());
        return Ok(advised);
    };
    let axes = Axes::of(&base, &flow, request.given);
    let mut bench = Bench::new(request, search::MOST_RUNS);
    let is_wanted = |change: Change| {
        request.given.contains(&change)
            || !request.ignored.contains(&entry::id(change, request.ends))
    };
    let found = search::search(&mut bench, &axes, request, &is_wanted)?;
    let path_point = with_path_changed(&mut bench, &found)?;
    advised.advice = entry::advice(&bench, &found, request);
    advised.advice.extend(rules::advice(request));
    let mut shown = vec![AS_IT_IS];
    shown.extend(found.without.iter().rev().map(|(_, point)| *point));
    shown.extend(found.best);
    shown.extend(path_point);
    let of_trial = |point: usize| bench.trial(point, &found.draws);
    advised.trials = shown.into_iter().filter_map(of_trial).collect();
    advised.points = front(&bench, &found.draws);
    advised.runs = bench.used;
    advised.proof_shortened_to = bench.proof_shortened_to();
    Ok(advised)
}

/// The best with what no setting of a host does: without the path's errors, or with `CoDel` in its queues: of both directions,
/// since what waits behind acknowledgements waits as well.
fn with_path_changed(bench: &mut Bench, found: &Found) -> Result<Option<usize>, EngineError> {
    let best = found.best.unwrap_or(AS_IT_IS);
    let has_errors = data_links(bench.base()).any(|link| link.errors.is_random());
    let drops_tails = {
        let mut links = bench.base().path.hops.iter().flat_map(HopSpec::links);
        links.any(|link| link.discipline == Discipline::TailDrop)
    };
    let change = match (has_errors, drops_tails) {
        (true, _) => Change::NoErrors,
        (false, true) => Change::Codel,
        (false, false) => return Ok(None),
    };
    let mut changes = bench.points[best].changes.clone();
    changes.push(change);
    let point = bench.point(&changes);
    bench.run(point, FEW)?;
    Ok(Some(point))
}

/// The points of the hosts' settings: on the front where none is better in both.
fn front(bench: &Bench, draws: &[u64]) -> Vec<FrontPoint> {
    let settings = |changes: &[Change]| changes.iter().all(|change| change.is_setting());
    let mut points: Vec<FrontPoint> = (0..bench.points.len())
        .filter(|point| settings(&bench.points[*point].changes))
        .filter_map(|point| {
            let standing = bench.shown(point, draws)?;
            Some(FrontPoint {
                changes: bench.points[point].changes.clone(),
                rate: standing.rate,
                ping_s: standing.ping_s?,
                is_on_front: false,
            })
        })
        .collect();
    let is_on_front: Vec<bool> = points
        .iter()
        .map(|point| {
            !points.iter().any(|other| {
                other.rate >= point.rate
                    && other.ping_s <= point.ping_s
                    && (other.rate > point.rate || other.ping_s < point.ping_s)
            })
        })
        .collect();
    for (point, is_on_front) in points.iter_mut().zip(is_on_front) {
        point.is_on_front = is_on_front;
    }
    points
}

#[cfg(test)]
mod tests;
