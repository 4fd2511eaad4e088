//! Runs everything that an experiment asks for, on all cores, and keeps what is done.
//!
//! ```text
//! Experiment → Plan (point × engine × seed) → workers → rows, as they finish → Store, Observer
//!                                                      └→ rows, in the order of the plan
//! ```
//! What runs in real time comes last, one run at a time: nothing beside it makes it late.

mod appended;
mod observer;
mod plan;
mod pool;
mod series;
mod sink;
mod store;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use maxseg_core::units::Time;

use crate::engines::check_lab as check_lab_run;
use crate::environment::cores;
use crate::error::Error;
pub use observer::{Observer, Part, Progress};
pub use plan::{Plan, Task};
use pool::{Stop, execute};
pub use series::check_series;
use sink::RowSink;
pub use store::Store;

/// How to run a plan.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// Threads, at least one; as many as there are cores unless given.
    pub jobs: Option<usize>,
    /// How often the simulated senders' state is recorded.
    pub series_every: Option<Time>,
    /// Whether lab rows that prove nothing are taken as they are, instead of being run again.
    pub allows_invalid: bool,
    /// Where every packet of the one simulated run goes.
    pub capture: Option<PathBuf>,
}

/// The rows of a plan.
#[derive(Debug, Default)]
pub struct PlanResult {
    /// In the plan's order; fewer than planned where it was stopped, or a run failed.
    pub rows: Vec<Row>,
    /// Whether all are there: also of a plan without runs, which no engine or no seed makes.
    pub complete: bool,
    /// Why a run failed, and no other was begun.
    pub failure: Option<Error>,
}

/// Every row of the plan: from the store where it is there already, run now and kept otherwise. Once `stop` is set,
/// no run begins and those under way end; their rows are not in the result.
///
/// # Errors
/// An engine cannot run a scenario, or the store or the capture cannot be written, and there is no row; where there are
/// some, the result has them with the error.
pub fn run<'a>(
    plan: &Plan<'_>,
    options: &RunOptions,
    store: Option<&'a mut Store>,
    stop: &AtomicBool,
    observer: &'a mut dyn Observer,
) -> Result<PlanResult, Error> {
    let stop = Stop::new(stop);
    let (mut rows, missing) = in_store(plan, options, store.as_deref());
    if !rows.is_empty() {
        observer.on_resumed(rows.len());
    }
    for (_, row) in &rows {
        stop.follow(observer.on_row(row));
    }
    let jobs = options.jobs.unwrap_or_else(cores).max(1);
    let mut sink = RowSink::new(store, observer, plan.len(), rows.len());
    let (in_real_time, computed): (Vec<usize>, Vec<usize>) =
        missing.into_iter().partition(|place| plan.task(*place).engine.is_real_time());
    check_lab(plan, &in_real_time)?;
    let mut failure = None;
    for (part, places, jobs) in
        [(Part::Computed, computed, jobs), (Part::RealTime, in_real_time, 1)]
    {
        sink.begin(part, &weights(plan, &places));
        let (finished, failed) = execute(plan, &places, jobs, options, &stop, &mut sink);
        rows.extend(finished);
        failure = failed;
        if failure.is_some() {
            break;
        }
    }
    if rows.is_empty()
        && let Some(failure) = failure
    {
        return Err(failure);
    }
    rows.sort_by_key(|(place, _)| *place);
    let complete = rows.len() == plan.len();
    Ok(PlanResult { rows: rows.into_iter().map(|(_, row)| row).collect(), complete, failure })
}

/// The rows of the plan that the store has, with their places, and the places of the others.
fn in_store(
    plan: &Plan<'_>,
    options: &RunOptions,
    store: Option<&Store>,
) -> (Vec<(usize, Row)>, Vec<usize>) {
    let mut rows: Vec<(usize, Row)> = Vec::new();
    let mut missing: Vec<usize> = Vec::new();
    for place in 0..plan.len() {
        let task = plan.task(place);
        // Of a row that is there the packets are not.
        let is_captured = options.capture.is_some() && task.engine != EngineName::Model;
        let store = store.filter(|_| !is_captured);
        let finished = store.and_then(|store| store.finished(&plan.key(&task)));
        match finished.filter(|row| options.allows_invalid || row.outcome.is_valid()) {
            // The keys may be written otherwise this time; what they mean is the same.
            Some(row) => {
                let point = plan.values(&task).clone();
                rows.push((place, Row { point, ..row.clone() }));
            }
            None => missing.push(place),
        }
    }
    (rows, missing)
}

/// What the lab cannot run is reported before the first run, not when all else is done.
fn check_lab(plan: &Plan<'_>, places: &[usize]) -> Result<(), Error> {
    let mut checked = BTreeSet::new();
    for task in places.iter().map(|place| plan.task(*place)) {
        if checked.insert(plan.hash(&task)) {
            check_lab_run(&plan.scenario(&task))?;
        }
    }
    Ok(())
}

/// What each run counts for in the progress: one, or in real time its seconds.
fn weights(plan: &Plan<'_>, places: &[usize]) -> Vec<f64> {
    let tasks = places.iter().map(|place| plan.task(*place));
    let weight = |task: Task| {
        if task.engine.is_real_time() { plan.lasts(&task).as_secs_f64() } else { 1.0 }
    };
    tasks.map(weight).collect()
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Draft;

    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn a_run_that_fails_leaves_the_rows_of_those_before() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
        let draft = Draft::parse("path", text).unwrap();
        let sweep = draft.sweep().unwrap();
        let run_with = |engines: Vec<EngineName>, jobs: usize| {
            let (draft, sweep) = (draft.clone(), sweep.clone());
            let experiment = Experiment { sweep, draft, text: text.to_owned(), engines, seeds: 1 };
            let points = experiment.points().unwrap();
            let options = RunOptions { jobs: Some(jobs), ..RunOptions::default() };
            let stop = AtomicBool::new(false);
            run(&Plan::new(&experiment, &points), &options, None, &stop, &mut ())
        };
        let run_by = |engines| run_with(engines, 1);
        assert!(run_with(vec![EngineName::Model], 0).unwrap().complete, "one thread at least");
        // Nothing runs what was measured.
        let ran = run_by(vec![EngineName::Model, EngineName::Measured]).unwrap();
        assert_eq!((ran.rows.len(), ran.complete), (1, false));
        assert!(ran.failure.is_some());
        run_by(vec![EngineName::Measured]).unwrap_err();
        assert!(run_by(vec![EngineName::Model]).unwrap().failure.is_none());
    }
}
