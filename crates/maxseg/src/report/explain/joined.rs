//! What two captures show together.

use maxseg_core::evidence::Evidence;

use super::details::labelled;
use super::parts::Detail;
use crate::printer::Printer;
use crate::report::{Column, Grid};
use maxseg_workbench::explain::Explanation;
use maxseg_workbench::report::explain::between_captures;
use maxseg_workbench::report::words::counted;

/// What the captures show of a connection; empty where there is one capture only.
pub(super) fn joined(
    explanation: &Explanation,
    evidence: &Evidence,
    detail: Detail,
    printer: Printer,
) -> String {
    let Some(between) = between_captures(explanation.pair.as_ref(), evidence) else {
        return String::new();
    };
    let mut text = format!("{}\n", printer.bold("Between the two captures"));
    for (label, line) in &between.lines {
        text += &labelled(label, line, detail.width);
    }
    let columns = between.directions.map(|direction| {
        let (from, to) = (evidence.sender(direction), evidence.receiver(direction));
        Column::number(format!("{from}\n→ {to}"))
    });
    let mut table = Grid::new([Column::word("")], columns);
    for (label, there, back) in between.rows {
        table.push([label.to_owned(), there, back]);
    }
    format!("{text}\n{}", table.text(detail.table_width))
}

/// Connections that only one of the captures holds; empty where there are none.
pub(super) fn left_out(explanation: &Explanation) -> String {
    let Some(pair) = &explanation.pair else { return String::new() };
    let only = pair.names.iter().zip(pair.only_in).filter(|(_, count)| *count > 0);
    let only: Vec<String> = only
        .map(|(name, count)| format!("{} only in {name}", counted(count, "connection")))
        .collect();
    only.join("; ")
}
