//! What `maxseg run` shows and keeps when its runs are done.

use std::path::Path;

use maxseg_core::advise::SegmentSizeAdvice;
use maxseg_core::scenario::Point;
use maxseg_workbench::environment::Environment;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::report::document::Document;
use maxseg_workbench::report::words::is_setting;
use maxseg_workbench::report::{Swept, figures, page, parquet, segment_sizes};
use maxseg_workbench::runner::{Plan, PlanResult, Store};

use super::run_picture::no_picture;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::text;

/// What is to be shown and kept.
pub(super) struct Report<'a> {
    pub(super) document: Document,
    pub(super) advice: Vec<SegmentSizeAdvice>,
    /// After an interrupt, where there is something to choose: why nothing is called the best.
    pub(super) withheld: Option<String>,
    experiment: &'a Experiment,
    points: &'a [Point],
}

impl<'a> Report<'a> {
    pub(super) fn new(
        experiment: &'a Experiment,
        environment: Environment,
        PlanResult { rows, complete, .. }: PlanResult,
        points: &'a [Point],
        plan: &Plan<'_>,
    ) -> Self {
        // Of a part of a sweep, the best is only the best so far.
        let mut advice = segment_sizes(&rows, &plan.scenarios());
        let has_settings =
            rows.iter().take(1).flat_map(|row| row.point.keys()).any(|key| is_setting(key));
        let withheld = (!complete && has_settings).then(|| {
            let what = if advice.is_empty() {
                "nothing is marked as the best"
            } else {
                "no best segment size"
            };
            let (done, points) = (plan.complete_points(&rows), plan.point_count());
            format!("{what}: {done} of {points} points are complete")
        });
        if !complete {
            advice.clear();
        }
        let scenario_as_written = experiment.draft.to_json();
        let document = Document::new(scenario_as_written, environment, rows, complete, &advice)
            .of_experiments(&plan.scenarios());
        Self { document, advice, withheld, experiment, points }
    }

    /// As a table, with the advice.
    pub(super) fn table(&self, printer: Printer) -> String {
        text(&self.document.rows, self.swept(), &self.advice, printer)
    }

    fn swept(&self) -> Swept<'a> {
        Swept::new(self.points, self.document.complete)
    }

    /// What several seeds would add, or did not.
    pub(super) fn note_of_seeds(&self) -> Option<&'static str> {
        let swept = self.swept();
        let has_chance = self.experiment.engines.iter().any(|engine| swept.has_chance(*engine));
        match (self.experiment.seeds, has_chance) {
            (1, true) => Some("one seed: --seeds 10 adds confidence intervals"),
            (2.., false) => Some("nothing here is random: the runs of all seeds are the same"),
            (_, _) => None,
        }
    }

    /// The first picture, as an SVG file.
    pub(super) fn picture(&self, file: &Path) -> Result<String, Failure> {
        let figures = figures(&self.document.rows, self.swept());
        let first = figures.charts.first();
        let first = first.ok_or_else(|| no_picture("no row can be drawn", file))?;
        Ok(first.to_file())
    }

    pub(super) fn save(&self, store: &Store) -> Result<(), Failure> {
        let summary = self.document.without_rows(&self.experiment.text);
        store.replace("run.json", summary.as_bytes())?;
        store.replace("rows.parquet", &parquet(&self.document.rows)?)?;
        let page = page(&self.document, &self.experiment.text, self.swept(), &self.advice);
        Ok(store.replace("report.html", page.as_bytes())?)
    }
}
