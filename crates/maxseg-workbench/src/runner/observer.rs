//! Who follows a plan's runs.

use maxseg_core::engine::Continue;
use maxseg_core::results::Row;

/// Is told of rows as they finish, and of how far the rest is. A plan stops after [`Continue::Stop`] as it does by
/// its stop flag. `()` observes nothing.
pub trait Observer {
    /// So many rows are in the store already and are not run again. Called once, before they are passed to
    /// [`Observer::on_row`].
    fn on_resumed(&mut self, rows: usize) {
        let _ = rows;
    }

    /// A row is there: first those of the store in the plan's order, then those run now as they finish.
    fn on_row(&mut self, row: &Row) -> Continue {
        let _ = row;
        Continue::Go
    }

    /// How far the runs are. Called about ten times a second and after each row.
    fn on_progress(&mut self, progress: &Progress) -> Continue {
        let _ = progress;
        Continue::Go
    }
}

impl Observer for () {}

/// How far a plan is. Numbers of runs include the fractions of those under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Finished runs of the plan, those of the store included.
    pub done: f64,
    /// Runs of the plan.
    pub runs: usize,
    /// The part under way.
    pub part: Part,
    /// Finished runs of that part, those of the store not included.
    pub part_done: f64,
    /// Runs of that part.
    pub part_runs: usize,
    /// Share of that part's expected duration, 0 to 1: computed runs count alike, those in real time by their seconds.
    pub part_share: f64,
}

/// Runs that are made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Model and simulator, on all cores.
    Computed,
    /// The lab, one run at a time.
    RealTime,
}
