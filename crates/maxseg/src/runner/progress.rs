//! Progress on a terminal, and nowhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::printer::Printer;

/// A bar with the time that is left; nothing where nobody looks.
pub(crate) struct Progress(Option<ProgressBar>);

/// The bar's resolution: runs are counted in hundredths.
const STEPS: f64 = 100.0;

impl Progress {
    /// For `runs` runs.
    pub(crate) fn new(printer: Printer, runs: usize) -> Self {
        if !printer.shows_progress() || runs == 0 {
            return Self(None);
        }
        let bar = ProgressBar::new(runs as u64 * 100);
        let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(Some(bar))
    }

    /// So many runs are done, out of `of`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of hundredths, for display"
    )]
    pub(crate) fn set(&self, done: f64, of: usize) {
        if let Some(bar) = &self.0 {
            bar.set_position((done * STEPS) as u64);
            bar.set_message(format!("{} of {of} runs", done.floor()));
        }
    }

    /// Take the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
