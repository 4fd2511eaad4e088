//! How a search goes on: from the best place to better neighbours.

use super::axes::{Axes, Place};
use super::bench::Bench;
use super::goal::Goal;
use super::value::{best_of, most_rate, value};
use crate::engine::EngineError;

/// Runs that are kept for the proof: five of the winner, five of the path as it is, and what tells three parts of it apart.
pub(super) const FOR_PROOF: u32 = 20;
/// How often the search moves to a neighbour that is better.
const MOVES: usize = 4;
/// Neighbours that are tried at once.
const AROUND: usize = 4;
/// The search ends where a move gains less than this, as a logarithm: runs that are left serve the proof.
const LEAST_MOVE: f64 = 0.005;
/// A point with this share of the most goodput that was found may have neighbours with more.
const HARDLY_LESS: f64 = 0.97;
/// A congestion control whose best point has less than this share of the best point's rate is not tried again.
const HOPEFUL: f64 = 0.7;

/// Moves from the best place to better neighbours.
pub(super) fn climb(
    bench: &mut Bench,
    axes: &Axes,
    goal: Goal,
    is_allowed: &dyn Fn(&Place) -> bool,
    tried: &mut Vec<(Place, usize)>,
) -> Result<(), EngineError> {
    let value = |bench: &Bench, point: usize| value(bench, goal, point, most_rate(bench));
    for _ in 0..MOVES {
        let Some((at, best)) = best_of(bench, goal, tried).first().copied() else { return Ok(()) };
        let mut around: Vec<Place> = Vec::new();
        for place in neighbours(bench, axes, at, goal, tried) {
            let is_done = around.contains(&place) || tried.iter().any(|(done, _)| *done == place);
            if !is_done && is_allowed(&place) && around.len() < AROUND {
                around.push(place);
            }
        }
        if around.is_empty() || bench.left() < FOR_PROOF + 8 + u32::try_from(AROUND).unwrap_or(0) {
            return Ok(());
        }
        for place in around {
            let point = bench.point(&axes.changes(place));
            bench.run(point, 0..1)?;
            tried.push((place, point));
        }
        let next = best_of(bench, goal, tried).first().map_or(best, |(_, point)| *point);
        // Smaller windows may keep their goodput where much smaller ones do not.
        if goal != Goal::Latency && value(bench, next) < value(bench, best) + LEAST_MOVE {
            return Ok(());
        }
    }
    Ok(())
}

/// Where to go from the best place: half the way to the next windows that were tried, which are coarse where formulas chose them,
/// and one window, segment size or congestion control further.
fn neighbours(
    bench: &Bench,
    axes: &Axes,
    at: Place,
    goal: Goal,
    tried: &[(Place, usize)],
) -> Vec<Place> {
    let alike = |place: &Place| place.size == at.size && place.congestion == at.congestion;
    let windows =
        || tried.iter().map(|(place, _)| place).filter(|it| alike(it)).map(|it| it.window);
    let count = axes.sizes[at.size].windows.len();
    let below = windows().filter(|window| *window < at.window).max();
    let above = windows().filter(|window| *window > at.window).min().unwrap_or(count - 1);
    let halfway = |other: usize| Place { window: usize::midpoint(at.window, other), ..at };
    let (below, above) = (below.map(halfway), Some(halfway(above)));
    let most = most_rate(bench);
    let own = tried.iter().find(|(place, _)| *place == at).and_then(|(_, it)| bench.standing(*it));
    let is_fastest = own.is_some_and(|standing| standing.rate >= HARDLY_LESS * most);
    let halves = match goal {
        // What is to be kept of the most goodput is known where the most is.
        Goal::Latency if is_fastest => [above, below],
        Goal::Latency => [below, None],
        Goal::Balanced => [below, above],
        Goal::Throughput => [above, below],
    };
    let rate = |point: usize| bench.standing(point).map_or(0.0, |standing| standing.rate);
    let fastest = |congestion: usize| {
        let of_it = tried.iter().filter(|(place, _)| place.congestion == congestion);
        of_it.map(|(_, point)| rate(*point)).fold(0.0, f64::max)
    };
    let is_hopeful = |place: &Place| fastest(place.congestion) >= HOPEFUL * fastest(at.congestion);
    // Round trips are longer with larger windows.
    let is_shorter =
        |place: &Place| goal != Goal::Latency || is_fastest || place.window <= at.window;
    let beside = axes.neighbours(at).into_iter().filter(is_hopeful).filter(is_shorter);
    halves.into_iter().flatten().chain(beside).collect()
}
