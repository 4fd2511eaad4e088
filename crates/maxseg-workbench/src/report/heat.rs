//! Heat maps of a sweep over two axes of numbers: for each condition the best choice.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::engine::EngineName;
use maxseg_core::results::Group;
use serde_json::Value;

use super::across::{Across, EFFECTIVE_MSS, LOG_FROM, dimension};
use super::axes::{distinct, keys, mss_used, value_used};
use super::chart::{HeatCell, HeatMap, HeatRow, Spacing};
use super::figures::{beside, leading};
use super::marks::{INVALID, mark, sign_notes};
use super::quantity::Quantity;
use super::{Swept, words};

/// More cells than pixels help nobody.
const MOST_CELLS: usize = 20_000;

/// The maps of a number over a sweep: of the engine that its pictures go by, and of the lab beside it, with one colour scale.
/// None where it has not two axes of numbers, or far too many values.
pub(super) fn heat_maps(
    quantity: Quantity,
    groups: &[Group<'_>],
    swept: Swept<'_>,
) -> Vec<HeatMap> {
    let engines: BTreeSet<EngineName> = groups.iter().map(|group| group.engine).collect();
    let drawn = leading(&engines).into_iter().chain(beside(&engines));
    let mut maps: Vec<HeatMap> =
        drawn.filter_map(|engine| heat_map(quantity, groups, engine, swept)).collect();
    let range = maps.iter().map(|map| map.range);
    let range = range
        .fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), (low, high)| (a.min(low), b.max(high)));
    let spacing = if range.1 > LOG_FROM * range.0 { Spacing::Log(10) } else { Spacing::Linear };
    for map in &mut maps {
        // A scale of a single value has room around it.
        map.range = if range.0 < range.1 { range } else { (range.0 / 2.0, range.1 * 2.0) };
        map.spacing = spacing;
    }
    maps
}

fn heat_map(
    quantity: Quantity,
    groups: &[Group<'_>],
    engine: EngineName,
    swept: Swept<'_>,
) -> Option<HeatMap> {
    let axes: Vec<&str> =
        keys(groups).into_iter().filter(|key| distinct(groups, key).len() > 1).collect();
    let [a, b] = axes[..] else { return None };
    let across = Across::of(groups)?.key;
    let down = if across == a { b } else { a };
    let of_engine: Vec<&Group<'_>> = groups.iter().filter(|g| g.engine == engine).collect();
    Map {
        quantity,
        columns: rising(across, distinct(groups, across))?,
        rows: rising(down, distinct(groups, down))?,
        groups: of_engine,
        engine,
        across,
        down,
        swept,
    }
    .draw()
}

/// Values in the order of their numbers; `None` where they are not numbers of one kind.
fn rising<'a>(key: &str, values: Vec<&'a Value>) -> Option<Vec<&'a Value>> {
    dimension(key, &values)?;
    let numbers = values.into_iter().map(|value| Some((words::quantity(key, value)?.1, value)));
    let mut numbers: Vec<(f64, &Value)> = numbers.collect::<Option<_>>()?;
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(numbers.into_iter().map(|(_, value)| value).collect())
}

/// A map to be made.
struct Map<'a> {
    quantity: Quantity,
    groups: Vec<&'a Group<'a>>,
    engine: EngineName,
    across: &'a str,
    down: &'a str,
    columns: Vec<&'a Value>,
    rows: Vec<&'a Value>,
    swept: Swept<'a>,
}

