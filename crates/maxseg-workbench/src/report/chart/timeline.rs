//! Graphs over the same time, one below the other: what happened at a moment stands on one vertical line.
//!
//! They are still pictures. A script of the page (see `linked.js`) lets a reader point at a moment, and zoom in on
//! all of them at once.

use std::fmt::Write as _;

use super::super::escaped::Escaped;
use super::figure::{CHARACTER, Spacing};
use super::scale::Scale;
use super::svg::base_style;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 944.0;
const TOP: f64 = 46.0;
/// Below the plot: numbers of the axis.
const FOOT: f64 = 30.0;

/// Graphs that share their time.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    /// From where to where, in seconds.
    pub(crate) from: f64,
    /// See `from`.
    pub(crate) to: f64,
    /// From top to bottom.
    pub(crate) panels: Vec<Panel>,
}

/// One graph.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// What it shows, with its unit.
    pub(crate) title: String,
    /// How high the plot is.
    pub(crate) height: f64,
    /// How to write a value.
    pub(crate) write: fn(f64) -> String,
    /// From back to front.
    pub(crate) layers: Vec<Layer>,
    /// Times that are marked, from the top down.
    pub(crate) spans: Vec<Span>,
    /// What stands below it, as HTML: the same as a table.
    pub(crate) table: String,
}

/// Something that is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// What it is, for the legend.
    pub(crate) label: String,
    /// How it is drawn.
    pub(crate) kind: LayerKind,
    /// Its colour: a custom property of the page, such as `--s0`.
    pub(crate) color: &'static str,
    /// Time and value.
    pub(crate) points: Vec<(f64, f64)>,
}

/// How a layer is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerKind {
    /// From point to point.
    Line,
    /// A value holds until the next.
    Steps,
    /// A dot each.
    Dots,
    /// A larger dot each, that is not to be overlooked.
    Marks,
    /// A ring each.
    Rings,
}

/// A time that something took.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    /// When it began, in seconds.
    pub(crate) from: f64,
    /// When it ended, in seconds.
    pub(crate) to: f64,
    /// Counted from the top.
    pub(crate) row: usize,
    /// What took the time.
    pub(crate) label: String,
    /// A CSS colour.
    pub(crate) color: &'static str,
}

/// Colours on light ground and on dark; Okabe and Ito's.
const LIGHT: &str = "--s0:#0072b2;--s1:#009e73;--s2:#b08a00;--s3:#cc79a7;--again:#d55e00;";
const DARK: &str = "--s0:#56b4e9;--s1:#2fc49a;--s2:#e6c84a;--s3:#e59cc6;--again:#ff9040;";

/// More points than this on a line are told apart by nobody: so many remain, with the extremes between them.
const MOST_OF_A_LINE: usize = 3000;
/// Likewise of dots.
const MOST_DOTS: usize = 6000;

impl Timeline {
    /// All of them, as a piece of a page.
    pub(crate) fn to_html(&self) -> String {
        let panels: String = self.panels.iter().map(|panel| self.figure(panel)).collect();
        format!(
            "<div class=\"linked\" data-from=\"{}\" data-to=\"{}\">\n{panels}</div>\n",
            self.from, self.to
        )
    }

    fn figure(&self, panel: &Panel) -> String {
        let table = if panel.table.is_empty() {
            String::new()
        } else {
            format!(
                "<details><summary>As a table</summary>\n<div class=\"wide\">{}</div></details>\n",
                panel.table
            )
        };
        format!("<figure>\n{}{table}</figure>\n", self.svg(panel))
    }

    fn svg(&self, panel: &Panel) -> String {
        let bottom = TOP + panel.height;
        let (low, high) = panel.range();
        let y = Scale::new(low, high, panel.height, 0.0, Spacing::Linear);
        let x = Scale::new(self.from, self.to, 0.0, RIGHT - LEFT, Spacing::Linear);
        let labels: Vec<&str> = panel.layers.iter().map(|layer| layer.label.as_str()).collect();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {0}\" role=\"img\" \
             aria-label=\"{1}: {2}\" class=\"chart panel\" data-low=\"{low}\" data-high=\"{high}\"><style>{3}</style>\
             <text class=\"title\" x=\"{LEFT}\" y=\"16\" style=\"font-size:14px\">{1}</text>{4}",
            bottom + FOOT,
            Escaped(&panel.title),
            Escaped(&labels.join(", ")),
            base_style(LIGHT, DARK),
            panel.legend(),
        );
        let _ = write!(svg, "<g class=\"ys\">");
        // Spans have no values.
        let ticks = if panel.layers.is_empty() { Vec::new() } else { y.ticks(5) };
        for tick in ticks {
            let at = TOP + y.place(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                Escaped(&(panel.write)(tick))
            );
        }
        svg += "</g><g class=\"xs\">";
        for tick in x.ticks(9) {
            let at = LEFT + x.place(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {bottom}v5\"/><text class=\"soft\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{}\">{}</text>",
                bottom + 19.0,
                Escaped(&crate::report::words::time(tick))
            );
        }
        let _ = write!(
            svg,
            "</g><svg class=\"plot\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" \
             preserveAspectRatio=\"none\"><rect class=\"field\" width=\"{0}\" height=\"{1}\" fill=\"transparent\"/>",
            RIGHT - LEFT,
            panel.height
        );
        for layer in &panel.layers {
            svg += &layer.path(&x, &y);
        }
        for span in &panel.spans {
            svg += &span.bar(&x);
        }
        svg += "</svg></svg>\n";
        svg
    }
}

