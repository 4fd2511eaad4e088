//! What a far end measured, on the page: the window sweep against expectation, and the delay under load.

use maud::{Markup, html};
use maxseg_core::units::approx;

use super::super::chart::{Bar, BarChart, BarKind};
use super::super::table::{Cell, Column, Line, table};
use super::super::words;
use crate::path::{DirectionReport, GRADE_RULE, PathReport, SizeTable, UnderLoadRow};

/// The parts of a far end; empty without one.
pub(super) fn far_end(report: &PathReport) -> Markup {
    let directions = report.rfc6349.iter().flat_map(|test| &test.directions);
    html! {
        @for direction in directions {
            h3 { "RFC 6349, " (direction.direction) }
            @if let Some(found) = &direction.interpretation {
                p.prose { (words::capital(&found.text)) "." }
            }
            p.prose { (bottleneck(direction)) }
            (sweep(direction).to_html())
        }
        @if !report.under_load.is_empty() {
            (delay(&report.under_load).to_html())
            p.prose { (GRADE_RULE) "." }
        }
        @if let Some(table) = &report.table { (sizes(table)) }
    }
}

/// The bottleneck, how it was measured, and how one connection did.
fn bottleneck(direction: &DirectionReport) -> String {
    let text = format!(
        "Bottleneck: {} of IP packets ({}), by {}.",
        approx::rate(direction.bottleneck_bps),
        direction.bottleneck_confidence,
        direction.bottleneck_method
    );
    let Some(run) = direction.runs.first() else { return text };
    let said = [
        Some(approx::rate(run.throughput_bps)),
        run.transfer_time_ratio.map(|ratio| format!("transfer time ratio {ratio:.2}")),
        run.efficiency.map(|share| format!("efficiency {}", approx::percent(share))),
        run.buffer_delay.map(|share| format!("buffer delay {}", approx::percent(share))),
    ];
    format!("{text} One connection: {}.", said.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Segment sizes and windows: what was measured, and what engines predict.
fn sizes(sizes: &SizeTable) -> Markup {
    let columns = [
        Column::number("MSS (bytes)"),
        Column::number("window (bytes)"),
        Column::word("engine"),
        Column::number("rate"),
        Column::number("ping"),
        Column::number("in flight"),
        Column::word("note"),
    ];
    let lines = sizes.rows.iter().enumerate().map(|(at, row)| {
        let is_recommended = sizes.recommended == Some(at);
        let cells = vec![
            row.mss_bytes.to_string().into(),
            row.window_bytes.to_string().into(),
            row.engine.clone().into(),
            Cell::known(row.rate_bps, approx::rate),
            Cell::known(row.ping_s, approx::time),
            Cell::known(row.in_flight_s, approx::time),
            if is_recommended { "recommended" } else { "" }.into(),
        ];
        if is_recommended { Line::best(cells) } else { Line::from(cells) }
    });
    let title = format!("Segment size and window, {}", sizes.direction);
    html! { h3 { (title) } (table(&title, &columns, lines)) }
}

fn sweep(direction: &DirectionReport) -> BarChart {
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
    BarChart {
        title: format!("Window sweep, {}", direction.direction),
        subtitle: "a receive window by the product of bandwidth and delay".to_owned(),
        kind: BarKind::Goodput,
        bars,
    }
}

fn rate(name: String, bps: f64, is_expected: bool) -> Bar {
    Bar { name, length: bps, said: approx::rate(bps), is_expected, ..Bar::default() }
}

fn delay(rows: &[UnderLoadRow]) -> BarChart {
    let mut bars = Vec::new();
    for row in rows {
        for (name, value) in [("median", row.rtt_median_s), ("99%", row.rtt_p99_s)] {
            let Some(length) = value else { continue };
            let name = format!("{}, {name}", row.load);
            bars.push(Bar { name, length, said: approx::time(length), ..Bar::default() });
        }
    }
    BarChart {
        title: "Pings under load".to_owned(),
        subtitle: "small messages and their answers, over a TCP connection of their own beside the bulk data".to_owned(),
        kind: BarKind::Ping,
        bars,
    }
}
