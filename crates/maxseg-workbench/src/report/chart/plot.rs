//! The part between the axes: ticks, marks, bands, curves or points, labels.

use std::fmt::Write as _;

use super::super::escaped::Escaped;
use super::figure::{
    BOTTOM, CHARACTER, Chart, LEFT, Point, RIGHT, Series, Spacing, TOP, Tick, bar, cross, diamond,
};
use super::scale::{Scale, padded};

/// A chart with its scales.
pub(super) struct Plot<'a> {
    chart: &'a Chart,
    x: Scale,
    y: Scale,
}

/// How many ticks an axis has about, where they lie at round numbers.
const TICKS: usize = 9;

impl<'a> Plot<'a> {
    pub(super) fn new(chart: &'a Chart) -> Self {
        let (x_low, x_high) = match chart.x.spacing {
            Spacing::Categories => (-0.5, chart.x.ticks.len() as f64 - 0.5),
            Spacing::Linear | Spacing::FromZero | Spacing::Log(_) => {
                padded(chart.points().map(|point| point.x), chart.x.spacing)
            }
        };
        let ys = chart.points().flat_map(|p| [p.y - p.half, p.y, p.y + p.half]);
        // A band may reach below zero; a logarithmic axis must not follow it into nothing.
        let positive = chart.points().map(|point| point.y).filter(|y| *y > 0.0);
        let least = positive.fold(f64::INFINITY, f64::min);
        let ys = ys.map(|y| if chart.y.spacing.is_log() { y.max(least / 2.0) } else { y });
        let (y_low, y_high) = padded(ys, chart.y.spacing);
        Self {
            chart,
            x: Scale::new(x_low, x_high, LEFT, RIGHT, chart.x.spacing),
            y: Scale::new(y_low, y_high, BOTTOM, TOP, chart.y.spacing),
        }
    }

    pub(super) fn to_svg(&self) -> String {
        let content = if self.chart.is_categorical() {
            self.dots_with_bars()
        } else {
            self.bands() + &self.curves()
        };
        [self.marks(), self.axes(), content, self.labels()].concat()
    }

    fn axes(&self) -> String {
        let mut text = String::new();
        for tick in self.y.ticks(TICKS) {
            let y = self.y.place(tick);
            let _ = write!(
                text,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                Escaped(&(self.chart.y.write)(tick))
            );
        }
        for (x, label) in self.x_ticks() {
            let _ = write!(
                text,
                "<path class=\"grid\" d=\"M{x:.1} {BOTTOM}v5\"/><text class=\"soft\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{}</text>",
                BOTTOM + 20.0,
                Escaped(&label)
            );
        }
        let _ = write!(
            text,
            "<path class=\"grid\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/><text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\
             <text text-anchor=\"middle\" transform=\"translate(20 {}) rotate(-90)\">{}</text>",
            f64::midpoint(LEFT, RIGHT),
            BOTTOM + 40.0,
            Escaped(&self.chart.x.title),
            f64::midpoint(TOP, BOTTOM),
            Escaped(&self.chart.y.title)
        );
        text
    }

