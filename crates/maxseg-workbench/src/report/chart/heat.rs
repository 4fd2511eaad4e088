//! A heat map: two axes of numbers, and a third number as colour and in words.

use std::fmt::Write as _;

use super::super::escaped::Escaped;
use super::figure::{CHARACTER, LEFT, RIGHT, Spacing, TOP, WIDTH};
use super::palette::viridis;
use super::scale::Scale;
use super::svg::base_style;

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
/// Steps of the colour bar.
const SHADES: u32 = 48;
/// A colour bar is at least as high.
const LEAST_BAR: f64 = 120.0;

impl HeatMap {
    /// The map as an SVG element of a page, which provides the ground.
    pub(crate) fn to_svg(&self) -> String {
        let height = self.bottom().max(TOP + LEAST_BAR) + 88.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
             aria-label=\"{0}. {1}\" class=\"chart\"><style>{2}.chart .best{{fill:none;stroke:var(--ink);\
             stroke-width:3}}.chart .halo{{fill:none;stroke:var(--ground);stroke-width:1}}</style>\
             <text class=\"title\" x=\"{LEFT}\" y=\"30\">{0}</text>\
             <text class=\"soft\" x=\"{LEFT}\" y=\"52\">{1}</text>",
            Escaped(&self.title),
            Escaped(&self.subtitle),
            base_style("", "")
        );
        svg += &self.cells();
        svg += &self.labels();
        svg += &self.bar();
        svg += &self.legend(height - 16.0);
        svg += "</svg>\n";
        svg
    }

    fn cell_width(&self) -> f64 {
        ((RIGHT - LEFT) / self.columns.len().max(1) as f64).min(LARGEST.0)
    }

    fn cell_height(&self) -> f64 {
        (ROOM / self.rows.len().max(1) as f64).min(LARGEST.1)
    }

    fn bottom(&self) -> f64 {
        TOP + self.cell_height() * self.rows.len() as f64
    }

    /// Left edge of a column.
    fn x(&self, column: usize) -> f64 {
        LEFT + self.cell_width() * column as f64
    }

    /// Top edge of a row.
    fn y(&self, row: usize) -> f64 {
        self.bottom() - self.cell_height() * (row + 1) as f64
    }

    fn known(&self) -> impl Iterator<Item = &HeatCell> {
        self.rows.iter().flat_map(|row| &row.cells).flatten()
    }

    /// The least and the largest number, on a logarithmic scale above zero.
    fn range(&self) -> (f64, f64) {
        let values = self.known().map(|cell| cell.value);
        let values = values.filter(|value| !self.spacing.is_log() || *value > 0.0);
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
        match self.spacing.is_log() {
            _ if low < high => (low, high),
            // Of a single value, or of none.
            true => (high.max(1.0) / 2.0, high.max(1.0) * 2.0),
            false => (0.0, high.max(1.0)),
        }
    }

    /// From 0 to 1.
    fn shades(&self) -> Scale {
        let (low, high) = self.range();
        Scale::new(low, high, 0.0, 1.0, self.spacing)
    }

    fn cells(&self) -> String {
        let shades = self.shades();
        let (width, height) = (self.cell_width(), self.cell_height());
        let has_numbers = self.numbers_fit();
        let (mut ground, mut frames) = (String::new(), String::new());
        for (row, of_row) in self.rows.iter().enumerate() {
            for (column, cell) in of_row.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let (x, y) = (self.x(column), self.y(row));
                let color = viridis(shades.place(cell.value));
                let _ = write!(
                    ground,
                    "<rect style=\"fill:{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.2}\"><title>{}</title></rect>",
                    hex(color),
                    Escaped(&self.describe(of_row, column, cell))
                );
                if cell.is_best {
                    frames += &frame(x, y, width, height);
                }
                if has_numbers {
                    let _ = write!(
                        frames,
                        "<text font-size=\"12\" text-anchor=\"middle\" style=\"fill:{};pointer-events:none{}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                        ink_on(color),
                        if cell.is_best { ";font-weight:700" } else { "" },
                        x + width / 2.0,
                        y + height / 2.0 + 4.0,
                        self.number(cell)
                    );
                }
            }
        }
        ground + &frames
    }

    fn number(&self, cell: &HeatCell) -> String {
        format!("{}{}", cell.mark, (self.digits)(cell.value / self.unit))
    }

    /// Whether there are few enough, and none is wider than its cell.
    fn numbers_fit(&self) -> bool {
        let all = self.rows.len() * self.columns.len();
        let longest = self.known().map(|cell| self.number(cell).chars().count()).max();
        let width = CHARACTER * longest.unwrap_or(0) as f64;
        all <= MOST_NUMBERS && width <= self.cell_width() && self.cell_height() >= 14.0
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

    /// The values along both axes; one that would cover the one before it is left out.
    fn labels(&self) -> String {
        let bottom = self.bottom();
        let mut text = String::new();
        let mut end_of_last = f64::NEG_INFINITY;
        for (column, label) in self.columns.iter().enumerate() {
            let x = self.x(column) + self.cell_width() / 2.0;
            let half = CHARACTER * label.chars().count() as f64 / 2.0;
            if x - half < end_of_last + CHARACTER {
                continue;
            }
            end_of_last = x + half;
            let _ = write!(
                text,
                "<text class=\"soft\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                bottom + 18.0,
                Escaped(label)
            );
        }
        let mut last = f64::INFINITY;
        for (row, of_row) in self.rows.iter().enumerate() {
            let y = self.y(row) + self.cell_height() / 2.0 + 4.0;
            if last - y < 15.0 {
                continue;
            }
            last = y;
            let _ = write!(
                text,
                "<text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{y:.1}\">{}</text>",
                LEFT - 8.0,
                Escaped(&of_row.label)
            );
        }
        let _ = write!(
            text,
            "<text text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            f64::midpoint(LEFT, self.x(self.columns.len())),
            bottom + 40.0,
            Escaped(&self.x_title),
            LEFT,
            TOP - 12.0,
            Escaped(&format!("↑ {}", self.y_title)),
        );
        text
    }

    /// The colour bar with its numbers.
    fn bar(&self) -> String {
        let (low, high) = self.range();
        let bottom = self.bottom().max(TOP + LEAST_BAR);
        let scale = Scale::new(low, high, bottom, TOP, self.spacing);
        let x = self.x(self.columns.len()) + 22.0;
        let step = (bottom - TOP) / f64::from(SHADES);
        let mut text = String::new();
        for shade in 0..SHADES {
            let share = (f64::from(shade) + 0.5) / f64::from(SHADES);
            let _ = write!(
                text,
                "<rect style=\"fill:{}\" x=\"{x:.1}\" y=\"{:.2}\" width=\"16\" height=\"{:.2}\"/>",
                hex(viridis(share)),
                bottom - step * f64::from(shade + 1),
                step + 0.3 // so that no gap shines through
            );
        }
        for tick in scale.ticks(6).into_iter().filter(|tick| scale.contains(*tick)) {
            let y = scale.place(tick);
            let _ = write!(
                text,
                "<path class=\"grid\" d=\"M{:.1} {y:.1}h4\"/><text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 16.0,
                x + 24.0,
                y + 4.0,
                Escaped(&(self.write)(tick))
            );
        }
        text
    }

    fn legend(&self, y: f64) -> String {
        let mut text = String::new();
        let mut x = LEFT;
        if !self.best.is_empty() {
            text += &frame(x, y - 12.0, 24.0, 15.0);
            let _ = write!(
                text,
                "<text class=\"soft\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                x + 32.0,
                Escaped(&self.best)
            );
            x += 32.0 + CHARACTER * self.best.chars().count() as f64 + 26.0;
        }
        if !self.doubt.is_empty() {
            let words = Escaped(&self.doubt);
            let _ = write!(text, "<text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>");
        }
        text
    }
}

/// A frame that is seen on every colour: the ink's, with the ground's inside.
fn frame(x: f64, y: f64, width: f64, height: f64) -> String {
    let rect = |class: &str, inset: f64| {
        format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            x + inset,
            y + inset,
            (width - 2.0 * inset).max(0.0),
            (height - 2.0 * inset).max(0.0)
        )
    };
    rect("best", 1.5) + &rect("halo", 3.5)
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Black or white, whichever is read more easily there (WCAG 2's relative luminance).
fn ink_on((r, g, b): (u8, u8, u8)) -> &'static str {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    // Where black's contrast (L + 0.05) / 0.05 equals white's 1.05 / (L + 0.05).
    if luminance > 0.179 { "#000000" } else { "#ffffff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_on_every_colour() {
        assert_eq!(ink_on(viridis(0.0)), "#ffffff");
        assert_eq!(ink_on(viridis(1.0)), "#000000");
    }
}
