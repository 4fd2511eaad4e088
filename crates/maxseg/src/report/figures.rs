//! Which pictures show a sweep: the segment size across (or else the axis with most values), one curve
//! for each value of the next axis, a picture for each combination of the rest.

use maxseg_core::advise::is_size_key;
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::scenario::Scenario;
use maxseg_core::units::Bytes;
use serde_json::{Map, Value};

use super::chart::{Axis, Legend, LineChart, Mark, Order, Point, Series};
use super::table::is_doubtful;
use super::words;

/// More pictures than anyone looks through.
const MOST_FIGURES: usize = 12;
/// From this factor between largest and smallest on, the vertical axis is logarithmic.
const LOG_FROM: f64 = 20.0;

/// The pictures of a sweep; none where no axis is a number.
pub(crate) fn figures(rows: &[Row], scenario: &Scenario) -> Vec<LineChart> {
    let groups = groups(rows);
    let Some(x_key) = horizontal(&groups) else { return Vec::new() };
    let others: Vec<String> = keys(&groups).into_iter().filter(|key| *key != x_key).collect();
    let series_key = others.iter().max_by_key(|key| distinct(&groups, key).len()).cloned();
    let facet_keys: Vec<&String> =
        others.iter().filter(|key| Some(*key) != series_key.as_ref()).collect();
    let facet = |group: &Group<'_>| -> Map<String, Value> {
        facet_keys
            .iter()
            .filter_map(|key| Some(((*key).clone(), group.point.get(*key)?.clone())))
            .collect()
    };
    let mut facets: Vec<Map<String, Value>> = Vec::new();
    for group in &groups {
        let here = facet(group);
        if !facets.contains(&here) {
            facets.push(here);
        }
    }
    facets
        .iter()
        .take(MOST_FIGURES)
        .map(|conditions| {
            let inside: Vec<&Group<'_>> =
                groups.iter().filter(|group| facet(group) == *conditions).collect();
            figure(&inside, &x_key, series_key.as_deref(), conditions, scenario)
        })
        .collect()
}

