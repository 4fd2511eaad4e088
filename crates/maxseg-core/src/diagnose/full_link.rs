//! What shows a full link in the whole of a transfer: the distances of its acknowledgements, and a queue that never empties.

use super::intervals::{busy_bins, decile};
use super::stops::goodput_while_read;
use crate::evidence::{AckGaps, DirectionStats};
use crate::units::Time;

/// Behind a full link of the data gaps between acknowledgements grow with what they cover, by about so much, and vary by no
/// more than this (the standard deviation of their logarithms): a window that leaves the link idle leaves pauses.
const TWICE: f64 = 1.7;
const ABOUT_TWICE: f64 = 2.3;
const STEADY_GAPS: f64 = 0.2;
const ENOUGH_GAPS: u32 = 100;
/// What is in flight waits from this on, in what the path holds.
const OVERFULL: f64 = 1.3;
/// Two segments are in flight while the first waits for the second to be acknowledged, and one that is sent before.
const BURST_SEGMENTS: f64 = 3.0;
/// Segments that pass until a delayed acknowledgement is sent.
const DELAYED_ACK_SEGMENTS: f64 = 2.0;
/// A queue never empties where no more than so many tenths of the shortest round trips are without it: it is longer than what
/// so many segments take.
const EMPTIED_TENTHS: usize = 2;
const QUEUED_SEGMENTS: f64 = 1.5;

/// The link is full from this share of the rate at which its trains come out.
pub(crate) const FULL_LINK: f64 = 0.85;
/// Segments fill the time without a pause from this share of the rate of their trains on.
pub(super) const AS_TRAINS: f64 = 0.9;
/// A first flight that came out so many times as fast as the rest shows that the link carries more.
pub(super) const FASTER: f64 = 1.5;
/// A larger window brings no more than the link, from this share of the rate of its trains on, where the first flight, sent at
/// once, came out no faster than so many times the goodput.
const AT_LINK: f64 = 0.95;
const NO_FASTER: f64 = 1.1;

/// Trains are told by eight acknowledgements, of two segments each.
const TRAIN_SEGMENTS: u64 = 16;

/// The rate of a full link varies by less than this share of itself, whatever its losses.
const OF_LINK: f64 = 0.5;

/// The rate at which trains come out of the link: where acknowledgements are compressed, or jump over what was repaired, the
/// mode is lower than the highest.
pub(super) fn trains_bps(data: &DirectionStats) -> Option<f64> {
    let highest = data.capacity_bps?;
    Some(data.train_mode_bps.map_or(highest, |mode| mode.min(highest)))
}

/// The fastest that segments came out of the link, in trains or in the first flight, in bits per second; 0 where neither was seen.
pub(super) fn fastest_bps(data: &DirectionStats) -> f64 {
    data.capacity_bps.unwrap_or(0.0).max(data.first_flight_bps.unwrap_or(0.0))
}

/// Whether acknowledgements of more than one segment come about twice as long after the one before as those of one do, and no longer:
/// nothing else holds them back.
pub(super) fn is_of_link(gaps: AckGaps) -> bool {
    gaps.count >= ENOUGH_GAPS
        && (TWICE..ABOUT_TWICE).contains(&gaps.ratio)
        && gaps.deviation < STEADY_GAPS
}

/// Whether a larger window would only make the queue longer. Behind a link that is always busy acknowledgements come as far apart
/// as what they cover took on it, and no further; where segments are so slow that each is a train of its own, that alone shows it. Or the queue
/// never empties while the goodput is that of the trains. A first flight that was much faster shows that the link carries more: then
/// a sender with a clock of its own spaces its segments, or the queue is somebody else's, unless more is in flight than the path
/// holds.
pub(super) fn keeps_link_full(data: &DirectionStats, is_clocked: bool) -> bool {
    let highest = data.capacity_bps;
    let is_as_trains = is_at(data, highest, AS_TRAINS);
    let first = data.first_flight_bps.zip(goodput_while_read(data));
    let carries_more = first.is_some_and(|(first, rest)| first >= FASTER * rest);
    let has_link_gaps =
        data.ack_gaps.is_some_and(is_of_link) && (highest.is_none() || is_as_trains);
    has_link_gaps && (is_clocked || !carries_more || needs_queue(data))
        || queue_never_empties(data)
            && (is_as_trains && !carries_more
                || is_at(data, trains_bps(data), FULL_LINK) && needs_queue(data))
}

