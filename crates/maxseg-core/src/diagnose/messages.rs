//! Messages of the other side's program, in which it may ask for data: a window of the programs' own, or requests ahead of replies.

use super::intervals::busy_bins;
use crate::evidence::DirectionStats;

/// Fewer messages of the other side show no window of a program.
const MESSAGES: u64 = 8;
/// And it stays there where so many after the first do.
const PLATEAU: f64 = 0.8;
/// Fewer intervals show no level.
const LEAST_INTERVALS: usize = 8;
/// Each message admits no more than this share of the largest flight: receivers grant half of their window when half of it is read, as
/// two requests that are outstanding do, and away from the sender a flight looks smaller.
const ADMITTED: f64 = 0.75;

/// Whether the flight has a ceiling within which the other side's program sends several messages: each admits a part. In a
/// dialogue, where each side waits for the whole of the other's payload, no more is in flight than what one message asked
/// for.
pub(super) fn is_admitted(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.data_packets >= MESSAGES
        && (data.unique_bytes / acks.data_packets) as f64
            <= ADMITTED * data.in_flight_max_bytes as f64
        && has_plateau(data)
}

/// Whether the flight, once it has come near its maximum, stays there.
fn has_plateau(data: &DirectionStats) -> bool {
    let flights: Vec<u64> = busy_bins(data).map(|bin| bin.in_flight_max).collect();
    let is_near = |flight: &u64| *flight * 5 >= data.in_flight_max_bytes * 4;
    let from = flights.iter().position(is_near).unwrap_or(0);
    let level = flights.get(from..).unwrap_or_default();
    let near = level.iter().filter(|flight| is_near(flight)).count();
    level.len() >= LEAST_INTERVALS && near as f64 >= PLATEAU * level.len() as f64
}

/// Whether messages of the other side come as often as flights end: each may be what the sender waits for, as a window that its program
/// grants (RFC 9113 §5.2, RFC 4254 §5.2), or a request that is sent ahead. It looks like a full send buffer, or a pace, then.
pub(super) fn may_wait_for_messages(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.data_packets >= MESSAGES
        && data.unique_bytes / acks.data_packets <= data.in_flight_max_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Bins;
    use crate::units::Time;

    /// A sender with 100 kB in flight for ten round trips, and so many messages for each MB.
    fn sender(messages: u64) -> (DirectionStats, DirectionStats) {
        let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
        for n in 0..10 {
            let bin = bins.at(Time::from_millis(100 * n));
            (bin.segments, bin.in_flight_max) = (50, 100_000);
        }
        bins.finish(Time::from_millis(1000));
        let data = DirectionStats {
            unique_bytes: 1_000_000,
            in_flight_max_bytes: 100_000,
            bins,
            ..DirectionStats::default()
        };
        (data, DirectionStats { data_packets: messages, ..DirectionStats::default() })
    }

    #[test]
    fn half_a_window_is_granted_when_half_is_read() {
        let is_admitted = |messages| {
            let (data, acks) = sender(messages);
            is_admitted(&data, &acks)
        };
        assert!(is_admitted(20), "halves");
        assert!(is_admitted(15), "a flight that looks smaller than the window");
        assert!(!is_admitted(10), "a dialogue: each asks for all of it");
    }

    #[test]
    fn a_message_for_each_flight_may_be_what_is_waited_for() {
        let may_wait = |messages| {
            let (data, acks) = sender(messages);
            may_wait_for_messages(&data, &acks)
        };
        assert!(may_wait(10));
        assert!(!may_wait(8), "of more than a flight each");
        let (data, acks) = sender(3);
        let short = DirectionStats { unique_bytes: 200_000, ..data };
        assert!(!may_wait_for_messages(&short, &acks), "too few");
    }
}
