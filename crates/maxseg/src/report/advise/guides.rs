//! Guides judged, on a terminal.

use std::fmt::Write as _;

use maxseg_core::advise::Judged;
use maxseg_core::units::approx;
use maxseg_workbench::advise::JudgedGuide;

use super::super::{Column, Grid};
use crate::printer::Printer;
use crate::wrap::wrapped;

/// A table for each guide.
pub(super) fn guides_text(guides: &[JudgedGuide], printer: Printer) -> String {
    let mut text = String::new();
    for guide in guides {
        let _ = writeln!(text, "\n{}", printer.bold(&guide.guide.title));
        let values = ["goodput", "ping", "memory"].map(Column::number);
        let mut table = Grid::new([Column::word("setting"), Column::word("here it")], values);
        for one in &guide.settings {
            let percent = |value: Option<f64>| {
                value.map_or_else(|| "-".to_owned(), |value| approx::gain(value / 100.0))
            };
            let memory = one.price.as_ref().and_then(|price| price.memory_bytes_per_connection);
            let memory = memory.map_or_else(
                || "-".to_owned(),
                |bytes| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)),
            );
            let verdict = match one.verdict {
                "no-difference" => "nothing",
                verdict => verdict,
            };
            let gain = one.gain.as_ref();
            table.push([
                one.setting.clone(),
                verdict.to_owned(),
                percent(gain.and_then(|gain| gain.goodput_pct)),
                percent(gain.and_then(|gain| gain.ping_pct)),
                memory,
            ]);
        }
        let _ = writeln!(text, "{}", table.text(printer.table_width()));
        for (settings, reason) in reasons(&guide.settings) {
            let line = format!("{}: {reason}.", settings.join("; "));
            let _ = writeln!(text, "{}", wrapped(&line, printer.width(), "   "));
        }
    }
    text
}

/// Why there is no number, with the settings for which that holds, in their order.
fn reasons(settings: &[Judged]) -> Vec<(Vec<&str>, &str)> {
    let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
    for one in settings.iter().filter(|one| one.verdict == "unknown" || one.gain.is_none()) {
        match reasons.iter_mut().find(|(_, reason)| *reason == one.reason) {
            Some((settings, _)) => settings.push(&one.setting),
            None => reasons.push((vec![&one.setting], &one.reason)),
        }
    }
    reasons
}
