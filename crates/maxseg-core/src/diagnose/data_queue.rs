//! A queue of the data, as timestamps tell it (RFC 7323 §4): also one ahead of the capture point, which no round trip from there
//! holds, as that of a shaper on the sender's host.

use super::full_link::held_s;
use super::trip_view::{CLOCK_STEP, sees_round_trips};
use crate::evidence::DirectionStats;

/// A queue is longer than this, and than this share of a round trip.
const QUEUE_S: f64 = 0.02;
const QUEUE_SHARE: f64 = 0.2;
/// It stands where three of four wait for so long beyond the least, and half of them for so many times that.
const MEDIAN: f64 = 1.5;
/// A delayed acknowledgement waits for a second segment, or the timer of the receiver (RFC 9293 §3.8.6.3): 40 ms in Linux.
const DELAYED_ACK_SEGMENTS: f64 = 3.0;
/// Two clocks may run apart by so much: 100 parts in a million, each way.
pub(super) const DRIFT: f64 = 2e-4;
/// Behind a loss acknowledgements echo what came before it: where more than one in so many is a duplicate, they tell no
/// delays.
const DUPLICATES: u64 = 20;
/// The acknowledgements' way has less than this share of the queue.
const OTHER_WAY: f64 = 0.5;
/// Others queue for as long as this share of the least round trip, while the link carries so many times what the transfer gets. If
/// it carries more, a larger window brings more than the queue takes.
const WAITS: f64 = 0.25;
const FASTER: std::ops::Range<f64> = 1.5..4.0;
/// A reader is behind whose window is low for this share of the time.
const LOW: f64 = 0.1;
/// So few duplicate acknowledgements may be of losses at the end.
const FEW_OVERTAKEN: u64 = 2;

/// Whether the data waits for most of the time, and its acknowledgements do not.
pub(super) fn stands(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.way_delay.is_some() && waits(data, acks)
}

/// Whether it waits for most of the time in a queue that it overflowed, as far as that is seen: near the receiver nothing seems to be in
/// flight then for much of the time, as of a sender with a pace.
pub(super) fn stands_overflowed(data: &DirectionStats, acks: &DirectionStats) -> bool {
    data.needed_retransmissions() > 0 && waits(data, acks)
}

/// Whether the data waits, and its acknowledgements do not, as far as their way is known.
fn waits(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let Some(there) = data.way_delay else { return false };
    let Some((first, last)) = data.first_data.zip(data.last_ack) else { return false };
    let segment = f64::from(data.full_segment());
    let segment_s = data.goodput_bps.map_or(0.0, |goodput| 8.0 * segment / goodput);
    let longer = QUEUE_S
        .max(QUEUE_SHARE * data.path_rtt_min_s.unwrap_or(0.0))
        .max(DELAYED_ACK_SEGMENTS * segment_s)
        .max(DRIFT * last.since(first).as_secs_f64());
    tell_delays(acks)
        && acks.data_packets_once() < 3
        && there.low_s >= longer
        && there.median_s >= MEDIAN * longer
        && acks.way_delay.is_none_or(|back| back.median_s < OTHER_WAY * there.median_s)
}

/// Whether nearly all of the data waits in a queue that is not its own: it waits in proportion to the path, while its first flight,
/// sent at once, came out much faster than it is sent since. A queue keeps the order: what is overtaken does not wait in one. And
/// behind a window that is low or shut acknowledgements wait for the reader.
pub(super) fn is_of_others(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let Some((least, goodput)) = data.path_rtt_min_s.zip(data.goodput_bps) else { return false };
    let is_faster = data.first_flight_bps.is_some_and(|first| FASTER.contains(&(first / goodput)));
    let has_overtaken = data.out_of_order_packets > FEW_OVERTAKEN
        || data.needed_retransmissions() == 0 && acks.duplicate_acks > FEW_OVERTAKEN;
    let waits = data.way_delay.is_some_and(|way| way.low_s >= (WAITS * least).max(held_s(data)));
    let trips = data.loaded_round_trips.quantile(0.25).filter(|_| sees_round_trips(data, acks));
    let is_long = trips.is_some_and(|trip| {
        trip.as_secs_f64() >= (1.0 + WAITS) * least + CLOCK_STEP.as_secs_f64() + held_s(data)
    });
    is_faster && is_read(acks) && !has_overtaken && (waits || is_long)
}

