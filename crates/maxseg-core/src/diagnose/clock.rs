//! Whether a sender has a clock of its own, or acknowledgements are its clock.

use super::full_link::{FULL_LINK, needs_queue};
use super::trip_view::{RoundTripView, waits_for_second_segment};
use crate::evidence::{Bursts, DirectionStats};

/// Acknowledgements of two segments let two go at once, however late they come; those of one let a segment go at a time, as evenly
/// as a narrow link on their way lets them through. They are of two where there are no more than so many for so many segments.
const ACKED_TOGETHER: (u64, u64) = (2, 3);
/// Where more than this share of the time is at once after an acknowledgement, chance explains everything.
const CROWDED: f64 = 0.6;
/// The share of payload that acknowledgements clock out, beyond what chance explains, from which they are the clock.
pub(super) const CLOCKED: f64 = 0.3;
/// A sender that paces lets two segments go at a time (`net.ipv4.tcp_min_tso_segs`). Behind its clock nearly all distances are equal,
/// and nearly all bursts pairs: 98% and more in the lab, where bursts that acknowledgements space are pairs in 91% of the cases, and
/// those of a send buffer equal in 91%. Fewer may be chance.
const NEARLY_ALL: f64 = 0.97;
const ENOUGH_TICKS: u32 = 60;
/// Behind a program's clock so many distances of bursts are equal: from 0.90 in the lab, and behind send buffers up to 0.86.
const MOSTLY_EQUAL: f64 = 0.9;
const ENOUGH_BURSTS: u32 = 30;
/// A link is idle for most of the time where bursts take no more of it than this; beside what others send on it they took 0.18 in the lab.
const IDLE: f64 = 0.1;
/// What is sent once in a round trip comes at these multiples of the least; a window of fewer segments than this goes out in pairs.
const PER_ROUND_TRIP: std::ops::Range<f64> = 0.8..2.0;
const SMALL_WINDOW: u64 = 4;

/// Whether a rate as even as a clock's is the sender's own: round trips hold no queue; and where they are not seen, no more is in
/// flight than the path holds, and acknowledgements are of two segments.
pub(super) fn may_have_clock(
    data: &DirectionStats,
    acks: &DirectionStats,
    trips: RoundTripView,
) -> bool {
    let (segments, packets) = ACKED_TOGETHER;
    if trips == RoundTripView::Unseen {
        !needs_queue(data) && acks.packets_once() * packets <= data.data_packets_once() * segments
    } else {
        waits_for_second_segment(data)
    }
}

/// Whether segments arrive in pairs at equal distances, with the link idle in between: the sender's clock lets them go. A congestion
/// window sends in bursts of a flight, a send buffer in those of its refills, and what acknowledgements space on a narrow link of
/// their own comes in other numbers as well.
pub(super) fn ticks(data: &DirectionStats) -> bool {
    data.intervals.is_some_and(|intervals| {
        let is_even = intervals.count >= ENOUGH_TICKS && intervals.equal >= NEARLY_ALL;
        let in_pairs = |bursts: Bursts| bursts.of_two >= NEARLY_ALL && bursts.busy < FULL_LINK;
        // A window of two segments goes out in pairs as well, once in a round trip.
        let segment = u64::from(data.full_segment());
        let is_window = (1..SMALL_WINDOW * segment).contains(&data.in_flight_max_bytes)
            && data
                .path_rtt_min_s
                .is_some_and(|trip| PER_ROUND_TRIP.contains(&(intervals.usual_s / trip)));
        is_even && !is_window && intervals.bursts.is_some_and(in_pairs)
    })
}

/// The share of new payload that acknowledgements clocked out, beyond what chance explains: 1 is all, 0 is chance. `None`
/// where that was not measured, or acknowledgements come too thick for it.
pub(super) fn clocked_share(data: &DirectionStats) -> Option<f64> {
    let (mut sent, mut clocked) = (0.0, 0.0);
    for bin in data.bins.as_slice() {
        sent += bin.sent_bytes as f64;
        clocked += bin.clocked_bytes as f64;
    }
    beyond_chance(data, clocked / sent).filter(|_| sent > 0.0)
}

