//! The proof: the winner and the path as it is with draws that chose nothing, and each change left out in turn.

use super::bench::{AS_IT_IS, Bench};
use super::draws::{FURTHER, PART, PROOF, is_fresh};
use super::goal::Goal;
use super::worth::{difference, is_lasting, is_proven, is_worth, shortens};
use crate::advise::{Change, SMALL_GAIN};
use crate::engine::EngineError;

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

/// Runs the winner and the path as it is with fresh draws, and drops each change that the rest does without, but for those that
/// are `given`.
pub(super) fn prove(
    bench: &mut Bench,
    goal: Goal,
    winner: usize,
    given: &[Change],
) -> Result<Found, EngineError> {
    bench.run_all([AS_IT_IS, winner].map(|point| (point, PROOF)))?;
    if winner == AS_IT_IS {
        return Ok(Found::new(bench, None, Vec::new()));
    }
    let mut best = winner;
    let mut without = parts(bench, goal, best)?;
    while let Some(rest) = dispensable(bench, goal, best, &without, given)? {
        best = rest;
        bench.run(best, PROOF)?;
        without = parts(bench, goal, best)?;
    }
    if is_best(bench, goal, best)? {
        complete(bench, best, &mut without)?;
        return Ok(Found::new(bench, Some(best), without));
    }
    let alone = bench.point(given);
    bench.run(alone, PROOF)?;
    Ok(Found::new(bench, (alone != AS_IT_IS).then_some(alone), Vec::new()))
}

/// What is left of a point without a change that the rest does without.
fn dispensable(
    bench: &mut Bench,
    goal: Goal,
    best: usize,
    without: &[(Change, usize)],
    given: &[Change],
) -> Result<Option<usize>, EngineError> {
    for (_, rest) in without.iter().filter(|(change, _)| !given.contains(change)) {
        // Where no run is left that could tell, what matters by the mean is kept.
        let is_open = bench.left() == 0
            && !bench.has_run(*rest, PROOF.end - 1)
            && is_worth(bench, goal, [*rest, best], is_fresh);
        let is_kept = is_open || bench.mends(*rest, best) || shortens(bench, goal, *rest, best);
        let gains = |bench: &mut Bench| {
            Ok(is_proven(bench, goal, *rest, best) && is_lasting(bench, goal, *rest, best)?)
        };
        if !is_kept && !gains(bench)? {
            return Ok(Some(*rest));
        }
    }
    Ok(None)
}

/// Whether a point is better than the path as it is by what matters, or ends needless retransmissions at no cost.
fn is_best(bench: &mut Bench, goal: Goal, best: usize) -> Result<bool, EngineError> {
    // A few more draws may tell, where it may gain what matters.
    let may_gain = |bench: &Bench| {
        let gain = difference(bench, goal, AS_IT_IS, best, is_fresh);
        gain.is_some_and(|gain| gain.mean + gain.ci95().unwrap_or(0.0) > SMALL_GAIN)
    };
    for number in FURTHER {
        if bench.left() < 2 || is_proven(bench, goal, AS_IT_IS, best) || !may_gain(bench) {
            break;
        }
        bench.run_all([AS_IT_IS, best].map(|point| (point, number..number + 1)))?;
    }
    let ends_needless = || {
        let gain = difference(bench, goal, AS_IT_IS, best, is_fresh);
        let low = gain.map_or(f64::MIN, |gain| gain.mean - gain.ci95().unwrap_or(1.0));
        bench.mends(AS_IT_IS, best) && low > -SMALL_GAIN
    };
    Ok(ends_needless()
        || is_proven(bench, goal, AS_IT_IS, best) && is_lasting(bench, goal, AS_IT_IS, best)?)
}

/// Runs each part with the draws of the whole, as far as runs are left. A part that lacks some of many is not told apart: what all
/// changes gain together stands for it.
fn complete(
    bench: &mut Bench,
    best: usize,
    without: &mut Vec<(Change, usize)>,
) -> Result<(), EngineError> {
    let further = FURTHER.filter(|number| bench.has_run(best, *number)).count() as u64;
    let end = PROOF.end + further;
    bench.run_all(without.iter().map(|(_, point)| (*point, PROOF.start..end)))?;
    without.retain(|(_, point)| further == 0 || bench.has_run(*point, end - 1));
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
