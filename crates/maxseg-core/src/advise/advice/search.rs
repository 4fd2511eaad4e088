//! The search: candidates ranked by formulas, the best of them run, then proven with draws that chose nothing.

use super::Request;
use super::axes::{Axes, Place};
use super::bench::{AS_IT_IS, Bench};
use super::climb::{BY_CHANCE, DRAWS, climb, for_proof};
use super::extras::{extras, restarts};
use super::goal::Goal;
use super::proof::{Found, prove, runs_of_proof};
use super::ranked::ranked;
use super::value::{best_of, hopeful, most_rate, value};
use super::worth::{gains, is_about_equal};
use crate::advise::Change;
use crate::engine::EngineError;

/// Runs of a search at most.
pub(super) const MOST_RUNS: u32 = 60;

/// A point with this share of the most goodput in one run keeps enough of it in others.
const SURE: f64 = 0.9;
/// How many of the best are run again; of them the first, where chance makes runs differ, with so many draws.
const FINALISTS: usize = 3;
const DRAWS_BY_CHANCE: u64 = 8;
/// Looks for the best changes for a goal, leaving out those that `allowed` refuses.
pub(super) fn search(
    bench: &mut Bench,
    axes: &Axes,
    request: &Request<'_>,
    allowed: &dyn Fn(Change) -> bool,
) -> Result<Found, EngineError> {
    let goal = request.goal;
    bench.run(AS_IT_IS, 0..1)?;
    let axes = &kept_windows(bench, axes, goal, allowed)?;
    let is_allowed = |place: &Place| axes.changes(*place).into_iter().all(allowed);
    let mut tried: Vec<(Place, usize)> = Vec::new();
    for place in ranked(bench.base(), axes, goal, &is_allowed) {
        tried.push((place, bench.point(&axes.changes(place))));
    }
    bench.run_all(tried.iter().map(|(_, point)| (*point, 0..1)))?;
    climb(bench, axes, goal, &is_allowed, &mut tried)?;
    let mut best = finalist(bench, goal, &tried)?;
    for extra in extras(bench, best) {
        let mut changes = bench.points[best].changes.clone();
        changes.retain(|other| other.kind() != extra.kind());
        let count = changes.len();
        if matches!(extra, Change::Pacing(_)) {
            // Below a policer's rate none is lost: no congestion control has to do without losses.
            let is_control = |change: &Change| matches!(change, Change::Congestion(_));
            changes.retain(|other| !is_control(other) || request.given.contains(other));
        }
        let is_in_its_place = changes.len() < count;
        changes.push(extra);
        let point = bench.point(&changes);
        let both = [point, best].map(|point| (point, 0..2));
        // What a further change needs to be told apart is kept as well, whichever of them are needless.
        let needed = runs_of_proof(bench, goal, changes.len(), changes.len() - 1) as usize;
        let is_provable = bench.left() as usize >= needed + bench.due(both.clone());
        if !allowed(extra) || bench.left() <= for_proof(bench, goal, 1) || !is_provable {
            continue;
        }
        bench.run_all(both)?;
        let first = |number: u64| number < 2;
        if gains(bench, goal, best, point, first)
            || is_in_its_place && is_about_equal(bench, goal, best, point, first)
        {
            best = point;
        }
    }
    prove(bench, goal, best, request.given)
}

/// The axes at whose every place windows are kept through pauses, where that alone gains: after a pause that makes a connection begin anew,
/// other windows and congestion controls only look better.
fn kept_windows(
    bench: &mut Bench,
    axes: &Axes,
    goal: Goal,
    allowed: &dyn Fn(Change) -> bool,
) -> Result<Axes, EngineError> {
    let change = Change::NoSlowStartAfterIdle;
    if !restarts(bench.base()) || !allowed(change) {
        return Ok(axes.clone());
    }
    let mut changes = axes.given.clone();
    changes.push(change);
    let given = bench.point(&axes.given);
    let kept = bench.point(&changes);
    bench.run_all([given, kept].map(|point| (point, 0..2)))?;
    let gains = gains(bench, goal, given, kept, |number| number < 2);
    Ok(if gains { Axes { given: changes, ..axes.clone() } } else { axes.clone() })
}

/// The best of the best, each with several draws.
fn finalist(bench: &mut Bench, goal: Goal, tried: &[(Place, usize)]) -> Result<usize, EngineError> {
    let mut points: Vec<usize> = Vec::new();
    for (_, point) in hopeful(bench, goal, tried) {
        if !points.contains(&point) && points.len() < FINALISTS {
            points.push(point);
        }
    }
    // Short round trips are to keep most of the most goodput: that is to be known as well, and one that surely keeps it.
    let further = if goal == Goal::Latency { keeping(bench, tried) } else { Vec::new() };
    for further in further.into_iter().chain([AS_IT_IS]) {
        if !points.contains(&further) {
            points.push(further);
        }
    }
    let best = |bench: &Bench| {
        let most = most_rate(bench);
        let value = |point: usize| value(bench, goal, point, most);
        points.iter().copied().max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(AS_IT_IS)
    };
    let may_choose = |bench: &Bench| {
        bench.left() > for_proof(bench, goal, bench.points[best(bench)].changes.len())
    };
    for point in &points {
        if may_choose(bench) {
            bench.run(*point, 0..DRAWS)?;
        }
    }
    // Whether the best keeps enough is a question of chance: it is asked again, and of the next best where it does not.
    while goal == Goal::Latency && bench.spread() > BY_CHANCE && may_choose(bench) {
        let point = best(bench);
        let Some(number) = (0..DRAWS_BY_CHANCE).find(|number| !bench.has_run(point, *number))
        else {
            break;
        };
        bench.run(point, number..number + 1)?;
    }
    Ok(best(bench))
}

/// The fastest point that was tried, and of those with nearly as much goodput that with the shortest round trip.
fn keeping(bench: &Bench, tried: &[(Place, usize)]) -> Vec<usize> {
    let by_rate = best_of(bench, Goal::Throughput, tried);
    let most = most_rate(bench);
    let keeps = |point: usize| bench.standing(point).is_some_and(|it| it.rate >= SURE * most);
    let ping = |point: usize| {
        bench.standing(point).and_then(|standing| standing.ping_s).unwrap_or(f64::INFINITY)
    };
    let sure = tried.iter().map(|(_, point)| *point).filter(|point| keeps(*point));
    let sure = sure.min_by(|a, b| ping(*a).total_cmp(&ping(*b)));
    by_rate.first().map(|(_, point)| *point).into_iter().chain(sure).collect()
}
