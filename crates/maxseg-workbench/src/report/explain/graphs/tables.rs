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

/// At most so many intervals: neighbours joined that take as long together. What is left over before a pause belongs to the one
/// before it, since a short interval has rates that no other has; a pause is an interval of its own, since nothing flowed in it.
fn joined(bins: &[Bin], most: usize) -> Vec<Bin> {
    let shortest = bins.iter().map(|bin| bin.duration.as_nanos()).filter(|long| *long > 0).min();
    let width = shortest.unwrap_or(1);
    let mut times = 1;
    loop {
        let long = Time::from_nanos(width.saturating_mul(times));
        let list = joined_to(bins, long);
        if list.len() <= most.max(1) {
            return without_left_overs(&list, long);
        }
        times += (times / 8).max(1);
    }
}

/// Whether nothing flowed in an interval for longer than so much.
fn is_pause(bin: &Bin, long: Time) -> bool {
    let flowed = bin.sent_bytes + bin.resent_bytes + bin.acked_bytes + u64::from(bin.segments);
    bin.duration > long && flowed == 0
}

/// Neighbours joined to intervals of so long, but for pauses.
fn joined_to(bins: &[Bin], long: Time) -> Vec<Bin> {
    let mut list: Vec<Bin> = Vec::new();
    for next in bins {
        let takes = |bin: &Bin| {
            next.end().since(bin.at) <= long && !is_pause(bin, long) && !is_pause(next, long)
        };
        match list.last_mut().filter(|bin| takes(bin)) {
            Some(bin) => bin.join(next),
            None => list.push(*next),
        }
    }
    list
}

/// What comes before a pause, or last, and is shorter than the others belongs to the one before it, unless that is a pause.
fn without_left_overs(list: &[Bin], long: Time) -> Vec<Bin> {
    let mut whole: Vec<Bin> = Vec::new();
    for (index, bin) in list.iter().enumerate() {
        let ends = list.get(index + 1).is_none_or(|next| is_pause(next, long));
        let is_left_over = ends && bin.duration < long && !is_pause(bin, long);
        match whole.last_mut().filter(|before| is_left_over && !is_pause(before, long)) {
            Some(before) => before.join(bin),
            None => whole.push(*bin),
        }
    }
    whole
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
            Cell::number(words::moment(time), time),
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
        Column::number("acknowledged, with SACK"),
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
            Cell::number(words::moment(time), time),
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

    /// Half a second of transfer, then ten seconds without, thrice.
    #[test]
    fn nothing_flows_in_a_pause() {
        let mut bins: Vec<Bin> = Vec::new();
        for burst in 0..3 {
            let busy = (0..50).map(|n| Bin {
                at: Time::from_millis(10_500 * burst + 10 * n),
                duration: Time::from_millis(10),
                sent_bytes: 1000,
                segments: 1,
                ..Bin::default()
            });
            bins.extend(busy);
            let at = Time::from_millis(10_500 * burst + 500);
            bins.push(Bin { at, duration: Time::from_millis(10_000), ..Bin::default() });
        }
        for most in [150, 100, 20, 6] {
            let list = joined(&bins, most);
            assert!(list.len() <= most && list.windows(2).all(|pair| pair[0].end() == pair[1].at));
            let pauses: Vec<&Bin> = list.iter().filter(|bin| bin.segments == 0).collect();
            assert_eq!(pauses.len(), 3, "{most}");
            assert!(pauses.iter().all(|bin| bin.duration == Time::from_millis(10_000)));
        }
        assert!(joined(&bins, 2).len() <= 2, "so few are no more told apart");
    }
}
