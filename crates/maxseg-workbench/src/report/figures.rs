//! Which pictures show a sweep: the segment size across (or else the axis with most values), one curve
//! for each value of the next axis, a picture for each combination of the rest; and the flows, where there are several.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::advise::{headers, is_size_key};
use maxseg_core::engine::EngineName;
use maxseg_core::outcome::Outcome;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::units::Bytes;
use serde_json::{Map, Value};

use super::Swept;
use super::across::{Across, LOG_FROM, dimension};
use super::axes::{distinct, identity, keys};
use super::chart::{Axis, Chart, Legend, Line, Mark, Order, Point, Series, Spacing, Tick};
use super::flows::flow_names;
use super::quantity::Quantity;
use super::words;

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

/// The pictures of a sweep's goodput; none where no axis has two values.
pub fn figures(rows: &[Row], swept: Swept<'_>) -> Figures {
    figures_of(Quantity::Goodput, &groups(rows), swept)
}

/// Likewise of any number; none either where no run knows it.
pub(super) fn figures_of(quantity: Quantity, groups: &[Group<'_>], swept: Swept<'_>) -> Figures {
    let Some(across) = Across::of(groups) else {
        return Figures { charts: Vec::new(), left_out: 0 };
    };
    let mut others = other_keys(groups, &across);
    let most = (0..others.len()).max_by_key(|n| distinct(groups, others[*n]).len());
    let by = most.map_or(By::Nothing, |n| By::Key(others.remove(n)));
    each_facet(groups, &others, |groups| {
        Figure { groups, across: Some(&across), by, facet_keys: &others, swept, quantity }.chart()
    })
}

/// The goodput of each flow, where several have one: along the axis, or side by side where nothing is swept.
pub(super) fn figures_of_flows(groups: &[Group<'_>], swept: Swept<'_>) -> Figures {
    let names = flow_names(groups, swept.scenario);
    let flows = || groups.iter().flat_map(|group| &group.rows).map(|row| &row.outcome.flows);
    let has_goodput = |place: usize| {
        flows().any(|flows| flows.get(place).is_some_and(|flow| flow.goodput_bps.is_some()))
    };
    let of: Vec<(usize, &str)> = names
        .iter()
        .map(String::as_str)
        .enumerate()
        .filter(|(place, _)| has_goodput(*place))
        .collect();
    if of.len() < 2 {
        return Figures { charts: Vec::new(), left_out: 0 };
    }
    let across = Across::of(groups);
    let others = across.as_ref().map_or_else(Vec::new, |across| other_keys(groups, across));
    let quantity = Quantity::Goodput;
    each_facet(groups, &others, |groups| {
        Figure {
            groups,
            across: across.as_ref(),
            by: By::Flows(&of),
            facet_keys: &others,
            swept,
            quantity,
        }
        .chart()
    })
}

/// The keys that are not laid across.
fn other_keys<'a>(groups: &[Group<'a>], across: &Across<'_>) -> Vec<&'a str> {
    keys(groups).into_iter().filter(|key| *key != across.key).collect()
}

/// A picture for each combination of the values of some keys.
fn each_facet(
    groups: &[Group<'_>],
    keys: &[&str],
    draw: impl Fn(&[&Group<'_>]) -> Option<Chart>,
) -> Figures {
    let mut order: Vec<String> = Vec::new();
    let mut facets: BTreeMap<String, Vec<&Group<'_>>> = BTreeMap::new();
    for group in groups {
        let facet = identity(group.point, keys.iter().copied());
        let inside = facets.entry(facet.clone()).or_default();
        if inside.is_empty() {
            order.push(facet);
        }
        inside.push(group);
    }
    let charts = order.iter().take(MOST_FIGURES).filter_map(|facet| draw(facets.get(facet)?));
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

/// What tells the curves of a picture apart.
#[derive(Debug, Clone, Copy)]
enum By<'a> {
    Nothing,
    /// The values of a key.
    Key(&'a str),
    /// The flows: their places and names.
    Flows(&'a [(usize, &'a str)]),
}

/// One picture to be made.
struct Figure<'a, 'g> {
    groups: &'a [&'g Group<'g>],
    /// `None` where nothing is swept: the flows are laid across then.
    across: Option<&'a Across<'a>>,
    by: By<'a>,
    facet_keys: &'a [&'a str],
    swept: Swept<'a>,
    quantity: Quantity,
}

impl Figure<'_, '_> {
    fn chart(&self) -> Option<Chart> {
        let (series, order) = self.series();
        let has = |of: fn(&Series) -> &Line| series.iter().any(|series| !of(series).is_empty());
        let (has_sim, has_model, has_lab) =
            (has(|s| &s.solid), has(|s| &s.dashed), has(|s| &s.crosses));
        if !(has_sim || has_model || has_lab) {
            return None;
        }
        let has_bands = series
            .iter()
            .flat_map(|series| series.solid.iter().chain(&series.crosses))
            .flatten()
            .any(|point| point.half > 0.0);
        let words_if = |is: bool, words: &str| if is { words.to_owned() } else { String::new() };
        let lab_words = if self.groups.iter().any(|group| group.has_invalid()) {
            "lab, valid runs"
        } else {
            "lab"
        };
        let x = self.across.map_or_else(|| self.flow_axis(), Across::axis);
        let what = match self.by {
            By::Flows(_) => "goodput by flow".to_owned(),
            By::Nothing | By::Key(_) => self.quantity.title(self.groups.iter().copied()),
        };
        let against = self.across.map_or_else(String::new, |_| {
            format!(" against {}", x.title.trim_end_matches(" (bytes)"))
        });
        let marks = self.frame_marks();
        Some(Chart {
            title: words::capital(&what) + &against,
            subtitle: self.subtitle(),
            y: Axis {
                title: what,
                spacing: if spread(&series) > LOG_FROM {
                    Spacing::Log(10)
                } else {
                    Spacing::FromZero
                },
                ticks: Vec::new(),
                write: self.quantity.write(),
            },
            x,
            series_title: match self.by {
                By::Key(key) => words::title(key),
                By::Flows(_) if self.across.is_some() => "flow".to_owned(),
                By::Flows(_) | By::Nothing => String::new(),
            },
            order,
            marks_title: words_if(!marks.is_empty(), "largest size in N frames"),
            marks,
            legend: Legend {
                solid: words_if(has_sim, "sim"),
                dashed: words_if(has_model, "model, within its range"),
                crosses: words_if(has_lab, lab_words),
                band: words_if(has_bands, "95% confidence"),
            },
            series,
        })
    }

    /// The flows by name, where nothing is swept.
    fn flow_axis(&self) -> Axis {
        let names = if let By::Flows(flows) = self.by { flows } else { &[] };
        let ticks = names.iter().enumerate();
        let ticks = ticks.map(|(at, (_, name))| Tick { at: at as f64, label: (*name).to_owned() });
        Axis {
            title: "flow".to_owned(),
            spacing: Spacing::Categories,
            ticks: ticks.collect(),
            write: words::digits_whole,
        }
    }

    /// A curve for each value of the key, or for each flow, and what their order means.
    fn series(&self) -> (Vec<Series>, Order) {
        let headline = |outcome: &Outcome| self.quantity.of(outcome);
        match (self.by, self.across) {
            (By::Nothing, _) => (vec![self.one_series("", self.groups, &headline)], Order::Engines),
            (By::Key(key), _) => {
                let mut values = distinct(self.groups.iter().copied(), key);
                let rises = dimension(key, &values).is_some();
                if rises {
                    let number =
                        |value: &Value| words::quantity(key, value).map_or(0.0, |(_, n)| n);
                    values.sort_by(|a, b| number(a).total_cmp(&number(b)));
                }
                let of_value = |value: &&Value| {
                    let of = self
                        .groups
                        .iter()
                        .copied()
                        .filter(|group| group.point.get(key) == Some(*value));
                    self.one_series(&words::value(key, value), &of.collect::<Vec<_>>(), &headline)
                };
                (
                    values.iter().map(of_value).collect(),
                    if rises { Order::Rising } else { Order::None },
                )
            }
            (By::Flows(flows), Some(_)) => {
                let of_flow = |(place, name): &(usize, &str)| {
                    self.one_series(name, self.groups, &|outcome| {
                        outcome.flows.get(*place)?.goodput_bps
                    })
                };
                (flows.iter().map(of_flow).collect(), Order::None)
            }
            (By::Flows(flows), None) => (vec![self.flows_side_by_side(flows)], Order::Engines),
        }
    }

    fn one_series(
        &self,
        label: &str,
        groups: &[&Group<'_>],
        of: &dyn Fn(&Outcome) -> Option<f64>,
    ) -> Series {
        let line = |engine: EngineName| {
            self.line(groups.iter().copied().filter(|group| group.engine == engine), of)
        };
        Series {
            label: label.to_owned(),
            solid: line(EngineName::Sim),
            dashed: line(EngineName::Model),
            crosses: line(EngineName::Lab),
        }
    }

    /// Each flow at its place.
    fn flows_side_by_side(&self, flows: &[(usize, &str)]) -> Series {
        let line = |engine: EngineName| -> Line {
            let of_flow = |(at, (place, _)): (usize, &(usize, &str))| {
                let group = self.groups.iter().find(|group| group.engine == engine)?;
                let summary = group.summary(|outcome| outcome.flows.get(*place)?.goodput_bps)?;
                let half = summary.ci95().unwrap_or(0.0);
                (!group.is_doubtful() && !group.has_invalid())
                    .then(|| vec![Point { x: at as f64, y: summary.mean, half }])
            };
            flows.iter().enumerate().filter_map(of_flow).collect()
        };
        Series {
            label: String::new(),
            solid: line(EngineName::Sim),
            dashed: line(EngineName::Model),
            crosses: line(EngineName::Lab),
        }
    }

    /// The numbers along the axis, in pieces: where a formula does not hold, or a run proves nothing, there
    /// is a gap.
    fn line<'b>(
        &self,
        groups: impl Iterator<Item = &'b Group<'b>>,
        of: &dyn Fn(&Outcome) -> Option<f64>,
    ) -> Line {
        let points = groups.filter_map(|group| {
            let summary = group.summary(of)?;
            let x = self.across?.place_of(group)?;
            let half = summary.ci95().unwrap_or(0.0);
            Some((Point { x, y: summary.mean, half }, group.is_doubtful() || group.has_invalid()))
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
        let across = self.across.filter(|across| is_size_key(across.key));
        let (Some(link), Some(across)) = (link, across) else { return Vec::new() };
        let point = self.groups.first().map(|group| group.point);
        let headers =
            point.map_or(Bytes::ZERO, |point: &Map<_, _>| headers(self.swept.scenario, point));
        let largest = across.values.iter().filter_map(|value| value.as_u64()).max();
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