fn keys(groups: &[Group<'_>]) -> Vec<String> {
    groups.first().map(|group| group.point.keys().cloned().collect()).unwrap_or_default()
}

fn distinct(groups: &[Group<'_>], key: &str) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for value in groups.iter().filter_map(|group| group.point.get(key)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

/// The axis to lay across: a size, or the numeric one with most values; at least two.
fn horizontal(groups: &[Group<'_>]) -> Option<String> {
    let numeric = keys(groups).into_iter().filter(|key| {
        let values = distinct(groups, key);
        values.len() > 1 && values.iter().all(|value| words::number(value).is_some())
    });
    let numeric: Vec<String> = numeric.collect();
    let size = numeric.iter().find(|key| is_size_key(key));
    size.or_else(|| numeric.iter().max_by_key(|key| distinct(groups, key).len())).cloned()
}

fn figure(
    groups: &[&Group<'_>],
    x_key: &str,
    series_key: Option<&str>,
    conditions: &Map<String, Value>,
    scenario: &Scenario,
) -> LineChart {
    let has = |engine| groups.iter().any(|group| group.engine == engine);
    let by_packets = has(EngineName::Sim);
    let solid = if by_packets { EngineName::Sim } else { EngineName::Model };
    let dashed = (by_packets && has(EngineName::Model)).then_some(EngineName::Model);
    let value_of = |group: &Group<'_>| series_key.and_then(|key| group.point.get(key).cloned());
    let mut values: Vec<Option<Value>> = Vec::new();
    for group in groups {
        let value = value_of(group);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let series: Vec<Series> = values
        .iter()
        .map(|value| {
            let curve = |engine: EngineName| {
                let here =
                    |group: &&&Group<'_>| group.engine == engine && value_of(group) == *value;
                points(groups.iter().filter(here).copied().filter(|group| is_sound(group)), x_key)
            };
            Series {
                label: match (series_key, value) {
                    (Some(key), Some(value)) => words::value(key, value),
                    _ => solid.to_string(),
                },
                solid: curve(solid),
                dashed: dashed.map(curve).unwrap_or_default(),
            }
        })
        .collect();
    let rising =
        values.iter().all(|value| value.as_ref().is_some_and(|v| words::number(v).is_some()));
    let marks = if is_size_key(x_key) { frame_marks(scenario, groups, x_key) } else { Vec::new() };
    let has_bands = series.iter().flat_map(|series| &series.solid).any(|point| point.half > 0.0);
    LineChart {
        title: format!("Goodput against {}", words::title(x_key).trim_end_matches(" (bytes)")),
        subtitle: subtitle(conditions, groups),
        x: Axis {
            title: words::title(x_key),
            log: false,
            from_zero: false,
            write: words::digits_whole,
        },
        y: Axis {
            title: "goodput".to_owned(),
            log: spread(&series) > LOG_FROM,
            from_zero: true,
            write: words::round_rate,
        },
        series_title: series_key.map(words::title).unwrap_or_default(),
        order: if rising { Order::Rising } else { Order::None },
        series,
        marks_title: if marks.is_empty() {
            String::new()
        } else {
            "largest size in so many frames".to_owned()
        },
        marks,
        legend: Legend {
            solid: solid.to_string(),
            dashed: dashed.map_or_else(String::new, |engine| format!("{engine}, within its range")),
            band: if has_bands { "95% confidence".to_owned() } else { String::new() },
        },
    }
}

fn subtitle(conditions: &Map<String, Value>, groups: &[&Group<'_>]) -> String {
    let mut parts: Vec<String> = conditions
        .iter()
        .map(|(key, value)| format!("{} {}", words::title(key), words::value(key, value)))
        .collect();
    let seeds = groups.iter().map(|group| group.rows.len()).max().unwrap_or(0);
    parts.push(match seeds {
        0 | 1 => "one seed".to_owned(),
        n => format!("{n} seeds"),
    });
    let elapsed = groups.iter().find_map(|group| group.rows.first()?.outcome.elapsed_s);
    parts.extend(elapsed.map(|seconds| format!("{} a run", words::time(seconds))));
    parts.join(", ")
}

/// Whether no formula was used where it does not hold: such points would draw a line that means nothing.
fn is_sound(group: &Group<'_>) -> bool {
    !group.rows.iter().any(|row| is_doubtful(row))
}

fn points<'a>(groups: impl Iterator<Item = &'a Group<'a>>, x_key: &str) -> Vec<Point> {
    let mut points: Vec<Point> = groups
        .filter_map(|group| {
            let summary = group.goodput()?;
            let x = words::number(group.point.get(x_key)?)?;
            Some(Point { x, y: summary.mean, half: summary.ci95().unwrap_or(0.0) })
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

/// The largest value of all curves ÷ the smallest above zero.
fn spread(series: &[Series]) -> f64 {
    let values = || {
        let points = series.iter().flat_map(|series| series.solid.iter().chain(&series.dashed));
        points.map(|point| point.y).filter(|y| *y > 0.0)
    };
    values().fold(0.0, f64::max) / values().fold(f64::INFINITY, f64::min)
}

/// The sizes beyond which a packet takes one frame more on the hop with the smallest frames.
fn frame_marks(scenario: &Scenario, groups: &[&Group<'_>], x_key: &str) -> Vec<Mark> {
    let hops = scenario.path.hops.iter().map(|hop| &hop.forward);
    let with_frames = hops.filter_map(|link| Some((link.frame?, link)));
    let Some((_, link)) = with_frames.min_by_key(|(size, _)| *size) else { return Vec::new() };
    let headers = groups
        .first()
        .map_or(Bytes::ZERO, |group| maxseg_core::advise::headers(scenario, group.point));
    let sizes = groups.iter().filter_map(|group| group.point.get(x_key)?.as_u64());
    let largest = sizes.max().unwrap_or(0);
    let frames = |size: u64| link.frames(Bytes::new(size) + headers);
    (1..=largest)
        .filter(|size| frames(*size) < frames(size + 1))
        .map(|size| Mark { x: size as f64, label: frames(size).to_string() })
        .collect()
}
