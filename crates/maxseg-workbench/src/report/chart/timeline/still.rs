//! Graphs as still pictures.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::super::figure::Spacing;
use super::super::layout::{Anchor, LINE, flowed, label, px, text_width};
use super::super::scale::Scale;
use super::thin::{means, thinned_line};
use super::{Layer, LayerKind, Panel, Row, Span, Timeline, Unit};
use crate::report::words;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 156.0;
const RIGHT: f64 = 944.0;
/// Title and first line of the legend.
const TOP: f64 = 46.0;
/// Below the plot: numbers of the axis.
const FOOT: f64 = 30.0;
/// Height of a row of bars.
const ROW: f64 = 22.0;

/// More points than this on a line are told apart by nobody.
pub(super) const MOST_OF_A_LINE: usize = 3000;
/// Likewise of dots.
pub(super) const MOST_DOTS: usize = 6000;

/// A rate is one over as many pixels.
const LEAST_OF_A_RATE: f64 = 2.0;
/// A bar is no shorter, in pixels.
const SHORTEST: f64 = 3.0;

impl Timeline {
    pub(super) fn figure(&self, panel: &Panel) -> Markup {
        // An empty axis would say that there was nothing.
        if panel.is_empty() {
            return html! {
                figure { p.graph-title { (panel.title) } p.note { (panel.missing) } }
            };
        }
        html! {
            figure data-panel=(panel.id) {
                (self.svg(panel))
                @if !panel.note.is_empty() { p.note { (panel.note) } }
                @if let Some(table) = &panel.table { details { summary { "As a table" } (table) } }
            }
        }
    }

    fn svg(&self, panel: &Panel) -> Markup {
        let height = panel.plot_height();
        let x = Scale::new(self.from, self.to, 0.0, RIGHT - LEFT, Spacing::Linear);
        let (low, high) = panel.range(&x);
        let (legend, lines) = panel.legend(high);
        let top = TOP + LINE * lines.saturating_sub(1) as f64;
        let bottom = top + height;
        let y = Scale::new(low, high, height, 0.0, Spacing::Linear);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (bottom + FOOT) } role="img"
                aria-label={ (panel.title) ": " (panel.names()) } class="chart panel" {
                text class="title" x="0" y="16" style="font-size:14px" { (panel.title) }
                (legend)
                (panel.axis(&y, top))
                @for tick in x.ticks(9) {
                    @let at = LEFT + x.place(tick);
                    path class="grid" d={ "M" (px(at)) " " (px(bottom)) "v5" } {}
                    (label("soft", Anchor::Middle, at, bottom + 19.0, &words::time(tick)))
                }
                svg class="inner" x=(LEFT) y=(px(top)) width=(RIGHT - LEFT) height=(height) {
                    @for layer in panel.shown() { (layer.path(&x, &y)) }
                    @for (index, row) in panel.rows.iter().enumerate() { (row.bars(index, &x)) }
                }
            }
        }
    }
}

impl Panel {
    fn plot_height(&self) -> f64 {
        if self.rows.is_empty() { self.height } else { ROW * self.rows.len() as f64 }
    }

    /// From zero, or a little around both ends.
    pub(super) fn range(&self, x: &Scale) -> (f64, f64) {
        if matches!(self.unit, Unit::Ends(_)) {
            return (-0.12, 1.12);
        }
        let high = self.largest(|layer| layer.largest_drawn(x));
        (0.0, if high > 0.0 { 1.05 * high } else { 1.0 })
    }

    /// The names of all that it shows.
    fn names(&self) -> String {
        let layers = self.shown().map(|layer| layer.label.as_str());
        let names: Vec<&str> =
            layers.chain(self.rows.iter().map(|row| row.label.as_str())).collect();
        names.join(", ")
    }

    /// Values, ends or names of rows, at the left.
    fn axis(&self, y: &Scale, top: f64) -> Markup {
        let labels: Vec<(f64, String)> = match &self.unit {
            _ if !self.rows.is_empty() => {
                let rows = self.rows.iter().enumerate();
                rows.map(|(index, row)| (row_middle(index), row.label.clone())).collect()
            }
            Unit::Ends(ends) => {
                [0.0, 1.0].iter().zip(ends).map(|(at, end)| (y.place(*at), end.clone())).collect()
            }
            unit @ (Unit::Bytes | Unit::Rate | Unit::Time) => {
                y.ticks(5).into_iter().map(|tick| (y.place(tick), unit.write(tick))).collect()
            }
        };
        html! {
            @for (at, text) in &labels {
                path class="grid" d={ "M" (LEFT) " " (px(top + at)) "H" (RIGHT) } {}
                (label("soft", Anchor::End, LEFT - 8.0, top + at + 4.0, text))
            }
        }
    }

    /// The legend, and how many lines it takes.
    fn legend(&self, high: f64) -> (Markup, usize) {
        let words: Vec<String> = self.shown().map(|layer| self.words(layer, high)).collect();
        let widths: Vec<f64> = words.iter().map(|words| 24.0 + text_width(words)).collect();
        let places = flowed(&widths, WIDTH);
        let drawn = html! {
            @for ((layer, words), (x, line)) in self.shown().zip(&words).zip(&places) {
                @let y = 36.0 + LINE * *line as f64;
                path style=(layer.style()) d=(layer.sample(*x, y - 4.0)) {}
                (label("soft", Anchor::Start, x + 24.0, y, words))
            }
        };
        (drawn, places.last().map_or(0, |(_, line)| line + 1))
    }

