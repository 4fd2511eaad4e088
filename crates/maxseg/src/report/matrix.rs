//! One number by one engine over two axes.

use std::collections::BTreeMap;

use comfy_table::{Cell, Table};
use maxseg_core::results::Group;
use serde_json::Value;

use super::table::{plain, right};
use maxseg_workbench::report::axes::{distinct, value_used};
use maxseg_workbench::report::marks::{INVALID, mark};
use maxseg_workbench::report::words;

/// What a matrix shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The more the better.
    Goodput,
    /// The mean time from request to reply: the less the better.
    RequestTime,
}

impl Measure {
    /// Those that some group knows.
    pub(super) fn known(groups: &[Group<'_>]) -> Vec<Self> {
        let of_requests = groups.iter().any(|group| Self::RequestTime.of(group).is_some());
        let requests = of_requests.then_some(Self::RequestTime);
        requests.into_iter().chain([Self::Goodput]).collect()
    }

    /// What it is called.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Goodput => "Goodput",
            Self::RequestTime => "Mean request time",
        }
    }

    fn of(self, group: &Group<'_>) -> Option<f64> {
        let summary = match self {
            Self::Goodput => group.goodput(),
            Self::RequestTime => group.summary(|outcome| outcome.request_mean_s),
        };
        summary.map(|summary| summary.mean)
    }

    fn better(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Goodput => a.max(b),
            Self::RequestTime => a.min(b),
        }
    }

    /// A column's unit, and a value in it.
    fn unit(self, best: f64) -> &'static str {
        match self {
            Self::Goodput => words::rate_unit(best).0,
            Self::RequestTime => "",
        }
    }

    fn write(self, value: f64, best: f64) -> String {
        match self {
            Self::Goodput => words::digits(value / words::rate_unit(best).1),
            Self::RequestTime => words::time(value),
        }
    }
}

/// A number by row and column, with what is needed to write it.
pub(super) struct Matrix<'a> {
    measure: Measure,
    down: &'a str,
    across: &'a str,
    /// Their values in words.
    rows: Vec<String>,
    columns: Vec<Column<'a>>,
}

struct Column<'a> {
    value: &'a Value,
    /// By row.
    cells: Vec<Option<(f64, &'static str)>>,
    best: f64,
}

impl<'a> Matrix<'a> {
    pub(super) fn new(
        measure: Measure,
        groups: &[&'a Group<'a>],
        down: &'a str,
        across: &'a str,
    ) -> Self {
        let rows = distinct(groups.iter().copied(), down);
        let values = distinct(groups.iter().copied(), across);
        let mut by_place: BTreeMap<(String, String), (f64, &'static str)> = BTreeMap::new();
        for group in groups {
            let place = (group.point.get(down), group.point.get(across), measure.of(group));
            if let (Some(row), Some(column), Some(mean)) = place {
                by_place.insert((row.to_string(), column.to_string()), (mean, mark(group)));
            }
        }
        let column = |value: &'a Value| {
            let at = |row: &&Value| by_place.get(&(row.to_string(), value.to_string())).copied();
            let cells: Vec<_> = rows.iter().map(at).collect();
            let best_of = |cells: &mut dyn Iterator<Item = &(f64, &'static str)>| {
                cells.map(|(mean, _)| *mean).reduce(|a, b| measure.better(a, b))
            };
            let known = || cells.iter().flatten();
            let valid = best_of(&mut known().filter(|(_, mark)| *mark != INVALID));
            // Where none is, the unit still is that of the numbers.
            let best = valid.or_else(|| best_of(&mut known())).unwrap_or(0.0);
            Column { value, cells, best }
        };
        let columns = values.into_iter().map(column).collect();
        let label = |row: &&Value| value_used(groups.iter().copied(), down, row);
        let rows = rows.iter().map(label).collect();
        Self { measure, down, across, rows, columns }
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
            let value = words::value(self.across, column.value);
            right(format!("{value}\n{}", self.measure.unit(column.best)).trim_end())
        });
        table.set_header(std::iter::once(Cell::new("")).chain(titles));
        let stars = self.marks_the_best();
        for (index, label) in self.rows.iter().enumerate() {
            let cells = self.columns.iter().map(|column| {
                let Some((mean, mark)) = column.cells[index] else { return right("-") };
                let is_best =
                    stars && mark != INVALID && mean > 0.0 && mean.total_cmp(&column.best).is_eq();
                right(format!(
                    "{}{mark}{}",
                    if is_best { "*" } else { "" },
                    self.measure.write(mean, column.best)
                ))
            });
            table.add_row(std::iter::once(right(label)).chain(cells));
        }
        table
    }
}
