//! Which pictures show a sweep: the segment size across (or else the axis with most values), one curve
//! for each value of the next axis, a picture for each combination of the rest.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::advise::{headers, is_size_key};
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::units::Bytes;
use serde_json::{Map, Value};

use super::Swept;
use super::axes::{distinct, identity, keys, mss_used};
use super::chart::{Axis, Chart, Legend, Line, Mark, Order, Point, Series, Spacing, Tick};
use super::marks::{goodput_title, is_doubtful};
use super::words::{self, Dimension};

/// The pictures of a sweep.
#[derive(Debug)]
pub struct Figures {
    /// Some of them, or all.
    pub charts: Vec<Chart>,
    /// How many more there would be.
    pub left_out: usize,
}

/// More pictures than anyone looks through.
const MOST_FIGURES: usize = 12;
/// From this factor between largest and smallest on, an axis is logarithmic.
pub(super) const LOG_FROM: f64 = 20.0;
/// The same for windows and buffers, which people double.
const LOG2_FROM: f64 = 4.0;
/// Up to so many values each has its tick.
const MOST_TICKS: usize = 40;

/// The pictures of a sweep; none where no axis has two values.
pub fn figures(rows: &[Row], swept: Swept<'_>) -> Figures {
    let groups = groups(rows);
    let Some(across) = Across::of(&groups) else {
        return Figures { charts: Vec::new(), left_out: 0 };
    };
    let mut others: Vec<&str> =
        keys(&groups).into_iter().filter(|key| *key != across.key).collect();
    let most = (0..others.len()).max_by_key(|n| distinct(&groups, others[*n]).len());
    let series_key = most.map(|n| others.remove(n));
    let mut order: Vec<String> = Vec::new();
    let mut facets: BTreeMap<String, Vec<&Group<'_>>> = BTreeMap::new();
    for group in &groups {
        let facet = identity(group.point, others.iter().copied());
        let inside = facets.entry(facet.clone()).or_default();
        if inside.is_empty() {
            order.push(facet);
        }
        inside.push(group);
    }
    let charts =
        order.iter().take(MOST_FIGURES).filter_map(|facet| facets.get(facet)).map(|inside| {
            Figure { groups: inside, across: &across, series_key, facet_keys: &others, swept }
                .chart()
        });
    Figures { charts: charts.collect(), left_out: order.len().saturating_sub(MOST_FIGURES) }
}

/// The engine that pictures go by: the simulator where it ran, whose runs do what the scenario says and can be
/// made again; then the lab; then formulas.
pub(super) fn leading(engines: &BTreeSet<EngineName>) -> Option<EngineName> {
    let order = [EngineName::Sim, EngineName::Lab, EngineName::Model];
    order.into_iter().find(|engine| engines.contains(engine))
}

/// The lab, where pictures go by another engine.
pub(super) fn beside(engines: &BTreeSet<EngineName>) -> Option<EngineName> {
    let is_beside = engines.contains(&EngineName::Lab) && leading(engines) != Some(EngineName::Lab);
    is_beside.then_some(EngineName::Lab)
}

/// The axis that is laid across.
pub(super) struct Across<'a> {
    pub(super) key: &'a str,
    values: Vec<&'a Value>,
    /// What its numbers measure; `None` where they are words, or of several kinds.
    dimension: Option<Dimension>,
    /// Where goodputs lie, rising, and what is written there.
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

    /// Where a group's goodput lies: of a segment size, at the one that was used.
    fn place_of(&self, group: &Group<'_>) -> Option<f64> {
        let used = mss_used(group, self.key).filter(|_| self.dimension.is_some());
        used.map(|used| used as f64).or_else(|| self.place(group.point.get(self.key)?))
    }

    /// The values at which these have goodputs, rising, each once.
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

    fn axis(&self) -> Axis {
        let numbers = &self.places;
        let mut title = words::title(self.key);
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

/// Whose goodputs are drawn how.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    solid: EngineName,
    dashed: Option<EngineName>,
    crosses: Option<EngineName>,
}

/// One picture to be made.
struct Figure<'a, 'g> {
    groups: &'a [&'g Group<'g>],
    across: &'a Across<'a>,
    series_key: Option<&'a str>,
    facet_keys: &'a [&'a str],
    swept: Swept<'a>,
}

impl Figure<'_, '_> {
    fn chart(&self) -> Chart {
        let engines: BTreeSet<EngineName> = self.groups.iter().map(|group| group.engine).collect();
        let solid = leading(&engines).unwrap_or(EngineName::Model);
        let has_model = engines.contains(&EngineName::Model) && solid != EngineName::Model;
        let dashed = has_model.then_some(EngineName::Model);
        let kinds = Kinds { solid, dashed, crosses: beside(&engines) };
        let (series, order) = self.series(kinds);
        let marks = self.frame_marks();
        let has_bands = series.iter().flat_map(Series::points).any(|point| point.half > 0.0);
        let words_of = |engine: EngineName| match engine {
            EngineName::Model => format!("{engine}, within its range"),
            EngineName::Lab if self.groups.iter().any(|group| group.has_invalid()) => {
                format!("{engine}, valid runs")
            }
            EngineName::Sim | EngineName::Lab => engine.to_string(),
        };
        let x = self.across.axis();
        let goodput = goodput_title(self.groups.iter().copied());
        Chart {
            title: format!(
                "{} against {}",
                words::capital(goodput),
                x.title.trim_end_matches(" (bytes)")
            ),
            subtitle: self.subtitle(),
            y: Axis {
                title: goodput.to_owned(),
                spacing: if spread(&series) > LOG_FROM {
                    Spacing::Log(10)
                } else {
                    Spacing::FromZero
                },
                ticks: Vec::new(),
                write: words::round_rate,
            },
            x,
            series_title: self.series_key.map(words::title).unwrap_or_default(),
            order,
            series,
            marks_title: if marks.is_empty() {
                String::new()
            } else {
                "largest size in so many frames".to_owned()
            },
            marks,
            legend: Legend {
                solid: words_of(kinds.solid),
                dashed: kinds.dashed.map(words_of).unwrap_or_default(),
                crosses: kinds.crosses.map(words_of).unwrap_or_default(),
                band: if has_bands { "95% confidence".to_owned() } else { String::new() },
            },
        }
    }