    /// A layer in the legend: of a bound that the axis does not reach, how far it goes.
    fn words(&self, layer: &Layer, high: f64) -> String {
        let largest = layer.largest();
        if layer.is_bound && largest > high {
            format!("{}: up to {}, above the graph", layer.label, self.unit.write(largest))
        } else {
            layer.label.clone()
        }
    }
}

fn row_middle(index: usize) -> f64 {
    ROW * (index as f64 + 0.5)
}

impl Layer {
    fn style(&self) -> String {
        let width = match self.kind {
            LayerKind::Line
            | LayerKind::Steps
            | LayerKind::Rates
            | LayerKind::Rings
            | LayerKind::Arrows => 1.8,
            LayerKind::Dots => 3.0,
            LayerKind::Pieces => 4.0,
            LayerKind::Marks | LayerKind::RateMarks => 6.0,
        };
        format!(
            "fill:none;stroke:var({});stroke-width:{width};stroke-linecap:round;stroke-linejoin:round",
            self.color
        )
    }

    /// What it looks like, in the legend.
    fn sample(&self, x: f64, y: f64) -> String {
        match self.kind {
            LayerKind::Line
            | LayerKind::Steps
            | LayerKind::Rates
            | LayerKind::Arrows
            | LayerKind::Pieces => format!("M{x} {y}h18"),
            LayerKind::Dots | LayerKind::Marks | LayerKind::RateMarks => {
                format!("M{} {y}h.01", x + 9.0)
            }
            LayerKind::Rings => format!("M{} {y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", x + 5.0),
        }
    }

    pub(super) fn path(&self, x: &Scale, y: &Scale) -> Markup {
        html! { path style=(self.style()) d=(self.outline(x, y)) { title { (self.label) } } }
    }

    /// The largest value that is drawn: rates are means there.
    fn largest_drawn(&self, x: &Scale) -> f64 {
        match self.kind {
            LayerKind::Rates | LayerKind::RateMarks => {
                self.drawn(x).into_iter().map(|(_, rate, _)| rate).fold(0.0, f64::max)
            }
            LayerKind::Line
            | LayerKind::Steps
            | LayerKind::Dots
            | LayerKind::Marks
            | LayerKind::Rings
            | LayerKind::Arrows
            | LayerKind::Pieces => self.largest(),
        }
    }

    /// What is drawn of it: time, value, and how far above that it reaches.
    fn drawn(&self, x: &Scale) -> Vec<(f64, f64, f64)> {
        let flat = |points: Vec<(f64, f64)>| -> Vec<(f64, f64, f64)> {
            points.into_iter().map(|(at, value)| (at, value, 0.0)).collect()
        };
        let step = match self.kind {
            LayerKind::Line | LayerKind::Steps => {
                return flat(thinned_line(&self.points, MOST_OF_A_LINE));
            }
            LayerKind::Rates => return flat(means(&self.points, LEAST_OF_A_RATE * x.per_pixel())),
            LayerKind::RateMarks => {
                let rates = means(&self.points, LEAST_OF_A_RATE * x.per_pixel());
                return flat(rates.into_iter().filter(|(_, rate)| *rate > 0.0).collect());
            }
            LayerKind::Dots => self.points.len().div_ceil(MOST_DOTS).max(1),
            // What must not be overlooked is not thinned out.
            LayerKind::Marks | LayerKind::Rings | LayerKind::Arrows | LayerKind::Pieces => 1,
        };
        let points = self.points.iter().enumerate().step_by(step);
        points.map(|(index, (at, value))| (*at, *value, self.height(index))).collect()
    }

    fn outline(&self, x: &Scale, y: &Scale) -> String {
        let mut d = String::new();
        for (index, (at, value, height)) in self.drawn(x).into_iter().enumerate() {
            let (px, py) = (x.place(at), y.place(value));
            let _ = match self.kind {
                LayerKind::Line | LayerKind::Steps | LayerKind::Rates if index == 0 => {
                    write!(d, "M{px:.2} {py:.1}")
                }
                LayerKind::Line => write!(d, "L{px:.2} {py:.1}"),
                LayerKind::Steps | LayerKind::Rates => write!(d, "H{px:.2}V{py:.1}"),
                LayerKind::Dots | LayerKind::Marks if height > 0.0 => {
                    write!(d, "M{px:.2} {py:.1}V{:.1}h.01", y.place(value + height))
                }
                LayerKind::Dots | LayerKind::Marks | LayerKind::RateMarks => {
                    write!(d, "M{px:.2} {py:.1}h.01")
                }
                LayerKind::Rings => {
                    write!(d, "M{:.2} {py:.1}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", px - 5.0)
                }
                LayerKind::Arrows | LayerKind::Pieces => {
                    write!(d, "{}{px:.2} {py:.1}", if index % 2 == 0 { 'M' } else { 'L' })
                }
            };
        }
        if matches!(self.kind, LayerKind::Steps | LayerKind::Rates) && !d.is_empty() {
            let _ = write!(d, "H{:.2}", x.end());
        }
        d
    }
}

impl Row {
    pub(super) fn bars(&self, index: usize, x: &Scale) -> Markup {
        let y = row_middle(index);
        let outline = |span: &Span| {
            // What is at the end, and short, is still seen.
            let from = x.place(span.from).min(x.end() - SHORTEST);
            format!("M{from:.2} {y}H{:.2}", x.place(span.to).max(from + SHORTEST))
        };
        html! {
            @for span in &self.spans {
                path style={ "fill:none;stroke:var(" (self.color) ");stroke-width:10" } d=(outline(span)) { title { (span.text) } }
            }
        }
    }
}