/// Whether the goodput is that of the trains, and of the first flight, and the first train was no faster.
pub(super) fn is_as_fast_as_first(data: &DirectionStats) -> bool {
    let first = data.first_flight_bps;
    if is_opening_faster(data) {
        return false;
    }
    is_at(data, data.capacity_bps, AT_LINK) && is_at(data, first, 1.0 / NO_FASTER)
}

/// Whether the first train was much faster than the rest: the link carries more, unless it lets bursts pass.
pub(super) fn is_opening_faster(data: &DirectionStats) -> bool {
    let rates = data.opening_train_bps.zip(goodput_while_read(data));
    rates.is_some_and(|(first, rest)| first >= FASTER * rest)
}

/// Whether the goodput is that of the trains, where round trips are measured, and varies little.
pub(super) fn is_at_trains(data: &DirectionStats, variation: impl FnOnce() -> Option<f64>) -> bool {
    data.path_rtt_min_s.is_some()
        && is_at(data, trains_bps(data), AS_TRAINS)
        && !variation().is_some_and(|variation| variation >= OF_LINK)
}

/// Whether what seem to be trains are several flights of a few segments each, as far as no first flight tells otherwise.
pub(super) fn has_no_trains(data: &DirectionStats) -> bool {
    let segment = u64::from(data.full_segment());
    data.first_flight_bps.is_none() && data.in_flight_max_bytes < TRAIN_SEGMENTS * segment
}

/// Whether the link is idle for a part of the time, as far as trains show its rate.
pub(super) fn has_room(data: &DirectionStats) -> bool {
    !is_at(data, trains_bps(data), FULL_LINK)
}

/// Whether the goodput, while the reader reads, is at least this share of a rate.
pub(super) fn is_at(data: &DirectionStats, rate: Option<f64>, share: f64) -> bool {
    goodput_while_read(data).zip(rate).is_some_and(|(goodput, rate)| goodput >= share * rate)
}

/// Whether the usual flight is more than the goodput carries in the least round trip (Little's law): the rest waits.
pub(super) fn needs_queue(data: &DirectionStats) -> bool {
    let flight = decile(busy_bins(data).map(|bin| bin.in_flight_max as f64).collect(), 5);
    let holds = data.path_rtt_min_s.zip(data.goodput_bps).map(|(least, rate)| least * rate / 8.0);
    let segment = f64::from(data.full_segment());
    flight.zip(holds).is_some_and(|(flight, holds)| flight >= overfull(holds, segment))
}

/// What is in flight waits for a good part from so many bytes on, where the path holds so many.
pub(super) fn overfull(holds: f64, segment: f64) -> f64 {
    OVERFULL * holds + BURST_SEGMENTS * segment
}

/// How long the receiver holds an acknowledgement back for a second segment (RFC 5681 §4.2), and that for the next one.
pub(super) fn held_s(data: &DirectionStats) -> f64 {
    let segment = f64::from(data.full_segment()) * 8.0;
    data.goodput_bps
        .filter(|goodput| *goodput > 0.0)
        .map_or(0.0, |goodput| DELAYED_ACK_SEGMENTS * segment / goodput)
}

/// Whether the shortest round trip of nearly every stretch of time holds a queue: a window that leaves the link idle finds it
/// empty once in each flight. A handshake has not the time that a segment takes on the link, and the first segment of two
/// waits for the second.
pub(super) fn queue_never_empties(data: &DirectionStats) -> bool {
    let segment = f64::from(data.full_segment()) * 8.0;
    let shortest = data.bins.as_slice().iter().filter_map(|bin| bin.rtt_min);
    let shortest = decile(shortest.map(Time::as_secs_f64).collect(), EMPTIED_TENTHS);
    let known = shortest.zip(least_in_order_s(data)).zip(data.goodput_bps);
    known.is_some_and(|((shortest, least), goodput)| {
        shortest >= least + QUEUED_SEGMENTS * segment / goodput
    })
}

