//! What ends the pauses in which a sender lets acknowledgements pass: an acknowledgement that makes room in its buffer, or a clock.

use super::clock::{CLOCKED, clocked_share, writes_by_clock};
use super::trip_view::is_at_sender;
use crate::evidence::{DirectionStats, Refills};

/// So many pauses are of a sender that waits for room; fewer may be.
pub(super) const REFILLS: u32 = 6;
pub(super) const FEW_REFILLS: u32 = 3;
/// A program that waits for room is woken by the acknowledgement that makes it (`sk_stream_write_space`). Where more of the pauses than
/// this ended while none came, it writes by a clock of its own, or acknowledgements are held back and come together on their way (radio
/// links, cable modems, filters): a sender that waits for a congestion window sends in bursts then as well.
pub(super) const LATE_PERCENT: u32 = 60;
/// A full buffer ends what is sent with a whole segment: Linux looks for room only where a new packet begins (`tcp_sendmsg_locked`).
/// Where more pauses than this follow a short one, the program had no more.
const AFTER_SHORT_PERCENT: u32 = 60;
/// Whole writes that find room in a small buffer end so as well. A lower mark than this would be of one below Linux's default of 16 KiB
/// (tcp(7)), which autotuning only raises: two thirds of it.
const LEAST_LOW: u64 = 16_384 * 2 / 3;
/// At the sender those that end at once after one are so many, beyond what the distances of acknowledgements in them make of chance: a program
/// that waits is woken by it, and one with a clock of its own writes at any time. In the lab they were 0.9 and more behind send buffers, once 0.54.
const AT_ONCE: f64 = 0.4;
/// Where acknowledgements come so close that this many would end so by chance, it tells nothing.
const CROWDED_PERCENT: u32 = 90;
/// So many of a clock's distances are equal. Those of a buffer that a steady path drains may be as well; but then not so many of its pauses
/// follow a short segment, or acknowledgements are seen to end them.
const EQUAL_PERCENT: u32 = 90;
/// So many may be a clock's.
const MOSTLY_EQUAL_PERCENT: u32 = 67;
const SOME_SHORT_PERCENT: u32 = 20;
/// Where more of them than this are late, the host is slow: then some of the others are as well.
const BUSY_PERCENT: u32 = 10;
/// Flights of fewer segments have no room for pauses in which a part of them is acknowledged: there so many acknowledgements at a time are
/// answered. A congestion window that is held (`cwnd` of ip-route(8), the few segments of a small stack) opens at each, a buffer when a
/// third of it is free.
const SHOWN_SEGMENTS: u64 = 16;
const ACKS_AN_ANSWER: f64 = 1.4;
/// Pauses in which less of the payload was acknowledged than this are chance.
const ACKED_PART: f64 = 0.05;

/// Whether its pauses show a buffer, or in small flights that acknowledgements are answered together. A flight that stays the same without
/// pauses may be that of a pace, which radio frames deliver in trains, or of a congestion window that is held (`cwnd` of ip-route(8)).
pub(super) fn may_be_refilled(data: &DirectionStats) -> bool {
    let is_small = data.in_flight_max_bytes < SHOWN_SEGMENTS * u64::from(data.full_segment());
    let passes = |refills: Refills| refills.acks_an_answer.is_some_and(|n| n >= ACKS_AN_ANSWER);
    let is_part =
        |refills: Refills| refills.acked_bytes as f64 >= ACKED_PART * data.acked_bytes as f64;
    is_small && tells_acks(data) && data.refills.is_some_and(passes)
        || data.refills.is_some_and(|refills| {
            refills.count >= FEW_REFILLS
                && is_part(refills)
                && !has_no_more(data)
                && (refills.late_percent <= LATE_PERCENT || !is_clocked(data))
        }) && !is_by_clock(data)
}

/// Whether the pauses in which acknowledgements pass begin where a write ended: as with whole writes that find room in a small buffer, and
/// as with a program that writes by a clock of about a round trip.
pub(crate) fn pauses_after_writes(data: &DirectionStats) -> bool {
    data.refills.is_some_and(|refills| {
        refills.count >= FEW_REFILLS && refills.after_short_percent > AFTER_SHORT_PERCENT
    })
}

/// Whether the pauses in which acknowledgements pass begin where the program had no more to send, and end later than any usual buffer
/// has room: it writes by a clock of its own.
pub(super) fn writes_late(data: &DirectionStats) -> bool {
    data.refills.is_some_and(|refills| {
        refills.count >= REFILLS && pauses_after_writes(data) && refills.low_bytes < LEAST_LOW
    })
}

/// Whether pauses begin where a write ended, and many end while no acknowledgement comes: the program had no more. Whole writes that wait for
/// room in a small buffer begin so as well, but are woken.
pub(super) fn has_no_more(data: &DirectionStats) -> bool {
    pauses_after_writes(data)
        && data.refills.is_some_and(|refills| refills.late_percent > BUSY_PERCENT)
}

/// Whether it is seen which acknowledgements the sender knew when it sent.
fn tells_acks(data: &DirectionStats) -> bool {
    is_at_sender(data) || data.timestamps
}

