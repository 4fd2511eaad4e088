//! Line charts: one curve a series, with confidence bands, a second engine dashed beside it, and marks
//! on the horizontal axis.

use std::fmt::Write as _;

use super::palette::{self, Order};
use super::scale::{Scale, padded};

/// A line chart.
#[derive(Debug, Clone)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// Below the title: under which conditions.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What tells the series apart: the heading of their labels.
    pub series_title: String,
    /// The curves.
    pub series: Vec<Series>,
    /// What the series' order means.
    pub order: Order,
    /// Lines across the chart.
    pub marks: Vec<Mark>,
    /// What the marks are.
    pub marks_title: String,
    /// What solid and dashed lines are, and the band.
    pub legend: Legend,
}

/// The words of the legend; empty for what is not there.
#[derive(Debug, Clone, Default)]
pub struct Legend {
    /// Solid lines with dots.
    pub solid: String,
    /// Dashed lines.
    pub dashed: String,
    /// The band around solid lines.
    pub band: String,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it measures, with its unit.
    pub title: String,
    /// Whether equal distances are equal factors.
    pub log: bool,
    /// Whether a linear axis begins at zero.
    pub from_zero: bool,
    /// How to write a value on it.
    pub write: fn(f64) -> String,
}

/// A curve.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its label.
    pub label: String,
    /// The solid line, by rising `x`.
    pub solid: Vec<Point>,
    /// The dashed line.
    pub dashed: Vec<Point>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Half the confidence interval of `y`; 0 for none.
    pub half: f64,
}

/// A line across the chart.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Its label.
    pub label: String,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 576.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 812.0;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 488.0;

impl LineChart {
    /// The chart as an SVG document. `standalone` for a file of its own, with a ground; otherwise the
    /// page around it provides one.
    pub fn to_svg(&self, standalone: bool) -> String {
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{}\" class=\"chart\">{}",
            escape(&format!("{}. {}", self.title, self.subtitle)),
            self.style(standalone)
        );
        if standalone {
            let _ = write!(svg, "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
        }
        let plot = Plot::new(self);
        let parts = [
            self.headings(),
            plot.marks(),
            plot.axes(),
            plot.bands(),
            plot.curves(),
            plot.labels(),
            self.legend(),
        ];
        svg += &parts.concat();
        svg += "</svg>\n";
        svg
    }

    fn style(&self, standalone: bool) -> String {
        let count = self.series.len();
        let (light, dark) = (
            palette::properties(count, self.order, false),
            palette::properties(count, self.order, true),
        );
        let mut css = format!(
            ".chart{{--ink:#1c1e21;--soft:#5d646b;--line:#d5d9dd;--ground:#ffffff;{light}\
             font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:13px}}\
             @media(prefers-color-scheme:dark){{.chart{{--ink:#e8eaed;--soft:#a2a9b0;--line:#3a4047;\
             --ground:#16181b;{dark}}}}}\
             .chart text{{fill:var(--ink)}}.chart .soft{{fill:var(--soft)}}\
             .chart .title{{font-size:18px;font-weight:600}}\
             .chart .grid{{stroke:var(--line);stroke-width:1}}\
             .chart .mark{{stroke:var(--soft);stroke-width:1;stroke-dasharray:1 4}}\
             .chart .curve{{fill:none;stroke-width:2;stroke-linejoin:round}}\
             .chart .dash{{fill:none;stroke-width:1.4;stroke-dasharray:5 4;opacity:.85}}\
             .chart .band{{stroke:none;opacity:.18}}\
             .chart .lead{{stroke:var(--soft);stroke-width:.7;fill:none}}"
        );
        if standalone {
            css += ".chart .ground{fill:var(--ground)}";
        }
        for index in 0..count {
            let _ = write!(
                css,
                ".chart .c{index}{{stroke:var(--s{index})}}.chart .f{index}{{fill:var(--s{index})}}"
            );
        }
        format!("<style>{css}</style>")
    }

