//! The flows one by one, as a table.

use comfy_table::{Cell, Table};
use maxseg_core::results::Group;
use maxseg_workbench::report::axes::keys;
use maxseg_workbench::report::flows::{FlowLines, flow_heads};

use super::table::{plain, right};

/// The lines as a table.
pub(super) fn flow_table(groups: &[Group<'_>], flows: &FlowLines) -> Table {
    let mut table = plain();
    let axes = keys(groups).len();
    // Engine and flow are words.
    let head = |(index, text): (usize, String)| {
        if index < axes { right(text) } else { Cell::new(text) }
    };
    let heads = flow_heads(groups).into_iter().enumerate().map(head);
    let titles = flows.titles.iter().map(|title| right(*title));
    table.set_header(heads.chain(titles).chain([Cell::new("limited by")]));
    for line in &flows.lines {
        let of = line.of.iter().cloned().enumerate().map(head);
        let numbers = line.numbers.iter().map(right);
        table.add_row(of.chain(numbers).chain([Cell::new(line.limited_by)]));
    }
    table
}