impl Panel {
    /// From zero, or from the least of what is shown where that is all far above.
    fn range(&self) -> (f64, f64) {
        let values = self.layers.iter().flat_map(|layer| &layer.points).map(|(_, value)| *value);
        let high = values.filter(|value| value.is_finite()).fold(0.0_f64, f64::max);
        (0.0, if high > 0.0 { 1.05 * high } else { 1.0 })
    }

    fn legend(&self) -> String {
        let mut text = String::new();
        let mut x = LEFT;
        for layer in self.layers.iter().filter(|layer| !layer.label.is_empty()) {
            let sample = match layer.kind {
                LayerKind::Line | LayerKind::Steps => format!("M{x} 32h18"),
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

impl Layer {
    /// What does not grow when the reader zooms in.
    fn style(&self) -> String {
        let width = match self.kind {
            LayerKind::Line | LayerKind::Steps | LayerKind::Rings => 1.6,
            LayerKind::Dots => 3.0,
            LayerKind::Marks => 6.0,
        };
        format!(
            "fill:none;stroke:var({});stroke-width:{width};stroke-linecap:round;stroke-linejoin:round;vector-effect:non-scaling-stroke",
            self.color
        )
    }

    fn path(&self, x: &Scale, y: &Scale) -> String {
        let places = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            points.iter().map(|(at, value)| (x.place(*at), y.place(*value))).collect()
        };
        let mut d = String::new();
        match self.kind {
            LayerKind::Line => {
                for (index, (x, y)) in places(&thinned_line(&self.points)).iter().enumerate() {
                    let _ = write!(d, "{}{x:.2} {y:.1}", if index == 0 { 'M' } else { 'L' });
                }
            }
            LayerKind::Steps => {
                for (index, (x, y)) in places(&thinned_line(&self.points)).iter().enumerate() {
                    let _ = if index == 0 {
                        write!(d, "M{x:.2} {y:.1}")
                    } else {
                        write!(d, "H{x:.2}V{y:.1}")
                    };
                }
            }
            LayerKind::Dots => {
                let step = self.points.len().div_ceil(MOST_DOTS).max(1);
                for (x, y) in places(&self.points).iter().step_by(step) {
                    let _ = write!(d, "M{x:.2} {y:.1}h.01");
                }
            }
            // What must not be overlooked is not thinned out.
            LayerKind::Marks => {
                for (x, y) in places(&self.points) {
                    let _ = write!(d, "M{x:.2} {y:.1}h.01");
                }
            }
            LayerKind::Rings => {
                for (x, y) in places(&self.points) {
                    let _ = write!(d, "M{:.2} {y:.1}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", x - 5.0);
                }
            }
        }
        format!(
            "<path style=\"{}\" d=\"{d}\"><title>{}</title></path>",
            self.style(),
            Escaped(&self.label)
        )
    }
}

impl Span {
    /// A bar in its row.
    fn bar(&self, x: &Scale) -> String {
        let (from, to) = (x.place(self.from), x.place(self.to));
        let y = 8.0 + 22.0 * self.row as f64;
        format!(
            "<path style=\"fill:none;stroke:var({});stroke-width:9;vector-effect:non-scaling-stroke\" d=\"M{from:.2} {y}H{:.2}\"><title>{}</title></path>",
            self.color,
            to.max(from + 0.01),
            Escaped(&self.label)
        )
    }
}

/// The points of a line: where there are too many, the least and the largest of each stretch.
fn thinned_line(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_OF_A_LINE {
        return points.to_vec();
    }
    let stretch = (2 * points.len()).div_ceil(MOST_OF_A_LINE);
    let extremes = points.chunks(stretch).flat_map(|stretch| {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let least = stretch.iter().min_by(by_value);
        let largest = stretch.iter().max_by(by_value);
        let mut both: Vec<(f64, f64)> = least.into_iter().chain(largest).copied().collect();
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        both
    });
    extremes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_extremes() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|n| (f64::from(n), 1.0)).collect();
        points[77_777].1 = 50.0;
        points[12_345].1 = -3.0;
        let thinned = thinned_line(&points);
        assert!(thinned.len() <= MOST_OF_A_LINE + 2, "{}", thinned.len());
        assert!(thinned.contains(&(77_777.0, 50.0)) && thinned.contains(&(12_345.0, -3.0)));
        assert!(thinned.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn marks_are_never_thinned_out() {
        let points: Vec<(f64, f64)> = (0..20_000).map(|n| (f64::from(n), 1.0)).collect();
        let scale = Scale::new(0.0, 20_000.0, 0.0, 800.0, Spacing::Linear);
        let layer = |kind| Layer {
            label: "again".to_owned(),
            kind,
            color: "--again",
            points: points.clone(),
        };
        let count = |kind| layer(kind).path(&scale, &scale).matches('M').count();
        assert_eq!(count(LayerKind::Marks), 20_000);
        assert!(count(LayerKind::Dots) <= MOST_DOTS);
    }
}
