//! What a chart shows, and the shapes of its points.

use super::palette::Order;

/// A chart, to be written as SVG: a curve for each series by the simulator, with confidence bands, one by the model beside it, the
/// lab's as crosses, and marks on the horizontal axis; or, over categories, points with intervals.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What it shows.
    pub(crate) title: String,
    /// Below the title: under which conditions.
    pub(crate) subtitle: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// What tells the series apart: the heading of their labels.
    pub(crate) series_title: String,
    /// The curves.
    pub(crate) series: Vec<Series>,
    /// What the series' order means.
    pub(crate) order: Order,
    /// Lines across the chart.
    pub(crate) marks: Vec<Mark>,
    /// What the marks are.
    pub(crate) marks_title: String,
    /// What the two kinds of lines or points are, and the band.
    pub(crate) legend: Legend,
}

/// The words of the legend; empty for what is not there. In pictures of runs a kind of line is that of an engine:
/// solid of the simulator, dashed of the model, crosses of the lab.
#[derive(Debug, Clone, Default)]
pub(crate) struct Legend {
    /// Solid lines with dots; over categories full dots.
    pub(crate) solid: String,
    /// Dashed lines; over categories hollow dots.
    pub(crate) dashed: String,
    /// Crosses.
    pub(crate) crosses: String,
    /// The band around solid lines; over categories the intervals.
    pub(crate) band: String,
}

/// An axis.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// What it measures, with its unit.
    pub(crate) title: String,
    /// What equal distances are.
    pub(crate) spacing: Spacing,
    /// Where to put ticks; at round numbers where there are none.
    pub(crate) ticks: Vec<Tick>,
    /// How to write a value on it.
    pub(crate) write: fn(f64) -> String,
}

/// All of it is lost.
pub(super) const LEAST_GAIN: f64 = -1.0;

/// What equal distances on an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// Equal differences.
    Linear,
    /// Equal differences, from zero on.
    FromZero,
    /// Equal differences of relative gains, from zero on: nothing falls by more than all of it.
    Gains,
    /// Equal factors, with ticks at powers of this number.
    Log(u8),
    /// Nothing: places 0, 1, 2 … are words, the ticks.
    Categories,
}

impl Axis {
    /// A value beside the axis: of gains all are percentages.
    pub(super) fn write_tick(&self, value: f64) -> String {
        if self.spacing == Spacing::Gains && value >= 1.0 {
            return format!("+{:.0}%", 100.0 * value);
        }
        (self.write)(value)
    }

    /// A value with its interval: of gains both of its ends, for they have another notation from a doubling on.
    pub(super) fn write_within(&self, value: f64, half: f64) -> String {
        let text = (self.write)(value);
        if half <= 0.0 {
            return text;
        }
        if self.spacing == Spacing::Gains {
            let [low, high] = self.spacing.ends(value, half).map(self.write);
            return format!("{text} ({low} to {high})");
        }
        format!("{text} ± {}", (self.write)(half))
    }

    /// The title, which says so where equal distances are equal factors.
    pub(crate) fn name(&self) -> String {
        if self.spacing.is_log() {
            format!("{}, logarithmic", self.title)
        } else {
            self.title.clone()
        }
    }
}

impl Spacing {
    pub(super) const fn is_log(self) -> bool {
        matches!(self, Self::Log(_))
    }

    /// The ends of an interval around a value, as far as there are values.
    pub(super) fn ends(self, value: f64, half: f64) -> [f64; 2] {
        let least = if self == Self::Gains { LEAST_GAIN } else { f64::NEG_INFINITY };
        [(value - half).max(least), value + half]
    }
}

/// A value of an axis and what is written there.
#[derive(Debug, Clone)]
pub(crate) struct Tick {
    /// Where.
    pub(crate) at: f64,
    /// What.
    pub(crate) label: String,
}

/// A curve, or two, and crosses beside them.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// Its label.
    pub(crate) label: String,
    /// The solid line.
    pub(crate) solid: Line,
    /// The dashed line.
    pub(crate) dashed: Line,
    /// Crosses, with a thin line where nothing is solid.
    pub(crate) crosses: Line,
}

/// The pieces of a line, by rising `x`: it has gaps where a value means nothing.
pub(crate) type Line = Vec<Vec<Point>>;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Across.
    pub(crate) x: f64,
    /// Up.
    pub(crate) y: f64,
    /// Half the confidence interval of `y`; 0 for none.
    pub(crate) half: f64,
}

/// A line across the chart.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Where.
    pub(crate) x: f64,
    /// Its label.
    pub(crate) label: String,
}

impl Series {
    /// Every point of all of them.
    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> {
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

/// The path of a confidence interval with its ends.
pub(super) fn bar(x: f64, from: f64, to: f64) -> String {
    format!("M{x:.1} {from:.1}V{to:.1}M{0:.1} {from:.1}h8M{0:.1} {to:.1}h8", x - 4.0)
}

/// The path of a dot of this radius: a circle, a square or a triangle, by how often the colours were used up before its series.
pub(super) fn dot(round: usize, x: f64, y: f64, r: f64) -> String {
    match round % 3 {
        0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 -{1} 0", x - r, 2.0 * r),
        1 => format!("M{:.1} {:.1}h{}v{2}h-{2}Z", x - r, y - r, 2.0 * r),
        _ => format!("M{:.1} {:.1}h{}L{x:.1} {:.1}Z", x - r, y + r, 2.0 * r, y - r),
    }
}

/// The path of a small diamond.
pub(super) fn diamond(x: f64, y: f64) -> String {
    format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5Z", y - 5.0)
}

/// The path of a small cross.
pub(super) fn cross(x: f64, y: f64) -> String {
    format!("M{0:.1} {1:.1}l9 9m0 -9l-9 9", x - 4.5, y - 4.5)
}
