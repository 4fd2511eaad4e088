//! A reader that stops: its window is shut, and nothing passes until it reads again. What the path carries shows in the rest of the time.

use crate::evidence::{Bin, DirectionStats};
use crate::framing::IpVersion;
use crate::mss::default_mss;
use crate::units::Time;

/// Less is no full segment on any path, of IPv4 or IPv6 (RFC 9293 §3.7.1): a sender that waits long for room fills what little there is.
const SEGMENT: u64 = default_mss(IpVersion::V4) as u64;

/// A window that is full leaves nothing to come through for the rest of a round trip; a reader that stops does for longer.
const ROUND_TRIPS: f64 = 2.0;
/// One that is slow reads a little again and again: it limits the whole of the transfer, and not for the time in which it sleeps.
const LONG_S: f64 = 1.0;

/// Whether the window had no room for most of an interval in which hardly anything came through, and nothing was sent again: the sender
/// waits for the reader. A small window lets something through in each round trip.
fn is_stopped(bin: &Bin) -> bool {
    bin.acked_bytes < SEGMENT && bin.losses == 0 && bin.rwnd_limited.times(2) > bin.duration
}

/// The times of a second, and so many round trips, in which the reader stopped, in order.
#[derive(Debug, Clone)]
pub(super) struct Stops(Vec<(Time, Time)>);

impl Stops {
    pub(super) fn of(data: &DirectionStats) -> Self {
        let round_trip = data.path_rtt_loaded_s.or(data.path_rtt_min_s).unwrap_or(0.0);
        let mut stops: Vec<(Time, Time)> = Vec::new();
        for bin in data.bins.as_slice().iter().filter(|bin| is_stopped(bin)) {
            match stops.last_mut() {
                Some((_, to)) if *to == bin.at => *to = bin.end(),
                _ => stops.push((bin.at, bin.end())),
            }
        }
        let least = LONG_S.max(ROUND_TRIPS * round_trip);
        stops.retain(|(from, to)| to.since(*from).as_secs_f64() >= least);
        Self(stops)
    }

    /// Whether an interval begins in one, and is mostly of it.
    pub(super) fn have(&self, bin: &Bin) -> bool {
        is_stopped(bin) && self.0.iter().any(|(from, to)| (*from..*to).contains(&bin.at))
    }

    fn seconds(&self) -> f64 {
        self.0.iter().map(|(from, to)| to.since(*from).as_secs_f64()).sum()
    }
}

/// Whether the reader stopped for most of an interval, which is as long as a round trip where that is known.
pub(super) fn stops_in(bin: &Bin, data: &DirectionStats) -> bool {
    let is_long = |trip: f64| bin.duration.as_secs_f64() >= trip;
    is_stopped(bin) && data.path_rtt_min_s.is_some_and(is_long)
}

/// The goodput apart from such times, in bits per second: what a link, or a send buffer, made of the time that the reader left.
pub(super) fn goodput_while_read(data: &DirectionStats) -> Option<f64> {
    let goodput = data.goodput_bps?;
    let Some((first, last)) = data.first_data.zip(data.last_ack) else { return Some(goodput) };
    let span = last.since(first).as_secs_f64();
    let read = span - Stops::of(data).seconds();
    Some(if read > 0.0 { goodput * span / read } else { goodput })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Bins;

    /// Ten seconds of 10 Mbit/s while the reader reads: in the middle it stops for so many.
    fn transfer(stops_s: u64) -> DirectionStats {
        let second = Time::from_secs(1);
        let mut bins = Bins::new(Time::ZERO, second);
        for n in 0..10 {
            let bin = bins.at(second.times(n));
            if (4..4 + stops_s).contains(&n) {
                bin.rwnd_limited = second;
            } else {
                bin.acked_bytes = 1_250_000;
            }
        }
        let acked_bytes = 1_250_000 * (10 - stops_s);
        DirectionStats {
            bins,
            acked_bytes,
            first_data: Some(Time::ZERO),
            last_ack: Some(Time::from_secs(10)),
            goodput_bps: Some(acked_bytes as f64 * 0.8),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn what_a_link_carries_is_seen_while_the_reader_reads() {
        for stops_s in [0, 4] {
            let rate = goodput_while_read(&transfer(stops_s)).unwrap();
            assert!((rate / 1e7 - 1.0).abs() < 1e-9, "{rate}");
        }
        assert_eq!(goodput_while_read(&DirectionStats::default()), None);
        let slow = DirectionStats { path_rtt_min_s: Some(2.5), ..transfer(4) };
        assert_eq!(goodput_while_read(&slow), slow.goodput_bps, "less than two round trips");
    }

    #[test]
    fn a_small_window_stops_nothing() {
        let second = Time::from_secs(1);
        let shut = Bin { duration: second, rwnd_limited: second, ..Bin::default() };
        assert!(is_stopped(&shut));
        assert!(is_stopped(&Bin { acked_bytes: 256, ..shut }), "a little room");
        assert!(!is_stopped(&Bin { acked_bytes: 1000, ..shut }), "it opens in each round trip");
        assert!(!is_stopped(&Bin { losses: 1, ..shut }), "a hole is repaired");
        assert!(!is_stopped(&Bin { rwnd_limited: Time::from_millis(400), ..shut }));
    }
}
