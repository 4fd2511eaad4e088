//! What a far end measured, on the page: the window sweep against expectation, and the delay under load.

use std::fmt::Write as _;

use maxseg_core::units::approx;

use super::super::escaped::Escaped;
use crate::path::{DirectionReport, GRADE_RULE, PathReport, UnderLoadRow};

/// Size of a picture, and where its bars begin.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 240.0;
const ROOM: f64 = 520.0;
/// Height of a bar, and from one to the next.
const BAR: f64 = 18.0;
const STEP: f64 = 28.0;
const TOP: f64 = 64.0;

/// A bar: its name, its length in any unit, what stands behind it, and whether it is only expected.
struct Bar {
    name: String,
    length: f64,
    said: String,
    is_expected: bool,
}

/// The parts of a far end; empty without one.
pub(super) fn far_end(report: &PathReport) -> String {
    let mut text = String::new();
    if let Some(test) = &report.rfc6349 {
        for direction in &test.directions {
            let _ = writeln!(text, "<h3>RFC 6349, {}</h3>", Escaped(&direction.direction));
            if let Some(found) = &direction.interpretation {
                let _ = writeln!(text, "<p class=\"prose\">{}.</p>", Escaped(&found.text));
            }
            text += &sweep(direction);
        }
    }
    if !report.under_load.is_empty() {
        text += &delay(&report.under_load);
        let _ = writeln!(text, "<p class=\"prose\">{}.</p>", Escaped(GRADE_RULE));
    }
    text
}

fn sweep(direction: &DirectionReport) -> String {
    let mut bars = Vec::new();
    for step in &direction.sweep {
        let name = format!("{:.0}%, {} bytes", 100.0 * step.of_bdp, step.window_bytes);
        if let Some(expected) = step.expected_bps {
            bars.push(rate(format!("{name}, expected"), expected, true));
        }
        if let Some(run) = &step.run {
            bars.push(rate(format!("{name}, measured"), run.throughput_bps, false));
        }
    }
    let subtitle = "a receive window by the product of bandwidth and delay";
    picture(&format!("Window sweep, {}", direction.direction), subtitle, &bars)
}

fn rate(name: String, bps: f64, is_expected: bool) -> Bar {
    Bar { name, length: bps, said: approx::rate(bps), is_expected }
}

fn delay(rows: &[UnderLoadRow]) -> String {
    let mut bars = Vec::new();
    for row in rows {
        for (name, value) in [("median", row.rtt_median_s), ("99%", row.rtt_p99_s)] {
            let Some(length) = value else { continue };
            let name = format!("{}, {name}", row.load);
            bars.push(Bar { name, length, said: approx::time(length), is_expected: false });
        }
    }
    picture("Delay under load", "round trip of small messages beside bulk data", &bars)
}

fn picture(title: &str, subtitle: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.length).fold(f64::MIN_POSITIVE, f64::max);
    let height = TOP + STEP * bars.len() as f64 + 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" class=\"chart\" \
         aria-label=\"{0}\"><style>.chart text{{fill:var(--ink);font-size:14px}}\
         .chart .title{{font-weight:600;font-size:16px}}.chart .soft{{fill:var(--soft)}}.chart .bar{{fill:var(--accent)}}\
         .chart .expected{{fill:none;stroke:var(--accent);stroke-dasharray:5 4}}</style>\
         <text class=\"title\" x=\"0\" y=\"22\">{0}</text><text class=\"soft\" x=\"0\" y=\"44\">{1}</text>",
        Escaped(title),
        Escaped(subtitle)
    );
    for (at, bar) in bars.iter().enumerate() {
        let y = TOP + STEP * at as f64;
        let (length, text) = (ROOM * bar.length / most, y + BAR - 4.0);
        let _ = write!(
            svg,
            "<text x=\"0\" y=\"{text}\">{}</text><rect class=\"{}\" x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\"/>\
             <text x=\"{:.1}\" y=\"{text}\">{}</text>",
            Escaped(&bar.name),
            if bar.is_expected { "expected" } else { "bar" },
            LEFT + length + 8.0,
            Escaped(&bar.said)
        );
    }
    svg + "</svg>\n"
}
