//! The proof: the winner and the path as it is with draws that chose nothing, and each change left out in turn.

use std::ops::Range;

use super::bench::{AS_IT_IS, Bench};
use super::draws::{FURTHER, PART, PROOF, is_fresh};
use super::goal::Goal;
use super::worth::{
    counts_whole_time, difference, excludes_zero, is_lasting, is_proven, is_worth, shortens,
};
use crate::advise::{Change, SMALL_GAIN};
use crate::engine::EngineError;

/// What a search found.
pub(super) struct Found {
    /// The point of the best changes that are worth it; `None` where leaving it alone is best.
    pub(super) best: Option<usize>,
    /// Each change of the best with the point that has all the others, but for those whose own share no run was left to tell.
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

/// Runs that tell so many changes apart at least where so many of them turn out to be needless, one after the other: the rest is told
/// apart anew each time. One more for each where the scenario's own time is asked about.
pub(super) fn runs_of_proof(bench: &Bench, goal: Goal, changes: usize, needless: usize) -> u32 {
    let count = |range: Range<u64>| u32::try_from(range.end - range.start).unwrap_or(u32::MAX);
    let (whole, part) = (count(PROOF), count(PART));
    let counted = |changes: usize| u32::try_from(changes).unwrap_or(u32::MAX);
    let apart: u32 = (0..=needless)
        .map(|dropped| changes.saturating_sub(dropped))
        .filter(|changes| *changes > 1)
        .map(|changes| counted(changes).saturating_mul(part))
        .sum();
    let halves = if counts_whole_time(bench, goal) { 2 + counted(changes) } else { 0 };
    2 * whole + apart + counted(needless) * (whole - part) + halves
}

/// Runs the winner and the path as it is with fresh draws, and drops each change that the rest does without, but for those that
/// are `given`.
pub(super) fn prove(
    bench: &mut Bench,
    goal: Goal,
    winner: usize,
    given: &[Change],
) -> Result<Found, EngineError> {
    let mut best = winner;
    bench.run_all([AS_IT_IS, best].map(|point| (point, PROOF)))?;
    if best == AS_IT_IS {
        return Ok(Found::new(bench, None, Vec::new()));
    }
    loop {
        let without = parts(bench, goal, best)?;
        let mut rest = dispensable(bench, goal, best, (&without, given), is_fresh)?;
        if rest.is_none() {
            if !is_best(bench, goal, best)? {
                break;
            }
            complete(bench, best, &without)?;
            let mut found = Found::new(bench, Some(best), without);
            let draws = found.draws.clone();
            // The draws that are shown may tell another thing than those that were enough until then.
            let is_shown = |number: u64| draws.contains(&number);
            rest = dispensable(bench, goal, best, (&found.without, given), is_shown)?;
            if rest.is_none() {
                let is_told = |rest: usize| {
                    is_kept_anyway(bench, goal, [rest, best])
                        || is_proven(bench, goal, [rest, best], is_shown)
                        || excludes_zero(bench, goal, [rest, best], is_shown)
                };
                found.without.retain(|(_, rest)| is_told(*rest));
                return Ok(found);
            }
        }
        best = rest.unwrap_or(best);
        bench.run(best, PROOF)?;
    }
    let alone = bench.point(given);
    bench.run(alone, PROOF)?;
    let without = parts(bench, goal, alone)?;
    complete(bench, alone, &without)?;
    Ok(Found::new(bench, (alone != AS_IT_IS).then_some(alone), without))
}

/// Whether the step from `rest` to `best` ends needless retransmissions, or has shorter round trips for the same goodput.
fn is_kept_anyway(bench: &Bench, goal: Goal, [rest, best]: [usize; 2]) -> bool {
    bench.mends(rest, best) || shortens(bench, goal, rest, best)
}

/// What is left of a point without a change that the rest does without, by the draws that are `wanted`.
fn dispensable(
    bench: &mut Bench,
    goal: Goal,
    best: usize,
    (without, given): (&[(Change, usize)], &[Change]),
    wanted: impl Fn(u64) -> bool + Copy,
) -> Result<Option<usize>, EngineError> {
    for (_, rest) in without.iter().filter(|(change, _)| !given.contains(change)) {
        // Where no run is left that could tell, what matters by the mean is kept, and its own share is not told.
        let is_open = bench.left() == 0
            && !bench.has_run(*rest, PROOF.end - 1)
            && is_worth(bench, goal, [*rest, best], wanted);
        let is_kept = is_open || is_kept_anyway(bench, goal, [*rest, best]);
        let gains = |bench: &mut Bench| {
            Ok(is_proven(bench, goal, [*rest, best], wanted)
                && is_lasting(bench, goal, *rest, best)?)
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
        if bench.left() < 2
            || is_proven(bench, goal, [AS_IT_IS, best], is_fresh)
            || !may_gain(bench)
        {
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
        || is_proven(bench, goal, [AS_IT_IS, best], is_fresh)
            && is_lasting(bench, goal, AS_IT_IS, best)?)
}

/// Runs each part with the draws of the whole, as far as runs are left.
fn complete(
    bench: &mut Bench,
    best: usize,
    without: &[(Change, usize)],
) -> Result<(), EngineError> {
    let further = FURTHER.filter(|number| bench.has_run(best, *number)).count() as u64;
    let end = PROOF.end + further;
    bench.run_all(without.iter().map(|(_, point)| (*point, PROOF.start..end)))
}

/// Each change of a point with the point that has all the others, run, as far as runs are left.
fn parts(bench: &mut Bench, goal: Goal, point: usize) -> Result<Vec<(Change, usize)>, EngineError> {
    let mut left = bench.left() as usize;
    let mut parts = each_left_out(bench, point);
    parts.retain(|(_, rest)| {
        let rest_of = left.checked_sub(bench.due([(*rest, PART)]));
        left = rest_of.unwrap_or(left);
        rest_of.is_some()
    });
    bench.run_all(parts.iter().map(|(_, rest)| (*rest, PART)))?;
    let is_open = |rest: &usize| !is_proven(bench, goal, [*rest, point], is_fresh);
    // A few more draws may tell.
    let open = parts.iter().map(|(_, rest)| *rest).filter(|rest| is_open(rest));
    let open: Vec<(usize, Range<u64>)> = open.map(|rest| (rest, PROOF)).collect();
    // But for what the others take where one of them is dropped, as far as that is left.
    let anew =
        runs_of_proof(bench, goal, parts.len(), 1) - runs_of_proof(bench, goal, parts.len(), 0);
    let left = bench.left().checked_sub(anew).unwrap_or(bench.left());
    if bench.due(open.iter().cloned()) <= left as usize {
        bench.run_all(open)?;
    }
    Ok(parts)
}

/// Each of several changes of a point with the point that has all the others.
fn each_left_out(bench: &mut Bench, point: usize) -> Vec<(Change, usize)> {
    let all = bench.points[point].changes.clone();
    let several = all.iter().copied().filter(|_| all.len() > 1);
    several
        .map(|change| {
            let others: Vec<Change> =
                all.iter().copied().filter(|other| *other != change).collect();
            (change, bench.point(&others))
        })
        .collect()
}
