//! Random Early Detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", 1993): figure 2, decided when a packet comes.

use super::queue::QueueState;
use crate::path::{LinkSpec, QueueLimit, RedSettings};
use crate::rng::{Rng, Stream};
use crate::units::{Bytes, Time};

/// The average queue and what follows from it.
#[derive(Debug, Clone)]
pub(super) struct Red {
    settings: RedSettings,
    min: f64,
    max: f64,
    average: f64,
    /// Packets since the last one was picked; −1 while the average is below `min`.
    count: f64,
    /// How long a typical packet takes: an idle link counts as so many empty samples.
    typical: Time,
    /// The largest packet on the wire: in byte mode a small one is picked less often.
    largest: f64,
    rng: Rng,
}

/// RED's decision on an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Enqueue it.
    Pass,
    /// Mark it if it is ECN-capable, drop it otherwise.
    MarkOrDrop,
    /// The average is at `max`: drop it in any case (RFC 3168 §7).
    Drop,
}

/// The mean packet that ns-2 and the paper's idle time take.
const TYPICAL: Bytes = Bytes::new(500);

impl Red {
    pub(super) fn new(spec: &LinkSpec, settings: RedSettings, seed: u64, name: &str) -> Self {
        Self {
            settings,
            min: threshold(settings.min),
            max: threshold(settings.max),
            average: 0.0,
            count: -1.0,
            typical: spec.rate.time_for(TYPICAL).max(Time::from_nanos(1)),
            largest: spec.wire_bytes(spec.mtu.bytes()).get() as f64,
            rng: Stream::named(seed, &format!("{name}.red")).reader(),
        }
    }

    /// The same with other settings: the average goes on, if it counts the same things.
    pub(super) fn respec(self, new: Self) -> Self {
        if self.counts_bytes() != new.counts_bytes() {
            return new;
        }
        Self { average: self.average, count: self.count, rng: self.rng, ..new }
    }

    /// A packet of `bytes` comes at `now` and finds `queue`.
    pub(super) fn on_arrival(&mut self, now: Time, queue: QueueState, bytes: u32) -> Decision {
        self.sample(now, queue);
        if self.average < self.min {
            self.count = -1.0;
            return Decision::Pass;
        }
        if self.average >= self.max {
            self.count = 0.0;
            return Decision::Drop;
        }
        self.count += 1.0;
        let mut chance =
            self.settings.max_p.get() * (self.average - self.min) / (self.max - self.min);
        if self.counts_bytes() {
            chance *= f64::from(bytes) / self.largest;
        }
        // Picks lie evenly, not geometrically, apart: p ÷ (1 − count·p).
        let spread = 1.0 - self.count * chance;
        if spread <= chance || self.rng.uniform() < chance / spread {
            self.count = 0.0;
            return Decision::MarkOrDrop;
        }
        Decision::Pass
    }

    fn sample(&mut self, now: Time, queue: QueueState) {
        let weight = self.settings.weight.get();
        if let Some(since) = queue.idle_since {
            let missed = now.since(since).as_secs_f64() / self.typical.as_secs_f64();
            self.average *= libm::pow(1.0 - weight, missed);
        } else {
            let length =
                if self.counts_bytes() { queue.bytes as f64 } else { queue.packets as f64 };
            self.average += weight * (length - self.average);
        }
    }

    fn counts_bytes(&self) -> bool {
        matches!(self.settings.max, QueueLimit::Bytes(_))
    }
}

fn threshold(limit: QueueLimit) -> f64 {
    match limit {
        QueueLimit::Packets(n) => f64::from(n),
        QueueLimit::Bytes(bytes) => bytes.get() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitsPerSec, Bytes, Probability};

    fn red(weight: f64) -> Red {
        let spec = LinkSpec::plain(BitsPerSec::new(4_000_000).unwrap(), Time::ZERO);
        let settings =
            RedSettings { weight: Probability::new(weight).unwrap(), ..RedSettings::default() };
        Red::new(&spec, settings, 1, "x")
    }

    fn of(packets: usize) -> QueueState {
        QueueState { packets, bytes: 0, idle_since: None }
    }

    #[test]
    fn nothing_below_the_lower_threshold_and_all_from_the_upper_on() {
        let mut red = red(1.0); // the average is the queue
        assert_eq!(red.on_arrival(Time::ZERO, of(4), 1500), Decision::Pass);
        assert_eq!(red.on_arrival(Time::ZERO, of(15), 1500), Decision::Drop);
    }

    /// A queue that counts bytes picks by size (Floyd and Jacobson 1993, §6): half a packet half as often.
    #[test]
    fn where_bytes_count_a_small_packet_is_picked_less_often() {
        let gap = |bytes: u32| {
            let spec = LinkSpec::plain(BitsPerSec::new(4_000_000).unwrap(), Time::ZERO);
            let settings = RedSettings {
                min: QueueLimit::Bytes(Bytes::new(10_000)),
                max: QueueLimit::Bytes(Bytes::new(20_000)),
                weight: Probability::ALWAYS,
                ..RedSettings::default()
            };
            let mut red = Red::new(&spec, settings, 1, "x");
            let queue = QueueState { packets: 1, bytes: 15_000, idle_since: None };
            let picks = (0..200_000)
                .filter(|_| red.on_arrival(Time::ZERO, queue, bytes) == Decision::MarkOrDrop)
                .count();
            200_000.0 / picks as f64
        };
        // Gaps are uniform on 1 to 1/p (§7), p = 1/100 and 1/200; some 4000 and 2000 of them: three standard errors.
        assert!((gap(1500) - 50.5).abs() < 1.4, "{}", gap(1500));
        assert!((gap(750) - 100.5).abs() < 3.9, "{}", gap(750));
    }

    #[test]
    fn between_them_picks_are_evenly_spread() {
        let mut red = red(1.0);
        // Half-way: 1/100 each, so gaps are uniform on 1 to 100 (§7): mean 50.5, and never more.
        let picks: Vec<u32> = (0..200_000_u32)
            .filter(|_| red.on_arrival(Time::ZERO, of(10), 1500) == Decision::MarkOrDrop)
            .collect();
        let gaps: Vec<u32> = picks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((48.0..53.0).contains(&mean), "{mean}"); // 4000 gaps: standard error 0.46
        assert!(gaps.iter().all(|gap| (1..=101).contains(gap)));
    }

    #[test]
    fn a_change_of_settings_keeps_the_average_of_the_same_unit() {
        let mut before = red(1.0);
        before.on_arrival(Time::ZERO, of(12), 1500);
        assert!((before.respec(red(0.5)).average - 12.0).abs() < 1e-12);
    }

    #[test]
    fn an_idle_link_forgets() {
        let mut red = red(0.002);
        for _ in 0..10_000 {
            red.on_arrival(Time::ZERO, of(12), 1500);
        }
        assert!((red.average - 12.0).abs() < 1e-6);
        // A typical packet takes a millisecond: 500 of them make (1 − 0.002)⁵⁰⁰ = 0.3675.
        let idle = QueueState { packets: 0, bytes: 0, idle_since: Some(Time::ZERO) };
        red.on_arrival(Time::from_millis(500), idle, 1500);
        assert!((red.average / 12.0 - 0.367_5).abs() < 1e-3, "{}", red.average);
    }
}
