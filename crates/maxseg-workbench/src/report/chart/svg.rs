//! The chart as an SVG document: titles, plot, legend.

use maud::{Markup, html};

use super::figure::{Chart, bar, cross, diamond, dot};
use super::layout::{
    Anchor, LINE, WIDE, fitted, flowed, for_both, headings, label, px, svg, text_width,
};
use super::literal::literal;
use super::palette::{self, Order};
use super::plot::Plot;

/// What every picture has, for one that stands alone.
const STYLE: &str = include_str!("chart.css");

/// From the left edge of an entry of the legend to its words: by a sample of a line, and by one of a colour.
const SAMPLE: f64 = 37.0;
const SWATCH: f64 = 16.0;

/// An entry of the legend.
enum Entry<'a> {
    /// What tells the series apart.
    Heading(&'a str),
    /// A series by its number, with its colour.
    Series(usize, &'a str),
    /// A kind of line or point; the end of its colour's class.
    Kind(&'static str, &'static str, &'a str),
}

impl Entry<'_> {
    /// How far its words are from its beginning.
    const fn before(&self) -> f64 {
        match self {
            Self::Heading(_) => 0.0,
            Self::Series(..) => SWATCH,
            Self::Kind(..) => SAMPLE,
        }
    }

    const fn words(&self) -> &str {
        match self {
            Self::Heading(words) | Self::Series(_, words) | Self::Kind(.., words) => words,
        }
    }

    fn sample(&self, chart: &Chart, x: f64, y: f64) -> Markup {
        html! {
            @match self {
                Self::Heading(_) => {}
                Self::Series(index, _) => (chart.swatch(*index, x, y)),
                Self::Kind(kind, color, _) => (sample(kind, color, x, y)),
            }
        }
    }
}

impl Chart {
    /// The chart as an SVG file with a ground, its colours written out: not only browsers show it.
    pub fn to_file(&self) -> String {
        self.draw(WIDE, true).into_string() + "\n"
    }

    /// The chart as a piece of a page, which provides the ground.
    pub(crate) fn to_html(&self) -> Markup {
        for_both(|width| self.draw(width, false))
    }

    fn draw(&self, width: f64, is_alone: bool) -> Markup {
        let (headings, y) = headings(&self.title, &self.subtitle, width);
        let plot = Plot::new(self, width, y);
        let (legend, end) = self.legend(width, plot.end() + LINE, plot.has_labels);
        let (class, palette) = palette::style(self.series.len(), self.order);
        let style = if is_alone { literal(&format!("{STYLE}{palette}")) } else { palette };
        let body = html! {
            @if is_alone { rect class="ground" width=(width) height=(end.ceil()) {} }
            g class=(class) { (headings) (plot.to_svg()) (legend) }
        };
        svg(width, end, &format!("{}. {}", self.title, self.subtitle), &style, &body)
    }

    /// A sample of a series' colour, 10 wide; where colours come again, in the shape of its points.
    pub(super) fn swatch(&self, index: usize, x: f64, y: f64) -> Markup {
        let comes_again = palette::round(self.series.len().saturating_sub(1), self.order) > 0;
        let shape = palette::round(index, self.order);
        html! {
            @if comes_again { path class={ "f" (index) } d=(dot(shape, x + 5.0, y, 5.0)) {} }
            @else { rect class={ "f" (index) } x=(px(x)) y=(px(y - 5.0)) width="10" height="10" {} }
        }
    }

    /// The legend below the plot from this height on, and where it ends.
    fn legend(&self, width: f64, from: f64, has_labels: bool) -> (Markup, f64) {
        let is_one = self.order == Order::Engines;
        let mut entries: Vec<Entry<'_>> = Vec::new();
        if !has_labels && !is_one {
            entries.push(Entry::Heading(&self.series_title));
            let labels = self.series.iter().enumerate();
            entries.extend(labels.map(|(index, series)| Entry::Series(index, &series.label)));
        }
        let [solid, band, dashed, cross] = if self.is_categorical() {
            ["dot", "interval", "hollow", "cross"]
        } else {
            ["solid", "band", "dash", "cross"]
        };
        let color = |engine| if is_one { engine } else { "ink" };
        let legend = &self.legend;
        entries.extend([
            Entry::Kind(solid, color("sim"), &legend.solid),
            Entry::Kind(band, color("sim"), &legend.band),
            Entry::Kind(dashed, color("model"), &legend.dashed),
            Entry::Kind(cross, color("lab"), &legend.crosses),
            Entry::Kind("mark", "ink", &self.marks_title),
        ]);
        entries.retain(|entry| !entry.words().is_empty());
        let words: Vec<String> =
            entries.iter().map(|entry| fitted(entry.words(), width - entry.before())).collect();
        let widths: Vec<f64> = entries
            .iter()
            .zip(&words)
            .map(|(entry, words)| entry.before() + text_width(words))
            .collect();
        let places = flowed(&widths, width);
        let lines = places.last().map_or(0, |(_, line)| line + 1);
        let y = |line: usize| from + LINE * line as f64;
        let drawn = html! {
            @for ((entry, words), (x, line)) in entries.iter().zip(&words).zip(&places) {
                (entry.sample(self, *x, y(*line) - 4.0))
                (label("soft", Anchor::Start, x + entry.before(), y(*line), words))
            }
        };
        (drawn, from + LINE * lines as f64 - 8.0)
    }
}

/// What a kind of line or point looks like, 30 wide.
fn sample(kind: &str, color: &str, x: f64, y: f64) -> Markup {
    let (middle, end) = (x + 15.0, x + 30.0);
    let line = format!("M{x:.1} {y:.1}H{end:.1}");
    let dot = html! { circle class={ "f" (color) } cx=(px(middle)) cy=(px(y)) r="3" {} };
    let drawn = |class: &str, d: &str| html! { path class={ (class) " c" (color) } d=(d) {} };
    match kind {
        "band" => html! {
            rect class={ "band f" (color) } x=(px(x)) y=(px(y - 6.0)) width="30" height="12" {}
        },
        "solid" => html! { (drawn("curve", &line)) (dot) },
        "dot" => dot,
        "interval" => drawn("interval", &bar(middle, y - 8.0, y + 8.0)),
        "hollow" => drawn("hollow", &diamond(middle, y)),
        "cross" => drawn("cross", &cross(middle, y)),
        kind => drawn(kind, &line),
    }
}