    fn headings(&self) -> String {
        format!(
            "<text class=\"title\" x=\"{LEFT}\" y=\"30\">{}</text><text class=\"soft\" x=\"{LEFT}\" y=\"52\">{}</text>",
            escape(&self.title),
            escape(&self.subtitle)
        )
    }

    fn legend(&self) -> String {
        let mut text = String::new();
        let mut x = LEFT;
        let y = HEIGHT - 16.0;
        let entries = [
            ("solid", &self.legend.solid),
            ("band", &self.legend.band),
            ("dash", &self.legend.dashed),
            ("mark", &self.marks_title),
        ];
        for (kind, words) in entries.iter().filter(|(_, words)| !words.is_empty()) {
            let (middle, end) = (y - 4.0, x + 30.0);
            let _ = match *kind {
                "band" => write!(
                    text,
                    "<rect class=\"band\" style=\"fill:var(--ink)\" x=\"{x}\" y=\"{}\" width=\"30\" height=\"12\"/>",
                    middle - 6.0
                ),
                "solid" => write!(
                    text,
                    "<path class=\"curve\" style=\"stroke:var(--ink)\" d=\"M{x} {middle}H{end}\"/><circle style=\"fill:var(--ink)\" cx=\"{}\" cy=\"{middle}\" r=\"3\"/>",
                    x + 15.0
                ),
                kind => write!(
                    text,
                    "<path class=\"{kind}\" style=\"stroke:var(--ink)\" d=\"M{x} {middle}H{end}\"/>"
                ),
            };
            let _ = write!(
                text,
                "<text class=\"soft\" x=\"{}\" y=\"{y}\">{}</text>",
                x + 37.0,
                escape(words)
            );
            x += 37.0 + 6.7 * words.chars().count() as f64 + 26.0;
        }
        text
    }
}

/// A chart with its scales.
struct Plot<'a> {
    chart: &'a LineChart,
    x: Scale,
    y: Scale,
}

impl<'a> Plot<'a> {
    fn new(chart: &'a LineChart) -> Self {
        let points =
            || chart.series.iter().flat_map(|series| series.solid.iter().chain(&series.dashed));
        let xs = points().map(|point| point.x);
        let (x_low, x_high) = padded(xs, chart.x.log, chart.x.from_zero);
        let ys = points().flat_map(|point| [point.y - point.half, point.y, point.y + point.half]);
        // A band may reach below zero; a logarithmic axis must not follow it into nothing.
        let least =
            points().map(|point| point.y).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
        let ys = ys.map(|y| if chart.y.log { y.max(least / 2.0) } else { y });
        let (y_low, y_high) = padded(ys, chart.y.log, chart.y.from_zero);
        Self {
            chart,
            x: Scale::new(x_low, x_high, LEFT, RIGHT, chart.x.log),
            y: Scale::new(y_low, y_high, BOTTOM, TOP, chart.y.log),
        }
    }

    fn axes(&self) -> String {
        let mut text = String::new();
        for tick in self.y.ticks(9) {
            let y = self.y.place(tick);
            let _ = write!(
                text,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                escape(&(self.chart.y.write)(tick))
            );
        }
        for tick in self.x.ticks(9) {
            let x = self.x.place(tick);
            let _ = write!(
                text,
                "<path class=\"grid\" d=\"M{x:.1} {BOTTOM}v5\"/><text class=\"soft\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{}</text>",
                BOTTOM + 20.0,
                escape(&(self.chart.x.write)(tick))
            );
        }
        let _ = write!(
            text,
            "<path class=\"grid\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/><text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\
             <text text-anchor=\"middle\" transform=\"translate(20 {}) rotate(-90)\">{}</text>",
            f64::midpoint(LEFT, RIGHT),
            BOTTOM + 40.0,
            escape(&self.chart.x.title),
            f64::midpoint(TOP, BOTTOM),
            escape(&self.chart.y.title)
        );
        text
    }

