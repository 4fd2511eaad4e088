//! Whether the step from one point to another gains what matters.

use super::bench::Bench;
use super::draws::is_fresh;
use super::gained::measured;
use super::goal::{Goal, Standing};
use super::value::most_rate;
use crate::advise::SMALL_GAIN;
use crate::engine::EngineError;
use crate::stats::Summary;

/// Goodput within this share is about equal: a third of what is worth a change.
const ABOUT_EQUAL: f64 = SMALL_GAIN / 3.0;

/// Whether `b` is better than `a` by more than a trifle, or as good without needless retransmissions.
pub(super) fn gains(
    bench: &Bench,
    goal: Goal,
    a: usize,
    b: usize,
    wanted: impl Fn(u64) -> bool + Copy,
) -> bool {
    let Some(difference) = difference(bench, goal, a, b, wanted) else { return false };
    is_worth(bench, goal, [a, b], wanted) || bench.mends(a, b) && difference.mean > -ABOUT_EQUAL
}

/// Whether `b` is as good as `a`, but for a trifle.
pub(super) fn is_about_equal(
    bench: &Bench,
    goal: Goal,
    a: usize,
    b: usize,
    wanted: impl Fn(u64) -> bool,
) -> bool {
    difference(bench, goal, a, b, wanted).is_some_and(|gain| gain.mean > -ABOUT_EQUAL)
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
    measured_by(bench, judging(bench, goal, a), [a, b], wanted)
}

/// The same by the measure of this very goal.
fn measured_by(
    bench: &Bench,
    goal: Goal,
    [a, b]: [usize; 2],
    wanted: impl Fn(u64) -> bool,
) -> Option<Summary> {
    // The logarithm of next to nothing would make any mean uncertain.
    let least = NOTHING * most_rate(bench);
    let at_least = |standing: Standing| Standing { rate: standing.rate.max(least), ..standing };
    let pairs = bench.pairs(a, b, wanted);
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| (at_least(*a), at_least(*b))).collect();
    Some(measured(goal, &pairs, bench.is_requests())?.log())
}

/// Whether the step from `a` to `b` gains what matters.
pub(super) fn is_worth(
    bench: &Bench,
    goal: Goal,
    [a, b]: [usize; 2],
    wanted: impl Fn(u64) -> bool,
) -> bool {
    matters(bench, judging(bench, goal, a), [a, b], wanted)
}

/// The same by the measure of this very goal.
fn matters(bench: &Bench, goal: Goal, [a, b]: [usize; 2], wanted: impl Fn(u64) -> bool) -> bool {
    let pairs = bench.pairs(a, b, wanted);
    let mean = |of: fn(&(Standing, Standing)) -> Standing| {
        let standings: Vec<Standing> = pairs.iter().map(of).collect();
        Standing::mean(&standings)
    };
    let means = mean(|(a, _)| *a).zip(mean(|(_, b)| *b));
    means.is_some_and(|(before, after)| goal.is_worth(before, after, bench.is_requests()))
}

/// Whether the step from `a` to `b` gains what matters, and that is no chance, by the draws that are `wanted`.
pub(super) fn is_proven(
    bench: &Bench,
    goal: Goal,
    [a, b]: [usize; 2],
    wanted: impl Fn(u64) -> bool + Copy,
) -> bool {
    let is_no_chance = difference(bench, goal, a, b, wanted)
        .is_some_and(|gain| gain.mean > gain.ci95().unwrap_or(f64::INFINITY));
    is_no_chance && is_worth(bench, goal, [a, b], wanted)
}

/// Whether the 95% interval of what this very goal measures is above zero.
pub(super) fn excludes_zero(
    bench: &Bench,
    goal: Goal,
    points: [usize; 2],
    wanted: impl Fn(u64) -> bool,
) -> bool {
    let gain = measured_by(bench, goal, points, wanted);
    gain.is_some_and(|gain| gain.mean > gain.ci95().unwrap_or(f64::INFINITY))
}

/// Whether runs that prove are shorter than the scenario, and what is gained in all of its time counts.
pub(super) fn counts_whole_time(bench: &Bench, judging: Goal) -> bool {
    bench.proof_shortened_to().is_some() && judging == Goal::Throughput && !bench.is_requests()
}

/// Whether the step from `a` to `b` gains goodput that matters in the scenario's own time as well, where the runs that prove it are
/// shorter: what only the beginning gains is less there. Where no run is left that could tell, it is taken to.
pub(super) fn is_lasting(
    bench: &mut Bench,
    goal: Goal,
    a: usize,
    b: usize,
) -> Result<bool, EngineError> {
    if !counts_whole_time(bench, judging(bench, goal, a)) {
        return Ok(true);
    }
    let rates = bench.rate_of_whole(a)?.zip(bench.rate_of_whole(b)?);
    Ok(rates.is_none_or(|(before, after)| after > before * (1.0 + SMALL_GAIN)))
}

/// Whether, where goodput counts, the step from `a` to `b` keeps it and makes the round trip shorter by what matters: of about equal
/// points the one with the shorter round trip is better.
pub(super) fn shortens(bench: &Bench, goal: Goal, a: usize, b: usize) -> bool {
    let low = |goal: Goal| {
        let gain = measured_by(bench, goal, [a, b], is_fresh)?;
        Some(gain.mean - gain.ci95()?)
    };
    judging(bench, goal, a) == Goal::Throughput
        && low(Goal::Throughput).is_some_and(|low| low > -ABOUT_EQUAL)
        && low(Goal::Latency).is_some_and(|low| low > 0.0)
        && matters(bench, Goal::Latency, [a, b], is_fresh)
}
