//! Lateness: how long after its due time a packet leaves the relay.

use maxseg_core::outcome::{Lateness, LatenessBucket};
use maxseg_core::stats::Histogram;
use maxseg_core::units::Time;

/// Lateness of the packets of a relay.
#[derive(Debug, Clone, Default)]
pub(crate) struct LatenessMeter {
    times: Histogram,
    buckets: [u64; EDGES.len()],
    /// The largest earliness: how long before its due time a packet left.
    earliest: Time,
}

/// Upper edges of the buckets in microseconds; the last has no bound.
const EDGES: [u64; 10] = [10, 20, 50, 100, 200, 500, 1000, 5000, 20_000, u64::MAX / 1000];

impl LatenessMeter {
    /// A packet that was due at `due` leaves at `now`.
    pub(super) fn record(&mut self, due: Time, now: Time) {
        let late = now.since(due);
        self.earliest = self.earliest.max(due.since(now));
        self.times.record(late);
        let micros = late.as_nanos() / 1000;
        let bucket = EDGES.iter().position(|edge| micros < *edge).unwrap_or(EDGES.len() - 1);
        self.buckets[bucket] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.earliest = self.earliest.max(other.earliest);
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *mine += theirs;
        }
    }

    /// Packets that left.
    pub(crate) fn count(&self) -> u64 {
        self.times.count()
    }

    /// The lateness that this share of the packets did not exceed; zero before the first packet.
    pub(crate) fn quantile(&self, share: f64) -> Time {
        self.times.quantile(share).unwrap_or_default()
    }

    /// The lateness as results give it.
    pub(crate) fn outcome(&self) -> Lateness {
        let buckets = EDGES.iter().zip(self.buckets).filter(|(_, packets)| *packets > 0);
        let max = self.quantile(1.0).as_secs_f64();
        Lateness {
            packets: self.count(),
            mean_s: self.times.mean().unwrap_or_default().as_secs_f64(),
            p50_s: self.quantile(0.5).as_secs_f64(),
            p99_s: self.quantile(0.99).as_secs_f64(),
            max_s: max,
            early_max_s: self.earliest.as_secs_f64(),
            histogram: buckets
                .map(|(edge, packets)| LatenessBucket {
                    up_to_s: (*edge as f64 / 1e6).min(max.max(Lateness::LAST_EDGE_S)),
                    packets,
                })
                .collect(),
        }
    }
}