/// The least round trip of packets that keep their order, in seconds: what overtakes others on the way takes less, as the handshake shows,
/// of which nothing overtakes anything.
pub(super) fn least_in_order_s(data: &DirectionStats) -> Option<f64> {
    let handshake = data.epochs.opening.round_trip.as_secs_f64();
    let has_overtaken = data.spurious_retransmissions + data.out_of_order_packets > 0;
    data.path_rtt_min_s.map(|least| if has_overtaken { least.max(handshake) } else { least })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Bins;

    /// A hundred flights at 5 Mbit/s over a path of 40 ms whose shortest round trips are these.
    fn transfer(shortest: impl Fn(u64) -> Time) -> DirectionStats {
        let flight = Time::from_millis(60);
        let mut bins = Bins::new(Time::ZERO, flight);
        for n in 0..100 {
            let bin = bins.at(flight.times(n));
            (bin.segments, bin.rtt_min) = (25, Some(shortest(n)));
        }
        DirectionStats {
            bins,
            path_rtt_min_s: Some(0.04),
            goodput_bps: Some(5e6),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn a_queue_that_is_empty_once_in_each_flight_fills_no_link() {
        assert!(queue_never_empties(&transfer(|_| Time::from_millis(50))));
        // Two segments take 4.7 ms.
        assert!(!queue_never_empties(&transfer(|_| Time::from_millis(42))));
        let seldom = |n| Time::from_millis(if n % 3 == 0 { 40 } else { 60 });
        assert!(!queue_never_empties(&transfer(seldom)));
        assert!(!queue_never_empties(&DirectionStats::default()), "no round trip is seen");
    }

    #[test]
    fn what_overtakes_others_shows_no_queue_of_the_rest() {
        let mut data = transfer(|_| Time::from_millis(42));
        data.path_rtt_min_s = Some(0.02);
        assert!(queue_never_empties(&data));
        data.epochs.opening.round_trip = Time::from_millis(40);
        assert!(queue_never_empties(&data), "the handshake may have waited as well");
        data.spurious_retransmissions = 3;
        assert!(!queue_never_empties(&data), "a packet in the middle was early");
    }

    #[test]
    fn a_window_in_front_of_a_full_link_limits_nothing() {
        let gaps = AckGaps { count: 400, ratio: 2.0, deviation: 0.01 };
        let slow = DirectionStats {
            ack_gaps: Some(gaps),
            goodput_bps: Some(2.4e6),
            ..DirectionStats::default()
        };
        assert!(keeps_link_full(&slow, false), "each segment is a train of its own");
        let ticks = AckGaps { ratio: 4.2, ..gaps };
        let ticks = DirectionStats { ack_gaps: Some(ticks), ..slow.clone() };
        assert!(!keeps_link_full(&ticks, true), "the time between two bursts of a pace");
        let pauses = DirectionStats { capacity_bps: Some(9e6), ..slow };
        assert!(!keeps_link_full(&pauses, true));
        let queued = |first| DirectionStats {
            capacity_bps: Some(5.2e6),
            first_flight_bps: Some(first),
            ..transfer(|_| Time::from_millis(50))
        };
        assert!(keeps_link_full(&queued(5.1e6), false));
        assert!(!keeps_link_full(&queued(10e6), false), "somebody else's queue");
        assert!(is_as_fast_as_first(&queued(5.1e6)) && !is_as_fast_as_first(&queued(10e6)));
    }

    #[test]
    fn flights_of_a_few_segments_are_no_trains() {
        let of = |segments: u64, first_flight_bps| {
            has_no_trains(&DirectionStats {
                in_flight_max_bytes: 1460 * segments,
                first_flight_bps,
                ..DirectionStats::default()
            })
        };
        assert!(of(8, None));
        assert!(!of(20, None) && !of(8, Some(3e6)));
    }

    #[test]
    fn compressed_acknowledgements_are_not_the_rate_of_the_link() {
        let of = |capacity_bps, train_mode_bps| {
            trains_bps(&DirectionStats {
                capacity_bps,
                train_mode_bps,
                ..DirectionStats::default()
            })
        };
        assert_eq!(of(Some(50e6), Some(5e6)), Some(5e6));
        assert_eq!(of(Some(5e6), None), Some(5e6));
        assert_eq!(of(None, Some(5e6)), None);
    }
}
