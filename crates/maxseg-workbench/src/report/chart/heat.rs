//! A heat map: two axes of numbers, and a third number as colour and in words.

use maud::{Markup, html};

use super::figure::Spacing;
use super::layout::{
    Anchor, Below, FONT, LINE, flowed, for_both, headings, label, px, svg, text_width, widest,
};
use super::palette::{Shades, hex, ink_on};
use super::scale::Scale;

/// A number for each pair of values.
#[derive(Debug, Clone)]
pub(crate) struct HeatMap {
    /// What it shows.
    pub(crate) title: String,
    /// Below the title: under which conditions, and in which unit the cells are written.
    pub(crate) subtitle: String,
    /// What the columns are.
    pub(crate) x_title: String,
    /// What the rows are.
    pub(crate) y_title: String,
    /// The columns' values, from left to right.
    pub(crate) columns: Vec<String>,
    /// The rows, from the bottom up.
    pub(crate) rows: Vec<HeatRow>,
    /// What the colours measure.
    pub(crate) shades: Shades,
    /// What they measure, in words.
    pub(crate) shades_title: String,
    /// The least and the largest number of the colour scale: maps of one number have one scale.
    pub(crate) range: (f64, f64),
    /// What equal distances on the colour scale are: [`Spacing::Log`] or [`Spacing::Linear`].
    pub(crate) spacing: Spacing,
    /// How to write a number with its unit.
    pub(crate) write: fn(f64) -> String,
    /// How to write it without, in a cell.
    pub(crate) unit: f64,
    /// What is written without a unit.
    pub(crate) digits: fn(f64) -> String,
    /// The words of the legend for a framed cell; empty where none is.
    pub(crate) best: String,
    /// The words of the legend for the mark of a doubtful number; empty where none is.
    pub(crate) doubt: String,
}

/// A row of a heat map.
#[derive(Debug, Clone)]
pub(crate) struct HeatRow {
    /// Its value.
    pub(crate) label: String,
    /// A cell for each column; `None` where nothing is known.
    pub(crate) cells: Vec<Option<HeatCell>>,
}

/// A cell of a heat map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeatCell {
    /// The number.
    pub(crate) value: f64,
    /// What is written in front of it.
    pub(crate) mark: &'static str,
    /// Whether it is framed.
    pub(crate) is_best: bool,
}

/// Up to so many cells their numbers are written into them.
const MOST_NUMBERS: usize = 200;
/// No cell is larger: a map of four cells need not fill the page.
const LARGEST: (f64, f64) = (120.0, 40.0);
/// All rows together are about as high.
const ROOM: f64 = 400.0;
/// Steps of the colour scale.
const SHADES: u32 = 48;
/// The colour scale is so long, and so high.
const SCALE: (f64, f64) = (300.0, 14.0);
/// The frame of a cell in the legend with the room behind it.
const SAMPLE: f64 = 32.0;

impl HeatMap {
    /// The map as a piece of a page, which provides the ground.
    pub(crate) fn to_html(&self) -> Markup {
        for_both(|width| Drawn::new(self, width).to_svg())
    }

    /// From 0 to 1.
    fn place(&self, value: f64) -> f64 {
        Scale::new(self.range.0, self.range.1, 0.0, 1.0, self.spacing).place(value)
    }

    fn number(&self, cell: &HeatCell) -> String {
        format!("{}{}", cell.mark, (self.digits)(cell.value / self.unit))
    }

    /// What a reader sees who points at a cell.
    fn describe(&self, row: &HeatRow, column: usize, cell: &HeatCell) -> String {
        format!(
            "{} {}, {} {}: {}{}",
            self.y_title,
            row.label,
            self.x_title,
            self.columns.get(column).map_or("", String::as_str),
            cell.mark,
            (self.write)(cell.value)
        )
    }
}

/// A map with its measures.
struct Drawn<'a> {
    map: &'a HeatMap,
    width: f64,
    headings: Markup,
    left: f64,
    top: f64,
    cell: (f64, f64),
}

impl<'a> Drawn<'a> {
    fn new(map: &'a HeatMap, width: f64) -> Self {
        let (headings, y) = headings(&map.title, &map.subtitle, width);
        let left = widest(map.rows.iter().map(|row| row.label.as_str())) + 12.0;
        let across = (width - left - 2.0) / map.columns.len().max(1) as f64;
        let down = ROOM / map.rows.len().max(1) as f64;
        let cell = (across.min(LARGEST.0), down.min(LARGEST.1));
        Self { map, width, headings, left, top: y + LINE + 10.0, cell }
    }

