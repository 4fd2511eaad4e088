//! The axis of a sweep that pictures lay across.

use maxseg_core::advise::is_size_key;
use maxseg_core::results::Group;
use serde_json::Value;

use super::axes::{distinct, keys, mss_used};
use super::chart::{Axis, Spacing, Tick};
use super::words::{self, Dimension};

/// From this factor between largest and smallest on, an axis is logarithmic.
pub(super) const LOG_FROM: f64 = 20.0;
/// The same for windows and buffers, which people double.
const LOG2_FROM: f64 = 4.0;
/// An axis of the segment sizes that were used.
pub(super) const EFFECTIVE_MSS: &str = "effective MSS (bytes)";
/// Up to so many values each has its tick.
const MOST_TICKS: usize = 40;

/// The axis that is laid across.
pub(super) struct Across<'a> {
    pub(super) key: &'a str,
    pub(super) values: Vec<&'a Value>,
    /// What its numbers measure; `None` where they are words, or of several kinds.
    dimension: Option<Dimension>,
    /// Where results lie, rising, and what is written there.
    places: Vec<(f64, Value)>,
}

impl<'a> Across<'a> {
    /// A size; or the axis of numbers with most values; or else that of words.
    pub(super) fn of(groups: &[Group<'a>]) -> Option<Self> {
        let axes = keys(groups).into_iter().map(|key| Self::of_key(groups, key));
        let axes = axes.filter(|axis| axis.values.len() > 1);
        axes.max_by_key(|axis| (is_size_key(axis.key), axis.dimension.is_some(), axis.values.len()))
    }

    fn of_key(groups: &[Group<'a>], key: &'a str) -> Self {
        let values = distinct(groups, key);
        let dimension = dimension(key, &values);
        let mut across = Self { key, values, dimension, places: Vec::new() };
        across.places = across.places(groups);
        across
    }

    /// Where a value lies: at its number, or at its place among the words.
    fn place(&self, value: &Value) -> Option<f64> {
        match &self.dimension {
            Some(_) => words::quantity(self.key, value).map(|(_, number)| number),
            None => self.values.iter().position(|known| *known == value).map(|n| n as f64),
        }
    }

    /// Where a group's results lie: of a segment size, at the one that was used.
    pub(super) fn place_of(&self, group: &Group<'_>) -> Option<f64> {
        let used = mss_used(group, self.key).filter(|_| self.dimension.is_some());
        used.map(|used| used as f64).or_else(|| self.place(group.point.get(self.key)?))
    }

    /// The values at which these have results, rising, each once.
    fn places(&self, groups: &[Group<'_>]) -> Vec<(f64, Value)> {
        let of_group = |group: &Group<'_>| {
            let value = group.point.get(self.key)?;
            let used = mss_used(group, self.key).map(Value::from);
            Some((self.place_of(group)?, used.unwrap_or_else(|| value.clone())))
        };
        let mut places: Vec<(f64, Value)> = groups.iter().filter_map(of_group).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        places.dedup_by(|next, place| next.0.total_cmp(&place.0).is_eq());
        places
    }

    pub(super) fn axis(&self) -> Axis {
        let numbers = &self.places;
        // Results lie at the size that was used, which options and the path's MTU lower.
        let is_effective = self.key == "sender.mss" && self.dimension.is_some();
        let mut title =
            if is_effective { EFFECTIVE_MSS.to_owned() } else { words::title(self.key) };
        let mut write: fn(f64) -> String = words::digits_whole;
        if let Some(dimension) = &self.dimension {
            write = dimension.writer();
            if let Dimension::Count(of) = dimension {
                title = format!("{title} ({of})");
            }
        }
        let label = |at: f64, value: &Value| match self.dimension {
            Some(Dimension::Count(_)) => write(at),
            Some(_) | None => words::value(self.key, value),
        };
        let ticks = if numbers.len() <= MOST_TICKS || self.dimension.is_none() {
            numbers.iter().map(|(at, value)| Tick { at: *at, label: label(*at, value) }).collect()
        } else {
            Vec::new()
        };
        Axis { title, spacing: self.spacing(numbers), ticks, write }
    }

    fn spacing(&self, numbers: &[(f64, Value)]) -> Spacing {
        let Some(dimension) = &self.dimension else { return Spacing::Categories };
        let (least, most) = match numbers {
            [(least, _), .., (most, _)] => (*least, *most),
            _ => return Spacing::Linear,
        };
        let factor = if least > 0.0 { most / least } else { 0.0 };
        // Sizes are compared by their differences: frames have all the same size.
        if is_size_key(self.key) {
            Spacing::Linear
        } else if *dimension == Dimension::Bytes && factor >= LOG2_FROM {
            Spacing::Log(2)
        } else if factor > LOG_FROM {
            Spacing::Log(10)
        } else {
            Spacing::Linear
        }
    }
}

/// What all these values measure, if it is the same.
pub(super) fn dimension(key: &str, values: &[&Value]) -> Option<Dimension> {
    let mut dimensions = values.iter().map(|value| Some(words::quantity(key, value)?.0));
    let first = dimensions.next()??;
    dimensions.all(|other| other.as_ref() == Some(&first)).then_some(first)
}
