//! The hops as a table.

use maxseg_core::units::approx;
use maxseg_workbench::path::{HopReport, PathReport};

use crate::printer::Printer;
use crate::report::{Column, Grid};
use crate::wrap::hanging;

/// The hops, and what there is to know of each.
pub(super) fn table(report: &PathReport, printer: Printer) -> String {
    let hops = &report.path_mtu.hops;
    if hops.is_empty() {
        return String::new();
    }
    let mut table = Grid::new(
        [Column::number("hop"), Column::word("address")],
        [Column::number("round trip"), Column::number("packets up to"), Column::word("")],
    );
    for hop in hops {
        table.push(cells(hop, report));
    }
    let mut text = format!("\n{}", table.text(printer.table_width()));
    for hop in hops {
        if let Some(note) = &hop.note {
            text += &hanging(&format!("  hop {}: {note}", hop.hop), printer.width(), "  ");
        }
    }
    text
}

fn cells(hop: &HopReport, report: &PathReport) -> [String; 5] {
    let hole = report.path_mtu.black_hole.as_ref();
    let mark = if hole.is_some_and(|hole| hole.after_hop == Some(hop.hop)) {
        "black hole behind it"
    } else if hop.address == Some(report.address) {
        "destination"
    } else {
        ""
    };
    [
        hop.hop.to_string(),
        hop.address.map_or_else(|| "no answer".to_owned(), |address| address.to_string()),
        hop.rtt_s.map_or_else(|| "-".to_owned(), approx::time),
        hop.mtu_bytes.map_or_else(|| "-".to_owned(), |mtu| mtu.to_string()),
        mark.to_owned(),
    ]
}
