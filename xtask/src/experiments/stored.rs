//! What the lab gave, with the kernel and the date: real runs are not made again by a test.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::list::Experiment;
use crate::root;

/// Where it is kept, relative to the repository's root.
const FILE: &str = "testdata/experiments/lab.json";

/// All experiments, by page.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored(BTreeMap<String, LabRuns>);

/// An experiment in the lab.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LabRuns {
    pub(super) kernel: String,
    pub(super) date: String,
    pub(super) points: Vec<LabPoint>,
}

/// A point in the lab.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LabPoint {
    /// The swept keys with their values.
    pub(super) point: Value,
    /// A measure each; empty where it was not run.
    pub(super) numbers: Vec<Option<f64>>,
    /// Why the run is invalid.
    pub(super) invalid: Option<String>,
    /// Why it was not run.
    pub(super) why: Option<String>,
}

impl LabPoint {
    pub(super) fn without(point: Value, why: String) -> Self {
        Self { point, numbers: Vec::new(), invalid: None, why: Some(why) }
    }
}

impl Stored {
    pub(super) fn read() -> Result<Self> {
        let file = root().join(FILE);
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        serde_json::from_str(&text).with_context(|| file.display().to_string())
    }

    pub(super) fn replace(&mut self, page: &str, runs: LabRuns) -> Result<()> {
        self.0.insert(page.to_owned(), runs);
        let file = root().join(FILE);
        fs::create_dir_all(file.parent().context("a folder")?)?;
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    /// The runs of an experiment.
    ///
    /// # Errors
    /// There are none, or they are of other points.
    pub(super) fn of(&self, experiment: &Experiment) -> Result<&LabRuns> {
        let page = experiment.page;
        let again = || format!("{FILE} lacks {page}: run `cargo xtask experiments --lab {page}`");
        let runs = self.0.get(page).with_context(again)?;
        let points: Vec<&Value> = runs.points.iter().map(|point| &point.point).collect();
        let expected = experiment.lab_points()?;
        let is_same = points.iter().copied().eq(expected.iter());
        ensure!(
            is_same,
            "{FILE} has other points of {page}: run `cargo xtask experiments --lab {page}`"
        );
        Ok(runs)
    }
}
