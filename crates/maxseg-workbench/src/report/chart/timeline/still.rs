//! Graphs as still pictures.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::super::figure::Spacing;
use super::super::layout::{Anchor, LINE, flowed, label, px, text_width};
use super::super::scale::Scale;
use super::{Layer, LayerKind, Panel, Row, Span, Timeline, Unit, thinned_line};
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

impl Timeline {
    pub(super) fn figure(&self, panel: &Panel) -> Markup {
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
        let (legend, lines) = panel.legend();
        let top = TOP + LINE * lines.saturating_sub(1) as f64;
        let bottom = top + height;
        let (low, high) = panel.range();
        let y = Scale::new(low, high, height, 0.0, Spacing::Linear);
        let x = Scale::new(self.from, self.to, 0.0, RIGHT - LEFT, Spacing::Linear);
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
    fn range(&self) -> (f64, f64) {
        if matches!(self.unit, Unit::Ends(_)) {
            return (-0.12, 1.12);
        }
        let high = self.largest();
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
    fn legend(&self) -> (Markup, usize) {
        let widths: Vec<f64> = self.shown().map(|layer| 24.0 + text_width(&layer.label)).collect();
        let places = flowed(&widths, WIDTH);
        let drawn = html! {
            @for (layer, (x, line)) in self.shown().zip(&places) {
                @let y = 36.0 + LINE * *line as f64;
                path style=(layer.style()) d=(layer.sample(*x, y - 4.0)) {}
                (label("soft", Anchor::Start, x + 24.0, y, &layer.label))
            }
        };
        (drawn, places.last().map_or(0, |(_, line)| line + 1))
    }
}

fn row_middle(index: usize) -> f64 {
    ROW * (index as f64 + 0.5)
}

impl Layer {
    fn style(&self) -> String {
        let width = match self.kind {
            LayerKind::Line | LayerKind::Steps | LayerKind::Rings | LayerKind::Arrows => 1.8,
            LayerKind::Dots => 3.0,
            LayerKind::Pieces => 4.0,
            LayerKind::Marks => 6.0,
        };
        format!(
            "fill:none;stroke:var({});stroke-width:{width};stroke-linecap:round;stroke-linejoin:round",
            self.color
        )
    }

    /// What it looks like, in the legend.
    fn sample(&self, x: f64, y: f64) -> String {
        match self.kind {
            LayerKind::Line | LayerKind::Steps | LayerKind::Arrows | LayerKind::Pieces => {
                format!("M{x} {y}h18")
            }
            LayerKind::Dots | LayerKind::Marks => format!("M{} {y}h.01", x + 9.0),
            LayerKind::Rings => format!("M{} {y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", x + 5.0),
        }
    }

    pub(super) fn path(&self, x: &Scale, y: &Scale) -> Markup {
        html! { path style=(self.style()) d=(self.outline(x, y)) { title { (self.label) } } }
    }

    fn outline(&self, x: &Scale, y: &Scale) -> String {
        let places = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            points.iter().map(|(at, value)| (x.place(*at), y.place(*value))).collect()
        };
        let points = match self.kind {
            LayerKind::Line | LayerKind::Steps => {
                places(&thinned_line(&self.points, MOST_OF_A_LINE))
            }
            LayerKind::Dots => {
                let step = self.points.len().div_ceil(MOST_DOTS).max(1);
                places(&self.points).into_iter().step_by(step).collect()
            }
            // What must not be overlooked is not thinned out.
            LayerKind::Marks | LayerKind::Rings | LayerKind::Arrows | LayerKind::Pieces => {
                places(&self.points)
            }
        };
        let mut d = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = match self.kind {
                LayerKind::Line | LayerKind::Steps if index == 0 => write!(d, "M{x:.2} {y:.1}"),
                LayerKind::Line => write!(d, "L{x:.2} {y:.1}"),
                LayerKind::Steps => write!(d, "H{x:.2}V{y:.1}"),
                LayerKind::Dots | LayerKind::Marks => write!(d, "M{x:.2} {y:.1}h.01"),
                LayerKind::Rings => {
                    write!(d, "M{:.2} {y:.1}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", x - 5.0)
                }
                LayerKind::Arrows | LayerKind::Pieces => {
                    write!(d, "{}{x:.2} {y:.1}", if index % 2 == 0 { 'M' } else { 'L' })
                }
            };
        }
        d
    }
}

impl Row {
    fn bars(&self, index: usize, x: &Scale) -> Markup {
        let y = row_middle(index);
        let outline = |span: &Span| {
            let (from, to) = (x.place(span.from), x.place(span.to));
            format!("M{from:.2} {y}H{:.2}", to.max(from + 3.0))
        };
        html! {
            @for span in &self.spans {
                path style={ "fill:none;stroke:var(" (self.color) ");stroke-width:10" } d=(outline(span)) { title { (span.text) } }
            }
        }
    }
}
