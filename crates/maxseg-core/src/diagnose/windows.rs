//! Zero windows, and windows that stay below the bandwidth-delay product.

use super::data_queue::is_read;
use super::finding::{Finding, FindingKind, Severity, counted_times, number};
use super::full_link::fastest_bps;
use crate::evidence::{Bin, Direction, DirectionStats, EventKind, Evidence};
use crate::outcome::LimitedBy;
use crate::units::{Time, approx};
use crate::window::{FIELD, is_near_field};

/// The window is full when less than so many segments of it are left: one that it has no room for, and one that a delayed
/// acknowledgement holds back.
pub(super) const WINDOW_LEFT: u64 = 2;
/// A window is exhausted when so much of it was in flight.
const EXHAUSTED: f64 = 0.85;
/// A window covers the path from this share of the bandwidth-delay product on.
const COVERED: f64 = 1.0;
/// Losses that leave less than this share of a window in each round trip are worth as much as a larger window.
const USED: f64 = 0.75;
/// Without SACK what arrives behind a loss waits as well: a larger window loses more at a time.
const USED_WITHOUT_SACK: f64 = 0.8;
/// But a window that is full for this share of the time is what limits: behind each loss the congestion window soon came to it again,
/// and would have grown on. Where the two are equal by Reno's law half of a window grows back, by a segment a round trip, in five eighths
/// of the time, and is full in three. Few losses are seen in a capture of seconds, and come as chance has it: half as much again shows it.
const FULL: f64 = 0.56;
/// Without SACK a larger window loses more at a time, and repairs that segment by segment: then for more of it.
const FULL_WITHOUT_SACK: f64 = 0.62;
/// Somewhat more than three eighths shows it where the law says so as well.
const FULL_BY_LAW: f64 = 0.45;
const FULL_BY_LAW_WITHOUT_SACK: f64 = 0.5;
/// The window of Reno, and of CUBIC where it is small, is 1.22 ÷ √p segments at a loss of p (Mathis et al., 1997).
const LAW: f64 = 1.22;
/// Fewer losses than this tell no share: the law's window is uncertain by half of what their number is, a quarter.
const ENOUGH_LOSSES: u64 = 4;
/// Losses limit where the law's window is no more than this in receive windows, and those where it is so many times as large.
const SMALLER: f64 = 1.0;
const LARGER: f64 = 1.15;
/// Marks that would leave more than so many of the largest flights are too few to matter: with the few of a short capture the law is
/// uncertain by as much.
const MARKED: f64 = 2.0;
/// A sender that has so many times as much in flight on the average does not follow the law (BBR).
const ABOVE_LAW: f64 = 1.5;

/// Whether losses take a good part of what a window, that of no slow reader, admits in each round trip: without either the
/// transfer is faster.
pub(super) fn losses_take(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let used = if data.sack_permitted { USED } else { USED_WITHOUT_SACK };
    is_read(acks)
        && data.needed_retransmissions() > 0
        && used_share(data).is_some_and(|share| share < used)
        && !outlasts_losses(data)
}

/// The share of what the largest flight admits in each round trip that was acknowledged.
fn used_share(data: &DirectionStats) -> Option<f64> {
    let (first, last) = data.first_data.zip(data.last_ack)?;
    let busy = last.since(first).as_secs_f64() - data.idle_s;
    let admitted = data.in_flight_max_bytes as f64 / data.path_rtt_loaded_s? * busy;
    (admitted > 0.0).then(|| data.acked_bytes as f64 / admitted)
}

/// The window that losses leave on the average by the law of Reno, in the largest flights.
fn window_by_law(data: &DirectionStats) -> Option<f64> {
    let losses = data.loss_episodes.count();
    let segment = f64::from(data.full_segment());
    let segments = data.in_flight_max_bytes as f64 / segment;
    let share = losses as f64 / data.segments() as f64;
    (losses >= ENOUGH_LOSSES && segments > 0.0).then(|| LAW / share.sqrt() / segments)
}

