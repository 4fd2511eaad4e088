//! What `maxseg run` says beside its results.

use std::path::Path;

use maxseg_core::results::Row;
use maxseg_core::scenario::Point;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::measured::{Measured, MeasuredRows};
use maxseg_workbench::report::marks::invalid_lines;
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

/// After an interrupt: what is done, what was run and proves nothing, and how to go on.
pub(super) fn what_is_kept(
    rows: &[Row],
    planned: usize,
    allows_invalid: bool,
    store: Option<&Store>,
) -> String {
    // Resuming repeats them.
    let invalid = if allows_invalid { Vec::new() } else { invalid_lines(rows) };
    let done = rows.len() - invalid.len();
    let told = match store {
        Some(store) => format!(
            "{done} of {planned} runs are done and kept in {}; the same command resumes",
            store.folder().display()
        ),
        None => format!(
            "{done} of {planned} runs were done; with --out DIR they are kept and the same command resumes"
        ),
    };
    let repeated = invalid.iter().map(|line| format!("\ninvalid, and not done: {line}"));
    repeated.fold(told, |told, line| told + &line)
}

#[cfg(test)]
mod tests {
    use maxseg_core::engine::EngineName;
    use maxseg_core::outcome::{LabProof, Outcome};

    use super::*;

    #[test]
    fn invalid_runs_are_not_done() {
        let row = |seed: u64, invalid_because: Vec<String>| Row {
            engine: EngineName::Lab,
            point: serde_json::Map::new(),
            hash: String::new(),
            seed: Some(seed),
            outcome: Outcome {
                lab: Some(Box::new(LabProof { invalid_because, ..LabProof::default() })),
                ..Outcome::default()
            },
            caveats: Vec::new(),
        };
        let rows = [row(1, Vec::new()), row(2, vec!["late by 34 ms".to_owned()])];
        let told = what_is_kept(&rows, 10, false, None);
        assert!(told.starts_with("1 of 10 runs were done;"), "{told}");
        assert!(told.ends_with("\ninvalid, and not done: seed 2: late by 34 ms"), "{told}");
        let accepted = what_is_kept(&rows, 10, true, None);
        assert!(accepted.starts_with("2 of 10") && !accepted.contains("invalid"), "{accepted}");
    }
}
