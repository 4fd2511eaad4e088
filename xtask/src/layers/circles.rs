//! Modules of one folder that use each other, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use super::uses::Arrow;

/// A sentence for each circle: its modules, and the arrows between them with their places.
pub(super) fn circles(arrows: &[Arrow]) -> Vec<String> {
    let mut folders: BTreeMap<&str, Vec<&Arrow>> = BTreeMap::new();
    for arrow in arrows {
        folders.entry(&arrow.folder).or_default().push(arrow);
    }
    folders.into_iter().flat_map(|(folder, arrows)| circles_of(folder, &arrows)).collect()
}

fn circles_of(folder: &str, arrows: &[&Arrow]) -> Vec<String> {
    let mut left: BTreeSet<&str> = arrows.iter().map(|arrow| arrow.from.as_str()).collect();
    let mut circles = Vec::new();
    while let Some(module) = left.pop_first() {
        let ahead = reached(module, arrows);
        let circle: BTreeSet<&str> =
            ahead.iter().copied().filter(|other| reached(other, arrows).contains(module)).collect();
        if circle.is_empty() {
            continue;
        }
        left.retain(|other| !circle.contains(other));
        let inside = |arrow: &&&Arrow| {
            circle.contains(arrow.from.as_str()) && circle.contains(arrow.to.as_str())
        };
        let places: Vec<String> = arrows
            .iter()
            .filter(inside)
            .map(|arrow| format!("{} → {} ({})", arrow.from, arrow.to, arrow.place))
            .collect();
        circles.push(format!("{folder}: {}", places.join(", ")));
    }
    circles
}

/// Every module that `module` uses, directly or through others.
fn reached<'a>(module: &str, arrows: &[&'a Arrow]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![module];
    while let Some(from) = next.pop() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == from) {
            if reached.insert(arrow.to.as_str()) {
                next.push(&arrow.to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow(from: &str, to: &str) -> Arrow {
        let [folder, from, to] = ["sim", from, to].map(str::to_owned);
        let place = format!("sim/{from}.rs:1");
        Arrow { folder, from, to, place }
    }

    #[test]
    fn a_circle_through_a_third_module_is_found_once() {
        let arrows = [arrow("a", "b"), arrow("b", "c"), arrow("c", "a"), arrow("c", "d")];
        assert_eq!(
            circles(&arrows),
            ["sim: a → b (sim/a.rs:1), b → c (sim/b.rs:1), c → a (sim/c.rs:1)"]
        );
        assert_eq!(circles(&arrows[1..]), Vec::<String>::new());
    }
}
