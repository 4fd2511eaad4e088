//! Goodput against round trip under load: a picture in text and one for a page.

use std::fmt::Write as _;

use maxseg_core::advise::{Advised, FrontPoint};
use maxseg_core::units::approx;

use super::super::across::LOG_FROM;
use super::super::chart::{Axis, Chart, Legend, Line, Order, Point, Series, Spacing};
use super::super::words;

/// Size of the picture in text.
const ROWS: usize = 10;

/// Where the values of some points lie between 0 and 1, by their logarithms.
struct Span {
    low: f64,
    high: f64,
    /// Whether there is a zero, which no logarithm has: it has the lowest place.
    has_zero: bool,
}

/// So far below the least of the others is a zero.
const BELOW_LEAST: f64 = 10.0;

impl Span {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let logs = values.clone().filter(|value| *value > 0.0).map(f64::ln);
        let has_zero = values.into_iter().any(|value| value <= 0.0);
        let least = logs.clone().reduce(f64::min).unwrap_or(0.0);
        let low = if has_zero { least - BELOW_LEAST.ln() } else { least };
        let high = logs.reduce(f64::max).unwrap_or(0.0);
        // One value has a place too.
        if high - low < 0.1 {
            Self { low: low - 0.05, high: high + 0.05, has_zero }
        } else {
            Self { low, high, has_zero }
        }
    }

    fn place(&self, value: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        ((value.ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// What stands at the lowest place.
    fn least(&self) -> f64 {
        if self.has_zero { 0.0 } else { self.low.exp() }
    }
}

/// Points with their marks: that of the path as it is, that advised, and the others.
fn marked(advised: &Advised) -> Vec<(&FrontPoint, char)> {
    let mut points: Vec<(&FrontPoint, char)> = advised
        .points
        .iter()
        .map(|point| {
            let mark = match point {
                point if point.changes.is_empty() => 'o',
                point if advised.is_best(&point.changes) => '*',
                point if point.is_on_front => '+',
                _ => '.',
            };
            (point, mark)
        })
        .collect();
    // What is drawn last is seen.
    points.sort_by_key(|(_, mark)| ".+o*".find(*mark));
    points
}

fn rate(advised: &Advised, value: f64) -> String {
    if advised.is_requests { format!("{}/s", approx::digits(value)) } else { approx::rate(value) }
}

/// The picture in text: round trip under load to the right, goodput upwards, both by factors. Empty below two points.
pub fn front_text(advised: &Advised, width: usize) -> String {
    let points = marked(advised);
    if points.len() < 2 {
        return String::new();
    }
    let (pings, rates) = spans(&points);
    let columns = width.saturating_sub(20).clamp(20, 64);
    let mut grid = vec![vec![' '; columns]; ROWS];
    for (point, mark) in &points {
        let column = index(pings.place(point.ping_s), columns);
        let row = ROWS - 1 - index(rates.place(point.rate), ROWS);
        grid[row][column] = *mark;
    }
    let (most, least) = (rate(advised, rates.high.exp()), rate(advised, rates.least()));
    let mut text = String::new();
    for (number, line) in grid.iter().enumerate() {
        let label = match number {
            0 => most.as_str(),
            number if number == ROWS - 1 => least.as_str(),
            _ => "",
        };
        let line: String = line.iter().collect();
        let _ = writeln!(text, "   {label:>12} |{}", line.trim_end());
    }
    let (short, long) = (approx::time(pings.least()), approx::time(pings.high.exp()));
    let gap = columns.saturating_sub(short.len() + long.len());
    let _ = writeln!(text, "   {:>12} +{}", "", "-".repeat(columns));
    let _ = writeln!(text, "   {:>12}  {short}{}{long}", "", " ".repeat(gap));
    text + "   goodput over ping under load: o as it is, * advised, + on the front, . others\n"
}

fn spans(points: &[(&FrontPoint, char)]) -> (Span, Span) {
    (
        Span::of(points.iter().map(|(point, _)| point.ping_s)),
        Span::of(points.iter().map(|(point, _)| point.rate)),
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a small count"
)]
fn index(share: f64, count: usize) -> usize {
    ((share * (count - 1) as f64).round() as usize).min(count - 1)
}

/// The picture for a page; `None` below two points.
pub(super) fn front_chart(advised: &Advised) -> Option<Chart> {
    if advised.points.len() < 2 {
        return None;
    }
    let place = |point: &FrontPoint| Point { x: point.ping_s, y: point.rate, half: 0.0 };
    let of = |wanted: &str| {
        let points = marked(advised).into_iter().filter(|(_, mark)| wanted.contains(*mark));
        points.map(|(point, _)| vec![place(point)]).collect::<Line>()
    };
    let mut front: Vec<Point> =
        advised.points.iter().filter(|point| point.is_on_front).map(place).collect();
    front.sort_by(|a, b| a.x.total_cmp(&b.x));
    let none =
        Series { label: String::new(), solid: Vec::new(), dashed: Vec::new(), crosses: Vec::new() };
    let called = |label: &str| Series { label: label.to_owned(), ..none.clone() };
    let axis = |title: &str, write, of: fn(&FrontPoint) -> f64| {
        let values = || advised.points.iter().map(of);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let is_wide = least > 0.0 && most > LOG_FROM * least;
        let spacing = if is_wide { Spacing::Log(10) } else { Spacing::Linear };
        Axis { title: title.to_owned(), spacing, ticks: Vec::new(), write }
    };
    let per_second: fn(f64) -> String = |rate| format!("{}/s", approx::digits(rate));
    let (rate, write) = if advised.is_requests {
        ("requests per second", per_second)
    } else {
        ("goodput", approx::rate as fn(f64) -> String)
    };
    // What is drawn last is seen.
    let all = [
        Series { solid: vec![front], ..called("front") },
        Series { solid: of("."), ..called("others") },
        Series { crosses: of("o"), ..called("as it is (cross)") },
        Series { dashed: of("*"), ..called("advised (diamond)") },
    ];
    Some(Chart {
        title: format!("{} against round trip under load", words::capital(rate)),
        subtitle: "each point is a choice of settings; nothing is better in both than the front"
            .to_owned(),
        x: axis("round trip under load", approx::time, |point| point.ping_s),
        y: axis(rate, write, |point| point.rate),
        series_title: String::new(),
        series: all.into_iter().filter(|series| series.points().next().is_some()).collect(),
        order: Order::None,
        marks: Vec::new(),
        marks_title: String::new(),
        legend: Legend::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(rates: &[f64]) -> String {
        let point = |(number, rate): (usize, &f64)| FrontPoint {
            changes: Vec::new(),
            rate: *rate,
            ping_s: 0.01 * (number + 1) as f64,
            is_on_front: false,
        };
        let points = rates.iter().enumerate().map(point).collect();
        front_text(&Advised { points, ..Advised::default() }, 80)
    }

    /// Nothing gets through a black hole, and no logarithm has a place for that.
    #[test]
    fn nothing_stands_at_the_lowest_place_as_nothing() {
        let text = text_of(&[0.0, 40e6, 48e6]);
        assert!(text.contains("\n        0 bit/s |"), "{text}");
        let frame = |line: &str| line.find(['|', '+']);
        let rows: Vec<_> = text.lines().take(ROWS + 1).map(frame).collect();
        assert!(rows.iter().all(|at| *at == rows[0]), "{text}");
        assert!(!text_of(&[40e6, 48e6]).contains(" 0 bit/s"));
    }
}