/// Whether congestion marks are so many that they take some of the congestion window, which they reduce as losses do: by the same law.
pub(super) fn marks_take(data: &DirectionStats) -> bool {
    let share = data.congestion_marks as f64 / (data.segments() as f64).max(1.0);
    let window = LAW / share.sqrt() * f64::from(data.full_segment());
    share > 0.0 && window <= MARKED * data.in_flight_max_bytes as f64
}

/// What a full receive window shows where something is lost: that itself, losses that leave less of the congestion window, or neither.
pub(super) fn shown_by_full(data: &DirectionStats, acks: &DirectionStats) -> LimitedBy {
    let is_smaller =
        || window_by_law(data).is_some_and(|law| law <= SMALLER && !is_above(data, law));
    if !losses_take(data, acks) {
        LimitedBy::ReceiveWindow
    } else if is_smaller() {
        LimitedBy::Congestion
    } else {
        LimitedBy::Unknown
    }
}

/// Whether more is in flight than the law allows.
fn is_above(data: &DirectionStats, law: f64) -> bool {
    used_share(data).is_some_and(|used| used >= ABOVE_LAW * law)
}

/// Whether losses matter less than the window, which had no room for a segment, and one that a delayed acknowledgement holds back,
/// for so much of the time. Without SACK a window also stands still behind each packet that is overtaken.
pub(super) fn outlasts_losses(data: &DirectionStats) -> bool {
    let lost = data.needed_retransmissions();
    let (full, by_law) = if data.sack_permitted {
        (FULL, FULL_BY_LAW)
    } else {
        (FULL_WITHOUT_SACK, FULL_BY_LAW_WITHOUT_SACK)
    };
    let is_larger = || window_by_law(data).is_some_and(|law| law >= LARGER || is_above(data, law));
    let keeps_order = data.sack_permitted || data.spurious_retransmissions <= lost;
    let share = full_share(data);
    lost > 0 && keeps_order && (share >= full || share >= by_law && is_larger())
}

/// The share of the time in which the window had no more room than that.
pub(super) fn full_share(data: &DirectionStats) -> f64 {
    let left = WINDOW_LEFT * u64::from(data.full_segment());
    let is_full = |bin: &&Bin| bin.window_left_min.is_some_and(|least| least < left);
    let seconds = |bin: &Bin| bin.duration.as_secs_f64();
    let bins = data.bins.as_slice();
    let full: f64 = bins.iter().filter(is_full).map(seconds).sum();
    full / bins.iter().map(seconds).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Time in which the receive window had no room for a segment, and nothing was waited for but that: behind a lost segment what arrives
/// fills a window as well, until the timer sends that segment again.
fn shut_time(data: &DirectionStats) -> Time {
    let mut all = Time::ZERO;
    for bin in data.bins.as_slice() {
        all = all.saturating_add(bin.rwnd_limited.since(bin.rto_wait));
    }
    all
}

pub(super) fn zero_window(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    // A window matters to who has something to send.
    if acks.zero_windows == 0 || data.data_packets + data.zero_window_probes == 0 {
        return None;
    }
    let first = acks.events.of(|kind| kind == EventKind::ZeroWindow).next();
    let frames: Vec<u64> = acks
        .events
        .of(|kind| kind == EventKind::ZeroWindow)
        .map(|event| event.frame)
        .take(8)
        .collect();
    let receiver = evidence.receiver(direction);
    let is_brief = !acks.has_slow_reader();
    let seconds = if is_brief { 0.0 } else { shut_time(data).as_secs_f64() };
    let lasted =
        data.last_ack.unwrap_or(evidence.end).since(data.first_data.unwrap_or(evidence.begin));
    let is_long = seconds > 0.05 * lasted.as_secs_f64();
    // A short closure may be a window update not yet sent; only a long one shows a reader that stopped.
    let stays_shut = evidence.window_shut_for_good(direction);
    Some(Finding {
        kind: FindingKind::ZeroWindow,
        severity: match (is_long, is_brief) {
            (true, _) => Severity::Problem,
            (false, false) => Severity::Warning,
            (false, true) => Severity::Note,
        },
        direction: Some(direction),
        from: first.map_or(evidence.begin, |event| event.at),
        to: data.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("zero_windows", acks.zero_windows as f64),
            number("zero_window_probes", data.zero_window_probes as f64),
            number("window_shut_s", seconds),
        ],
        frames,
        text: match stays_shut {
            Some(shut) => format!(
                "{receiver} closed its window after {}, and it stayed shut for the last {}: the receiving application \
                 does not read",
                approx::time(shut.since(evidence.begin).as_secs_f64()),
                approx::time(evidence.end.since(shut).as_secs_f64())
            ),
            None if is_brief => format!(
                "{receiver} closed its window {}, each time for a few milliseconds at most",
                counted_times(acks.window_shut_times)
            ),
            None => format!(
                "{receiver} closed its window {}; for {seconds:.3} s it had no room for a segment",
                counted_times(acks.window_shut_times)
            ),
        },
        why: "The receiving application reads more slowly than data arrives: its buffer is full, and the sender stops",
        source: "RFC 9293 §3.8.6",
    })
}

