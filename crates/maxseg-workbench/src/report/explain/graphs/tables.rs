//! The same as the graphs, as tables.

use std::fmt::Write as _;

use maxseg_core::evidence::{Bin, DirectionStats, EventKind, Evidence};

use super::super::super::escaped::Escaped;
use super::super::super::words;
use super::Clock;

/// Most rows of a table.
const MOST_ROWS: usize = 200;
/// So many rows are left of the intervals.
const ROWS_OF_BINS: usize = 100;

/// At most so many intervals, neighbours joined.
pub(super) fn joined(bins: &[Bin], most: usize) -> Vec<Bin> {
    let together = bins.len().div_ceil(most).max(1);
    let join = |chunk: &[Bin]| {
        let (first, rest) = chunk.split_first()?;
        let mut bin = *first;
        for next in rest {
            bin.join(next);
        }
        Some(bin)
    };
    bins.chunks(together).filter_map(join).collect()
}

/// The events, packet by packet.
pub(super) fn events_table(evidence: &Evidence, data: &DirectionStats, clock: Clock) -> String {
    let events = data.events.as_slice();
    if events.is_empty() {
        return String::new();
    }
    let mut table = String::from(
        "<table><thead><tr><th>time</th><th>packet</th><th>byte</th><th>payload</th><th class=\"word\">event</th></tr></thead><tbody>\n",
    );
    for event in events.iter().take(MOST_ROWS) {
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>",
            Escaped(&words::time(clock.s(event.at))),
            event.frame,
            words::grouped(event.offset),
            event.bytes,
            event_word(event.kind)
        );
    }
    table += "</tbody></table>\n";
    let _ = writeln!(
        table,
        "<p class=\"note\">The first of each kind; times since the first packet of connection {}.</p>",
        evidence.id
    );
    table
}

const fn event_word(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Retransmission(_) => "retransmitted",
        EventKind::Spurious(_) => "spurious retransmission",
        EventKind::OutOfOrder => "out of order",
        EventKind::ZeroWindow => "zero window",
        EventKind::WindowFull => "window full",
        EventKind::CaptureDuplicate => "capture duplicate",
        EventKind::Fragmented => "fragmented",
        EventKind::KeepAlive => "keep-alive",
    }
}

/// Throughput, round trip, window and flight, interval by interval.
pub(super) fn bins_table(data: &DirectionStats, clock: Clock) -> String {
    let rows = joined(data.bins.as_slice(), ROWS_OF_BINS);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = String::from(
        "<table><thead><tr><th>from</th><th>acknowledged</th><th>retransmitted</th><th>round trip</th><th>in flight</th><th>window</th></tr></thead><tbody>\n",
    );
    for bin in &rows {
        let rate = 8.0 * bin.acked_bytes as f64 / bin.duration.as_secs_f64().max(1e-9);
        let rtt =
            bin.rtt_mean().map_or_else(|| "–".to_owned(), |rtt| words::time(rtt.as_secs_f64()));
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(&words::time(clock.s(bin.at))),
            Escaped(&words::rate(rate)),
            words::grouped(bin.resent_bytes),
            Escaped(&rtt),
            words::grouped(bin.in_flight_max),
            words::grouped(bin.window_max)
        );
    }
    table += "</tbody></table>\n";
    table
}
