//! Progress on a terminal, and nowhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::printer::Printer;

/// A bar with the time that is left; nothing where nobody looks.
pub(crate) struct Progress(Option<Bar>);

struct Bar {
    bar: ProgressBar,
    /// What the runs before each one count for together; one more for all of them.
    before: Vec<f64>,
}

/// The bar's resolution: a run of weight 1 is counted in hundredths.
const STEPS: f64 = 100.0;

impl Progress {
    /// For runs of these weights.
    pub(crate) fn new(printer: Printer, weights: &[f64]) -> Self {
        if !printer.shows_progress() || weights.is_empty() {
            return Self(None);
        }
        let before = running_sums(weights);
        let bar = ProgressBar::new(steps(before.last().copied().unwrap_or(0.0)));
        let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(Some(Bar { bar, before }))
    }

    /// So many runs are done, out of `of`; a fraction is that of the next one.
    pub(crate) fn set(&self, done: f64, of: usize) {
        if let Some(Bar { bar, before }) = &self.0 {
            bar.set_position(steps(weight_of(before, done)));
            bar.set_message(format!("{} of {of} runs", done.floor()));
        }
    }

    /// Take the bar away.
    pub(crate) fn finish(&self) {
        if let Some(Bar { bar, .. }) = &self.0 {
            bar.finish_and_clear();
        }
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of hundredths, for display"
)]
fn steps(weight: f64) -> u64 {
    (weight * STEPS) as u64
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
