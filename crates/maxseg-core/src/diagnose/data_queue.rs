//! A queue of the data, as timestamps tell it (RFC 7323 §4): also one ahead of the capture point, which no round trip from there
//! holds, as that of a shaper on the sender's host.

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

/// Whether the data waits for most of the time, and its acknowledgements do not.
pub(super) fn stands(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let (Some(there), Some(back)) = (data.way_delay, acks.way_delay) else { return false };
    let Some((first, last)) = data.first_data.zip(data.last_ack) else { return false };
    let segment = f64::from(data.mss_used_bytes.unwrap_or(1460));
    let segment_s = data.goodput_bps.map_or(0.0, |goodput| 8.0 * segment / goodput);
    let longer = QUEUE_S
        .max(QUEUE_SHARE * data.path_rtt_min_s.unwrap_or(0.0))
        .max(DELAYED_ACK_SEGMENTS * segment_s)
        .max(DRIFT * last.since(first).as_secs_f64());
    tell_delays(acks)
        && acks.data_packets < 3
        && there.low_s >= longer
        && there.median_s >= MEDIAN * longer
        && back.median_s < OTHER_WAY * there.median_s
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
            Some(WayDelay { count: 500, low_s: seconds / 2.0, median_s: seconds, high_s: seconds })
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
    fn a_queue_of_the_data_alone_stands() {
        assert!(waits(0.25, 0.002, 0));
        assert!(!waits(0.25, 0.2, 0), "the acknowledgements wait as well");
        assert!(!waits(0.02, 0.002, 0), "as long as a delayed acknowledgement");
        assert!(!waits(0.25, 0.002, 1), "for the reader");
    }
}
