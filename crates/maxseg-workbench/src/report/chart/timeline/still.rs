//! Graphs as still pictures.

use std::fmt::Write as _;

use super::super::super::escaped::Escaped;
use super::super::figure::{CHARACTER, Spacing};
use super::super::scale::Scale;
use super::super::svg::base_style;
use super::{Layer, LayerKind, Panel, Row, Timeline, Unit, thinned_line};
use crate::report::words;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 156.0;
const RIGHT: f64 = 944.0;
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
    pub(super) fn figure(&self, panel: &Panel) -> String {
        let table = if panel.table.is_empty() {
            String::new()
        } else {
            format!(
                "<details><summary>As a table</summary>\n<div class=\"wide\">{}</div></details>\n",
                panel.table
            )
        };
        let note = if panel.note.is_empty() {
            String::new()
        } else {
            format!("<p class=\"note\">{}</p>\n", panel.note)
        };
        format!("<figure data-panel=\"{}\">\n{}{note}{table}</figure>\n", panel.id, self.svg(panel))
    }

    fn svg(&self, panel: &Panel) -> String {
        let height = panel.plot_height();
        let bottom = TOP + height;
        let (low, high) = panel.range();
        let y = Scale::new(low, high, height, 0.0, Spacing::Linear);
        let x = Scale::new(self.from, self.to, 0.0, RIGHT - LEFT, Spacing::Linear);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {0}\" role=\"img\" \
             aria-label=\"{1}: {2}\" class=\"chart panel\"><style>{3}</style>\
             <text class=\"title\" x=\"0\" y=\"16\" style=\"font-size:14px\">{1}</text>{4}",
            bottom + FOOT,
            Escaped(&panel.title),
            Escaped(&panel.names()),
            base_style("", ""),
            panel.legend(),
        );
        svg += &panel.axis(&y);
        for tick in x.ticks(9) {
            let at = LEFT + x.place(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {bottom}v5\"/><text class=\"soft\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{}\">{}</text>",
                bottom + 19.0,
                Escaped(&words::time(tick))
            );
        }
        let _ = write!(
            svg,
            "<svg class=\"inner\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{height}\">",
            RIGHT - LEFT
        );
        svg.extend(panel.shown().map(|layer| layer.path(&x, &y)));
        svg.extend(panel.rows.iter().enumerate().map(|(index, row)| row.bars(index, &x)));
        svg += "</svg></svg>\n";
        svg
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
    fn axis(&self, y: &Scale) -> String {
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
        let mut text = String::new();
        for (at, label) in labels {
            let at = TOP + at;
            let _ = write!(
                text,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                Escaped(&label)
            );
        }
        text
    }

    fn legend(&self) -> String {
        let mut text = String::new();
        let mut x = 0.0;
        for layer in self.shown() {
            let sample = match layer.kind {
                LayerKind::Line | LayerKind::Steps | LayerKind::Arrows | LayerKind::Pieces => {
                    format!("M{x} 32h18")
                }
                LayerKind::Dots | LayerKind::Marks => format!("M{} 32h.01", x + 9.0),
                LayerKind::Rings => format!("M{} 32a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", x + 5.0),
            };
            let _ = write!(
                text,
                "<path style=\"{}\" d=\"{sample}\"/><text class=\"soft\" x=\"{}\" y=\"36\">{}</text>",
                layer.style(),
                x + 24.0,
                Escaped(&layer.label)
            );
            x += 24.0 + CHARACTER * layer.label.chars().count() as f64 + 22.0;
        }
        text
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

    pub(super) fn path(&self, x: &Scale, y: &Scale) -> String {
        format!(
            "<path style=\"{}\" d=\"{}\"><title>{}</title></path>",
            self.style(),
            self.outline(x, y),
            Escaped(&self.label)
        )
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
    fn bars(&self, index: usize, x: &Scale) -> String {
        let y = row_middle(index);
        let mut bars = String::new();
        for span in &self.spans {
            let (from, to) = (x.place(span.from), x.place(span.to));
            let _ = write!(
                bars,
                "<path style=\"fill:none;stroke:var({});stroke-width:10\" d=\"M{from:.2} {y}H{:.2}\"><title>{}</title></path>",
                self.color,
                to.max(from + 3.0),
                Escaped(&span.text)
            );
        }
        bars
    }
}