    /// Places and labels of the horizontal axis; a label that would cover the one before it is left
    /// out.
    fn x_ticks(&self) -> Vec<(f64, String)> {
        let write = |at: f64| Tick { at, label: (self.chart.x.write)(at) };
        let ticks = match self.chart.x.ticks.as_slice() {
            [] => self.x.ticks(TICKS).into_iter().map(write).collect(),
            given => given.to_vec(),
        };
        let mut end_of_last = f64::NEG_INFINITY;
        ticks
            .into_iter()
            .map(|tick| {
                let x = self.x.place(tick.at);
                let half = CHARACTER * tick.label.chars().count() as f64 / 2.0;
                if x - half < end_of_last + CHARACTER {
                    return (x, String::new());
                }
                end_of_last = x + half;
                (x, tick.label)
            })
            .collect()
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
                Escaped(&mark.label)
            );
        }
        text
    }

    fn bands(&self) -> String {
        let mut text = String::new();
        for (index, series) in self.chart.series.iter().enumerate() {
            let wide =
                |piece: &&Vec<Point>| piece.len() > 1 && piece.iter().any(|point| point.half > 0.0);
            for piece in series.solid.iter().filter(wide) {
                let place =
                    |x: f64, y: f64| format!("{:.1} {:.1}", self.x.place(x), self.y.place(y));
                let upper = piece.iter().map(|point| place(point.x, point.y + point.half));
                let lower = piece.iter().rev().map(|point| place(point.x, point.y - point.half));
                let outline: Vec<String> = upper.chain(lower).collect();
                let _ =
                    write!(text, "<path class=\"band f{index}\" d=\"M{}Z\"/>", outline.join("L"));
            }
        }
        text
    }

    fn curves(&self) -> String {
        let mut text = String::new();
        for (index, series) in self.chart.series.iter().enumerate() {
            for (class, line) in [("dash", &series.dashed), ("curve", &series.solid)] {
                for piece in line.iter().filter(|piece| piece.len() > 1) {
                    let path = self.path(piece);
                    let _ = write!(text, "<path class=\"{class} c{index}\" d=\"{path}\"/>");
                }
            }
            // A piece of one point has no line to be seen by.
            for point in series.dashed.iter().filter(|piece| piece.len() == 1).flatten() {
                text += &self.hollow(index, self.x.place(point.x), series, point);
            }
            for point in series.solid.iter().flatten() {
                text += &self.dot(index, self.x.place(point.x), series, point);
            }
            for point in series.crosses.iter().flatten() {
                text += &self.cross(index, self.x.place(point.x), series, point);
            }
        }
        text
    }

    /// Over categories: side by side, each with its interval, the second engine's hollow.
    fn dots_with_bars(&self) -> String {
        let mut text = String::new();
        for (index, series) in self.chart.series.iter().enumerate() {
            let aside = self.aside(index);
            for point in series.solid.iter().flatten() {
                let x = self.x.place(point.x) + aside;
                if point.half > 0.0 {
                    let (from, to) =
                        (self.y.place(point.y - point.half), self.y.place(point.y + point.half));
                    let _ =
                        write!(text, "<path class=\"bar c{index}\" d=\"{}\"/>", bar(x, from, to));
                }
                text += &self.dot(index, x, series, point);
            }
            for point in series.dashed.iter().flatten() {
                let x = self.x.place(point.x) + aside + (self.step() / 3.0).min(9.0);
                text += &self.hollow(index, x, series, point);
            }
            for point in series.crosses.iter().flatten() {
                let x = self.x.place(point.x) + aside - (self.step() / 3.0).min(9.0);
                text += &self.cross(index, x, series, point);
            }
        }
        text
    }

    /// From series to series within a category.
    fn step(&self) -> f64 {
        let room = self.x.place(1.0) - self.x.place(0.0);
        (0.7 * room / self.chart.series.len() as f64).min(28.0)
    }

    /// How far a series' points lie from the middle of their category.
    fn aside(&self, index: usize) -> f64 {
        if !self.chart.is_categorical() {
            return 0.0;
        }
        (index as f64 - (self.chart.series.len() as f64 - 1.0) / 2.0) * self.step()
    }

    fn dot(&self, index: usize, x: f64, series: &Series, point: &Point) -> String {
        format!(
            "<circle class=\"f{index}\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
            self.y.place(point.y),
            Escaped(&self.describe(series, point))
        )
    }

    fn hollow(&self, index: usize, x: f64, series: &Series, point: &Point) -> String {
        format!(
            "<path class=\"hollow c{index}\" d=\"{}\"><title>{}</title></path>",
            diamond(x, self.y.place(point.y)),
            Escaped(&self.describe(series, point))
        )
    }

    /// With its interval, where it has one.
    fn cross(&self, index: usize, x: f64, series: &Series, point: &Point) -> String {
        let mut text = String::new();
        if point.half > 0.0 {
            let [from, to] = [point.y - point.half, point.y + point.half].map(|y| self.y.place(y));
            let _ = write!(text, "<path class=\"bar c{index}\" d=\"{}\"/>", bar(x, from, to));
        }
        let _ = write!(
            text,
            "<path class=\"cross c{index}\" d=\"{}\"><title>{}</title></path>",
            cross(x, self.y.place(point.y)),
            Escaped(&self.describe(series, point))
        );
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
        let written = |tick: &&Tick| (tick.at - point.x).abs() < 1e-9 * point.x.abs().max(1.0);
        let x = match self.chart.x.ticks.iter().find(written) {
            Some(tick) => tick.label.clone(),
            None => (self.chart.x.write)(point.x),
        };
        let y = (self.chart.y.write)(point.y);
        let interval = if point.half > 0.0 {
            format!(" ± {}", (self.chart.y.write)(point.half))
        } else {
            String::new()
        };
        let of = format!("{} {}", self.chart.series_title, series.label);
        format!("{}, {} {x}: {y}{interval}", of.trim(), self.chart.x.title)
    }

    /// Each curve's label at its right end, moved apart where they would cover each other.
    fn labels(&self) -> String {
        let ends = self.chart.series.iter().enumerate().filter_map(|(index, series)| {
            let end = |line: &[Vec<Point>]| line.last()?.last().copied();
            let last = end(&series.solid)
                .or_else(|| end(&series.dashed))
                .or_else(|| end(&series.crosses))?;
            Some((index, self.x.place(last.x) + self.aside(index), self.y.place(last.y)))
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
                Escaped(&self.chart.series_title)
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
                Escaped(label)
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
}
