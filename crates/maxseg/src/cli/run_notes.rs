//! What `maxseg run` says beside its results.

use std::path::Path;

use maxseg_core::results::Row;
use maxseg_core::scenario::Point;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::measured::{Measured, MeasuredRows};
use maxseg_workbench::report::words;
use maxseg_workbench::runner::{Plan, Store};

use crate::failure::Failure;
use crate::printer::Printer;

/// The scenario, its points and runs.
pub(super) fn announce(
    experiment: &Experiment,
    points: &[Point],
    plan: &Plan<'_>,
    printer: Printer,
) {
    let engines: Vec<&str> = experiment.engines.iter().map(|engine| engine.word()).collect();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    printer.note(&format!(
        "{}: {} by {}, {}",
        match points[0].scenario.name.as_str() {
            "" => experiment.draft.file(),
            name => name,
        },
        plural(plan.point_count(), "point"),
        words::listed(&engines),
        plural(plan.len(), "run")
    ));
}

/// What was measured on a real path, for the points of the plan; with a note of what has no point.
pub(super) fn rows_beside(
    file: &Path,
    plan: &Plan<'_>,
    printer: Printer,
) -> Result<Vec<Row>, Failure> {
    let MeasuredRows { rows, without_point } = Measured::read(file)?.rows(plan.points())?;
    if without_point > 0 {
        printer.note(&format!(
            "{}: no point has the segment size and the window of {without_point} of its transfers",
            file.display()
        ));
    }
    Ok(rows)
}

/// Rows of a folder that are of other scenarios.
pub(super) fn note_others(store: &Store, plan: &Plan<'_>, printer: Printer) {
    let others = store.others(&plan.hashes());
    if others > 0 {
        printer.note(&format!(
            "{} also holds {others} rows of other scenarios or points; they are kept but not shown",
            store.folder().display()
        ));
    }
}

/// Rows of an earlier run, of which the environment that is kept is not.
pub(super) fn note_resumed(resumed: usize, rows: usize, printer: Printer) {
    if resumed > 0 {
        printer.note(&format!(
            "{resumed} of {rows} rows are of an earlier run: environment, time and command in run.json and in the report are \
             those of this run"
        ));
    }
}

/// After an interrupt: what is left, and how to go on.
pub(super) fn what_is_kept(done: usize, planned: usize, store: Option<&Store>) -> String {
    match store {
        Some(store) => format!(
            "{done} of {planned} runs are done and kept in {}; the same command resumes",
            store.folder().display()
        ),
        None => format!(
            "{done} of {planned} runs were done; with --out DIR they are kept and the same command resumes"
        ),
    }
}
