//! How long ends wait before they send: durations, of which the way's part is taken off at the end.

use maxseg_core::evidence::Waits;
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

/// A wait; times are in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    /// With the least round trip to its end.
    pub(super) took: u64,
    /// How much of it may be of a queue.
    pub(super) unsure: u64,
    /// How long what it answers was on its way beyond the least round trip, where that is seen.
    pub(super) queued: u64,
    /// Bytes of the segment that ended it, where that came over the path.
    pub(super) payload: u32,
}

/// The way between the capture point and the end that waits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WayTo {
    /// The least round trip, in nanoseconds.
    pub(super) round_trip: u64,
    /// The rate at which its segments come out of the path, in bits per second, where that is seen: a large one takes longer than
    /// those that the round trip is of.
    pub(super) arrival_bps: Option<f64>,
}

/// Durations: all are counted, and a bounded number kept, evenly over time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Samples {
    /// In microseconds, of which 32 bits hold 72 minutes: connections may wait for hours.
    kept: Vec<u64>,
    /// One in `2^thinned` is kept.
    thinned: u8,
    pub(super) count: u32,
    /// In nanoseconds.
    sum: u64,
    unsure: u64,
    queued: u64,
    /// Bytes.
    payload: u64,
}

impl Samples {
    const MOST: usize = 256;

    pub(super) fn add(&mut self, wait: &Wait) {
        if self.count & ((1 << self.thinned) - 1) == 0 {
            if self.kept.len() >= Self::MOST {
                self.kept = self.kept.iter().copied().step_by(2).collect();
                self.thinned += 1;
            }
            self.kept.push(wait.took / 1000);
        }
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(wait.took);
        self.unsure = self.unsure.saturating_add(wait.unsure);
        self.queued = self.queued.saturating_add(wait.queued);
        self.payload = self.payload.saturating_add(wait.payload.into());
    }

    /// How much of the durations is round trips, in nanoseconds.
    pub(super) fn round_trips(&self, way: &WayTo) -> u64 {
        self.sum.min(way.round_trip.saturating_mul(self.count.into()))
    }

    /// How long what was answered was on its way beyond the least round trips, in seconds.
    pub(super) fn queued_s(&self) -> f64 {
        self.queued as f64 / 1e9
    }

    /// How long the segments that ended the waits took on the link, in nanoseconds.
    fn on_link(&self, way: &WayTo) -> u64 {
        way.arrival_bps
            .map_or(0, |rate| Time::from_secs_f64(self.payload as f64 * 8.0 / rate).as_nanos())
    }

    /// The durations without a round trip in each, and without the time on the link.
    pub(super) fn less(&self, way: &WayTo) -> Waits {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let on_link = self.on_link(way);
        let each = way.round_trip.saturating_add(on_link / u64::from(self.count.max(1)));
        let at = |hundredth: usize| {
            let rank = (sorted.len() * hundredth).div_ceil(100);
            let micros = sorted.get(rank.checked_sub(1)?)?;
            let nanos = (*micros * 1000).saturating_sub(each);
            Some(nanos as f64 / 1e9)
        };
        let total = (self.sum - self.round_trips(way)).saturating_sub(on_link);
        Waits {
            count: self.count,
            total_s: total as f64 / 1e9,
            unsure_s: self.unsure.min(total) as f64 / 1e9,
            p50_s: at(50),
            p99_s: at(99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    const fn wait(took: u64) -> Wait {
        Wait { took, unsure: 0, queued: 0, payload: 0 }
    }

    #[test]
    fn many_waits_take_little_memory() {
        let mut samples = Samples::default();
        for n in 0..100_000 {
            samples.add(&wait(n % 1000 * MS));
        }
        assert!(samples.kept.len() <= Samples::MOST);
        let waits = samples.less(&WayTo::default());
        assert_eq!(waits.count, 100_000);
        assert!((waits.p50_s.unwrap() - 0.5).abs() < 0.1, "{waits:?}");
    }

    /// A database connection that is idle over night.
    #[test]
    fn a_wait_of_hours_is_no_shorter() {
        let mut samples = Samples::default();
        samples.add(&wait(14_400_000 * MS));
        let waits = samples.less(&WayTo { round_trip: 20 * MS, arrival_bps: None });
        assert_eq!((waits.p99_s, waits.total_s), (Some(14_399.98), 14_399.98));
    }

    /// A full segment takes 6 ms of a link of 2 Mbit/s.
    #[test]
    fn the_time_of_a_large_segment_on_the_link_is_no_wait() {
        let mut samples = Samples::default();
        for _ in 0..10 {
            samples.add(&Wait { took: 6 * MS, unsure: 0, queued: 0, payload: 1448 });
        }
        let waits = samples.less(&WayTo { round_trip: 0, arrival_bps: Some(1_930_000.0) });
        assert!(waits.total_s < 1e-3, "{waits:?}");
        assert!(samples.less(&WayTo::default()).total_s > 0.05);
    }

    #[test]
    fn what_may_be_a_queue_is_told_apart() {
        let mut samples = Samples::default();
        samples.add(&Wait { took: 50 * MS, unsure: 30 * MS, queued: 0, payload: 0 });
        let waits = samples.less(&WayTo { round_trip: 10 * MS, arrival_bps: None });
        assert_eq!((waits.total_s, waits.unsure_s), (0.04, 0.03));
    }
}
