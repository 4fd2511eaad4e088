//! How good the points of a search are for a goal.

use super::axes::Place;
use super::bench::Bench;
use super::draws::HALF;
use super::goal::{Goal, Standing};
use crate::advise::Change;

/// The places that were tried, the best first.
pub(super) fn best_of(bench: &Bench, goal: Goal, tried: &[(Place, usize)]) -> Vec<(Place, usize)> {
    let most = most_rate(bench);
    sorted_by(tried, |point| value(bench, goal, point, most))
}

/// The places that were tried, the best first, where few runs of a point do not tell yet whether it keeps its goodput: one that
/// may is taken to.
pub(super) fn hopeful(bench: &Bench, goal: Goal, tried: &[(Place, usize)]) -> Vec<(Place, usize)> {
    let most = most_rate(bench);
    let spread = bench.spread();
    sorted_by(tried, |point| {
        let error = spread / libm::sqrt(bench.count(point).max(1) as f64);
        value(bench, goal, point, most * (1.0 - error).max(0.0))
    })
}

fn sorted_by(tried: &[(Place, usize)], value: impl Fn(usize) -> f64) -> Vec<(Place, usize)> {
    let mut sorted = tried.to_vec();
    sorted.sort_by(|(_, a), (_, b)| value(*b).total_cmp(&value(*a)));
    sorted
}

/// What each change costs in the comparison of points, and each doubling of a window: of about equal points the one with fewer
/// and smaller changes is better.
const EACH_CHANGE: f64 = 0.004;
const EACH_DOUBLING: f64 = 0.002;

/// How good a point is for a goal, less what its changes cost.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other change takes memory")]
pub(super) fn value(bench: &Bench, goal: Goal, point: usize, most: f64) -> f64 {
    let changes = &bench.points[point].changes;
    let doublings: f64 = changes
        .iter()
        .map(|change| match change {
            Change::Window(bytes) | Change::ReceiveBuffer(bytes) | Change::SendBuffer(bytes) => {
                libm::log2(bytes.get() as f64 / 65_536.0).max(0.0)
            }
            _ => 0.0,
        })
        .sum();
    let cost = EACH_CHANGE * changes.len() as f64 + EACH_DOUBLING * doublings;
    bench.standing(point).map_or(f64::MIN, |standing| goal.value(standing, most) - cost)
}

/// The most goodput, by the draws that did not choose it: the best of many single runs would be the luckiest. Of points with
/// several runs the largest mean without the first; before there are any, the largest rate.
pub(super) fn most_rate(bench: &Bench) -> f64 {
    let largest = |of: &dyn Fn(usize) -> Option<Standing>| {
        let rates = (0..bench.points.len()).filter_map(of).map(|standing| standing.rate);
        rates.fold(0.0, f64::max)
    };
    let further = largest(&|point| {
        let several = bench.count(point) >= SEVERAL;
        bench.points[point].standing(|number| number > 0 && number != HALF).filter(|_| several)
    });
    if further > 0.0 { further } else { largest(&|point| bench.standing(point)) }
}

/// Runs of a point, of which the first chose it, that tell its rate.
const SEVERAL: usize = 3;
