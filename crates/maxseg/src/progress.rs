//! Progress on a terminal, and nowhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use maxseg_core::engine::Continue;
use maxseg_workbench::runner::{Observer, Part, Progress};

use crate::printer::Printer;

/// A bar with the time that is left for the part of a plan that is under way; nothing where nobody looks.
pub(crate) struct TerminalProgress {
    printer: Printer,
    bar: Option<(Part, ProgressBar)>,
}

/// The bar's resolution.
const STEPS: f64 = 1000.0;

impl TerminalProgress {
    pub(crate) const fn new(printer: Printer) -> Self {
        Self { printer, bar: None }
    }

    fn bar(&mut self, part: Part) -> &ProgressBar {
        let is_other = self.bar.as_ref().is_none_or(|(known, _)| *known != part);
        if is_other {
            self.clear();
        }
        &self.bar.get_or_insert_with(|| (part, new_bar())).1
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for TerminalProgress {
    fn on_resumed(&mut self, rows: usize) {
        self.printer.note(&format!("{rows} runs are there already"));
    }

    fn on_progress(&mut self, progress: &Progress) -> Continue {
        if self.printer.shows_progress() && progress.part_runs > 0 {
            let bar = self.bar(progress.part);
            bar.set_position(steps(progress.part_share));
            bar.set_message(format!(
                "{} of {} runs",
                progress.part_done.floor(),
                progress.part_runs
            ));
        }
        Continue::Go
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(steps(1.0));
    let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of steps, for display"
)]
fn steps(share: f64) -> u64 {
    (share * STEPS) as u64
}
