//! The round trip between the capture point and a sender.
//!
//! What a sender knew when it sent is known only there; elsewhere an acknowledgement that passes needs half a
//! round trip to it, and what it brings out another half back. That round trip is measured where both sides use
//! timestamps: a segment echoes the timestamp of the acknowledgement that its sender had last seen (RFC 7323 §4).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::segments::{Answer, Echo};
use super::sender_replay::AckUpdate;

/// The round trip between the point of capture and a sender.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Distance {
    /// Timestamps of acknowledgements that no segment has echoed yet.
    stamps: VecDeque<Stamp>,
    /// What the last acknowledgement acknowledged whose timestamp a segment echoed: its sender knew that much.
    echoed: Option<Echo>,
    /// Acknowledgements on their way to the sender.
    under_way: VecDeque<UnderWay>,
    /// Least round trips of this period and of the one before.
    least: u64,
    least_before: u64,
    period_ends: u64,
    /// The last that were measured, in microseconds; 0 before.
    last: [u32; LAST],
    /// How many were measured, up to [`ENOUGH`].
    measured: u8,
    /// The round trip of the handshake, in nanoseconds.
    first: Option<u64>,
    /// The least that was ever seen, that of the handshake among them.
    least_ever: u64,
}

/// An acknowledgement on its way to the sender.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct UnderWay {
    /// When it passed, in nanoseconds.
    passed: u64,
    /// When it is there by the least round trip.
    arrives: u64,
    news: AckUpdate,
}

/// How a segment of the sender passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    /// Data seem to be in flight.
    pub(super) is_busy: bool,
    /// Segments sent before it have not passed: they were lost, or it has overtaken them.
    pub(super) is_ahead: bool,
    /// Time since the last payload, in nanoseconds.
    pub(super) paused: u64,
}

/// A timestamp of acknowledgements.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Stamp {
    value: u32,
    /// The receive window of the last that had it, in bytes; 0 while its scale is not known, or where it is none.
    window: u32,
    /// When the first that had it passed, in nanoseconds.
    at: u64,
    /// What the last that had it acknowledged.
    una: i64,
}

/// Most timestamps, and most acknowledgements, that are kept.
const MOST: usize = 4096;
/// A period is at least so long, in nanoseconds: the least of it is the least of several round trips.
const PERIOD: u64 = 50_000_000;
/// The least of so many round trips is no delay of the sender's.
const LAST: usize = 3;
/// So many measurements are enough: a tick of a millisecond gives one at most.
const ENOUGH: u8 = 8;
const MICRO: u64 = 1_000;
/// A host that is woken by an acknowledgement sends within this time, in nanoseconds.
const AT_ONCE: u64 = 1_000_000;

impl Distance {
    pub(super) fn new(first: Option<u64>) -> Self {
        let least_ever = first.unwrap_or(u64::MAX);
        Self { least: u64::MAX, least_before: u64::MAX, first, least_ever, ..Self::default() }
    }

    /// The least round trip of this period and of the one before, in nanoseconds.
    pub(super) fn get(&self) -> u64 {
        match self.least.min(self.least_before) {
            u64::MAX => self.first.unwrap_or(0),
            least => least,
        }
    }

    /// The round trip of late, in nanoseconds, queues included.
    pub(super) fn of_late(&self) -> u64 {
        let known = self.last.iter().filter(|micros| **micros > 0);
        known.min().map_or_else(|| self.get(), |micros| u64::from(*micros) * MICRO)
    }

    /// The round trip without queues, in nanoseconds.
    pub(super) const fn empty(&self) -> u64 {
        if self.least_ever == u64::MAX { 0 } else { self.least_ever }
    }

    /// What the sender knew to be acknowledged when it sent the last segment, by the timestamp that this echoes; `None` where
    /// none did.
    pub(super) const fn echoed(&self) -> Option<Echo> {
        self.echoed
    }

