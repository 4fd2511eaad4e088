//! Messages of the other side's program, in which it may ask for data: a window of the programs' own, or requests ahead of replies.

use std::ops::RangeInclusive;

use super::intervals::{busy_bins, share_of_time};
use crate::evidence::{Bin, DirectionStats};
use crate::units::Time;

/// Fewer messages of the other side show no window of a program.
const MESSAGES: u64 = 8;
/// A flight stays at its ceiling where so many of the intervals after the first that reaches it do.
const PLATEAU: f64 = 0.8;
/// Fewer intervals show no level.
const LEAST_INTERVALS: usize = 8;
/// Each message admits no more than this share of the largest flight: receivers grant half of their window when half of it is read, as
/// two requests that are outstanding do, and away from the sender a flight looks smaller.
const ADMITTED: f64 = 0.75;
/// Messages that ask for data are this part of it at most: those that carry as much have a purpose of their own.
const ASKING_PART: u64 = 10;

/// A dialogue: the other side sends at least so much payload for each packet of this side.
const DIALOGUE: f64 = 0.02;
/// Replies that come in pauses of more than this share of the time are a dialogue, however long each is.
const PAUSED: f64 = 0.5;
/// Who asks again when a reply is complete has the next one begin a round trip later: for each message the sender is out of data for so
/// many of the least.
const ASKED_AFTER: RangeInclusive<f64> = 0.7..=2.0;
/// Such pauses matter from this share of the time on.
const MATTER: f64 = 0.1;

/// Whether each side waits for the other's payload.
pub(super) fn is_dialogue(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let often = acks.data_packets_once() as f64 > DIALOGUE * data.data_packets_once() as f64;
    acks.data_packets_once() >= 3 && (often || is_mostly_idle(data))
        || waits_for_requests(data, acks)
}

/// Whether the sender had nothing in flight for most of the time.
fn is_mostly_idle(data: &DirectionStats) -> bool {
    let span = data.first_data.zip(data.limits_end.or(data.last_ack));
    span.is_some_and(|(first, last)| data.idle_s > PAUSED * last.since(first).as_secs_f64())
}

/// The share of the time in which the sender has nothing to send.
pub(super) fn out_of_data(data: &DirectionStats) -> f64 {
    share_of_time(data, |bin| bin.idle.saturating_add(bin.app_limited))
}

/// Whether it is that for about a round trip before each message of the other side, which asks for more: however long replies are, and
/// whatever rate they come at, nobody paces them.
fn waits_for_requests(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let span = data.first_data.zip(data.last_ack);
    let Some(((first, last), round_trip)) = span.zip(data.path_rtt_min_s) else { return false };
    let share = out_of_data(data);
    let each = share * last.since(first).as_secs_f64() / (acks.data_packets_once() as f64).max(1.0);
    share >= MATTER
        && acks.data_packets_once() >= MESSAGES
        && ASKED_AFTER.contains(&(each / round_trip.max(1e-9)))
        && asks(data, acks)
        && !is_admitted(data, acks)
}

/// Whether the flight has a ceiling within which the other side's program sends several messages: each admits a part. In a
/// dialogue, where each side waits for the whole of the other's payload, no more is in flight than what one message asked
/// for.
pub(super) fn is_admitted(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.data_packets_once() >= MESSAGES
        && (data.unique_bytes / acks.data_packets_once()) as f64
            <= ADMITTED * data.in_flight_max_bytes as f64
        && has_plateau(data)
}

/// Whether the other side's payload is little beside the data: messages that ask for it carry little of their own.
pub(super) fn asks(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.unique_bytes < data.unique_bytes / ASKING_PART
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
    let count = messages_meanwhile(data, acks);
    // About what was sent in the same three quarters of the time.
    let meanwhile = data.unique_bytes / 4 * 3;
    count >= MESSAGES && meanwhile / count <= data.in_flight_max_bytes
}

/// Intervals with messages of the other side while data passed, but for the first quarter of the time: the handshake of TLS and a long
/// request come before, in several segments.
pub(super) fn messages_meanwhile(data: &DirectionStats, acks: &DirectionStats) -> u64 {
    let Some((first, last)) = data.first_data.zip(data.last_ack) else { return 0 };
    let quarter = Time::from_nanos(last.since(first).as_nanos() / 4);
    let from = first.saturating_add(quarter);
    let is_one = |bin: &&Bin| bin.sent_bytes > 0 && bin.end() > from && bin.at <= last;
    acks.bins.as_slice().iter().filter(is_one).count() as u64
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
        let (data, once) = sender(10);
        let thrice =
            DirectionStats { packets: 90, data_packets: 30, capture_duplicates: 60, ..once };
        assert!(!super::is_admitted(&data, &thrice), "a dialogue at three points of capture");
    }

    /// Ten replies of 100 kB, each a round trip of 40 ms behind the one before, or as long behind it as a program likes.
    #[test]
    fn who_asks_when_a_reply_is_complete_is_in_a_dialogue() {
        let is_one = |paused: u64, messages| {
            let (mut data, acks) = sender(messages);
            let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
            for n in 0..10 {
                let bin = bins.at(Time::from_millis(100 * n));
                (bin.segments, bin.app_limited) = (70, Time::from_millis(paused));
            }
            bins.finish(Time::from_millis(1000));
            (data.first_data, data.last_ack) = (Some(Time::ZERO), Some(Time::from_millis(1000)));
            data = DirectionStats { data_packets: 700, path_rtt_min_s: Some(0.04), bins, ..data };
            is_dialogue(&data, &acks)
        };
        assert!(is_one(40, 10));
        assert!(!is_one(40, 0), "a program that writes");
        assert!(!is_one(10, 10), "it does not wait for them");
    }

    #[test]
    fn payload_of_its_own_asks_for_nothing() {
        let (data, acks) = sender(20);
        let is_asked = |unique_bytes| asks(&data, &DirectionStats { unique_bytes, ..acks.clone() });
        assert!(is_asked(20 * 36));
        assert!(!is_asked(900_000), "both ways at once");
    }

    #[test]
    fn a_message_for_each_flight_may_be_what_is_waited_for() {
        // Messages every so many milliseconds of the second, from this one on.
        let may_wait = |from: u64, every: u64| {
            let (data, mut acks) = sender(40);
            acks.bins = Bins::new(Time::ZERO, Time::from_millis(1));
            for at in (from..1000).step_by(usize::try_from(every).unwrap()) {
                let bin = acks.bins.at(Time::from_millis(at));
                (bin.segments, bin.sent_bytes) = (2, 100);
            }
            acks.bins.finish(Time::from_millis(1000));
            let times = (Some(Time::ZERO), Some(Time::from_millis(1000)));
            let data = DirectionStats { first_data: times.0, last_ack: times.1, ..data };
            may_wait_for_messages(&data, &acks)
        };
        assert!(may_wait(5, 50));
        assert!(!may_wait(5, 100), "of more than a flight each");
        assert!(!may_wait(5, 300), "too few");
        let (data, mut before) = sender(40);
        before.bins = Bins::new(Time::ZERO, Time::from_millis(1));
        for at in 0..30 {
            before.bins.at(Time::from_millis(at)).sent_bytes = 1400;
        }
        let last_ack = Some(Time::from_millis(1000));
        let data = DirectionStats { first_data: Some(Time::ZERO), last_ack, ..data };
        assert!(!may_wait_for_messages(&data, &before), "a handshake, and one long request");
    }
}
