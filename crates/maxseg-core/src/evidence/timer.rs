//! What expiries of the retransmission timer show: a path that was interrupted, or a timer that expires too early.

use super::{DirectionStats, Outage, Silence};
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
/// So many losses in a row are chance, where that is as likely: the path loses so many.
const BY_CHANCE: f64 = 0.05;
/// Fewer segments do not show which share is lost.
const ENOUGH: u64 = 20;

impl DirectionStats {
    /// The time in which nothing passed: the retransmission timer expired again and again, or once after a long time,
    /// and it was not the size of the segments.
    pub fn interruption(&self) -> Option<Outage> {
        self.stop().filter(|outage| !self.has_losses_like(outage))
    }

    /// The same, and where losses by chance explain it as well.
    pub(crate) fn stop(&self) -> Option<Outage> {
        let by_size = self.black_hole.is_some_and(|hole| hole.is_by_size());
        let round_trip = self.path_rtt_loaded_s.or(self.path_rtt_mean_s).unwrap_or(0.0);
        let is_long = |outage: &Outage| {
            let seconds = outage.seconds();
            let least = if outage.retransmissions > 1 { OUTAGE_AGAIN_S } else { OUTAGE_S };
            seconds >= least.max(OUTAGE_ROUND_TRIPS * round_trip)
        };
        self.outage.filter(|outage| !by_size && is_long(outage))
    }

    /// Whether losses explain that nothing passed: a tenth of the data is lost, and the timer expired as often at other times, or as
    /// many losses in a row are likely where so many segments are lost at other times.
    fn has_losses_like(&self, outage: &Outage) -> bool {
        let is_lossy =
            self.needed_retransmissions() as f64 >= LOSSY * self.data_packets_once() as f64;
        let is_frequent = outage.retransmissions <= LOST_IN_A_ROW
            && self.timeouts >= 2 * u64::from(outage.retransmissions);
        is_lossy && (is_frequent || self.expected_like(outage) > BY_CHANCE)
    }

    /// How many stops with as many retransmissions, of which the last is answered, losses bring about by chance: each loss begins one, and
    /// each further retransmission is lost as segments are that were sent long before it or as long behind it as it took.
    fn expected_like(&self, outage: &Outage) -> f64 {
        let over = outage.to.saturating_add(outage.to.since(outage.from));
        let (lost, sent) = (self.bins.as_slice().iter())
            .filter(|bin| bin.end() <= outage.from || bin.at >= over)
            .fold((0, 0), |(lost, sent), bin| {
                (lost + u64::from(bin.losses), sent + u64::from(bin.segments))
            });
        if sent < ENOUGH {
            return 0.0;
        }
        let share = lost as f64 / sent as f64;
        lost as f64 * libm::pow(share, f64::from(outage.retransmissions.saturating_sub(1)))
    }

    /// Whether it is by chance that nothing answered up to the end, in a connection that began at `begin`: the path loses so many segments
    /// that stops of as many retransmissions are likely, or take as much of its time, and the last packet may be in one.
    pub fn loses_by_chance(&self, silence: &Silence, begin: Time) -> bool {
        let own = u64::from(silence.retransmissions);
        let lost = self.needed_retransmissions().saturating_sub(own) as f64;
        let sent = self.segments().saturating_sub(own);
        if sent < ENOUGH {
            return false;
        }
        let sent = sent as f64;
        let all = libm::pow(lost / sent, f64::from(silence.retransmissions + silence.probes));
        let seconds = |from: Time| silence.to.since(from).as_secs_f64();
        let times = lost * seconds(silence.from) / seconds(begin).max(f64::MIN_POSITIVE);
        all * times.max(1.0) > BY_CHANCE
    }

    /// Whether nothing passed for so long that the timer expired three times: the window grows from one segment then (RFC 5681 §3.1), and what
    /// is sent in a round trip is less than it admits.
    pub(crate) fn was_cut_off(&self) -> bool {
        self.stop().is_some_and(|outage| outage.retransmissions >= 3)
    }

    /// Whether the timer expired too early: at least half of its expiries were spurious, and the path was not interrupted.
    /// A sender whose every packet is held somewhere hears nothing either, and no timer should wait for that.
    pub fn expires_too_early(&self) -> bool {
        self.spurious_expiries > 0
            && self.spurious_expiries * 2 >= self.timeouts
            && self.stop().is_none()
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

    /// A capture of 60 s in which so many of a hundred segments are lost, evenly, and a stop in the middle with so many retransmissions.
    fn lossy(percent: u64, retransmissions: u32) -> DirectionStats {
        let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
        for n in 0..600 {
            bins.at(Time::from_millis(100 * n)).segments = 2;
        }
        let lost = 12 * percent;
        for n in 0..lost {
            bins.at(Time::from_millis(n * 60_000 / lost)).losses += 1;
        }
        let (from, to) = (Time::from_secs(30), Time::from_secs(35));
        DirectionStats {
            bins,
            data_packets: 1200,
            retransmitted_packets: lost,
            timeouts: 20,
            outage: Some(Outage { from, to, retransmissions, of_payload: false }),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn many_losses_in_a_row_are_no_interruption_where_many_segments_are_lost() {
        let is_interrupted = |percent, times| lossy(percent, times).interruption();
        for (percent, by_chance, interrupted) in [(20, 5, 7), (30, 6, 9), (50, 10, 15)] {
            assert_eq!(is_interrupted(percent, by_chance), None, "{percent}");
            assert!(is_interrupted(percent, interrupted).is_some(), "{percent}");
        }
        assert!(is_interrupted(1, 3).is_some());
        assert!(lossy(50, 10).stop().is_some(), "what is sent begins anew all the same");
    }

    /// What is lost in an interruption does not make one likely.
    #[test]
    fn losses_within_the_stop_are_none_at_other_times() {
        let mut data = lossy(0, 3);
        data.retransmitted_packets = 200;
        data.bins.at(Time::from_secs(35)).losses = 200;
        assert!(data.interruption().is_some());
    }

    #[test]
    fn attempts_that_are_lost_as_others_were_are_no_silence() {
        let by_chance = |lost: u64, retransmissions: u32, seconds: u64| {
            let silence = Silence {
                direction: crate::evidence::Direction::Forward,
                from: Time::from_secs(60 - seconds),
                to: Time::from_secs(60),
                retransmissions,
                probes: 0,
            };
            let data = DirectionStats {
                data_packets: 100 + u64::from(retransmissions),
                retransmitted_packets: lost + u64::from(retransmissions),
                ..DirectionStats::default()
            };
            data.loses_by_chance(&silence, Time::ZERO)
        };
        assert!(!by_chance(0, 2, 1) && !by_chance(10, 2, 1));
        assert!(by_chance(50, 2, 1));
        assert!(!by_chance(50, 9, 1) && by_chance(50, 6, 12), "long stops take most of the time");
    }

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
