//! Runs everything that a command asks for, on all cores, and keeps what is done.
//!
//! ```text
//! Input → tasks (point × engine × seed) → workers → rows, as they finish → Keeper (disk, progress)
//!                                                 └→ rows, in the order of the tasks
//! ```

pub(crate) mod environment;
mod pool;
pub(crate) mod progress;
pub(crate) mod store;

use maxseg_core::engine::EngineName;
use maxseg_core::results::RowKey;
use maxseg_core::scenario::Scenario;
use serde_json::{Map, Value};

use crate::cli::Input;
pub(crate) use pool::{Finished, Keeper, execute};

/// One run of one engine.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    /// Who runs it.
    pub(crate) engine: EngineName,
    /// The swept keys with their values.
    pub(crate) point: Map<String, Value>,
    /// The scenario at that point; its seed is not yet this task's.
    pub(crate) scenario: &'a Scenario,
    /// What identifies it.
    pub(crate) hash: String,
    /// The seed, where chance matters.
    pub(crate) seed: Option<u64>,
}

impl Task<'_> {
    /// What its row will be known by.
    pub(crate) fn key(&self) -> RowKey {
        (self.hash.clone(), self.engine, self.seed)
    }
}

/// Every run that `input` asks for: point by point, engine by engine, seed by seed.
pub(crate) fn tasks(input: &Input) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    for point in &input.points {
        let hash = point.scenario.content_hash();
        let values: Map<String, Value> = point
            .values
            .iter()
            .map(|(key, value)| (key.clone(), serde_json::to_value(value).unwrap_or_default()))
            .collect();
        for engine in &input.engines {
            let first = point.scenario.seed;
            let seeds: Vec<Option<u64>> = if engine.uses_chance() {
                (0..input.seeds).map(|n| Some(first.wrapping_add(n))).collect()
            } else {
                vec![None]
            };
            tasks.extend(seeds.into_iter().map(|seed| Task {
                engine: *engine,
                point: values.clone(),
                scenario: &point.scenario,
                hash: hash.clone(),
                seed,
            }));
        }
    }
    tasks
}
