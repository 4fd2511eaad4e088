//! Guides judged, on a terminal.

use std::fmt::Write as _;

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
        let unknown = guide.settings.iter().filter(|one| one.verdict == "unknown");
        for one in unknown {
            let line = format!("{}: {}.", one.setting, one.reason);
            let _ = writeln!(text, "{}", wrapped(&line, printer.width(), "   "));
        }
    }
    text
}