    fn bottom(&self) -> f64 {
        self.top + self.cell.1 * self.map.rows.len() as f64
    }

    /// Left edge of a column.
    fn x(&self, column: usize) -> f64 {
        self.left + self.cell.0 * column as f64
    }

    /// Top edge of a row.
    fn y(&self, row: usize) -> f64 {
        self.bottom() - self.cell.1 * (row + 1) as f64
    }

    fn to_svg(&self) -> Markup {
        let columns = self.map.columns.iter().enumerate();
        // Beside many columns, each narrower than its label, the last label ends with the picture.
        let place = |n: usize, text: &str| {
            (self.x(n) + self.cell.0 / 2.0).min(self.width - text_width(text) / 2.0)
        };
        let columns = columns.map(|(n, text)| (place(n, text), text.clone()));
        let below = Below::numbers(columns.collect());
        let scale = self.bottom() + below.height + 2.0 * LINE + 12.0;
        let (legend, end) = self.legend(scale + SCALE.1 + LINE + 26.0);
        let middle = f64::midpoint(self.left, self.x(self.map.columns.len()));
        let title_half = text_width(&self.map.x_title) / 2.0;
        let body = html! {
            (self.headings)
            (label("", Anchor::Start, 0.0, self.top - 10.0, &format!("↑ {}", self.map.y_title)))
            (self.cells())
            (below.to_svg(self.bottom()))
            (self.row_labels())
            (label("", Anchor::Middle, middle.max(title_half), self.bottom() + below.height + LINE, &self.map.x_title))
            (self.color_scale(scale))
            (legend)
        };
        let name = format!("{}. {}", self.map.title, self.map.subtitle);
        svg(self.width, end, &name, "", &body)
    }

    fn cells(&self) -> Markup {
        let has_numbers = self.numbers_fit();
        let (width, height) = self.cell;
        let all = || {
            self.map.rows.iter().enumerate().flat_map(|(row, of_row)| {
                let cells = of_row.cells.iter().enumerate();
                cells.filter_map(move |(column, cell)| Some((row, of_row, column, cell.as_ref()?)))
            })
        };
        let color = |cell: &HeatCell| self.map.shades.at(self.map.place(cell.value));
        html! {
            g class="cells" { @for (row, of_row, column, cell) in all() {
                rect style={ "fill:" (hex(color(cell))) } x=(px(self.x(column))) y=(px(self.y(row)))
                    width=(format!("{width:.2}")) height=(format!("{height:.2}")) {
                    title { (self.map.describe(of_row, column, cell)) }
                }
            } }
            @for (row, _, column, cell) in all() {
                @if cell.is_best { (frame(self.x(column), self.y(row), width, height)) }
                @if has_numbers {
                    text font-size="12" text-anchor="middle" x=(px(self.x(column) + width / 2.0)) y=(px(self.y(row) + height / 2.0 + 4.0))
                        style={ "fill:" (ink_on(color(cell))) ";pointer-events:none" @if cell.is_best { ";font-weight:700" } } {
                        (self.map.number(cell))
                    }
                }
            }
        }
    }

    /// Whether there are few enough, and none is wider than its cell.
    fn numbers_fit(&self) -> bool {
        let all = self.map.rows.len() * self.map.columns.len();
        let cells = self.map.rows.iter().flat_map(|row| &row.cells).flatten();
        let longest = cells.map(|cell| text_width(&self.map.number(cell))).fold(0.0, f64::max);
        all <= MOST_NUMBERS && longest <= self.cell.0 && self.cell.1 >= FONT + 1.0
    }

    /// The values of the rows; one that would cover the one before it is left out.
    fn row_labels(&self) -> Markup {
        let mut last = f64::INFINITY;
        let mut labels = Vec::new();
        for (row, of_row) in self.map.rows.iter().enumerate() {
            let y = self.y(row) + self.cell.1 / 2.0 + 4.0;
            if last - y >= FONT + 3.0 {
                last = y;
                labels.push((y, &of_row.label));
            }
        }
        html! { @for (y, text) in labels { (label("soft", Anchor::End, self.left - 8.0, y, text)) } }
    }

