//! Results on a terminal: tables, advice, caveats.

use maxseg_core::advise::SegmentSizeAdvice;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::scenario::Scenario;

use super::flows::{flow_lines, flow_table};
use super::table::{lines, table};
use super::{advice_lines, caveat_lines};
use crate::printer::Printer;

/// More lines of single flows than anyone reads on a terminal unasked.
const MOST_FLOW_LINES: usize = 40;

/// All that is printed of these rows.
pub(crate) fn text(
    rows: &[Row],
    scenario: &Scenario,
    advice: &[SegmentSizeAdvice],
    printer: Printer,
) -> String {
    let groups = groups(rows);
    let advice = section("Best segment size", advice_lines(advice), printer);
    let caveats = caveat_lines(rows).iter().map(|line| printer.dim(line)).collect();
    let caveats = section("Caveats", caveats, printer);
    [table(&groups, printer), flows(&groups, scenario, printer), advice, caveats].concat()
}

/// The table alone.
pub(crate) fn results(rows: &[Row], printer: Printer) -> String {
    table(&groups(rows), printer)
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
        _ => format!("\n{heading}\n{}", lines(&flow_table(groups, &of_flows))),
    }
}

fn section(title: &str, lines: Vec<String>, printer: Printer) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.into_iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{}\n{lines}", printer.bold(title))
}
