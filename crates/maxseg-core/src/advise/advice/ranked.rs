//! Where a search begins: places ranked by formulas.

use super::axes::{Axes, Place};
use super::goal::{Goal, Standing};
use crate::advise::Change;
use crate::advise::changed;
use crate::engine::{Engine as _, Unwatched};
use crate::model::Model;
use crate::scenario::Scenario;

/// Places that formulas choose for a first run.
const FIRST: usize = 14;
/// Of so many segment sizes, the best by formulas, one is run at least.
const SIZES: usize = 6;
/// Of so many segment sizes, the best by formulas, an ample window is run: autotuning opens it late for small segments, which take
/// far more memory than their payload (`truesize` in net/core/skbuff.c), and formulas know nothing of that.
const AMPLE_SIZES: usize = 2;

/// The places to begin with, by formulas: the best of all, and of each congestion control, size and window the best.
pub(super) fn ranked(
    scenario: &Scenario,
    axes: &Axes,
    goal: Goal,
    is_allowed: &dyn Fn(&Place) -> bool,
) -> Vec<Place> {
    let estimated: Vec<(Place, Standing)> = axes
        .places()
        .filter(is_allowed)
        .filter_map(|place| Some((place, estimate(scenario, &axes.changes(place))?)))
        .collect();
    let most = estimated.iter().map(|(_, standing)| standing.rate).fold(0.0, f64::max);
    let by = |goal: Goal| {
        let mut sorted = estimated.clone();
        sorted.sort_by(|(_, a), (_, b)| goal.value(*b, most).total_cmp(&goal.value(*a, most)));
        sorted.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
    };
    let sorted = by(goal);
    let fastest = by(Goal::Throughput);
    let mut chosen: Vec<Place> = Vec::new();
    let mut choose = |place: Option<Place>| {
        if let Some(place) = place
            && !chosen.contains(&place)
            && chosen.len() < FIRST
        {
            chosen.push(place);
        }
    };
    for congestion in 0..axes.congestion.len() {
        choose(sorted.iter().find(|place| place.congestion == congestion).copied());
        choose(fastest.iter().find(|place| place.congestion == congestion).copied());
    }
    // Formulas know queues badly, and losses: each congestion control is tried with ample windows, and with small ones below.
    let at = |size: usize, congestion: usize, share: f64| {
        let of_it =
            sorted.iter().filter(|place| place.congestion == congestion && place.size == size);
        of_it.min_by_key(|place| distance(axes, place, share)).copied()
    };
    for congestion in 0..axes.congestion.len() {
        let fastest = fastest.iter().find(|place| place.congestion == congestion);
        choose(fastest.and_then(|place| at(place.size, congestion, 0.95)));
    }
    let of_sizes = best_of_sizes(&sorted);
    for place in of_sizes.iter().take(AMPLE_SIZES) {
        choose(at(place.size, place.congestion, 0.85));
    }
    for place in of_sizes.iter().take(SIZES) {
        choose(Some(*place));
    }
    let size = sorted.first().map_or(0, |place| place.size);
    for congestion in 0..axes.congestion.len() {
        choose(at(size, congestion, 0.35));
    }
    for place in &sorted {
        choose(Some(*place));
    }
    chosen
}

/// The first place of each segment size.
fn best_of_sizes(sorted: &[Place]) -> Vec<Place> {
    let mut best: Vec<Place> = Vec::new();
    for place in sorted {
        if best.iter().all(|other| other.size != place.size) {
            best.push(*place);
        }
    }
    best
}

/// How far a place is from a share of its windows.
fn distance(axes: &Axes, place: &Place, share: f64) -> usize {
    let count = axes.sizes[place.size].windows.len();
    let wanted = super::whole(share * (count - 1) as f64);
    place.window.abs_diff(usize::try_from(wanted).unwrap_or(0))
}

/// What formulas say of the scenario with these changes.
fn estimate(scenario: &Scenario, changes: &[Change]) -> Option<Standing> {
    let run = changed(scenario, changes);
    let outcome = Model.run(&run, &mut Unwatched).ok()?;
    let standing = super::bench::standing(&run, &outcome);
    (standing.rate > 0.0).then_some(standing)
}