/// How much of this share is more than what chance puts at once after an acknowledgement; `None` as above.
pub(super) fn beyond_chance(data: &DirectionStats, share: f64) -> Option<f64> {
    let (mut at_once, mut busy) = (0.0, 0.0);
    for bin in data.bins.as_slice() {
        at_once += bin.clock_time.as_secs_f64();
        busy += bin.duration.as_secs_f64() - bin.idle.as_secs_f64();
    }
    if at_once <= 0.0 || busy <= 0.0 {
        return None;
    }
    let by_chance = at_once / busy;
    (by_chance < CROWDED).then(|| (share - by_chance) / (1.0 - by_chance))
}

/// Whether the link is idle for most of the time between bursts of segments, by the distances of the first flight: what leaves it idle is
/// no full link, however even the rate is.
pub(super) fn is_idle_between(data: &DirectionStats) -> bool {
    data.intervals.is_some_and(|intervals| {
        intervals.count >= ENOUGH_TICKS && intervals.bursts.is_some_and(|bursts| bursts.busy < IDLE)
    })
}

/// Whether bursts of segments come at equal distances, with the link idle in between: a program writes by a
/// clock. Nine in ten are equal then and more; those of a send buffer, which acknowledgements
/// refill, less often.
pub(super) fn writes_by_clock(data: &DirectionStats) -> bool {
    data.intervals.is_some_and(|intervals| {
        intervals.count >= ENOUGH_BURSTS
            && intervals.equal >= MOSTLY_EQUAL
            && intervals.bursts.is_some_and(|bursts| bursts.busy < FULL_LINK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Intervals;
    use crate::units::Time;

    /// Bursts 10 ms apart.
    fn bursts(equal: f64, of_two: f64, busy: f64) -> DirectionStats {
        let bursts = Bursts { of_one: 0.0, of_two, busy, rate_bps: 1e6 };
        let intervals = Intervals {
            count: 500,
            usual_s: 0.01,
            equal,
            others: 0,
            others_equal: 0.0,
            bursts: Some(bursts),
        };
        DirectionStats { intervals: Some(intervals), ..DirectionStats::default() }
    }

    #[test]
    fn bursts_at_equal_distances_are_of_a_program_with_a_clock() {
        assert!(writes_by_clock(&bursts(0.92, 0.0, 0.4)));
        assert!(!writes_by_clock(&bursts(0.58, 0.9, 0.4)), "a send buffer");
        assert!(!writes_by_clock(&bursts(0.92, 0.0, 0.97)), "a full link");
    }

    #[test]
    fn a_link_that_bursts_leave_idle_is_not_full() {
        assert!(is_idle_between(&bursts(0.1, 0.3, 0.05)));
        assert!(!is_idle_between(&bursts(0.1, 0.3, 0.9)));
        assert!(!is_idle_between(&DirectionStats::default()), "not seen");
    }

    #[test]
    fn what_acknowledgements_release_is_more_than_chance() {
        let mut data = DirectionStats::default();
        let bin = data.bins.at(Time::ZERO);
        bin.duration = Time::from_millis(100);
        bin.clock_time = Time::from_millis(25);
        let beyond = |share| beyond_chance(&data, share).unwrap();
        assert!(beyond(0.25).abs() < 1e-9 && (beyond(1.0) - 1.0).abs() < 1e-9);
        assert_eq!(beyond_chance(&DirectionStats::default(), 0.5), None, "not measured");
    }

    #[test]
    fn pairs_at_equal_distances_are_of_a_clock() {
        let of = |equal, of_two, busy| ticks(&bursts(equal, of_two, busy));
        assert!(of(1.0, 1.0, 0.3));
        let window = DirectionStats {
            path_rtt_min_s: Some(0.009),
            in_flight_max_bytes: 2 * 1460,
            ..bursts(1.0, 1.0, 0.3)
        };
        assert!(!ticks(&window), "two segments in each round trip");
        let larger = DirectionStats { in_flight_max_bytes: 8 * 1460, ..window };
        assert!(ticks(&larger), "a first flight of eight");
        assert!(!of(0.99, 0.91, 0.3), "acknowledgements space them");
        assert!(!of(0.91, 0.99, 0.3), "refills of a send buffer");
        assert!(!of(1.0, 1.0, 0.95), "a full link");
        assert!(!ticks(&DirectionStats::default()));
    }
}
