//! The sweep that a report is of.

use std::collections::BTreeMap;

use maxseg_core::engine::EngineName;
use maxseg_core::results::Group;
use maxseg_core::scenario::{Point, Scenario};

/// What the rows of a sweep do not say themselves.
#[derive(Debug, Clone, Copy)]
pub struct Swept<'a> {
    /// The scenario of its first point.
    pub scenario: &'a Scenario,
    /// Its points; none of a scenario by itself.
    pub points: &'a [Point],
    /// Whether at any of its points something is random, so that runs of different seeds differ.
    pub is_random: bool,
    /// Whether all of its runs are there: before that, the best is only the best so far, and nothing is marked.
    pub is_complete: bool,
}

impl<'a> Swept<'a> {
    /// A sweep over these points.
    ///
    /// # Panics
    /// There is no point.
    pub fn new(points: &'a [Point], is_complete: bool) -> Self {
        let is_random = points.iter().any(|point| point.scenario.is_random());
        Self { scenario: &points[0].scenario, points, is_random, is_complete }
    }

    /// A scenario by itself, whose runs are all there.
    pub fn complete(scenario: &'a Scenario) -> Self {
        Self { scenario, points: &[], is_random: scenario.is_random(), is_complete: true }
    }

    /// Whether runs of this engine differ by chance.
    pub fn has_chance(&self, engine: EngineName) -> bool {
        engine.has_chance(self.is_random)
    }

    /// Whether anything is random at each point, by what identifies its experiment.
    pub(super) fn randomness(&self) -> BTreeMap<String, bool> {
        let points = self.points.iter().map(|point| &point.scenario);
        points.map(|scenario| (scenario.content_hash(), scenario.is_random())).collect()
    }

    /// How many seeds these have, in words; that they do not matter, where several had nothing to change.
    pub(super) fn seeds(&self, groups: &[&Group<'_>]) -> Option<String> {
        let has_chance = groups.iter().any(|group| self.has_chance(group.engine));
        match (groups.iter().map(|group| group.rows.len()).max(), has_chance) {
            (None | Some(0 | 1), true) => Some("one seed".to_owned()),
            (Some(seeds), true) => Some(format!("{seeds} seeds")),
            (None | Some(0 | 1), false) => None,
            (Some(_), false) => Some("nothing here is random".to_owned()),
        }
    }
}
