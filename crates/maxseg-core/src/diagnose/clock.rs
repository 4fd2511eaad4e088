//! Whether a sender has a clock of its own, or acknowledgements are its clock.

use super::full_link::{FULL_LINK, needs_queue};
use super::trip_view::{RoundTripView, waits_for_second_segment};
use crate::evidence::{Bursts, DirectionStats};

/// Acknowledgements of two segments let two go at once, however late they come; those of one let a segment go at a time, as evenly
/// as a narrow link on their way lets them through. They are of two where there are no more than so many for so many segments.
const ACKED_TOGETHER: (u64, u64) = (2, 3);
/// Where more than this share of the time is at once after an acknowledgement, chance explains everything.
const CROWDED: f64 = 0.6;
/// A sender that paces lets two segments go at a time (`net.ipv4.tcp_min_tso_segs`). Behind its clock nearly all distances are equal,
/// and nearly all bursts pairs: 98% and more in the lab, where bursts that acknowledgements space are pairs in 91% of the cases, and
/// those of a send buffer equal in 91%. Fewer may be chance.
const NEARLY_ALL: f64 = 0.97;
const ENOUGH_TICKS: u32 = 60;

/// Whether a rate as even as a clock's is the sender's own: round trips hold no queue; and where they are not seen, no more is in
/// flight than the path holds, and acknowledgements are of two segments.
pub(super) fn may_have_clock(
    data: &DirectionStats,
    acks: &DirectionStats,
    trips: RoundTripView,
) -> bool {
    let (segments, packets) = ACKED_TOGETHER;
    if trips == RoundTripView::Unseen {
        !needs_queue(data) && acks.packets * packets <= data.data_packets * segments
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
        is_even && intervals.bursts.is_some_and(in_pairs)
    })
}

/// The share of new payload that acknowledgements clocked out, beyond what chance explains: 1 is all, 0 is chance. `None`
/// where that was not measured, or acknowledgements come too thick for it.
pub(super) fn clocked_share(data: &DirectionStats) -> Option<f64> {
    let (mut sent, mut clocked, mut at_once, mut busy) = (0.0, 0.0, 0.0, 0.0);
    for bin in data.bins.as_slice() {
        sent += bin.sent_bytes as f64;
        clocked += bin.clocked_bytes as f64;
        at_once += bin.clock_time.as_secs_f64();
        busy += bin.duration.as_secs_f64() - bin.idle.as_secs_f64();
    }
    if at_once <= 0.0 || busy <= 0.0 || sent <= 0.0 {
        return None;
    }
    let by_chance = at_once / busy;
    (by_chance < CROWDED).then(|| (clocked / sent - by_chance) / (1.0 - by_chance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Intervals;

    #[test]
    fn pairs_at_equal_distances_are_of_a_clock() {
        let of = |equal, of_two, busy| {
            let bursts = Bursts { of_one: 0.0, of_two, busy, rate_bps: 1e6 };
            let intervals = Intervals {
                count: 500,
                usual_s: 0.01,
                equal,
                others: 0,
                others_equal: 0.0,
                bursts: Some(bursts),
            };
            ticks(&DirectionStats { intervals: Some(intervals), ..DirectionStats::default() })
        };
        assert!(of(1.0, 1.0, 0.3));
        assert!(!of(0.99, 0.91, 0.3), "acknowledgements space them");
        assert!(!of(0.91, 0.99, 0.3), "refills of a send buffer");
        assert!(!of(1.0, 1.0, 0.95), "a full link");
        assert!(!ticks(&DirectionStats::default()));
    }
}
