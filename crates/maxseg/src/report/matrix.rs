//! One number by one engine over two axes.

use std::collections::BTreeMap;

use maxseg_core::results::Group;
use serde_json::Value;

use super::grid::{Column as GridColumn, Grid};
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
    is_complete: bool,
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
        (down, across): (&'a str, &'a str),
        is_complete: bool,
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
        Self { measure, down, across, rows, columns, is_complete }
    }

    /// Whether there is something to choose: rows that are no condition to be met, with no run missing that may be
    /// better.
    pub(super) fn marks_the_best(&self) -> bool {
        self.is_complete && words::is_setting(self.down) && self.rows.len() > 1
    }

    /// One unit a column, in its header; the best of each column marked, where there is something to
    /// choose.
    pub(super) fn table(&self) -> Grid {
        let titles = self.columns.iter().map(|column| {
            let value = words::value(self.across, column.value);
            let title = format!("{value}\n{}", self.measure.unit(column.best));
            GridColumn::number(title.trim_end())
        });
        let mut table = Grid::new([GridColumn::number("")], titles);
        let stars = self.marks_the_best();
        for (index, label) in self.rows.iter().enumerate() {
            let cells = self.columns.iter().map(|column| {
                let Some((mean, mark)) = column.cells[index] else { return "-".to_owned() };
                let is_best =
                    stars && mark != INVALID && mean > 0.0 && mean.total_cmp(&column.best).is_eq();
                let star = if is_best { "*" } else { "" };
                format!("{star}{mark}{}", self.measure.write(mean, column.best))
            });
            table.push(std::iter::once(label.clone()).chain(cells));
        }
        table
    }
}
