//! Which runs there are: point by point, engine by engine, seed by seed.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::engine::EngineName;
use maxseg_core::results::{Row, RowKey};
use maxseg_core::scenario::{Point, Scenario};
use maxseg_core::units::Time;
use serde_json::{Map, Value};

use crate::experiment::{Experiment, runs_of};

/// Everything that is to be run. The runs are counted, not listed: there may be millions of them.
#[derive(Debug)]
pub struct Plan<'a> {
    points: Vec<PlannedPoint<'a>>,
    engines: &'a [EngineName],
    seeds: u64,
    runs_per_point: usize,
}

/// A point of the sweep, as its rows will name it.
#[derive(Debug)]
struct PlannedPoint<'a> {
    values: Map<String, Value>,
    scenario: &'a Scenario,
    hash: String,
}

/// One run of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    point: usize,
    /// Who runs it.
    pub engine: EngineName,
    /// The seed, where chance matters.
    pub seed: Option<u64>,
}

impl<'a> Plan<'a> {
    /// What `experiment` asks for at its `points`. Points whose values mean the same are one, as its first is written.
    pub fn new(experiment: &'a Experiment, points: &'a [Point]) -> Self {
        let mut known = BTreeSet::new();
        let planned = points.iter().map(PlannedPoint::new);
        let distinct =
            planned.filter(|point| known.insert((point.hash.clone(), point.scenario.seed)));
        Self {
            points: distinct.collect(),
            engines: &experiment.engines,
            seeds: experiment.seeds,
            runs_per_point: usize::try_from(experiment.runs_per_point()).unwrap_or(usize::MAX),
        }
    }

    /// How many different points there are.
    pub fn point_count(&self) -> usize {
        self.points.len()
    }

    /// How many points have all their runs among `rows`.
    pub fn complete_points(&self, rows: &[Row]) -> usize {
        let there: BTreeSet<RowKey> = rows.iter().map(Row::key).collect();
        let is_there = |place: usize| there.contains(&self.key(&self.task(place)));
        let runs = |point: usize| point * self.runs_per_point..(point + 1) * self.runs_per_point;
        (0..self.points.len()).filter(|point| runs(*point).all(is_there)).count()
    }

    /// How many runs there are.
    #[expect(clippy::len_without_is_empty, reason = "an experiment has at least one run")]
    pub fn len(&self) -> usize {
        self.points.len().saturating_mul(self.runs_per_point)
    }

    /// The run at a place below [`Plan::len`].
    ///
    /// # Panics
    /// `place` is not below [`Plan::len`].
    pub fn task(&self, place: usize) -> Task {
        let (point, mut run) = (place / self.runs_per_point, (place % self.runs_per_point) as u64);
        let mut engines = self.engines.iter();
        let engine = engines.find(|engine| {
            let runs = runs_of(**engine, self.seeds);
            let here = run < runs;
            run -= if here { 0 } else { runs };
            here
        });
        let engine = *engine.expect("a place below the number of runs is some engine's");
        let first = self.points[point].scenario.seed;
        Task { point, engine, seed: engine.uses_chance().then(|| first.wrapping_add(run)) }
    }

    /// What a task's row will be known by.
    pub fn key(&self, task: &Task) -> RowKey {
        (self.points[task.point].hash.clone(), task.engine, task.seed)
    }

    /// The swept keys of a task with their values.
    pub fn values(&self, task: &Task) -> &Map<String, Value> {
        &self.points[task.point].values
    }

    /// What identifies a task's experiment.
    pub(super) fn hash(&self, task: &Task) -> &str {
        &self.points[task.point].hash
    }

    /// A task's scenario, with the task's seed.
    pub(super) fn scenario(&self, task: &Task) -> Scenario {
        let mut scenario = self.points[task.point].scenario.clone();
        scenario.seed = task.seed.unwrap_or(scenario.seed);
        scenario
    }

