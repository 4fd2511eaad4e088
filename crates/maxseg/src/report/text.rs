//! Results on a terminal: tables, advice, caveats.

use maxseg_core::advise::SegmentSizeAdvice;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::scenario::Scenario;

use super::flows::flow_table;
use super::table::{details, table};
use crate::printer::Printer;
use crate::wrap::hanging;
use maxseg_workbench::report::as_netem::{WHY, shows_both};
use maxseg_workbench::report::flows::flow_lines;
use maxseg_workbench::report::marks::invalid_lines;
use maxseg_workbench::report::proof::point_proofs;
use maxseg_workbench::report::{Swept, caveat_lines, size_lines};

/// More lines of single flows than anyone reads on a terminal unasked.
const MOST_FLOW_LINES: usize = 40;

/// More points of a lab than anyone reads about unasked.
const MOST_PROOFS: usize = 4;

/// All that is printed of these rows.
pub(crate) fn text(
    rows: &[Row],
    swept: Swept<'_>,
    advice: &[SegmentSizeAdvice],
    printer: Printer,
) -> String {
    let groups = groups(rows);
    let advice = section("Best segment size", &size_lines(rows, advice, swept), printer);
    let caveats = section("Caveats", &caveat_lines(rows), printer);
    let invalid = section(
        "Invalid runs",
        &invalid_lines(rows).iter().map(|line| format!("! {line}")).collect::<Vec<_>>(),
        printer,
    );
    let netem = if shows_both(&groups) { WHY.map(str::to_owned).to_vec() } else { Vec::new() };
    let netem = section("Loss as netem's and loss on a wire", &netem, printer);
    [
        table(&groups, swept.is_complete, printer),
        details(&groups, printer),
        invalid,
        flows(&groups, swept.scenario, printer),
        proofs(&groups, printer),
        netem,
        advice,
        caveats,
    ]
    .concat()
}

/// What the lab measured of its own links, where it is not too much to read.
fn proofs(groups: &[Group<'_>], printer: Printer) -> String {
    let points = point_proofs(groups);
    if points.is_empty() {
        return String::new();
    }
    let heading = printer.bold("What the lab did");
    if points.len() > MOST_PROOFS && !printer.is_verbose() {
        return format!(
            "\n{heading}\n  {} points: -v prints them; the report of --out DIR has them too\n",
            points.len()
        );
    }
    let mut text = format!("\n{heading}\n");
    for point in &points {
        let of = point.heading();
        if !of.is_empty() {
            text += &hanging(&format!("  {of}"), printer.width(), "  ");
        }
        let indent = if of.is_empty() { "  " } else { "    " };
        for line in point.lines(printer.is_verbose()) {
            text += &hanging(&format!("{indent}{line}"), printer.width(), "  ");
        }
    }
    text
}

/// The table alone, of a sweep whose runs are all there.
pub(crate) fn results(rows: &[Row], printer: Printer) -> String {
    table(&groups(rows), true, printer)
}

fn flows(groups: &[Group<'_>], scenario: &Scenario, printer: Printer) -> String {
    let of_flows = flow_lines(groups, scenario);
    let heading = printer.bold("Flow by flow");
    match of_flows.lines.len() {
        0 => String::new(),
        n if n > MOST_FLOW_LINES && !printer.is_verbose() => {
            format!(
                "\n{heading}\n  {n} lines: -v prints them; the report of --out DIR has them too\n"
            )
        }
        _ => {
            let table = flow_table(groups, &of_flows).text(printer.table_width());
            format!("\n{heading}\n{table}")
        }
    }
}

fn section(title: &str, lines: &[String], printer: Printer) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.iter().map(|line| hanging(&format!("  {line}"), printer.width(), "  "));
    format!("\n{}\n{}", printer.bold(title), lines.collect::<String>())
}
