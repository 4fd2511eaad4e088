//! Workers, one a core.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use maxseg_core::engine::{Continue, Engine, EngineError, EngineName, Sample, Watch, unfinished};
use maxseg_core::results::Row;
use maxseg_core::sim::Sim;
use maxseg_core::units::Time;

use super::RunOptions;
use super::plan::{Plan, Task};
use super::sink::{Finished, RowSink};
use crate::capture;
use crate::engines::engine;
use crate::error::Error;

/// Whether to stop: the caller's flag, or a reason of the plan's own.
pub(super) struct Stop<'a> {
    asked: &'a AtomicBool,
    own: AtomicBool,
}

impl<'a> Stop<'a> {
    pub(super) const fn new(asked: &'a AtomicBool) -> Self {
        Self { asked, own: AtomicBool::new(false) }
    }

    fn set(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Stops where an observer says so.
    pub(super) fn follow(&self, said: Continue) {
        if said == Continue::Stop {
            self.set();
        }
    }

    fn is_set(&self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.own.load(Ordering::Relaxed)
    }
}

/// Progress of a run is counted in these parts.
const PARTS: u64 = 1000;

/// Runs the tasks at these places of `plan` on `jobs` threads, or fewer where there are not so many
/// tasks. Gives the rows with their places, as they finished; fewer of them if `stop` was set meanwhile or a run failed,
/// for the reason that is given too.
pub(super) fn execute(
    plan: &Plan<'_>,
    places: &[usize],
    jobs: usize,
    options: &RunOptions,
    stop: &Stop<'_>,
    sink: &mut RowSink<'_>,
) -> (Vec<(usize, Row)>, Option<Error>) {
    let next = AtomicUsize::new(0);
    let running: Vec<AtomicU64> = (0..jobs.min(places.len())).map(|_| AtomicU64::new(0)).collect();
    let (finished, results) = mpsc::channel();
    let mut rows: Vec<(usize, Row)> = Vec::new();
    let mut failure = None;
    std::thread::scope(|scope| {
        for part in &running {
            let worker = Worker { plan, places, next: &next, part, stop, options };
            let finished = finished.clone();
            scope.spawn(move || worker.work(&finished));
        }
        drop(finished);
        let mut fail = |error| {
            failure.get_or_insert(error);
            stop.set();
        };
        loop {
            match results.recv_timeout(Duration::from_millis(100)) {
                Ok((place, done)) => {
                    match done.and_then(|done| sink.accept(&done).map(|said| (said, done))) {
                        Ok((said, done)) => {
                            stop.follow(said);
                            rows.push((place, done.row));
                        }
                        Err(error) => fail(error),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let parts: u64 = running.iter().map(|part| part.load(Ordering::Relaxed)).sum();
            let done = rows.len() as f64 + parts as f64 / PARTS as f64;
            stop.follow(sink.progress(done));
        }
    });
    (rows, failure)
}

struct Worker<'a> {
    plan: &'a Plan<'a>,
    places: &'a [usize],
    next: &'a AtomicUsize,
    part: &'a AtomicU64,
    stop: &'a Stop<'a>,
    options: &'a RunOptions,
}

impl Worker<'_> {
    fn work(&self, finished: &Sender<(usize, Result<Finished, Error>)>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = self.places.get(index) else { return };
            if self.stop.is_set() {
                return;
            }
            let task = self.plan.task(*place);
            if self.repeats_the_one_before(index, &task) {
                continue; // whoever ran that one sends this one too
            }
            let done = self.run(&task);
            if matches!(done, Err(Error::Engine(EngineError::Cancelled))) {
                return;
            }
            self.part.store(0, Ordering::Relaxed);
            let copies = done.as_ref().map_or_else(|_| Vec::new(), |done| self.copies(index, done));
            for (place, done) in std::iter::once((*place, done)).chain(copies) {
                if finished.send((place, done)).is_err() {
                    return;
                }
            }
        }
    }

    /// Whether a task differs from the one before it by its seed alone, and nothing in it is random.
    fn repeats_the_one_before(&self, index: usize, task: &Task) -> bool {
        let before = index.checked_sub(1).map(|before| self.plan.task(self.places[before]));
        before.is_some_and(|before| self.plan.is_repetition(task, &before))
    }

    /// The rows of the tasks behind `index` that repeat it.
    fn copies(&self, index: usize, done: &Finished) -> Vec<(usize, Result<Finished, Error>)> {
        let behind =
            (index + 1..self.places.len()).map(|next| (next, self.plan.task(self.places[next])));
        behind
            .take_while(|(next, task)| self.repeats_the_one_before(*next, task))
            .map(|(next, task)| {
                let row = Row { seed: task.seed, ..done.row.clone() };
                (self.places[next], Ok(Finished { row, series: done.series.clone() }))
            })
            .collect()
    }

    fn run(&self, task: &Task) -> Result<Finished, Error> {
        let scenario = self.plan.scenario(task);
        let series_every = self.options.series_every.filter(|_| task.engine == EngineName::Sim);
        let mut watch =
            WorkerWatch { stop: self.stop, part: self.part, series_every, series: Vec::new() };
        let (outcome, mut caveats) = match (task.engine, &self.options.capture) {
            (name, None) | (name @ (EngineName::Model | EngineName::Measured), Some(_)) => {
                let mut engine = engine(name)?;
                let outcome = engine.run(&scenario, &mut watch)?;
                (outcome, engine.caveats(&scenario))
            }
            (EngineName::Sim, Some(file)) => {
                (capture::run(&scenario, &mut watch, file)?, Sim.caveats(&scenario))
            }
            (EngineName::Lab, Some(file)) => capture::run_lab(&scenario, &mut watch, file)?,
        };
        caveats.extend(unfinished(&scenario, &outcome));
        let row = Row {
            engine: task.engine,
            point: self.plan.values(task).clone(),
            hash: self.plan.hash(task).to_owned(),
            seed: task.seed,
            outcome,
            caveats,
        };
        Ok(Finished { row, series: watch.series })
    }
}

/// Tells the pool how far a run is, and the run when to stop.
struct WorkerWatch<'a> {
    stop: &'a Stop<'a>,
    part: &'a AtomicU64,
    series_every: Option<Time>,
    series: Vec<Sample>,
}

impl Watch for WorkerWatch<'_> {
    fn on_progress(&mut self, now: Time, until: Time) -> Continue {
        let part =
            u128::from(now.as_nanos()) * u128::from(PARTS) / u128::from(until.as_nanos().max(1));
        self.part.store(u64::try_from(part).unwrap_or(PARTS).min(PARTS), Ordering::Relaxed);
        if self.stop.is_set() { Continue::Stop } else { Continue::Go }
    }

    fn sample_every(&self) -> Option<Time> {
        self.series_every
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.series.push(*sample);
    }
}