    /// The colour scale with its numbers, below its title.
    fn color_scale(&self, y: f64) -> Markup {
        let (low, high) = self.map.range;
        let scale = Scale::new(low, high, 0.0, SCALE.0, self.map.spacing);
        let step = SCALE.0 / f64::from(SHADES);
        let ticks: Vec<(f64, String)> = scale
            .ticks(if self.map.spacing.is_log() { 9 } else { 4 })
            .into_iter()
            .filter(|tick| scale.contains(*tick))
            .map(|tick| (scale.place(tick), (self.map.write)(tick)))
            .map(|(x, text)| (x.max(text_width(&text) / 2.0), text))
            .collect();
        let title = if self.map.spacing.is_log() {
            format!("{}, logarithmic", self.map.shades_title)
        } else {
            self.map.shades_title.clone()
        };
        html! {
            (label("soft", Anchor::Start, 0.0, y - 8.0, &title))
            g class="cells" { @for shade in 0..SHADES {
                @let color = self.map.shades.at((f64::from(shade) + 0.5) / f64::from(SHADES));
                // A little wider, so that no gap shines through.
                rect style={ "fill:" (hex(color)) } x=(px(step * f64::from(shade))) y=(px(y)) width=(format!("{:.2}", step + 0.3)) height=(px(SCALE.1)) {}
            } }
            (Below::numbers(ticks).to_svg(y + SCALE.1))
        }
    }

    /// The legend from this height on, and where it ends.
    fn legend(&self, y: f64) -> (Markup, f64) {
        let entries = [(true, &self.map.best), (false, &self.map.doubt)];
        let entries: Vec<(bool, &String)> =
            entries.into_iter().filter(|(_, words)| !words.is_empty()).collect();
        let before = |is_best: bool| if is_best { SAMPLE } else { 0.0 };
        let widths: Vec<f64> =
            entries.iter().map(|(best, words)| before(*best) + text_width(words)).collect();
        let places = flowed(&widths, self.width);
        let at = |line: usize| y + LINE * line as f64;
        let drawn = html! {
            @for ((is_best, words), (x, line)) in entries.iter().zip(&places) {
                @if *is_best { (frame(*x, at(*line) - 12.0, 24.0, 15.0)) }
                (label("soft", Anchor::Start, x + before(*is_best), at(*line), words))
            }
        };
        let lines = places.last().map_or(0, |(_, line)| line + 1);
        (drawn, y + LINE * lines as f64 - 10.0)
    }
}

/// A frame that is seen on every colour: the ink's, with the ground's inside.
fn frame(x: f64, y: f64, width: f64, height: f64) -> Markup {
    let rect = |class: &str, inset: f64| {
        let (width, height) = ((width - 2.0 * inset).max(0.0), (height - 2.0 * inset).max(0.0));
        html! {
            rect class=(class) x=(px(x + inset)) y=(px(y + inset)) width=(px(width)) height=(px(height)) {}
        }
    };
    html! { (rect("best", 1.5)) (rect("halo", 3.5)) }
}

#[cfg(test)]
mod tests {
    use super::super::layout::NARROW;
    use super::*;

    /// The numbers below the columns, as `x` and the text.
    fn below(map: &HeatMap) -> Vec<(f64, String)> {
        let html = Drawn::new(map, NARROW).to_svg().into_string();
        let labels = html.split("<text class=\"soft\" text-anchor=\"middle\" x=\"").skip(1);
        let parsed = labels.filter_map(|label| {
            let (x, rest) = label.split_once('"')?;
            let text = rest.split_once('>')?.1.split_once('<')?.0;
            Some((x.parse().ok()?, text.to_owned()))
        });
        parsed.collect()
    }

    #[test]
    fn the_last_of_many_columns_has_its_number_inside_the_picture() {
        for count in (2..600).step_by(7) {
            let columns: Vec<String> = (0..count).map(|n| (1200 + 2 * n).to_string()).collect();
            let cell = HeatCell { value: 1.0, mark: "", is_best: false };
            let map = HeatMap {
                title: "goodput".to_owned(),
                subtitle: String::new(),
                x_title: "MSS".to_owned(),
                y_title: "window".to_owned(),
                rows: vec![HeatRow { label: "16 KiB".to_owned(), cells: vec![Some(cell); count] }],
                columns,
                shades: Shades::Goodput,
                shades_title: "goodput".to_owned(),
                range: (0.0, 1.0),
                spacing: Spacing::Linear,
                write: |value| value.to_string(),
                unit: 1.0,
                digits: |value| value.to_string(),
                best: String::new(),
                doubt: String::new(),
            };
            let labels = below(&map);
            assert!(labels.len() > 1, "{labels:?}");
            for (x, text) in labels {
                assert!(x + text_width(&text) / 2.0 <= NARROW + 0.1, "{count}: {text} at {x}");
            }
        }
    }
}