    /// When the acknowledgement passed that the last segment echoes, and the next one.
    pub(super) fn answer(&self) -> Option<Answer> {
        let next = self.stamps.front().map(|stamp| stamp.at);
        self.echoed.map(|echo| Answer { echoed: echo.at, next })
    }

    /// Whether it was measured at all.
    pub(super) const fn is_known(&self) -> bool {
        self.first.is_some() || self.least != u64::MAX || self.least_before != u64::MAX
    }

    /// Whether the capture is taken on the sender's host, for all that is known: that answers as soon as a host does, and too seldom yet for
    /// the way to it to be known. What timestamps measure then is how long its program takes.
    fn is_at_sender(&self) -> bool {
        self.first.is_none() && self.measured < ENOUGH && self.get() < AT_ONCE
    }

    /// An acknowledgement passes towards the sender.
    pub(super) fn on_ack(&mut self, at: u64, stamp: Option<u32>, news: AckUpdate) {
        if let Some(value) = stamp {
            self.on_stamp(at, value, news);
        }
        if self.under_way.len() >= MOST {
            self.under_way.pop_front();
        }
        let way = if self.is_at_sender() { 0 } else { self.get() };
        let arrives = at.saturating_add(way);
        self.under_way.push_back(UnderWay { passed: at, arrives, news });
    }

    /// An acknowledgement has this timestamp. Where the path is shorter than a tick, others have it still when a segment has echoed the
    /// first: these are not timed.
    fn on_stamp(&mut self, at: u64, value: u32, news: AckUpdate) {
        let una = news.una;
        let window = news.edge.map_or(0, |edge| u32::try_from(edge - una).unwrap_or(0));
        match self.stamps.back_mut() {
            Some(last) if last.value == value => {
                if una >= last.una {
                    (last.una, last.window) = (una, window);
                }
            }
            Some(last) if !is_later(value, last.value) => {}
            None if self.echoed.is_some_and(|echoed| echoed.stamp == value) => {}
            _ => {
                if self.stamps.len() >= MOST {
                    self.stamps.pop_front();
                }
                self.stamps.push_back(Stamp { value, window, at, una });
            }
        }
    }

    /// Windows are so many times as large as was taken for granted.
    pub(super) fn scale_windows(&mut self, times: i64) {
        for UnderWay { news, .. } in &mut self.under_way {
            let una = news.una;
            news.edge = news.edge.map(|edge| una + (edge - una).saturating_mul(times));
        }
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        for stamp in &mut self.stamps {
            stamp.window = stamp.window.saturating_mul(times);
        }
        if let Some(echoed) = &mut self.echoed {
            echoed.window = echoed.window.saturating_mul(times);
        }
    }

    /// A segment of the sender passes, which echoes a timestamp.
    pub(super) fn on_segment(&mut self, at: u64, echo: u32, passed: Passed) {
        while let Some(stamp) = self.stamps.front().copied() {
            if is_later(stamp.value, echo) {
                return;
            }
            self.stamps.pop_front();
            let (window, una) = (stamp.window, stamp.una);
            self.echoed = Some(Echo { stamp: stamp.value, window, una, at: stamp.at });
            if stamp.value == echo {
                let round_trip = at.saturating_sub(stamp.at);
                // What overtook others was faster than the path usually is.
                if !passed.is_ahead && round_trip < self.believable(round_trip, passed) {
                    self.measure(at, round_trip);
                }
                return;
            }
        }
    }

    /// Round trips below this are believed. A sender that paused for a good part of the round trip may have waited for its program,
    /// not for the path: only one that is little longer is, and only a shorter one where nothing was in flight. One that did not
    /// pause had not seen the acknowledgements that passed since, whatever seems to have been in flight. The first that is measured, in
    /// mid-stream, is at once, or of a sender that had not seen a later acknowledgement either.
    fn believable(&self, round_trip: u64, passed: Passed) -> u64 {
        if passed.paused <= round_trip / 4 {
            u64::MAX
        } else if !passed.is_busy {
            self.get()
        } else if self.is_known() {
            self.get().saturating_mul(3) / 2
        } else if round_trip <= AT_ONCE || !self.stamps.is_empty() {
            u64::MAX
        } else {
            0
        }
    }

