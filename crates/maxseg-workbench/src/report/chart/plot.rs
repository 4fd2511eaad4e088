//! The part between the axes: ticks, marks, bands, curves or points, labels.

use maud::{Markup, html};

use super::figure::{Chart, Legend, Point, Series, Spacing, Tick, bar, cross, diamond, dot};
use super::layout::{Anchor, Below, FONT, LINE, label, px, text_width, widest};
use super::palette::{Order, round};
use super::scale::{Scale, padded};

/// A chart with its scales, below its headings.
pub(super) struct Plot<'a> {
    chart: &'a Chart,
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    below: Below,
    /// Whether its series are labelled at the ends of their curves; the legend names them otherwise.
    pub(super) has_labels: bool,
}

/// How tall the part between the axes is by the width of the picture, within bounds.
const TALL: f64 = 0.48;
const HEIGHTS: (f64, f64) = (240.0, 400.0);
/// So many pixels of an axis have a tick, about.
const TICK_EVERY: (f64, f64) = (90.0, 39.0);
/// From a curve's end to its label: a guide and a sample of its colour.
const TO_LABEL: f64 = 38.0;
/// Labels of series are at the right where they take no more of the width.
const MOST_OF_WIDTH: f64 = 0.25;
/// And where every curve ends within this share of the axis.
const NEAR: f64 = 0.3;

/// Which of a series' lines: each is that of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Sim,
    Model,
    Lab,
}

impl<'a> Plot<'a> {
    pub(super) fn new(chart: &'a Chart, width: f64, headings: f64) -> Self {
        let height = (TALL * width).clamp(HEIGHTS.0, HEIGHTS.1);
        let marks = if chart.marks.is_empty() { 0.0 } else { LINE };
        let top = headings + LINE + marks + 12.0;
        let bottom = top + height;
        let (low, high) = y_range(chart);
        let y = Scale::new(low, high, bottom, top, chart.y.spacing);
        let written =
            y.ticks(ticks(height, TICK_EVERY.1)).into_iter().map(|tick| chart.y.write_tick(tick));
        let left = written.map(|text| text_width(&text)).fold(0.0, f64::max) + 12.0;
        let has_labels = labels_at_right(chart, width, height);
        let room = if has_labels { label_room(chart) } else { 12.0 };
        let (low, high) = x_range(chart);
        let x = |right: f64| Scale::new(low, high, left, right, chart.x.spacing);
        let mut right = width - room;
        // The last label of the axis has its place too.
        let over = x_labels(chart, &x(right)).last().map_or(0.0, |(x, text)| {
            if chart.is_categorical() { 0.0 } else { x + text_width(text) / 2.0 - width }
        });
        right -= over.max(0.0);
        let x = x(right);
        let labels = x_labels(chart, &x);
        let below =
            if chart.is_categorical() { Below::words(labels) } else { Below::numbers(labels) };
        Self { chart, x, y, left, right, top, bottom, below, has_labels }
    }

    pub(super) fn to_svg(&self) -> Markup {
        html! {
            (self.marks())
            (self.axes())
            @if self.chart.is_categorical() { (self.dots_with_intervals()) } @else { (self.bands()) (self.curves()) }
            @if self.has_labels { (self.labels()) }
        }
    }

    /// Where it ends, with what stands below the axis.
    pub(super) fn end(&self) -> f64 {
        let title = if self.chart.x.title.is_empty() { 0.0 } else { LINE + 2.0 };
        self.bottom + self.below.height + title
    }

    fn axes(&self) -> Markup {
        let ticks = self.y.ticks(ticks(self.bottom - self.top, TICK_EVERY.1));
        let title = self.top - if self.chart.marks.is_empty() { 12.0 } else { 12.0 + LINE };
        html! {
            @for tick in ticks {
                @let y = self.y.place(tick);
                path class="grid" d={ "M" (px(self.left)) " " (px(y)) "H" (px(self.right)) } {}
                (label("soft", Anchor::End, self.left - 8.0, y + 4.0, &self.chart.y.write_tick(tick)))
            }
            @for (x, _) in x_labels(self.chart, &self.x) {
                path class="grid" d={ "M" (px(x)) " " (px(self.bottom)) "v5" } {}
            }
            path class="grid" d={ "M" (px(self.left)) " " (px(self.bottom)) "H" (px(self.right)) } {}
            (self.below.to_svg(self.bottom))
            (label("", Anchor::Middle, f64::midpoint(self.left, self.right), self.bottom + self.below.height + LINE, &self.chart.x.name()))
            (label("", Anchor::Start, 0.0, title, &format!("↑ {}", self.chart.y.name())))
        }
    }

