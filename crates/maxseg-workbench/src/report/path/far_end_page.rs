//! What a far end measured, on the page: the window sweep against expectation, and the delay under load.

use std::fmt::Write as _;

use maxseg_core::units::approx;

use super::super::escaped::Escaped;
use super::bars::{Bar, picture};
use crate::path::{DirectionReport, GRADE_RULE, PathReport, SizeTable, UnderLoadRow};

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
    if let Some(table) = &report.table {
        text += &sizes(table);
    }
    text
}

/// Segment sizes and windows: what was measured, and what engines predict.
fn sizes(table: &SizeTable) -> String {
    let optional =
        |value: Option<f64>, of: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), of);
    let mut rows = String::new();
    for (at, row) in table.rows.iter().enumerate() {
        let mark = if table.recommended == Some(at) { "recommended" } else { "" };
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td>{}</td><td class=\"word\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"word\">{mark}</td></tr>",
            row.mss_bytes,
            row.window_bytes,
            Escaped(&row.engine),
            optional(row.rate_bps, approx::rate),
            optional(row.ping_s, approx::time),
            optional(row.in_flight_s, approx::time)
        );
    }
    format!(
        "<h3>Segment size and window, {}</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>MSS</th><th>window</th>\
         <th class=\"word\">engine</th><th>rate</th><th>ping</th><th>in flight</th><th class=\"word\"></th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n",
        Escaped(&table.direction)
    )
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
    Bar { name, length: bps, said: approx::rate(bps), is_expected, ..Bar::default() }
}

fn delay(rows: &[UnderLoadRow]) -> String {
    let mut bars = Vec::new();
    for row in rows {
        for (name, value) in [("median", row.rtt_median_s), ("99%", row.rtt_p99_s)] {
            let Some(length) = value else { continue };
            let name = format!("{}, {name}", row.load);
            bars.push(Bar { name, length, said: approx::time(length), ..Bar::default() });
        }
    }
    picture("Delay under load", "round trip of small messages beside bulk data", &bars)
}
