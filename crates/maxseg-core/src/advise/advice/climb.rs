//! How a search goes on: from the best place to better neighbours.

use super::axes::{Axes, Place};
use super::bench::Bench;
use super::goal::{Goal, KEPT};
use super::proof::runs_of_proof;
use super::value::{best_of, most_rate, value};
use crate::engine::EngineError;

/// Runs that are kept for the proof at least: five of the winner, five of the path as it is, and what tells its parts apart or leaves
/// less doubt.
const FOR_PROOF: u32 = 20;
/// Runs that are kept for the choice among the best.
const CHOICE: u32 = 8;
const CHOICE_BY_CHANCE: u32 = 10;
/// Runs of one point whose rates are further apart than this (standard deviation, as a share) differ by chance.
pub(super) const BY_CHANCE: f64 = 0.02;
/// How many draws the best are run with.
pub(super) const DRAWS: u64 = 3;
/// How often the search moves to a neighbour that is better.
const MOVES: usize = 4;
/// Neighbours that are tried at once.
const AROUND: usize = 4;
/// Of these, places that lack so much goodput at most (a factor), and whose round trip is expected to be shorter than this share of
/// the best's; so many at once.
const FAR: f64 = 2.0;
const SHORTER: f64 = 0.95;
const ALMOST: usize = 2;
/// The search ends where a move gains less than this, as a logarithm: runs that are left serve the proof.
const LEAST_MOVE: f64 = 0.005;
/// A point with this share of the most goodput that was found may have neighbours with more.
const HARDLY_LESS: f64 = 0.97;
/// A congestion control whose best point has less than this share of the best point's rate is not tried again.
const HOPEFUL: f64 = 0.7;

/// Runs that are kept for the proof of so many changes. Whether short round trips keep enough goodput takes runs itself, and seldom is a
/// change needless there.
pub(super) fn for_proof(bench: &Bench, goal: Goal, changes: usize) -> u32 {
    let needed = if goal == Goal::Latency { 0 } else { runs_of_proof(bench, goal, changes, 1) };
    needed.max(FOR_PROOF)
}

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
        if goal == Goal::Latency {
            know_first(bench, Goal::Throughput, tried)?;
            if bench.spread() > BY_CHANCE {
                know_first(bench, goal, tried)?;
            }
        }
        let Some((at, best)) = best_of(bench, goal, tried).first().copied() else { return Ok(()) };
        let mut around: Vec<Place> = Vec::new();
        let further = if goal == Goal::Latency {
            almost_keeping(bench, axes, best, tried)
        } else {
            Vec::new()
        };
        for place in further.into_iter().chain(neighbours(bench, axes, at, goal, tried)) {
            let is_done = around.contains(&place) || tried.iter().any(|(done, _)| *done == place);
            if !is_done && is_allowed(&place) && around.len() < AROUND {
                around.push(place);
            }
        }
        let for_proof = for_proof(bench, goal, bench.points[best].changes.len());
        let kept = for_proof + for_choice(bench, goal) + u32::try_from(AROUND).unwrap_or(0);
        if around.is_empty() || bench.left() < kept {
            return Ok(());
        }
        let around: Vec<(Place, usize)> =
            around.into_iter().map(|place| (place, bench.point(&axes.changes(place)))).collect();
        bench.run_all(around.iter().map(|(_, point)| (*point, 0..1)))?;
        tried.extend(around);
        let next = best_of(bench, goal, tried).first().map_or(best, |(_, point)| *point);
        // Smaller windows may keep their goodput where much smaller ones do not.
        if goal != Goal::Latency && value(bench, next) < value(bench, best) + LEAST_MOVE {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs the best point for a goal again, so that it is none that one run made so by luck.
fn know_first(bench: &mut Bench, goal: Goal, tried: &[(Place, usize)]) -> Result<(), EngineError> {
    match best_of(bench, goal, tried).first() {
        Some((_, point)) => bench.run(*point, 0..DRAWS),
        None => Ok(()),
    }
}

/// Runs that are kept for the choice among the best: more where chance makes runs differ, and goodput is to be kept.
fn for_choice(bench: &Bench, goal: Goal) -> u32 {
    if goal == Goal::Latency && bench.spread() > BY_CHANCE { CHOICE_BY_CHANCE } else { CHOICE }
}

/// Places with a larger window than one that was tried and has too little goodput, by as much as it lacks: where goodput grows
/// with the window, and round trips no more than that, these may keep enough of it with shorter round trips than the best has.
fn almost_keeping(bench: &Bench, axes: &Axes, best: usize, tried: &[(Place, usize)]) -> Vec<Place> {
    let ping = |point: usize| bench.standing(point).and_then(|standing| standing.ping_s);
    let Some(shortest) = ping(best) else { return Vec::new() };
    let kept = KEPT * most_rate(bench);
    let mut places: Vec<(f64, Place)> = tried
        .iter()
        .filter_map(|(place, point)| {
            let standing = bench.standing(*point)?;
            let lacks = kept / standing.rate.max(1e-9);
            let expected = standing.ping_s? * lacks;
            let is_near = lacks > 1.0 && lacks < FAR && expected < SHORTER * shortest;
            let wanted = axes.window(*place)?.get() as f64 * lacks;
            let windows = place.window + 1..axes.sizes[place.size].windows.len();
            let mut larger = windows.map(|window| Place { window, ..*place });
            let reaches = |place: &Place| {
                axes.window(*place).is_some_and(|window| window.get() as f64 >= wanted)
            };
            let next = larger.find(reaches).filter(|_| is_near)?;
            let is_done = tried.iter().any(|(done, _)| *done == next);
            (!is_done).then_some((expected, next))
        })
        .collect();
    places.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    places.into_iter().map(|(_, place)| place).take(ALMOST).collect()
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
