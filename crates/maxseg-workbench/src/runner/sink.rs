//! Where finished rows go: the store and the observer.

use maxseg_core::engine::{Continue, Sample};
use maxseg_core::results::Row;

use super::observer::{Observer, Part, Progress};
use super::store::Store;
use crate::error::Error;

/// A row as it finishes, with the time series that was asked for.
#[derive(Debug)]
pub(super) struct Finished {
    /// The row.
    pub(super) row: Row,
    /// Its samples; empty where none were asked for.
    pub(super) series: Vec<Sample>,
}

/// Keeps rows in the store and tells the observer.
pub(super) struct RowSink<'a> {
    store: Option<&'a mut Store>,
    observer: &'a mut dyn Observer,
    /// Runs of the plan.
    runs: usize,
    /// Rows of the store, and runs of the parts before.
    done_before: usize,
    part: Part,
    /// What the runs before each one of the part count for together; one more for all of them.
    before: Vec<f64>,
}

impl<'a> RowSink<'a> {
    pub(super) fn new(
        store: Option<&'a mut Store>,
        observer: &'a mut dyn Observer,
        runs: usize,
        resumed: usize,
    ) -> Self {
        let (part, before) = (Part::Computed, vec![0.0]);
        Self { store, observer, runs, done_before: resumed, part, before }
    }

    /// A part begins whose runs have these weights.
    pub(super) fn begin(&mut self, part: Part, weights: &[f64]) {
        self.done_before += self.part_runs();
        self.part = part;
        self.before = running_sums(weights);
    }

    /// A run has ended.
    ///
    /// # Errors
    /// Its row cannot be kept.
    pub(super) fn accept(&mut self, finished: &Finished) -> Result<Continue, Error> {
        if let Some(store) = &mut self.store
            && store.lacks(&finished.row.key())
        {
            store.add(&finished.row, &finished.series)?;
        }
        Ok(self.observer.on_row(&finished.row))
    }

    /// So many runs of the part are done, fractions of running ones included.
    pub(super) fn progress(&mut self, part_done: f64) -> Continue {
        let all = self.before.last().copied().unwrap_or(0.0);
        self.observer.on_progress(&Progress {
            done: self.done_before as f64 + part_done,
            runs: self.runs,
            part: self.part,
            part_done,
            part_runs: self.part_runs(),
            part_share: if all > 0.0 { weight_of(&self.before, part_done) / all } else { 1.0 },
        })
    }

    const fn part_runs(&self) -> usize {
        self.before.len() - 1
    }
}

fn running_sums(weights: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = weights.iter().map(|weight| {
        sum += weight;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// What `done` runs count for together.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of runs, not negative"
)]
fn weight_of(before: &[f64], done: f64) -> f64 {
    let whole = (done as usize).min(before.len() - 1);
    let next = (whole + 1).min(before.len() - 1);
    before[whole] + (done - whole as f64).min(1.0) * (before[next] - before[whole])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_counts_for_more_than_a_short_one() {
        let before = running_sums(&[1.0, 10.0]);
        let of = |done| weight_of(&before, done);
        for (done, want) in [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 6.0), (2.0, 11.0)] {
            assert!((of(done) - want).abs() < 1e-12, "{done} runs count for {}", of(done));
        }
    }
}
