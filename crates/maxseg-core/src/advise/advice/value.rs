//! How good the points of a search are for a goal.

use super::axes::Place;
use super::bench::Bench;
use super::goal::Goal;
use crate::advise::Change;

/// The places that were tried, the best first.
pub(super) fn best_of(bench: &Bench, goal: Goal, tried: &[(Place, usize)]) -> Vec<(Place, usize)> {
    let most = most_rate(bench);
    let value = |point: usize| value(bench, goal, point, most);
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
    let standing = match goal {
        Goal::Latency => bench.cautious(point),
        Goal::Throughput | Goal::Balanced => bench.standing(point),
    };
    standing.map_or(f64::MIN, |standing| goal.value(standing, most) - cost)
}

/// The largest rate of any point that was run.
pub(super) fn most_rate(bench: &Bench) -> f64 {
    let rates = (0..bench.points.len()).filter_map(|point| bench.standing(point));
    rates.map(|standing| standing.rate).fold(0.0, f64::max)
}
