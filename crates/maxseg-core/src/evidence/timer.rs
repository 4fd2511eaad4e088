//! What expiries of the retransmission timer show: a path that was interrupted, or a timer that expires too early.

use super::{DirectionStats, Outage};
use crate::units::Time;

/// Nothing of the other side for so long, in seconds and in round trips, is an outage after a single timeout; a shorter time
/// is the loss of the last segments of a flight. After several it is from the second time on: Linux's least, and twice that. A probe of
/// the tail and one timeout take half of it (RFC 8985 §7.3).
const OUTAGE_S: f64 = 1.0;
const OUTAGE_AGAIN_S: f64 = 0.6;
const OUTAGE_ROUND_TRIPS: f64 = 4.0;

/// Where so much of the data is lost, one or two retransmissions in a row are lost as the data are.
const LOSSY: f64 = 0.1;
const LOST_IN_A_ROW: u32 = 2;

impl DirectionStats {
    /// The time in which nothing passed: the retransmission timer expired again and again, or once after a long time,
    /// and it was not the size of the segments.
    pub fn interruption(&self) -> Option<Outage> {
        let by_size = self.black_hole.is_some_and(|hole| hole.is_by_size());
        let round_trip = self.path_rtt_loaded_s.or(self.path_rtt_mean_s).unwrap_or(0.0);
        let is_long = |outage: &Outage| {
            let seconds = outage.seconds();
            let least = if outage.retransmissions > 1 { OUTAGE_AGAIN_S } else { OUTAGE_S };
            seconds >= least.max(OUTAGE_ROUND_TRIPS * round_trip)
        };
        self.outage.filter(|outage| !by_size && is_long(outage))
    }

    /// Whether losses explain that nothing passed: a tenth of the data is lost, and the timer expired as often at other times.
    pub(crate) fn has_losses_like(&self, outage: &Outage) -> bool {
        outage.retransmissions <= LOST_IN_A_ROW
            && self.timeouts >= 2 * u64::from(outage.retransmissions)
            && self.needed_retransmissions() as f64 >= LOSSY * self.data_packets as f64
    }

    /// Whether nothing passed for so long that the timer expired three times: the window grows from one segment then (RFC 5681 §3.1), and what
    /// is sent in a round trip is less than it admits.
    pub(crate) fn was_cut_off(&self) -> bool {
        self.interruption().is_some_and(|outage| outage.retransmissions >= 3)
    }

    /// Whether the timer expired too early: at least half of its expiries were spurious, and the path was not interrupted.
    /// A sender whose every packet is held somewhere hears nothing either, and no timer should wait for that.
    pub fn expires_too_early(&self) -> bool {
        self.spurious_expiries > 0
            && self.spurious_expiries * 2 >= self.timeouts
            && self.interruption().is_none()
            && !self.waits_for_long()
    }

    /// Whether the timer expired long after anything that was on its way would have come, each time: then its acknowledgement was lost, or
    /// nothing passed, as a capture behind the interruption does not show otherwise.
    fn waits_for_long(&self) -> bool {
        let waited: f64 = self.bins.as_slice().iter().map(|bin| bin.rto_wait.as_secs_f64()).sum();
        let longest = self.loaded_round_trips.quantile(0.99).map(Time::as_secs_f64);
        let round_trip = longest.or(self.path_rtt_mean_s).unwrap_or(0.0);
        let each = waited / (self.timeouts as f64).max(1.0);
        each >= OUTAGE_AGAIN_S.max(OUTAGE_ROUND_TRIPS * round_trip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Bins;

    #[test]
    fn a_timer_that_waits_for_many_round_trips_is_not_early() {
        let early = |waited_ms| {
            let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
            bins.at(Time::ZERO).rto_wait = Time::from_millis(waited_ms);
            let data = DirectionStats {
                bins,
                timeouts: 1,
                spurious_expiries: 1,
                path_rtt_mean_s: Some(0.15),
                ..DirectionStats::default()
            };
            data.expires_too_early()
        };
        assert!(early(300), "the round trip had become longer");
        assert!(!early(2720), "nothing passed, and its acknowledgement was lost");
    }
}