    fn marks(&self) -> Markup {
        let inside = self.chart.marks.iter().filter(|mark| self.x.contains(mark.x));
        let places: Vec<(f64, String)> =
            inside.map(|mark| (self.x.place(mark.x), mark.label.clone())).collect();
        let labels = Below::numbers(places.clone());
        html! {
            @for (x, _) in &places { path class="mark" d={ "M" (px(*x)) " " (px(self.top)) "V" (px(self.bottom)) } {} }
            (labels.to_svg(self.top - 6.0 - LINE))
        }
    }

    fn bands(&self) -> Markup {
        let is_wide =
            |piece: &&Vec<Point>| piece.len() > 1 && piece.iter().any(|point| point.half > 0.0);
        let outline = |piece: &[Point]| {
            let place = |x: f64, y: f64| format!("{:.1} {:.1}", self.x.place(x), self.y.place(y));
            let upper = piece.iter().map(|point| place(point.x, point.y + point.half));
            let lower = piece.iter().rev().map(|point| place(point.x, point.y - point.half));
            upper.chain(lower).collect::<Vec<_>>().join("L")
        };
        html! {
            @for (index, series) in self.chart.series.iter().enumerate() {
                @for piece in series.solid.iter().filter(is_wide) {
                    path class={ "band f" (self.color(index, By::Sim)) } d={ "M" (outline(piece)) "Z" } {}
                }
            }
        }
    }

    fn curves(&self) -> Markup {
        let series = || self.chart.series.iter().enumerate();
        html! {
            @for (index, series) in series() {
                (self.line("dash", &self.color(index, By::Model), &series.dashed))
                (self.line("curve", &self.color(index, By::Sim), &series.solid))
                @if series.solid.is_empty() { (self.line("thin", &self.color(index, By::Lab), &series.crosses)) }
                // A piece of one point has no line to be seen by.
                @for point in series.dashed.iter().filter(|piece| piece.len() == 1).flatten() {
                    (self.hollow(index, self.x.place(point.x), series, point))
                }
                @for point in series.solid.iter().flatten() { (self.dot(index, self.x.place(point.x), series, point)) }
                @for point in series.crosses.iter().flatten() { (self.cross(index, self.x.place(point.x), series, point)) }
            }
        }
    }

    fn line(&self, class: &str, color: &str, pieces: &[Vec<Point>]) -> Markup {
        html! {
            @for piece in pieces.iter().filter(|piece| piece.len() > 1) {
                path class={ (class) " c" (color) } d=(self.path(piece)) {}
            }
        }
    }

    /// Over categories: side by side, each with its interval, the model's hollow.
    fn dots_with_intervals(&self) -> Markup {
        let beside = |series: &Series, point: &Point| {
            let is_taken =
                series.solid.iter().flatten().any(|dot| dot.x.total_cmp(&point.x).is_eq());
            if is_taken { (self.step() / 3.0).min(9.0) } else { 0.0 }
        };
        html! {
            @for (index, series) in self.chart.series.iter().enumerate() {
                @let aside = self.aside(index);
                @for point in series.solid.iter().flatten() {
                    @let x = self.x.place(point.x) + aside;
                    (self.interval(&self.color(index, By::Sim), x, point))
                    (self.dot(index, x, series, point))
                }
                @for point in series.dashed.iter().flatten() {
                    (self.hollow(index, self.x.place(point.x) + aside + beside(series, point), series, point))
                }
                @for point in series.crosses.iter().flatten() {
                    (self.cross(index, self.x.place(point.x) + aside - beside(series, point), series, point))
                }
            }
        }
    }

    /// From series to series within a category.
    fn step(&self) -> f64 {
        let room = self.x.place(1.0) - self.x.place(0.0);
        (0.7 * room / self.chart.series.len() as f64).min(28.0)
    }

