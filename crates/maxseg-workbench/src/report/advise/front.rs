//! Goodput against round trip under load: a picture in text and one in SVG.

use std::fmt::Write as _;

use maxseg_core::advise::{Advised, Change, FrontPoint};
use maxseg_core::units::approx;

use super::super::escaped::Escaped;

/// Size of the picture in text.
const ROWS: usize = 10;

/// Where the values of some points lie between 0 and 1, by their logarithms.
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let logs = values.map(|value| value.max(1e-12).ln());
        let low = logs.clone().fold(f64::INFINITY, f64::min);
        let high = logs.fold(f64::NEG_INFINITY, f64::max);
        // One value has a place too.
        if high - low < 0.1 {
            Self { low: low - 0.05, high: high + 0.05 }
        } else {
            Self { low, high }
        }
    }

    fn place(&self, value: f64) -> f64 {
        ((value.max(1e-12).ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
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
    let (most, least) = (rate(advised, rates.high.exp()), rate(advised, rates.low.exp()));
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
    let (short, long) = (approx::time(pings.low.exp()), approx::time(pings.high.exp()));
    let gap = columns.saturating_sub(short.len() + long.len());
    let _ = writeln!(text, "   {:>12} +{}", "", "-".repeat(columns));
    let _ = writeln!(text, "   {:>12}  {short}{}{long}", "", " ".repeat(gap));
    text + "   goodput over round trip under load: o as it is, * advised, + on the front, . others\n"
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

/// The measures of the picture.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 340.0;

/// The picture as SVG; empty below two points.
pub fn front_svg(advised: &Advised) -> String {
    let points = marked(advised);
    if points.len() < 2 {
        return String::new();
    }
    let (pings, rates) = spans(&points);
    let x = |point: &FrontPoint| LEFT + (RIGHT - LEFT) * pings.place(point.ping_s);
    let y = |point: &FrontPoint| BOTTOM - (BOTTOM - TOP) * rates.place(point.rate);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Goodput over round trip under load\" font-family=\"sans-serif\" font-size=\"13\" fill=\"currentColor\">\n\
         <line x1=\"{LEFT}\" y1=\"{BOTTOM}\" x2=\"{RIGHT}\" y2=\"{BOTTOM}\" stroke=\"currentColor\"/>\n\
         <line x1=\"{LEFT}\" y1=\"{TOP}\" x2=\"{LEFT}\" y2=\"{BOTTOM}\" stroke=\"currentColor\"/>\n"
    );
    let mut label = |x: f64, y: f64, anchor: &str, words: &str| {
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            Escaped(words)
        );
    };
    label(LEFT - 8.0, TOP + 4.0, "end", &rate(advised, rates.high.exp()));
    label(LEFT - 8.0, BOTTOM, "end", &rate(advised, rates.low.exp()));
    label(LEFT, BOTTOM + 20.0, "start", &approx::time(pings.low.exp()));
    label(RIGHT, BOTTOM + 20.0, "end", &approx::time(pings.high.exp()));
    label(f64::midpoint(LEFT, RIGHT), BOTTOM + 40.0, "middle", "round trip under load");
    label(
        LEFT,
        TOP - 16.0,
        "start",
        if advised.is_requests { "requests per second" } else { "goodput" },
    );
    let mut on_front: Vec<&FrontPoint> =
        points.iter().map(|(point, _)| *point).filter(|point| point.is_on_front).collect();
    on_front.sort_by(|a, b| a.ping_s.total_cmp(&b.ping_s));
    let line: Vec<String> =
        on_front.iter().map(|point| format!("{:.1},{:.1}", x(point), y(point))).collect();
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#2a78d6\" stroke-width=\"1.5\"/>",
        line.join(" ")
    );
    for (point, mark) in &points {
        let (radius, fill) = match mark {
            '*' => (7.0, "#2a78d6"),
            'o' => (6.0, "#e34948"),
            '+' => (4.0, "#2a78d6"),
            _ => (3.0, "#8a8a86"),
        };
        let changes = Change::describe_all(&point.changes, "as it is");
        let title =
            format!("{changes}: {}, {}", rate(advised, point.rate), approx::time(point.ping_s));
        let _ = writeln!(
            text,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{fill}\"><title>{}</title></circle>",
            x(point),
            y(point),
            Escaped(&title)
        );
    }
    text + "</svg>\n"
}
