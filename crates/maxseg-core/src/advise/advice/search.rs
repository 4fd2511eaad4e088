//! The search: candidates ranked by formulas, the best of them run, then proven with draws that chose nothing.

use super::Request;
use super::axes::{Axes, Place};
use super::bench::{AS_IT_IS, Bench};
use super::climb::{BY_CHANCE, DRAWS, FOR_PROOF, climb};
use super::extras::extras;
use super::gained::measured;
use super::goal::{Goal, Standing};
use super::ranked::ranked;
use super::value::{best_of, hopeful, most_rate, value};
use crate::advise::{Change, SMALL_GAIN};
use crate::engine::EngineError;
use crate::outcome::Outcome;
use crate::stats::Summary;

/// Runs of a search at most.
pub(super) const MOST_RUNS: u32 = 60;

/// A point with this share of the most goodput in one run keeps enough of it in others.
const SURE: f64 = 0.9;
/// How many of the best are run again; of them the first, where chance makes runs differ, with so many draws.
const FINALISTS: usize = 3;
const DRAWS_BY_CHANCE: u64 = 8;
/// The draws that prove: they have chosen nothing. So many for the winner, and fewer to tell the parts of it apart.
pub(super) const PROOF: std::ops::Range<u64> = 100..105;
const PART: std::ops::Range<u64> = 100..103;
/// Enough to show what nobody is advised.
pub(super) const FEW: std::ops::Range<u64> = 100..102;
/// Where these leave doubt, and runs are left.
const FURTHER: std::ops::Range<u64> = 105..125;
/// What a search found.
pub(super) struct Found {
    /// The point of the best changes that are worth it; `None` where leaving it alone is best.
    pub(super) best: Option<usize>,
    /// Each change of the best with the point that has all the others.
    pub(super) without: Vec<(Change, usize)>,
    /// The draws that chose nothing, and that all of these and the path as it is were run with: what is shown is by them, so that one
    /// comparison has one number wherever it stands.
    pub(super) draws: Vec<u64>,
}

impl Found {
    fn new(bench: &Bench, best: Option<usize>, without: Vec<(Change, usize)>) -> Self {
        let has = |number: &u64| {
            let mut points = best.into_iter().chain(without.iter().map(|(_, point)| *point));
            bench.has_run(AS_IT_IS, *number) && points.all(|point| bench.has_run(point, *number))
        };
        let draws = (PROOF.start..FURTHER.end).filter(has).collect();
        Self { best, without, draws }
    }
}

/// Whether a run has chosen nothing.
pub(super) fn is_fresh(number: u64) -> bool {
    number >= PROOF.start
}