    /// A curve for each value of the series' axis, and whether those values rise.
    fn series(&self, kinds: Kinds) -> (Vec<Series>, Order) {
        let Some(key) = self.series_key else {
            let series = self.one_series(kinds.solid.to_string(), self.groups, kinds);
            return (vec![series], Order::None);
        };
        let mut by_value: BTreeMap<String, Vec<&Group<'_>>> = BTreeMap::new();
        for group in self.groups {
            by_value.entry(identity(group.point, [key])).or_default().push(group);
        }
        let values = distinct(self.groups.iter().copied(), key);
        let series = values.iter().filter_map(|value| {
            let groups = by_value.get(&value.to_string())?;
            Some(self.one_series(words::value(key, value), groups, kinds))
        });
        let rises = dimension(key, &values).is_some();
        (series.collect(), if rises { Order::Rising } else { Order::None })
    }

    fn one_series(&self, label: String, groups: &[&Group<'_>], kinds: Kinds) -> Series {
        let line = |engine: EngineName| {
            self.line(groups.iter().copied().filter(|group| group.engine == engine))
        };
        Series {
            label,
            solid: line(kinds.solid),
            dashed: kinds.dashed.map(line).unwrap_or_default(),
            crosses: kinds.crosses.map(line).unwrap_or_default(),
        }
    }

    /// The goodputs along the axis, in pieces: where a formula does not hold, or a run proves nothing, there
    /// is a gap.
    fn line<'b>(&self, groups: impl Iterator<Item = &'b Group<'b>>) -> Line {
        let points = groups.filter_map(|group| {
            let summary = group.goodput()?;
            let x = self.across.place_of(group)?;
            let half = summary.ci95().unwrap_or(0.0);
            Some((Point { x, y: summary.mean, half }, is_doubtful(group) || group.has_invalid()))
        });
        let mut points: Vec<(Point, bool)> = points.collect();
        points.sort_by(|(a, _), (b, _)| a.x.total_cmp(&b.x));
        // Several sizes that the path lowers to one are one size.
        points.dedup_by(|(next, _), (point, _)| next.x.total_cmp(&point.x).is_eq());
        let pieces = points.split(|(_, is_doubtful)| *is_doubtful);
        let pieces = pieces.filter(|piece| !piece.is_empty());
        pieces.map(|piece| piece.iter().map(|(point, _)| *point).collect()).collect()
    }

    fn subtitle(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(group) = self.groups.first() {
            let value = |key: &&str| {
                let value = group.point.get(*key)?;
                Some(format!("{} {}", words::title(key), words::value(key, value)))
            };
            parts.extend(self.facet_keys.iter().filter_map(value));
        }
        parts.extend(self.swept.seeds(self.groups));
        parts.extend(self.elapsed());
        parts.join(", ")
    }

    /// How long the runs took: a transfer of so many bytes ends when it ends.
    fn elapsed(&self) -> Option<String> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        let seconds = rows.filter_map(|row| row.outcome.elapsed_s);
        let (least, most) =
            seconds.fold((f64::INFINITY, 0.0_f64), |(least, most), s| (least.min(s), most.max(s)));
        let (shortest, longest) = (words::time(least), words::time(most));
        let words = if shortest == longest {
            format!("{longest} a run")
        } else {
            format!("{shortest} to {longest} a run")
        };
        (least <= most).then_some(words)
    }

    /// The sizes beyond which a packet takes one frame more on the hop with the smallest frames.
    fn frame_marks(&self) -> Vec<Mark> {
        let link = self.swept.scenario.path.smallest_frames().map(|(link, _)| link);
        let Some(link) = link.filter(|_| is_size_key(self.across.key)) else { return Vec::new() };
        let point = self.groups.first().map(|group| group.point);
        let headers =
            point.map_or(Bytes::ZERO, |point: &Map<_, _>| headers(self.swept.scenario, point));
        let largest = self.across.values.iter().filter_map(|value| value.as_u64()).max();
        let frames = |size: u64| link.frames(Bytes::new(size) + headers);
        (1..=largest.unwrap_or(0))
            .filter(|size| frames(*size) < frames(size + 1))
            .map(|size| Mark { x: size as f64, label: frames(size).to_string() })
            .collect()
    }
}

/// The largest value of all curves ÷ the smallest above zero.
fn spread(series: &[Series]) -> f64 {
    let values = || series.iter().flat_map(Series::points).map(|p| p.y).filter(|y| *y > 0.0);
    values().fold(0.0, f64::max) / values().fold(f64::INFINITY, f64::min)
}