/// Whether the pauses end by a clock, and not by acknowledgements: at the sender that shows in the time since the last one, behind it in
/// the distances of bursts. So does a flight that falls to less than any usual buffer keeps, and pauses that begin where a write ended and
/// end where no acknowledgement came.
pub(super) fn is_by_clock(data: &DirectionStats) -> bool {
    let Some(refills) = data.refills.filter(|refills| refills.count >= FEW_REFILLS) else {
        return !is_at_sender(data) && writes_by_clock(data);
    };
    is_below_buffers(data, refills)
        || pauses_after_writes(data) && refills.late_percent > LATE_PERCENT
        || match is_woken(data, refills) {
            Some(woken) => !woken && is_clocked(data) && refills.late_percent < BUSY_PERCENT,
            None => {
                comes_evenly(data) && refills.after_short_percent >= SOME_SHORT_PERCENT
                    || !is_at_sender(data) && writes_by_clock(data)
            }
        }
}

/// Whether the flight falls to less than the lowest mark of a usual buffer, though more was in flight than a smaller one holds.
fn is_below_buffers(data: &DirectionStats, refills: Refills) -> bool {
    let holds = SHOWN_SEGMENTS * u64::from(data.full_segment());
    refills.count >= REFILLS && refills.low_bytes < LEAST_LOW && data.in_flight_max_bytes >= holds
}

/// Whether the pauses end at once after an acknowledgement more often than by chance, as where that wakes the program; `None` away from the
/// sender, and where acknowledgements come so close that chance explains all.
fn is_woken(data: &DirectionStats, refills: Refills) -> Option<bool> {
    let [chance, share] = [refills.by_chance_percent, refills.at_once_percent];
    let is_told = is_at_sender(data) && chance < CROWDED_PERCENT;
    let [chance, share] = [chance, share].map(|percent| f64::from(percent) / 100.0);
    is_told.then(|| (share - chance) / (1.0 - chance) >= AT_ONCE)
}

/// Whether the pauses end at equal distances, and nothing shows that acknowledgements end them.
pub(super) fn comes_evenly(data: &DirectionStats) -> bool {
    are_equal(data, EQUAL_PERCENT)
        && data.refills.is_some_and(|refills| is_woken(data, refills) != Some(true))
}

/// Whether most pauses end at equal distances, as by a clock, whether or not acknowledgements come then as well.
pub(super) fn are_mostly_even(data: &DirectionStats) -> bool {
    are_equal(data, MOSTLY_EQUAL_PERCENT)
}

fn are_equal(data: &DirectionStats, percent: u32) -> bool {
    data.refills.is_some_and(|refills| refills.count >= REFILLS && refills.equal_percent >= percent)
}

/// Whether acknowledgements clock most of what is sent. A sender that paces (BBR) sends later, whatever woke its program.
fn is_clocked(data: &DirectionStats) -> bool {
    clocked_share(data).is_some_and(|share| share >= CLOCKED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the receiver, pauses that end at once after an acknowledgement, as everything does there.
    const PAUSES: Refills = Refills {
        count: 40,
        low_bytes: 30_000,
        burst_bytes: 8_000,
        alike_percent: 100,
        after_short_percent: 0,
        late_percent: 0,
        at_once_percent: 100,
        by_chance_percent: 100,
        equal_percent: 100,
        acked_bytes: 1_000_000,
        acks_an_answer: Some(1.0),
    };

    fn data(refills: Refills) -> DirectionStats {
        DirectionStats {
            refills: Some(refills),
            in_flight_max_bytes: 60_000,
            acked_bytes: 1_200_000,
            ..DirectionStats::default()
        }
    }

    #[test]
    fn a_clock_ends_pauses_evenly_behind_writes() {
        let has_clock = |refills| is_by_clock(&data(refills));
        assert!(!has_clock(PAUSES), "a steady path drains a buffer as evenly");
        assert!(has_clock(Refills { after_short_percent: 49, ..PAUSES }));
        let uneven = Refills { equal_percent: 40, after_short_percent: 49, ..PAUSES };
        assert!(!has_clock(uneven), "a buffer is filled by whole writes");
        let late = Refills { late_percent: 98, after_short_percent: 98, ..uneven };
        assert!(has_clock(late), "no acknowledgement woke it");
        assert!(
            has_clock(Refills { low_bytes: 7_000, ..PAUSES }),
            "lower than buffers let it fall"
        );
    }

    #[test]
    fn small_flights_show_a_buffer_where_acknowledgements_are_answered_together() {
        let may_be = |acks_an_answer, timestamps| {
            let refills = Refills { count: 0, acks_an_answer: Some(acks_an_answer), ..PAUSES };
            let small = DirectionStats { in_flight_max_bytes: 14_600, timestamps, ..data(refills) };
            may_be_refilled(&small)
        };
        assert!(may_be(2.0, true), "a third of ten segments is free");
        assert!(!may_be(1.0, true), "a congestion window of ten that is held");
        assert!(!may_be(2.0, false), "what the sender knew is not seen");
        assert!(may_be_refilled(&data(PAUSES)), "pauses of larger flights");
        let few = Refills { acked_bytes: 10_000, ..PAUSES };
        assert!(!may_be_refilled(&data(few)), "chance");
    }
}
