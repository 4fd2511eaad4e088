//! The lines of `run --json-stream`; their names are a contract.

use maxseg_core::results::Row;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::document::{AdviceEntry, Document};
use crate::environment::Environment;

/// A line: first `run`, then `row` and `progress` as they come, last `summary`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum StreamLine<'a> {
    /// What is run.
    Run {
        /// Raised when a name changes its meaning or goes.
        schema_version: u32,
        /// The scenario, values as in the file, after `--set`.
        scenario: &'a Value,
        /// Where and with what it is run.
        environment: &'a Environment,
        /// How many rows are to come.
        runs: usize,
    },
    /// A run that is done, in the order in which they end; first those that an earlier command kept.
    Row(&'a Row),
    /// How far it is; at most twice a second, and only where it changed.
    Progress {
        /// Runs that are done, with the fractions of those under way.
        done: f64,
        /// Out of so many.
        runs: usize,
    },
    /// What came of it: the document of `--json` without what was said before.
    Summary {
        /// Whether every row was there: not after an interrupt.
        complete: bool,
        /// Mean and 95% confidence half-width of every number, for each engine and point.
        summary: &'a [Value],
        /// What to do, after a sweep over the segment size.
        advice: &'a [AdviceEntry],
    },
}

impl<'a> StreamLine<'a> {
    /// The last line of a run that gave this document.
    pub fn summary(document: &'a Document) -> Self {
        let Document { complete, summary, advice, .. } = document;
        Self::Summary { complete: *complete, summary, advice }
    }

    /// As it is printed, with its end.
    #[expect(clippy::missing_panics_doc, reason = "plain data can always be serialised")]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line is plain data");
        text.push('\n');
        text
    }
}
