//! What a chart shows.

use super::palette::Order;

/// A chart: one curve a series, with confidence bands, a second engine beside it, and marks on the
/// horizontal axis; or, over categories, points with bars.
#[derive(Debug, Clone)]
pub struct Chart {
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
    /// What the two kinds of lines or points are, and the band.
    pub legend: Legend,
}

/// The words of the legend; empty for what is not there.
#[derive(Debug, Clone, Default)]
pub struct Legend {
    /// Solid lines with dots; over categories full dots.
    pub solid: String,
    /// Dashed lines; over categories hollow dots.
    pub dashed: String,
    /// Crosses.
    pub crosses: String,
    /// The band around solid lines; over categories the bars.
    pub band: String,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it measures, with its unit.
    pub title: String,
    /// What equal distances are.
    pub spacing: Spacing,
    /// Where to put ticks; at round numbers where there are none.
    pub ticks: Vec<Tick>,
    /// How to write a value on it.
    pub write: fn(f64) -> String,
}

/// What equal distances on an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences.
    Linear,
    /// Equal differences, from zero on.
    FromZero,
    /// Equal factors, with ticks at powers of this number.
    Log(u8),
    /// Nothing: places 0, 1, 2 … are words, the ticks.
    Categories,
}

impl Spacing {
    pub(super) const fn is_log(self) -> bool {
        matches!(self, Self::Log(_))
    }
}

/// A value of an axis and what is written there.
#[derive(Debug, Clone)]
pub struct Tick {
    /// Where.
    pub at: f64,
    /// What.
    pub label: String,
}

/// A curve, or two, and crosses beside them.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its label.
    pub label: String,
    /// The solid line.
    pub solid: Line,
    /// The dashed line.
    pub dashed: Line,
    /// Crosses, without a line.
    pub crosses: Line,
}

/// The pieces of a line, by rising `x`: it has gaps where a value means nothing.
pub type Line = Vec<Vec<Point>>;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
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

impl Series {
    /// Every point of all of them.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.solid.iter().chain(&self.dashed).chain(&self.crosses).flatten()
    }
}

impl Chart {
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(Series::points)
    }

    pub(super) fn is_categorical(&self) -> bool {
        self.x.spacing == Spacing::Categories
    }
}