    fn measure(&mut self, at: u64, round_trip: u64) {
        if at >= self.period_ends {
            self.least_before = self.least;
            self.least = u64::MAX;
            self.period_ends = at.saturating_add(PERIOD.max(round_trip.saturating_mul(2)));
        }
        self.measured = ENOUGH.min(self.measured + 1);
        self.last.rotate_left(1);
        if let Some(last) = self.last.last_mut() {
            *last = u32::try_from(round_trip / MICRO).unwrap_or(u32::MAX).max(1);
        }
        self.least = self.least.min(round_trip);
        self.least_ever = self.least_ever.min(round_trip);
    }

    /// No timestamp that has passed will be timed.
    pub(super) fn forget_stamps(&mut self) {
        self.stamps.clear();
    }

    /// What was on its way to the sender has arrived, whenever that was.
    pub(super) fn forget_under_way(&mut self) {
        self.under_way.clear();
        self.echoed = None;
    }

    /// The next acknowledgement that has reached the sender by `at`, and when: by the least round trip, or as a segment has echoed it, of a sender
    /// that took less for once.
    pub(super) fn arrived_by(&mut self, at: u64) -> Option<(u64, AckUpdate)> {
        let UnderWay { passed, arrives, news } = *self.under_way.front()?;
        let is_echoed = || self.echoed.is_some_and(|echoed| passed <= echoed.at);
        if arrives > at && !is_echoed() {
            return None;
        }
        self.under_way.pop_front();
        Some((arrives.min(at), news))
    }
}

