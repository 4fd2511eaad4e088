//! The one document of `run --json`; its names are a contract.

use std::collections::BTreeMap;

use maxseg_core::advise::{Advice, SegmentSizeAdvice};
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::advice::advice_line;
use crate::environment::Environment;

/// Everything that a run gave. What was written of it, [`compare::Source::read`](crate::compare::Source::read) reads again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document {
    /// Raised when a name changes its meaning or goes.
    pub schema_version: u32,
    /// The scenario, values as in the file, after `--set`.
    pub scenario: Value,
    /// Where and with what it was run.
    pub environment: Environment,
    /// Whether every row is there: not after an interrupt.
    pub complete: bool,
    /// The experiment of each point.
    pub experiments: Vec<ExperimentEntry>,
    /// Every run.
    pub rows: Vec<Row>,
    /// Mean and 95% confidence half-width of every number, for each engine and point.
    pub summary: Vec<Value>,
    /// What to do, after a sweep over the segment size.
    pub advice: Vec<AdviceEntry>,
}

/// The experiment of a point.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExperimentEntry {
    /// What identifies it, as in its rows.
    pub hash: String,
    /// Whether anything in it is drawn at random: if not, simulated runs of all seeds are the same.
    pub is_random: bool,
}

/// The best segment size under one condition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdviceEntry {
    /// Whose runs say so.
    pub engine: EngineName,
    /// The other swept keys with their values.
    pub condition: Map<String, Value>,
    /// The best size.
    pub best_bytes: u64,
    /// Sizes that cannot be told from it.
    pub as_good_bytes: Vec<u64>,
    /// What it gains over common sizes.
    pub versus: Vec<VersusEntry>,
    /// Radio frames of a full segment; null where the path has none.
    pub frames: Option<u64>,
    /// Bytes that stay empty in the last of them.
    pub unused_bytes: Option<u64>,
    /// All of it in a sentence.
    pub text: String,
    /// The size as `maxseg advise` gives it, with its id and its commands; null of datagrams.
    pub advice: Option<Advice>,
}

/// The best size against another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersusEntry {
    /// The other size.
    pub bytes: u64,
    /// Best ÷ other − 1.
    pub gain: f64,
    /// Whether that is more than chance, paired by seed; null where so few runs cannot tell.
    pub stands_out: Option<bool>,
}

impl Document {
    /// The document of these rows.
    pub fn new(
        scenario: Value,
        environment: Environment,
        rows: Vec<Row>,
        complete: bool,
        advice: &[SegmentSizeAdvice],
    ) -> Self {
        let summary = groups(&rows).iter().map(Group::to_json).collect();
        let advice = advice.iter().map(AdviceEntry::of).collect();
        let experiments = Vec::new();
        Self {
            schema_version: 1,
            scenario,
            environment,
            complete,
            experiments,
            rows,
            summary,
            advice,
        }
    }

    /// With the experiments of its points, by what identifies them.
    #[must_use]
    pub fn of_experiments(mut self, scenarios: &BTreeMap<&str, &Scenario>) -> Self {
        let entry = |(hash, scenario): (&&str, &&Scenario)| ExperimentEntry {
            hash: (*hash).to_owned(),
            is_random: scenario.is_random(),
        };
        self.experiments = scenarios.iter().map(entry).collect();
        self
    }

    /// On one line, as one document.
    #[expect(clippy::missing_panics_doc, reason = "plain data can always be serialised")]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a document is plain data");
        text.push('\n');
        text
    }

    /// All but the rows, with the scenario's text: what stands beside a file of rows.
    pub fn without_rows(&self, scenario_text: &str) -> String {
        let document = serde_json::json!({
            "schema_version": self.schema_version,
            "scenario": self.scenario,
            "scenario_text": scenario_text,
            "environment": self.environment,
            "complete": self.complete,
            "experiments": self.experiments,
            "rows": self.rows.len(),
            "summary": self.summary,
            "advice": self.advice,
        });
        format!("{document:#}\n")
    }
}

impl AdviceEntry {
    fn of(advice: &SegmentSizeAdvice) -> Self {
        Self {
            engine: advice.engine,
            condition: advice.condition.clone(),
            best_bytes: advice.best,
            as_good_bytes: advice.as_good.clone(),
            versus: advice
                .versus
                .iter()
                .map(|other| VersusEntry {
                    bytes: other.size,
                    gain: other.gain,
                    stands_out: other.stands_out,
                })
                .collect(),
            frames: advice.alignment.map(|alignment| alignment.frames),
            unused_bytes: advice.alignment.map(|alignment| alignment.unused),
            text: advice_line(advice),
            advice: advice.advice.clone(),
        }
    }
}