/// Looks for the best changes for a goal, leaving out those that `allowed` refuses.
pub(super) fn search(
    bench: &mut Bench,
    axes: &Axes,
    request: &Request<'_>,
    allowed: &dyn Fn(Change) -> bool,
) -> Result<Found, EngineError> {
    let goal = request.goal;
    bench.run(AS_IT_IS, 0..1)?;
    let is_allowed = |place: &Place| axes.changes(*place).into_iter().all(allowed);
    let mut tried: Vec<(Place, usize)> = Vec::new();
    for place in ranked(bench.base(), axes, goal, &is_allowed) {
        let point = bench.point(&axes.changes(place));
        bench.run(point, 0..1)?;
        tried.push((place, point));
    }
    climb(bench, axes, goal, &is_allowed, &mut tried)?;
    let mut best = finalist(bench, goal, &tried)?;
    for extra in extras(bench, best) {
        if !allowed(extra) || bench.left() <= FOR_PROOF {
            continue;
        }
        let mut changes = bench.points[best].changes.clone();
        changes.retain(|other| other.kind() != extra.kind());
        changes.push(extra);
        let point = bench.point(&changes);
        bench.run(point, 0..2)?;
        bench.run(best, 0..2)?;
        if gains(bench, goal, best, point, |number| number < 2) {
            best = point;
        }
    }
    prove(bench, goal, best, request.given)
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
    for point in &points {
        if bench.left() > FOR_PROOF {
            bench.run(*point, 0..DRAWS)?;
        }
    }
    let best = |bench: &Bench| {
        let most = most_rate(bench);
        let value = |point: usize| value(bench, goal, point, most);
        points.iter().copied().max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(AS_IT_IS)
    };
    // Whether the best keeps enough is a question of chance: it is asked again, and of the next best where it does not.
    while goal == Goal::Latency && bench.spread() > BY_CHANCE && bench.left() > FOR_PROOF {
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

/// Whether `b` is better than `a` by more than a trifle, or as good without needless retransmissions.
fn gains(
    bench: &Bench,
    goal: Goal,
    a: usize,
    b: usize,
    wanted: impl Fn(u64) -> bool + Copy,
) -> bool {
    let Some(difference) = difference(bench, goal, a, b, wanted) else { return false };
    is_worth(bench, goal, [a, b], wanted)
        || mends(bench, a, b) && difference.mean > -SMALL_GAIN / 3.0
}

/// Whether needless retransmissions end from `a` to `b`.
pub(super) fn mends(bench: &Bench, a: usize, b: usize) -> bool {
    let needless = |point: usize| {
        let outcome: Option<&Outcome> = bench.points[point].outcome();
        outcome.and_then(|outcome| outcome.spurious_retransmissions).unwrap_or(0)
    };
    needless(a) > 0 && needless(b) == 0
}

/// Below this share of the most goodput, one rate is as bad as another.
const NOTHING: f64 = 1e-3;

/// The goal by which a change of point `a` is judged.
fn judging(bench: &Bench, goal: Goal, a: usize) -> Goal {
    bench.standing(a).map_or(goal, |before| goal.judging(before, most_rate(bench)))
}

/// How far the measure of a goal differs between two points, as a logarithm.
pub(super) fn difference(
    bench: &Bench,
    goal: Goal,
    a: usize,
    b: usize,
    wanted: impl Fn(u64) -> bool,
) -> Option<Summary> {
    let pairs = bench.pairs(a, b, wanted);
    // The logarithm of next to nothing would make any mean uncertain.
    let least = NOTHING * most_rate(bench);
    let at_least = |standing: Standing| Standing { rate: standing.rate.max(least), ..standing };
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| (at_least(*a), at_least(*b))).collect();
    let measured = measured(judging(bench, goal, a), &pairs, bench.is_requests());
    measured.map(|ratio| ratio.log())
}

/// Whether the step from `a` to `b` gains what matters.
pub(super) fn is_worth(
    bench: &Bench,
    goal: Goal,
    [a, b]: [usize; 2],
    wanted: impl Fn(u64) -> bool,
) -> bool {
    let pairs = bench.pairs(a, b, wanted);
    let mean = |of: fn(&(Standing, Standing)) -> Standing| {
        let standings: Vec<Standing> = pairs.iter().map(of).collect();
        Standing::mean(&standings)
    };
    let means = mean(|(a, _)| *a).zip(mean(|(_, b)| *b));
    means.is_some_and(|(before, after)| {
        judging(bench, goal, a).is_worth(before, after, bench.is_requests())
    })
}

/// Whether the step from `a` to `b` gains what matters, and that is no chance, by the draws that chose nothing.
fn is_proven(bench: &Bench, goal: Goal, a: usize, b: usize) -> bool {
    let is_no_chance = difference(bench, goal, a, b, is_fresh)
        .is_some_and(|gain| gain.mean > gain.ci95().unwrap_or(f64::INFINITY));
    is_no_chance && is_worth(bench, goal, [a, b], is_fresh)
}

/// Runs the winner and the path as it is with fresh draws, and drops each change that the rest does without, but for those that
/// are `given`.
fn prove(
    bench: &mut Bench,
    goal: Goal,
    winner: usize,
    given: &[Change],
) -> Result<Found, EngineError> {
    bench.run(AS_IT_IS, PROOF)?;
    if winner == AS_IT_IS {
        return Ok(Found::new(bench, None, Vec::new()));
    }
    let mut best = winner;
    bench.run(best, PROOF)?;
    let mut without = parts(bench, goal, best)?;
    while let Some((_, rest)) = without.iter().copied().find(|(change, rest)| {
        // Where no run is left that could tell, what matters by the mean is kept.
        let is_open = bench.left() == 0
            && !bench.has_run(*rest, PROOF.end - 1)
            && is_worth(bench, goal, [*rest, best], is_fresh);
        !given.contains(change)
            && !is_open
            && !is_proven(bench, goal, *rest, best)
            && !mends(bench, *rest, best)
    }) {
        best = rest;
        bench.run(best, PROOF)?;
        without = parts(bench, goal, best)?;
    }
    let is_open = |bench: &Bench| !is_proven(bench, goal, AS_IT_IS, best);
    // A few more draws may tell, where it may gain what matters.
    let may_gain = |bench: &Bench| {
        let gain = difference(bench, goal, AS_IT_IS, best, is_fresh);
        gain.is_some_and(|gain| gain.mean + gain.ci95().unwrap_or(0.0) > SMALL_GAIN)
    };
    for number in FURTHER {
        if bench.left() < 2 || !is_open(bench) || !may_gain(bench) {
            break;
        }
        for point in [AS_IT_IS, best] {
            bench.run(point, number..number + 1)?;
        }
    }
    let ends_needless = || {
        let gain = difference(bench, goal, AS_IT_IS, best, is_fresh);
        let low = gain.map_or(f64::MIN, |gain| gain.mean - gain.ci95().unwrap_or(1.0));
        mends(bench, AS_IT_IS, best) && low > -SMALL_GAIN
    };
    if !is_open(bench) || ends_needless() {
        complete(bench, best, &mut without)?;
        return Ok(Found::new(bench, Some(best), without));
    }
    let alone = bench.point(given);
    bench.run(alone, PROOF)?;
    Ok(Found::new(bench, (alone != AS_IT_IS).then_some(alone), Vec::new()))
}

/// Runs each part with the draws of the whole, as far as runs are left; a part without them is not told apart.
fn complete(
    bench: &mut Bench,
    best: usize,
    without: &mut Vec<(Change, usize)>,
) -> Result<(), EngineError> {
    let proven = |bench: &Bench| {
        FURTHER.filter(|number| bench.has_run(best, *number)).count()
    };
    let end = PROOF.end + proven(bench) as u64;
    for (_, point) in without.iter() {
        bench.run(*point, PROOF.start..end)?;
    }
    // By few draws alone no part is told: then what all changes gain together is.
    let is_further = end > PROOF.end;
    without.retain(|(_, point)| !is_further || bench.has_run(*point, end - 1));
    Ok(())
}

/// Each change of a point with the point that has all the others, as far as runs are left.
fn parts(bench: &mut Bench, goal: Goal, point: usize) -> Result<Vec<(Change, usize)>, EngineError> {
    let all = bench.points[point].changes.clone();
    let mut parts = Vec::new();
    for change in all.iter().copied().filter(|_| all.len() > 1) {
        let others: Vec<Change> = all.iter().copied().filter(|other| *other != change).collect();
        let rest = bench.point(&others);
        if bench.left() < 3 && !bench.has_run(rest, PART.start) {
            break;
        }
        bench.run(rest, PART)?;
        if !is_proven(bench, goal, rest, point) {
            // A few more draws may tell.
            bench.run(rest, PROOF)?;
        }
        parts.push((change, rest));
    }
    Ok(parts)
}
