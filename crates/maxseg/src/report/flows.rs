//! The flows one by one, as a table.

use maxseg_core::results::Group;
use maxseg_workbench::report::axes::keys;
use maxseg_workbench::report::flows::{FlowLines, flow_heads};

use super::grid::{Column, Grid};

/// The lines as a table.
pub(super) fn flow_table(groups: &[Group<'_>], flows: &FlowLines) -> Grid {
    let axes = keys(groups).len();
    // Engine and flow are words.
    let head = |(index, title): (usize, String)| {
        if index < axes { Column::number(title) } else { Column::word(title) }
    };
    let heads = flow_heads(groups).into_iter().enumerate().map(head);
    let titles = flows.titles.iter().map(|title| Column::number(*title));
    let mut table = Grid::new(heads, titles.chain([Column::word("limited by")]));
    for line in &flows.lines {
        let cells = line.of.iter().chain(&line.numbers).cloned();
        table.push(cells.chain([line.limited_by.to_owned()]));
    }
    table
}
