//! Runs everything that a command asks for, on all cores, and keeps what is done.
//!
//! ```text
//! Experiment → Plan (point × engine × seed) → workers → rows, as they finish → Keeper (disk, progress)
//!                                                      └→ rows, in the order of the plan
//! ```
//! What runs in real time comes last, one run at a time: nothing beside it makes it late.

mod appended;
mod interrupt;
mod plan;
mod pool;
mod progress;
mod series;
mod store;

use std::collections::BTreeSet;
use std::path::PathBuf;

use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use maxseg_core::units::Time;

use crate::environment::cores;
use crate::failure::Failure;
use crate::printer::Printer;
pub(crate) use interrupt::on_first as on_first_interrupt;
pub(crate) use plan::Plan;
use pool::{Finished, Keeper, execute};
use progress::Progress;
pub(crate) use series::check_series;
pub(crate) use store::Store;

/// How to run a plan.
#[derive(Debug, Default)]
pub(crate) struct Manner {
    /// Threads; as many as there are cores unless given.
    pub(crate) jobs: Option<usize>,
    /// How often the simulated senders' state is recorded.
    pub(crate) series_every: Option<Time>,
    /// Whether lab rows that prove nothing are taken as they are, instead of being run again.
    pub(crate) allows_invalid: bool,
    /// Where every packet of the one simulated run goes.
    pub(crate) capture: Option<PathBuf>,
}

/// Is told of rows as they finish, whoever ran them, and of how far the rest is.
pub(crate) trait Listener {
    /// A row is there.
    fn row(&mut self, row: &Row) -> Result<(), Failure>;
    /// So many of so many runs are done, fractions of running ones included.
    fn progress(&mut self, done: f64, runs: usize) -> Result<(), Failure>;
}

/// What came of a plan.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The rows in the plan's order; fewer than planned after an interrupt.
    pub(crate) rows: Vec<Row>,
    /// Whether all are there.
    pub(crate) complete: bool,
}

/// Every row of the plan: from the store where it is there already, run now and kept otherwise.
pub(crate) fn run<'a>(
    plan: &Plan<'_>,
    manner: &Manner,
    store: Option<&'a mut Store>,
    mut listener: Option<&'a mut (dyn Listener + 'a)>,
    printer: Printer,
) -> Result<Ran, Failure> {
    let mut rows: Vec<(usize, Row)> = Vec::new();
    let mut missing: Vec<usize> = Vec::new();
    for place in 0..plan.len() {
        let task = plan.task(place);
        // Of a row that is there the packets are not.
        let is_captured = manner.capture.is_some() && task.engine != EngineName::Model;
        let store = store.as_ref().filter(|_| !is_captured);
        let finished = store.and_then(|store| store.finished(&plan.key(&task)));
        match finished.filter(|row| manner.allows_invalid || row.outcome.is_valid()) {
            // The keys may be written otherwise this time; what they mean is the same.
            Some(row) => {
                let point = plan.values(&task).clone();
                rows.push((place, Row { point, ..row.clone() }));
            }
            None => missing.push(place),
        }
    }
    if !rows.is_empty() {
        printer.note(&format!("{} runs are there already", rows.len()));
    }
    if let Some(listener) = &mut listener {
        rows.iter().try_for_each(|(_, row)| listener.row(row))?;
    }
    let jobs = manner.jobs.unwrap_or_else(cores);
    let mut desk = Desk::new(store, listener, (missing.len(), plan.len()));
    let stop = interrupt::flag();
    let (in_real_time, by_computing): (Vec<usize>, Vec<usize>) =
        missing.into_iter().partition(|place| plan.task(*place).engine.is_real_time());
    // What cannot be run is said before, not when all else is done.
    let mut checked = BTreeSet::new();
    for task in in_real_time.iter().map(|place| plan.task(*place)) {
        if checked.insert(plan.hash(&task)) {
            maxseg_linux::lab::check(&plan.scenario(&task))?;
        }
    }
    for (places, jobs) in [(by_computing, jobs), (in_real_time, 1)] {
        desk.begin(Progress::new(printer, &weights(plan, &places)), places.len());
        rows.extend(execute(plan, &places, jobs, manner, stop, &mut desk)?);
        desk.end();
    }
    rows.sort_by_key(|(place, _)| *place);
    let complete = rows.len() == plan.len();
    Ok(Ran { rows: rows.into_iter().map(|(_, row)| row).collect(), complete })
}

/// What each run counts for in the progress: one, or in real time its seconds.
fn weights(plan: &Plan<'_>, places: &[usize]) -> Vec<f64> {
    let tasks = places.iter().map(|place| plan.task(*place));
    let weight = |task: plan::Task| {
        if task.engine.is_real_time() { plan.lasts(&task).as_secs_f64() } else { 1.0 }
    };
    tasks.map(weight).collect()
}

/// All rows of `plan`, kept nowhere; for the demo.
pub(crate) fn rows_of(plan: &Plan<'_>, printer: Printer) -> Result<Vec<Row>, Failure> {
    let Ran { rows, complete } = run(plan, &Manner::default(), None, None, printer)?;
    if complete { Ok(rows) } else { Err(Failure::Interrupted("nothing is kept".to_owned())) }
}

/// Keeps rows on disk and shows how far it is.
struct Desk<'a> {
    store: Option<&'a mut Store>,
    listener: Option<&'a mut (dyn Listener + 'a)>,
    progress: Option<Progress>,
    /// What was there already, and of what is run now the parts that are done.
    done_before: usize,
    /// Of the part under way.
    runs: usize,
    /// Those with what was there already.
    all_runs: usize,
}

impl<'a> Desk<'a> {
    fn new(
        store: Option<&'a mut Store>,
        listener: Option<&'a mut (dyn Listener + 'a)>,
        (runs, all_runs): (usize, usize),
    ) -> Self {
        let done_before = all_runs - runs;
        Self { store, listener, progress: None, done_before, runs: 0, all_runs }
    }

    /// A part of so many runs begins.
    fn begin(&mut self, progress: Progress, runs: usize) {
        self.progress = Some(progress);
        self.runs = runs;
    }

    /// The part is done.
    fn end(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
        self.done_before += self.runs;
    }
}

impl Keeper for Desk<'_> {
    fn keep(&mut self, finished: &Finished) -> Result<(), Failure> {
        match &mut self.store {
            Some(store) if store.lacks(&finished.row.key()) => {
                store.add(&finished.row, &finished.series)?;
            }
            Some(_) | None => {}
        }
        self.listener.as_mut().map_or(Ok(()), |listener| listener.row(&finished.row))
    }

    fn progress(&mut self, done: f64) -> Result<(), Failure> {
        if let Some(progress) = &self.progress {
            progress.set(done, self.runs);
        }
        let Some(listener) = &mut self.listener else { return Ok(()) };
        listener.progress(self.done_before as f64 + done, self.all_runs)
    }
}