    /// How far a series' points lie from the middle of their category.
    fn aside(&self, index: usize) -> f64 {
        if !self.chart.is_categorical() {
            return 0.0;
        }
        (index as f64 - (self.chart.series.len() as f64 - 1.0) / 2.0) * self.step()
    }

    /// What the classes of a line's colour end with: its engine where there is one series, or else its series.
    fn color(&self, index: usize, by: By) -> String {
        match (self.chart.order, by) {
            (Order::Rising | Order::None, _) => index.to_string(),
            (Order::Engines, By::Sim) => "sim".to_owned(),
            (Order::Engines, By::Model) => "model".to_owned(),
            (Order::Engines, By::Lab) => "lab".to_owned(),
        }
    }

    fn dot(&self, index: usize, x: f64, series: &Series, point: &Point) -> Markup {
        let (color, y) = (self.color(index, By::Sim), self.y.place(point.y));
        let title = html! { title { (self.describe(By::Sim, series, point)) } };
        match round(index, self.chart.order) {
            0 => html! { circle class={ "f" (color) } cx=(px(x)) cy=(px(y)) r="3" { (title) } },
            again => html! { path class={ "f" (color) } d=(dot(again, x, y, 3.0)) { (title) } },
        }
    }

    fn hollow(&self, index: usize, x: f64, series: &Series, point: &Point) -> Markup {
        html! {
            path class={ "hollow c" (self.color(index, By::Model)) } d=(diamond(x, self.y.place(point.y))) {
                title { (self.describe(By::Model, series, point)) }
            }
        }
    }

    /// With its interval, where it has one.
    fn cross(&self, index: usize, x: f64, series: &Series, point: &Point) -> Markup {
        let color = self.color(index, By::Lab);
        html! {
            (self.interval(&color, x, point))
            path class={ "cross c" (color) } d=(cross(x, self.y.place(point.y))) { title { (self.describe(By::Lab, series, point)) } }
        }
    }

    fn interval(&self, color: &str, x: f64, point: &Point) -> Markup {
        let ends = self.chart.y.spacing.ends(point.y, point.half);
        let [from, to] = ends.map(|y| self.y.place(y));
        html! { @if point.half > 0.0 { path class={ "interval c" (color) } d=(bar(x, from, to)) {} } }
    }

    fn path(&self, points: &[Point]) -> String {
        let places: Vec<String> = points
            .iter()
            .map(|point| format!("{:.1} {:.1}", self.x.place(point.x), self.y.place(point.y)))
            .collect();
        format!("M{}", places.join("L"))
    }

    /// The word of a line's engine, where nothing else tells two of them apart.
    fn engine(&self, by: By) -> &str {
        let Legend { solid, dashed, crosses, .. } = &self.chart.legend;
        let is_one = [solid, dashed, crosses].iter().filter(|word| !word.is_empty()).count() < 2;
        match by {
            _ if is_one || self.chart.order != Order::Engines => "",
            By::Sim => solid,
            By::Model => dashed,
            By::Lab => crosses,
        }
    }

    /// What a reader sees who points at it.
    fn describe(&self, by: By, series: &Series, point: &Point) -> String {
        let written = |tick: &&Tick| (tick.at - point.x).abs() < 1e-9 * point.x.abs().max(1.0);
        let x = match self.chart.x.ticks.iter().find(written) {
            Some(tick) => tick.label.clone(),
            None => (self.chart.x.write)(point.x),
        };
        let y = self.chart.y.write_within(point.y, point.half);
        let of = format!("{} {}", self.chart.series_title, series.label);
        let at = format!("{} {x}", self.chart.x.title);
        let engine = self.engine(by);
        let parts = [of.trim(), at.trim(), engine].into_iter().filter(|part| !part.is_empty());
        format!("{}: {y}", parts.collect::<Vec<_>>().join(", "))
    }