/// Whether the reader keeps up: the window never shut, and is seldom low.
pub(super) fn is_read(acks: &DirectionStats) -> bool {
    acks.window_shut_times == 0 && acks.low_windows.is_none_or(|share| share < LOW)
}

/// Whether the timestamps of acknowledgements tell delays of the data: behind a window that shut they wait for the reader.
pub(super) fn tell_delays(acks: &DirectionStats) -> bool {
    acks.duplicate_acks * DUPLICATES < acks.packets && acks.window_shut_times == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::WayDelay;
    use crate::units::Time;

    fn waits(there: f64, back: f64, shut: u64) -> bool {
        let way = |seconds: f64| {
            Some(WayDelay {
                count: 500,
                low_s: seconds / 2.0,
                median_s: seconds,
                high_s: seconds,
                ..WayDelay::default()
            })
        };
        let data = DirectionStats {
            way_delay: way(there),
            goodput_bps: Some(5e6),
            path_rtt_min_s: Some(0.03),
            first_data: Some(Time::ZERO),
            last_ack: Some(Time::from_millis(5000)),
            ..DirectionStats::default()
        };
        let acks = DirectionStats {
            way_delay: way(back),
            packets: 500,
            window_shut_times: shut,
            ..DirectionStats::default()
        };
        stands(&data, &acks)
    }

    #[test]
    fn a_queue_before_the_capture_point_has_overflowed() {
        let data = DirectionStats {
            way_delay: Some(WayDelay {
                count: 500,
                low_s: 0.1,
                median_s: 0.12,
                high_s: 0.2,
                ..WayDelay::default()
            }),
            goodput_bps: Some(5e6),
            first_data: Some(Time::ZERO),
            last_ack: Some(Time::from_millis(5000)),
            retransmitted_packets: 5,
            ..DirectionStats::default()
        };
        let acks = DirectionStats { packets: 500, ..DirectionStats::default() };
        assert!(stands_overflowed(&data, &acks) && !stands(&data, &acks));
        let whole = DirectionStats { retransmitted_packets: 0, ..data };
        assert!(!stands_overflowed(&whole, &acks), "it may be somebody else's");
    }

    #[test]
    fn a_queue_that_leaves_the_link_more_is_of_others() {
        let data = |first| DirectionStats {
            path_rtt_min_s: Some(0.04),
            goodput_bps: Some(5e6),
            first_flight_bps: Some(first),
            way_delay: Some(WayDelay {
                count: 500,
                low_s: 0.02,
                median_s: 0.02,
                high_s: 0.02,
                ..WayDelay::default()
            }),
            ..DirectionStats::default()
        };
        let acks = DirectionStats { packets: 500, ..DirectionStats::default() };
        assert!(is_of_others(&data(10e6), &acks));
        assert!(!is_of_others(&data(5e6), &acks), "its own");
        assert!(!is_of_others(&data(50e6), &acks), "the window leaves more than the queue takes");
        let overtaken = DirectionStats { duplicate_acks: 9, ..acks.clone() };
        assert!(!is_of_others(&data(10e6), &overtaken), "a queue keeps the order");
        let behind = DirectionStats { low_windows: Some(0.5), ..acks };
        assert!(!is_of_others(&data(10e6), &behind), "for the reader");
    }

    #[test]
    fn a_queue_of_the_data_alone_stands() {
        assert!(waits(0.25, 0.002, 0));
        assert!(!waits(0.25, 0.2, 0), "the acknowledgements wait as well");
        assert!(!waits(0.02, 0.002, 0), "as long as a delayed acknowledgement");
        assert!(!waits(0.25, 0.002, 1), "for the reader");
    }
}