    /// Whether two tasks give the same outcome, because they differ by the seed of a scenario in which
    /// nothing is random. In real time no two runs are the same.
    pub(super) fn is_repetition(&self, task: &Task, other: &Task) -> bool {
        task.point == other.point
            && task.engine == other.engine
            && !task.engine.is_real_time()
            && !self.points[task.point].scenario.is_random()
    }

    /// How long a task's scenario lasts at the most, on its own clock.
    pub(super) fn lasts(&self, task: &Task) -> Time {
        self.points[task.point].scenario.until.time
    }

    /// Every point: its values, its scenario, and what identifies it.
    pub fn points(&self) -> impl Iterator<Item = (&Map<String, Value>, &'a Scenario, &str)> {
        self.points.iter().map(|point| (&point.values, point.scenario, point.hash.as_str()))
    }

    /// The scenarios of all points by what identifies them.
    pub fn scenarios(&self) -> BTreeMap<&str, &'a Scenario> {
        self.points.iter().map(|point| (point.hash.as_str(), point.scenario)).collect()
    }

    /// What identifies the experiments of all points.
    pub fn hashes(&self) -> BTreeSet<&str> {
        self.points.iter().map(|point| point.hash.as_str()).collect()
    }
}

impl<'a> PlannedPoint<'a> {
    fn new(point: &'a Point) -> Self {
        let value = |value: &toml::Value| {
            serde_json::to_value(value).expect("a value of a TOML file is a value of JSON")
        };
        Self {
            values: point.values.iter().map(|(key, v)| (key.clone(), value(v))).collect(),
            scenario: &point.scenario,
            hash: point.scenario.content_hash(),
        }
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Draft;

    use super::*;

    #[test]
    fn runs_come_point_by_point_engine_by_engine_seed_by_seed() {
        let text = "seed = 7\n[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                    [sweep]\n\"sender.mss\" = [536, 1460]\n";
        let draft = Draft::parse("test", text).unwrap();
        let experiment = Experiment {
            sweep: draft.sweep().unwrap(),
            draft,
            text: text.to_owned(),
            engines: vec![EngineName::Model, EngineName::Sim],
            seeds: 2,
        };
        let points = experiment.points().unwrap();
        let plan = Plan::new(&experiment, &points);
        let tasks: Vec<Task> = (0..plan.len()).map(|place| plan.task(place)).collect();
        let task = |point, engine, seed| Task { point, engine, seed };
        let of_point = |point| {
            [
                task(point, EngineName::Model, None),
                task(point, EngineName::Sim, Some(7)),
                task(point, EngineName::Sim, Some(8)),
            ]
        };
        assert_eq!(tasks, [of_point(0), of_point(1)].concat());
        // Nothing is random here: simulated seeds repeat each other, and no two runs in real time do.
        let two = |engine| [task(0, engine, Some(7)), task(0, engine, Some(8))];
        let [a, b] = two(EngineName::Sim);
        assert!(plan.is_repetition(&b, &a));
        let [a, b] = two(EngineName::Lab);
        assert!(!plan.is_repetition(&b, &a));
    }

    #[test]
    fn points_that_mean_the_same_are_run_once() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                    [[sweep.point]]\n\"hop.0.mtu\" = 1400\n\
                    [[sweep.point]]\n\"hop.0.mtu\" = 1300\n";
        let draft = Draft::parse("test", text).unwrap();
        let sweep = draft.sweep().unwrap();
        let engines = vec![EngineName::Sim];
        let experiment = Experiment { sweep, draft, text: text.to_owned(), engines, seeds: 2 };
        let mut points = experiment.points().unwrap();
        points.extend(experiment.points().unwrap().into_iter().take(1));
        let plan = Plan::new(&experiment, &points);
        let keys: BTreeSet<RowKey> =
            (0..plan.len()).map(|place| plan.key(&plan.task(place))).collect();
        assert_eq!((plan.point_count(), plan.len(), keys.len()), (2, 4, 4));
    }
}
