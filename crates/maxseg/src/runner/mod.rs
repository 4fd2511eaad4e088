//! Runs everything that a command asks for, on all cores, and keeps what is done.
//!
//! ```text
//! Input → Plan (point × engine × seed) → workers → rows, as they finish → Keeper (disk, progress)
//!                                                 └→ rows, in the order of the tasks
//! ```

pub(crate) mod environment;
mod pool;
pub(crate) mod progress;
pub(crate) mod store;

use maxseg_core::engine::EngineName;
use maxseg_core::results::RowKey;
use maxseg_core::scenario::{Point, Scenario};
use serde_json::{Map, Value};

use crate::cli::Input;
pub(crate) use pool::{Finished, Keep, Keeper, execute};

/// Everything that is to be run.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// The points of the sweep.
    points: Vec<PlannedPoint<'a>>,
    /// The runs: point by point, engine by engine, seed by seed.
    pub(crate) tasks: Vec<Task>,
}

/// A point of the sweep, as its rows will name it.
#[derive(Debug)]
struct PlannedPoint<'a> {
    values: Map<String, Value>,
    scenario: &'a Scenario,
    hash: String,
}

/// One run of one engine. Small: a plan may have millions of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    point: usize,
    /// Who runs it.
    pub(crate) engine: EngineName,
    /// The seed, where chance matters.
    pub(crate) seed: Option<u64>,
}

impl<'a> Plan<'a> {
    /// What `input` asks for.
    pub(crate) fn new(input: &'a Input) -> Self {
        let points: Vec<PlannedPoint<'a>> = input.points.iter().map(PlannedPoint::new).collect();
        let mut tasks = Vec::new();
        for (point, planned) in points.iter().enumerate() {
            for engine in &input.engines {
                if engine.uses_chance() {
                    let seeds =
                        (0..input.seeds).map(|n| Some(planned.scenario.seed.wrapping_add(n)));
                    tasks.extend(seeds.map(|seed| Task { point, engine: *engine, seed }));
                } else {
                    tasks.push(Task { point, engine: *engine, seed: None });
                }
            }
        }
        Self { points, tasks }
    }

    /// What a task's row will be known by.
    pub(crate) fn key(&self, task: &Task) -> RowKey {
        (self.points[task.point].hash.clone(), task.engine, task.seed)
    }

    /// The swept keys of a task with their values.
    pub(crate) fn values(&self, task: &Task) -> &Map<String, Value> {
        &self.points[task.point].values
    }

    /// A task's scenario, with the task's seed.
    fn scenario(&self, task: &Task) -> Scenario {
        let mut scenario = self.points[task.point].scenario.clone();
        scenario.seed = task.seed.unwrap_or(scenario.seed);
        scenario
    }
}

impl<'a> PlannedPoint<'a> {
    fn new(point: &'a Point) -> Self {
        let value = |value: &toml::Value| serde_json::to_value(value).unwrap_or_default();
        Self {
            values: point.values.iter().map(|(key, v)| (key.clone(), value(v))).collect(),
            scenario: &point.scenario,
            hash: point.scenario.content_hash(),
        }
    }
}