/// Whether a timestamp was given after another (RFC 7323 §5.2).
#[expect(clippy::cast_possible_wrap, reason = "the nearer way round")]
pub(super) const fn is_later(stamp: u32, than: u32) -> bool {
    stamp.wrapping_sub(than) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: Passed = Passed { is_busy: true, is_ahead: false, paused: 100 };

    /// One segment in ten overtakes others.
    #[test]
    fn what_overtakes_others_is_no_measure_of_the_path() {
        let mut distance = Distance::new(Some(10_000));
        let news = AckUpdate { una: 1, edge: None, delivered: 1 };
        for n in 0..50_u32 {
            let at = u64::from(n) * 1_000_000;
            distance.on_ack(at, Some(n), news);
            let is_ahead = n % 10 == 5;
            let round_trip = if is_ahead { 5_000 } else { 10_000 };
            distance.on_segment(at + round_trip, n, Passed { is_ahead, ..PASSED });
        }
        assert_eq!(distance.get(), 10_000);
    }

    #[test]
    fn echoes_tell_the_distance() {
        let mut distance = Distance::new(Some(7));
        assert_eq!(distance.get(), 7);
        let news = AckUpdate { una: 1, edge: None, delivered: 1 };
        for n in 0..10 {
            let at = u64::from(n) * 1_000_000;
            distance.on_ack(at, Some(n), news);
            distance.on_segment(at + 400 + u64::from(n), n, PASSED);
        }
        assert_eq!(distance.get(), 400);
        assert_eq!(distance.arrived_by(7), Some((7, news)));
    }

    /// A sender on this host takes 30 microseconds, and 20 for once: the acknowledgement that it echoes has arrived.
    #[test]
    fn what_a_segment_echoes_has_arrived() {
        let mut distance = Distance::new(Some(30_000));
        let news = |una| AckUpdate { una, edge: None, delivered: 1 };
        distance.on_ack(0, Some(1), news(1));
        distance.on_ack(5_000, Some(1), news(2));
        assert_eq!(distance.arrived_by(20_000), None);
        distance.on_segment(20_000, 1, Passed { is_ahead: true, ..PASSED });
        assert_eq!(distance.arrived_by(20_000), Some((20_000, news(1))));
        assert_eq!(distance.arrived_by(20_000), None, "the second has the same timestamp");
        assert_eq!(distance.arrived_by(35_000), Some((35_000, news(2))));
    }

    /// Ticks of a millisecond, acknowledgements every 200 microseconds, a path of 500: of five with one timestamp two pass after the
    /// first was echoed.
    #[test]
    fn a_path_shorter_than_a_tick_is_timed_by_the_first_of_each() {
        let mut distance = Distance::new(Some(600_000));
        let news = AckUpdate { una: 1, edge: None, delivered: 1 };
        let stamp = |at: u64| u32::try_from(at / 1_000_000).unwrap();
        for at in (0..100_000_000).step_by(200_000) {
            distance.on_ack(at, Some(stamp(at)), news);
            if let Some(left) = (at + 90_000).checked_sub(500_000) {
                distance.on_segment(at + 90_000, stamp(left), PASSED);
            }
        }
        assert!((500_000..700_000).contains(&distance.get()), "{}", distance.get());
    }

    /// A queue fills by a millisecond in each: the least of late is that of three before, and the least of two periods is older.
    #[test]
    fn a_queue_that_fills_is_in_the_round_trips_of_late() {
        let mut distance = Distance::new(Some(10_000_000));
        let news = AckUpdate { una: 1, edge: None, delivered: 1 };
        for n in 0..40_u32 {
            let (at, queue) = (u64::from(n) * 20_000_000, u64::from(n) * 1_000_000);
            distance.on_ack(at, Some(n), news);
            distance.on_segment(at + 10_000_000 + queue, n, PASSED);
        }
        assert_eq!(distance.of_late(), 47_000_000);
        assert!(distance.get() < 47_000_000, "{}", distance.get());
    }

    /// A queue fills behind a handshake that found it empty: its round trip is long over before the next segment arrives, but that
    /// echoes an older acknowledgement than the last.
    #[test]
    fn a_queue_is_seen_though_nothing_seems_to_be_in_flight() {
        let mut distance = Distance::new(Some(20_000));
        let news = AckUpdate { una: 1, edge: None, delivered: 1 };
        for n in 0..100_u32 {
            let at = u64::from(n) * 1_000_000;
            distance.on_ack(at, Some(n), news);
            if n >= 20 {
                let passed = Passed { is_busy: false, paused: 1_000_000, ..PASSED };
                distance.on_segment(at + 500_000, n - 20, passed);
            }
        }
        assert_eq!(distance.get(), 20_500_000);
    }

    /// A capture begins in the middle: what comes long after an acknowledgement may have been waited for, unless a later one had not
    /// reached the sender yet.
    #[test]
    fn the_first_round_trip_in_mid_stream_is_no_pause() {
        let news = AckUpdate { una: 1, edge: None, delivered: 1 };
        let measured = |stamps: &[(u64, u32)], at: u64| {
            let mut distance = Distance::new(None);
            for (at, stamp) in stamps {
                distance.on_ack(*at, Some(*stamp), news);
            }
            distance.on_segment(at, 1, Passed { paused: at, ..PASSED });
            distance.is_known().then(|| distance.get())
        };
        assert_eq!(measured(&[(0, 1)], 30_000_000), None, "a program writes every 30 ms");
        assert_eq!(measured(&[(0, 1), (9_000_000, 2)], 30_000_000), Some(30_000_000));
        assert_eq!(measured(&[(0, 1)], 60_000), Some(60_000), "on the sender's host");
    }

    /// What comes long after a sender's last payload was waited for; what comes in a train was not.
    #[test]
    fn the_time_that_a_program_takes_is_no_round_trip() {
        for (paused, expected) in [(1_000, 150_000), (149_000, 400)] {
            let mut distance = Distance::new(Some(400));
            let news = AckUpdate { una: 1, edge: None, delivered: 1 };
            distance.on_ack(0, Some(1), news);
            distance.on_segment(150_000, 1, Passed { paused, ..PASSED });
            assert_eq!(distance.get(), expected, "{paused} ns after the last payload");
        }
    }
}