    /// Each curve's label at its right end, moved apart where they would cover each other.
    fn labels(&self) -> Markup {
        let ends = self.chart.series.iter().enumerate().filter_map(|(index, series)| {
            let end = |line: &[Vec<Point>]| line.last()?.last().copied();
            let last = end(&series.solid)
                .or_else(|| end(&series.dashed))
                .or_else(|| end(&series.crosses))?;
            Some((index, self.x.place(last.x) + self.aside(index), self.y.place(last.y)))
        });
        let mut ends: Vec<(usize, f64, f64)> = ends.collect();
        ends.sort_by(|a, b| a.2.total_cmp(&b.2));
        let wanted: Vec<f64> = ends.iter().map(|(.., y)| *y).collect();
        let places = apart(&wanted, FONT + 4.0, self.top, self.bottom);
        let heading = places.first().map_or(self.top, |first| first - 20.0);
        html! {
            (label("soft", Anchor::Start, self.right + TO_LABEL - 14.0, heading, &self.chart.series_title))
            @for ((index, x, y), place) in ends.iter().zip(&places) {
                path class="guide" d={ "M" (px(x + 4.0)) " " (px(*y)) "L" (px(self.right + 18.0)) " " (px(*place)) } {}
                (self.chart.swatch(*index, self.right + 22.0, *place))
                (label("", Anchor::Start, self.right + TO_LABEL, place + 4.0, &self.chart.series[*index].label))
            }
        }
    }
}

/// The range of the vertical axis.
fn y_range(chart: &Chart) -> (f64, f64) {
    let ends = |p: &Point| chart.y.spacing.ends(p.y, p.half);
    let ys = chart.points().flat_map(|p| ends(p).into_iter().chain([p.y]));
    // A band may reach below zero; a logarithmic axis must not follow it into nothing.
    let positive = chart.points().map(|point| point.y).filter(|y| *y > 0.0);
    let least = positive.fold(f64::INFINITY, f64::min);
    let ys = ys.map(|y| if chart.y.spacing.is_log() { y.max(least / 2.0) } else { y });
    padded(ys, chart.y.spacing)
}

fn x_range(chart: &Chart) -> (f64, f64) {
    match chart.x.spacing {
        Spacing::Categories => (-0.5, chart.x.ticks.len() as f64 - 0.5),
        Spacing::Linear | Spacing::FromZero | Spacing::Gains | Spacing::Log(_) => {
            padded(chart.points().map(|point| point.x), chart.x.spacing)
        }
    }
}

/// Places and words of the horizontal axis.
fn x_labels(chart: &Chart, x: &Scale) -> Vec<(f64, String)> {
    match chart.x.ticks.as_slice() {
        [] => {
            let ticks = x.ticks(ticks(x.length(), TICK_EVERY.0));
            ticks.into_iter().map(|at| (x.place(at), (chart.x.write)(at))).collect()
        }
        given => given.iter().map(|tick| (x.place(tick.at), tick.label.clone())).collect(),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn ticks(length: f64, every: f64) -> usize {
    (length / every).max(3.0) as usize
}

/// The room of the labels at the right.
fn label_room(chart: &Chart) -> f64 {
    let labels = chart.series.iter().map(|series| series.label.as_str());
    let heading = text_width(&chart.series_title) - 14.0;
    TO_LABEL + widest(labels).max(heading) + 4.0
}

/// Whether the labels of series stand at the right: where there are several, there is room, and all of them come near.
fn labels_at_right(chart: &Chart, width: f64, height: f64) -> bool {
    let need = (FONT + 4.0) * (chart.series.len() + 1) as f64;
    let (low, high) = x_range(chart);
    let comes_near = |series: &Series| {
        let last = series.points().map(|point| point.x).fold(low, f64::max);
        last >= high - NEAR * (high - low)
    };
    chart.order != Order::Engines
        && label_room(chart) <= MOST_OF_WIDTH * width
        && need <= height
        && chart.series.iter().all(comes_near)
}

/// Places at least `gap` apart, as near to the wanted ones (which rise) as that allows.
fn apart(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + gap);
    }
    let mut limit = high;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - gap;
    }
    // Pushed up beyond the top, they may go below the bottom instead: better crowded than lost.
    if let Some(first) = places.first().copied()
        && first < low
    {
        for place in &mut places {
            *place += low - first;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_cover_each_other() {
        let places = apart(&[100.0, 101.0, 102.0, 300.0], 16.0, 50.0, 400.0);
        assert_eq!(places, [100.0, 116.0, 132.0, 300.0]);
        let crowded = apart(&[395.0, 396.0, 399.0], 16.0, 50.0, 400.0);
        assert_eq!(crowded, [368.0, 384.0, 400.0]);
    }
}