pub(super) fn clamped(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    let window = acks.window_max_bytes?;
    let is_unscaled = acks.window_scale.is_none_or(|shift| shift == 0);
    let in_flight = data.in_flight_max_bytes as f64;
    // Far below the largest that fits the field it is the buffer that is small.
    let is_by_buffer = acks.window_scale.is_none() && !is_near_field(window);
    if !is_unscaled
        || is_by_buffer
        || window > FIELD
        || in_flight < EXHAUSTED * window as f64
        || window == 0
    {
        return None;
    }
    let rate = fastest_bps(data);
    let rtt = data.path_rtt_min_s?;
    let holds = rate * rtt / 8.0;
    if holds < COVERED * window as f64 {
        return None;
    }
    let receiver = evidence.receiver(direction);
    let why_unscaled = match (evidence.forward.window_scale, evidence.reverse.window_scale) {
        (None, _) | (_, None) => "one SYN offers no window scale",
        _ => "its scale is 0, as with a small SO_RCVBUF set before the handshake",
    };
    Some(Finding {
        kind: FindingKind::WindowClamped,
        severity: Severity::Problem,
        direction: Some(direction),
        from: data.first_data.unwrap_or(evidence.begin),
        to: data.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("window_max_bytes", window as f64),
            number("in_flight_max_bytes", in_flight),
            number("path_holds_bytes", holds.round()),
            number("most_bps", window as f64 * 8.0 / rtt),
        ],
        frames: Vec::new(),
        text: format!(
            "The window of {receiver} is at most {window} bytes: {why_unscaled}; the path holds more"
        ),
        why: "At most one window is sent per round trip, whatever the rate of the link",
        source: "RFC 7323 §2, RFC 6349 §3.3.1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Bins;
    use crate::evidence::LossEpisode;

    /// Of a window of 20 segments a mark in 4,000 leaves 77, and one in 300 leaves 21.
    #[test]
    fn a_mark_among_thousands_of_segments_takes_nothing_of_a_small_window() {
        let marked = |congestion_marks| DirectionStats {
            congestion_marks,
            data_packets: 4_000,
            mss_used_bytes: Some(1000),
            in_flight_max_bytes: 20_000,
            ..DirectionStats::default()
        };
        assert!(!marks_take(&marked(0)) && !marks_take(&marked(1)) && marks_take(&marked(13)));
        assert!(marks_take(&DirectionStats { in_flight_max_bytes: 80_000, ..marked(1) }));
    }

    #[test]
    fn losses_take_what_a_window_leaves_unused() {
        // Windows of 10 kB in each 100 ms of ten seconds: a megabyte.
        let data = |acked_bytes| DirectionStats {
            acked_bytes,
            in_flight_max_bytes: 10_000,
            path_rtt_loaded_s: Some(0.1),
            first_data: Some(Time::ZERO),
            last_ack: Some(Time::from_secs(10)),
            retransmitted_packets: 5,
            sack_permitted: true,
            ..DirectionStats::default()
        };
        let acks = DirectionStats::default();
        assert!(losses_take(&data(600_000), &acks));
        assert!(!losses_take(&data(900_000), &acks));
        assert!(!losses_take(&DirectionStats { retransmitted_packets: 0, ..data(600_000) }, &acks));
        let shut = DirectionStats { window_shut_times: 3, ..acks.clone() };
        assert!(!losses_take(&data(600_000), &shut), "a slow reader");
        let without_sack = DirectionStats { sack_permitted: false, ..data(780_000) };
        assert!(!losses_take(&data(780_000), &acks));
        assert!(losses_take(&without_sack, &acks), "what is behind a loss waits");
    }

    #[test]
    fn a_window_that_is_full_for_much_of_the_time_outlasts_losses() {
        let data = |full: u64, sack_permitted| {
            let round_trip = Time::from_millis(40);
            let mut bins = Bins::new(Time::ZERO, round_trip);
            for n in 0..100 {
                let left = if n < full { 0 } else { 20_000 };
                bins.at(round_trip.times(n)).window_left_min = Some(left);
            }
            DirectionStats {
                bins,
                sack_permitted,
                retransmitted_packets: 5,
                ..DirectionStats::default()
            }
        };
        assert!(outlasts_losses(&data(60, true)));
        assert!(!outlasts_losses(&data(37, true)), "as Reno's law has it where both are equal");
        assert!(!outlasts_losses(&data(60, false)), "without SACK");
        assert!(outlasts_losses(&data(65, false)), "for most of the time");
        let overtaken = DirectionStats {
            retransmitted_packets: 500,
            spurious_retransmissions: 495,
            ..data(65, false)
        };
        assert!(!outlasts_losses(&overtaken), "packets are overtaken");
        let none = DirectionStats { retransmitted_packets: 0, ..data(60, true) };
        assert!(!outlasts_losses(&none), "nothing was lost");
    }

    #[test]
    fn losses_limit_whose_window_by_the_law_is_smaller() {
        // Windows of 20 segments in each 100 ms of ten seconds.
        let data = |losses: u64, acked_bytes| {
            let mut data = DirectionStats {
                acked_bytes,
                data_packets: acked_bytes / 1000,
                unique_bytes: acked_bytes,
                mss_used_bytes: Some(1000),
                in_flight_max_bytes: 20_000,
                path_rtt_loaded_s: Some(0.1),
                first_data: Some(Time::ZERO),
                last_ack: Some(Time::from_secs(10)),
                retransmitted_packets: losses,
                sack_permitted: true,
                ..DirectionStats::default()
            };
            for _ in 0..losses {
                data.loss_episodes.begin(LossEpisode {
                    lost: 1,
                    sent_since: 50,
                    ..LossEpisode::default()
                });
            }
            data
        };
        let shown = |data: &DirectionStats| shown_by_full(data, &DirectionStats::default());
        // One in a hundred leaves a window of twelve.
        assert_eq!(shown(&data(12, 1_200_000)), LimitedBy::Congestion);
        assert_eq!(shown(&data(3, 1_200_000)), LimitedBy::Unknown, "few");
        assert_eq!(shown(&data(4, 1_200_000)), LimitedBy::Unknown, "one of twenty-one");
        assert_eq!(shown(&data(12, 1_800_000)), LimitedBy::ReceiveWindow, "little is unused");
        assert_eq!(shown(&data(60, 1_200_000)), LimitedBy::Unknown, "it does not follow the law");
    }
}
