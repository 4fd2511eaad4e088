//! The same as the graphs, as tables.

use maud::{Markup, html};
use maxseg_core::evidence::{Bin, DirectionStats, Event, EventKind, Evidence};
use maxseg_core::units::Time;

use super::super::super::table::{Cell, Column, table};
use super::super::super::words;
use super::Clock;

/// Most rows of a table.
const MOST_ROWS: usize = 200;
/// So many rows are left of the intervals.
const ROWS_OF_BINS: usize = 100;

/// At most so many intervals, neighbours joined; what is left over at the end belongs to the one before it, since a short interval
/// has rates that no other has.
pub(super) fn joined(bins: &[Bin], most: usize) -> Vec<Bin> {
    let together = bins.len().div_ceil(most).max(1);
    let whole = (bins.len() / together).max(1);
    let mut list: Vec<Bin> = Vec::new();
    for (index, next) in bins.iter().enumerate() {
        let is_first = index % together == 0 && index / together < whole;
        match list.last_mut().filter(|_| !is_first) {
            Some(bin) => bin.join(next),
            None => list.push(*next),
        }
    }
    list
}

/// The events, packet by packet; `None` where there are none.
pub(super) fn events_table(
    evidence: &Evidence,
    data: &DirectionStats,
    clock: Clock,
) -> Option<Markup> {
    let events = data.events.as_slice();
    let columns = [
        Column::number("time"),
        Column::number("packet"),
        Column::number("byte"),
        Column::number("payload (bytes)"),
        Column::word("event"),
    ];
    let line = |event: &Event| -> Vec<Cell> {
        let time = clock.s(event.at);
        vec![
            Cell::number(words::time(time), time),
            event.frame.to_string().into(),
            Cell::number(words::grouped(event.offset), event.offset as f64),
            event.bytes.to_string().into(),
            event_word(event.kind).into(),
        ]
    };
    let table = html! {
        (table("Events", &columns, events.iter().take(MOST_ROWS).map(line)))
        p.note { "The first of each kind; times since the first packet of connection " (evidence.id) "." }
    };
    (!events.is_empty()).then_some(table)
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

/// Throughput, round trip, window and flight, interval by interval; `None` where there are none.
pub(super) fn bins_table(data: &DirectionStats, clock: Clock) -> Option<Markup> {
    let rows = joined(&data.bins.whole(), ROWS_OF_BINS);
    let columns = [
        Column::number("from"),
        Column::number("acknowledged"),
        Column::number("retransmitted (bytes)"),
        Column::number("round trip"),
        Column::number("in flight (bytes)"),
        Column::number("window (bytes)"),
    ];
    let bytes = |bytes: u64| Cell::number(words::grouped(bytes), bytes as f64);
    // Where nothing was sent, or no window advertised, the last that is known still holds.
    let mut window = None;
    let mut outstanding: u64 = 0;
    let mut line = |bin: &Bin| -> Vec<Cell> {
        let time = clock.s(bin.at);
        window = bin.window_left_min.map(|_| bin.window_max as f64).or(window);
        let in_flight = if bin.segments > 0 { bin.in_flight_max } else { outstanding };
        outstanding = outstanding.saturating_add(bin.sent_bytes).saturating_sub(bin.acked_bytes);
        let rate = 8.0 * bin.acked_bytes as f64 / bin.duration.as_secs_f64().max(1e-9);
        vec![
            Cell::number(words::time(time), time),
            Cell::number(words::rate(rate), rate),
            bytes(bin.resent_bytes),
            Cell::known(bin.rtt_mean().map(Time::as_secs_f64), words::time),
            bytes(in_flight),
            Cell::known(window, |window| words::grouped(words::rounded(window))),
        ]
    };
    (!rows.is_empty()).then(|| table("Intervals", &columns, rows.iter().map(&mut line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_is_shorter_than_the_others() {
        let bin = |n: u64| Bin {
            at: Time::from_millis(n),
            duration: Time::from_millis(1),
            segments: 1,
            ..Bin::default()
        };
        for count in [0, 1, 99, 100, 101, 299, 301, 1000] {
            let bins: Vec<Bin> = (0..count).map(bin).collect();
            let list = joined(&bins, 100);
            let together = count.div_ceil(100).max(1);
            assert!(list.len() <= 100, "{count}: {}", list.len());
            assert!(list.iter().all(|bin| bin.duration >= Time::from_millis(together.min(count))));
            assert_eq!(list.iter().map(|bin| u64::from(bin.segments)).sum::<u64>(), count);
            assert!(list.windows(2).all(|pair| pair[0].end() == pair[1].at));
        }
    }
}
