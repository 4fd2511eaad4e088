//! One engine's goodput over two axes.

use std::collections::BTreeMap;

use comfy_table::{Cell, Table};
use maxseg_core::results::Group;
use serde_json::Value;

use super::axes::distinct;
use super::table::{doubt, plain, right};
use super::words;

/// Goodput by row and column, with what is needed to write it.
pub(super) struct Matrix<'a> {
    down: &'a str,
    across: &'a str,
    rows: Vec<&'a Value>,
    columns: Vec<Column<'a>>,
}

struct Column<'a> {
    value: &'a Value,
    /// By row.
    cells: Vec<Option<(f64, &'static str)>>,
    best: f64,
}

impl<'a> Matrix<'a> {
    pub(super) fn new(groups: &[&'a Group<'a>], down: &'a str, across: &'a str) -> Self {
        let rows = distinct(groups.iter().copied(), down);
        let values = distinct(groups.iter().copied(), across);
        let mut by_place: BTreeMap<(String, String), (f64, &'static str)> = BTreeMap::new();
        for group in groups {
            let place = (group.point.get(down), group.point.get(across), group.goodput());
            if let (Some(row), Some(column), Some(goodput)) = place {
                by_place
                    .insert((row.to_string(), column.to_string()), (goodput.mean, doubt(group)));
            }
        }
        let column = |value: &'a Value| {
            let at = |row: &&Value| by_place.get(&(row.to_string(), value.to_string())).copied();
            let cells: Vec<_> = rows.iter().map(at).collect();
            let best = cells.iter().flatten().map(|(mean, _)| *mean).fold(0.0, f64::max);
            Column { value, cells, best }
        };
        let columns = values.into_iter().map(column).collect();
        Self { down, across, rows, columns }
    }

    /// Whether there is something to choose: rows that are no condition to be met.
    pub(super) fn marks_the_best(&self) -> bool {
        words::is_setting(self.down) && self.rows.len() > 1
    }

    /// One unit a column, in its header; the best of each column marked, where there is something to
    /// choose.
    pub(super) fn table(&self) -> Table {
        let mut table = plain();
        let titles = self.columns.iter().map(|column| {
            let (unit, _) = words::rate_unit(column.best);
            right(format!("{}\n{unit}", words::value(self.across, column.value)))
        });
        table.set_header(std::iter::once(Cell::new("")).chain(titles));
        let stars = self.marks_the_best();
        for (index, row) in self.rows.iter().enumerate() {
            let cells = self.columns.iter().map(|column| {
                let Some((mean, doubt)) = column.cells[index] else { return right("-") };
                let is_best = stars && mean > 0.0 && mean >= column.best;
                let (_, unit) = words::rate_unit(column.best);
                right(format!(
                    "{}{doubt}{}",
                    if is_best { "*" } else { "" },
                    words::digits(mean / unit)
                ))
            });
            table.add_row(std::iter::once(right(words::value(self.down, row))).chain(cells));
        }
        table
    }
}