impl Map<'_> {
    fn draw(&self) -> Option<HeatMap> {
        if self.columns.len() * self.rows.len() > MOST_CELLS {
            return None;
        }
        let rows = self.heat_rows();
        let positive = || {
            let cells = rows.iter().flat_map(|row| row.cells.iter().flatten());
            cells.map(|cell| cell.value).filter(|value| *value > 0.0)
        };
        let least = positive().fold(f64::INFINITY, f64::min);
        let most = positive().fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        // The unit of the middle: small numbers keep their digits, and large ones stay short.
        let (unit, size) = self.quantity.unit((least * most).sqrt());
        let has_best = rows.iter().flat_map(|row| row.cells.iter().flatten()).any(|c| c.is_best);
        let words_if = |is: bool, words: &str| if is { words.to_owned() } else { String::new() };
        let unit_and_seeds: Vec<String> = std::iter::once(format!("numbers in {unit}"))
            .chain(self.swept.seeds(&self.groups))
            .collect();
        let title = self.quantity.title(self.groups.iter().copied());
        let used = self.sizes_used();
        Some(HeatMap {
            title: format!("{} by {}", words::capital(&title), self.engine),
            subtitle: unit_and_seeds.join(", "),
            x_title: if used.is_some() {
                EFFECTIVE_MSS.to_owned()
            } else {
                words::title(self.across)
            },
            y_title: words::title(self.down),
            columns: used.unwrap_or_else(|| {
                self.columns.iter().map(|value| self.label(self.across, value)).collect()
            }),
            rows,
            shades: self.quantity.shades(),
            shades_title: title,
            range: (least, most),
            spacing: Spacing::Linear,
            write: self.quantity.write(),
            unit: size,
            digits: words::digits,
            best: words_if(has_best, "best of its row"),
            doubt: sign_notes(self.groups.iter().copied()).join(", "),
        })
    }

    /// The sizes that were used, where the columns are segment sizes and each used one of its own.
    fn sizes_used(&self) -> Option<Vec<String>> {
        let used = |column: &&Value| -> Option<u64> {
            let of_column =
                self.groups.iter().filter(|group| group.point.get(self.across) == Some(*column));
            let used: BTreeSet<u64> = of_column
                .filter_map(|group| mss_used(group, self.across).or_else(|| column.as_u64()))
                .collect();
            used.first().copied().filter(|_| used.len() == 1)
        };
        let used: Vec<u64> = (self.across == "sender.mss")
            .then(|| self.columns.iter().map(used).collect::<Option<Vec<u64>>>())??;
        let distinct: BTreeSet<u64> = used.iter().copied().collect();
        (distinct.len() == used.len()).then(|| used.iter().map(u64::to_string).collect())
    }

    fn label(&self, key: &str, value: &Value) -> String {
        value_used(self.groups.iter().copied(), key, value)
    }

    fn heat_rows(&self) -> Vec<HeatRow> {
        let mut by_place: BTreeMap<(String, String), (f64, &'static str)> = BTreeMap::new();
        for group in &self.groups {
            let number = group.summary(|outcome| self.quantity.of(outcome));
            let place = (group.point.get(self.down), group.point.get(self.across), number);
            if let (Some(row), Some(column), Some(number)) = place {
                let place = (row.to_string(), column.to_string());
                by_place.insert(place, (number.mean, mark(group)));
            }
        }
        // Between two conditions there is nothing to choose, and a missing run may be better.
        let marks_the_best = self.swept.is_complete && words::is_setting(self.across);
        let row = |row: &&Value| {
            let at =
                |column: &&Value| by_place.get(&(row.to_string(), column.to_string())).copied();
            let known: Vec<Option<(f64, &'static str)>> = self.columns.iter().map(at).collect();
            let valid = known.iter().flatten().filter(|(_, mark)| *mark != INVALID);
            // Of one there is no choice.
            let marks_the_best = marks_the_best && known.iter().flatten().count() > 1;
            let valid = valid.map(|(mean, _)| *mean).filter(|mean| *mean > 0.0);
            let best = match self.quantity {
                Quantity::Goodput => valid.fold(0.0, f64::max),
                Quantity::Ping => valid.fold(f64::INFINITY, f64::min),
            };
            let cell = |(value, mark): (f64, &'static str)| {
                let is_best = marks_the_best && value.total_cmp(&best).is_eq() && mark != INVALID;
                HeatCell { value, mark, is_best }
            };
            let cells = known.into_iter().map(|known| known.map(cell)).collect();
            HeatRow { label: self.label(self.down, row), cells }
        };
        self.rows.iter().map(row).collect()
    }
}