    fn marks(&self) -> String {
        let mut text = String::new();
        let inside = self.chart.marks.iter().filter(|mark| self.x.contains(mark.x));
        for mark in inside {
            let x = self.x.place(mark.x);
            let _ = write!(
                text,
                "<path class=\"mark\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/><text class=\"soft\" font-size=\"11\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{}</text>",
                TOP - 6.0,
                escape(&mark.label)
            );
        }
        text
    }

    fn bands(&self) -> String {
        let mut text = String::new();
        for (index, series) in self.chart.series.iter().enumerate() {
            if series.solid.len() < 2 || series.solid.iter().all(|point| point.half <= 0.0) {
                continue;
            }
            let place = |x: f64, y: f64| format!("{:.1} {:.1}", self.x.place(x), self.y.place(y));
            let upper = series.solid.iter().map(|point| place(point.x, point.y + point.half));
            let lower = series.solid.iter().rev().map(|point| place(point.x, point.y - point.half));
            let outline: Vec<String> = upper.chain(lower).collect();
            let _ = write!(text, "<path class=\"band f{index}\" d=\"M{}Z\"/>", outline.join("L"));
        }
        text
    }

    fn curves(&self) -> String {
        let mut text = String::new();
        for (index, series) in self.chart.series.iter().enumerate() {
            for (class, points) in [("dash", &series.dashed), ("curve", &series.solid)] {
                if points.len() > 1 {
                    let _ = write!(
                        text,
                        "<path class=\"{class} c{index}\" d=\"{}\"/>",
                        self.path(points)
                    );
                }
            }
            for point in &series.solid {
                let _ = write!(
                    text,
                    "<circle class=\"f{index}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
                    self.x.place(point.x),
                    self.y.place(point.y),
                    escape(&self.describe(series, point))
                );
            }
        }
        text
    }

    fn path(&self, points: &[Point]) -> String {
        let places: Vec<String> = points
            .iter()
            .map(|point| format!("{:.1} {:.1}", self.x.place(point.x), self.y.place(point.y)))
            .collect();
        format!("M{}", places.join("L"))
    }

    /// What a reader sees who points at it.
    fn describe(&self, series: &Series, point: &Point) -> String {
        let (x, y) = ((self.chart.x.write)(point.x), (self.chart.y.write)(point.y));
        let interval = if point.half > 0.0 {
            format!(" ± {}", (self.chart.y.write)(point.half))
        } else {
            String::new()
        };
        format!(
            "{} {}, {} {x}: {y}{interval}",
            self.chart.series_title, series.label, self.chart.x.title
        )
    }

    /// Each curve's label at its right end, moved apart where they would cover each other.
    fn labels(&self) -> String {
        let ends = self.chart.series.iter().enumerate().filter_map(|(index, series)| {
            let last = series.solid.last().or_else(|| series.dashed.last())?;
            Some((index, self.x.place(last.x), self.y.place(last.y)))
        });
        let mut ends: Vec<(usize, f64, f64)> = ends.collect();
        ends.sort_by(|a, b| a.2.total_cmp(&b.2));
        let places = apart(&ends.iter().map(|(.., y)| *y).collect::<Vec<_>>(), 16.0, TOP, BOTTOM);
        let mut text = String::new();
        if !self.chart.series_title.is_empty() && !ends.is_empty() {
            let heading = places.first().map_or(TOP, |first| first - 18.0);
            let _ = write!(
                text,
                "<text class=\"soft\" font-size=\"12\" x=\"{}\" y=\"{heading:.1}\">{}</text>",
                RIGHT + 22.0,
                escape(&self.chart.series_title)
            );
        }
        for ((index, x, y), place) in ends.iter().zip(places) {
            let label = &self.chart.series[*index].label;
            let _ = write!(
                text,
                "<path class=\"lead\" d=\"M{:.1} {y:.1}L{} {place:.1}\"/><text class=\"f{index}\" style=\"fill:var(--s{index});font-weight:600\" x=\"{}\" y=\"{:.1}\">{}</text>",
                x + 4.0,
                RIGHT + 18.0,
                RIGHT + 22.0,
                place + 4.0,
                escape(label)
            );
        }
        text
    }
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

/// Text as XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
    }
}
