//! Whether new segments left when acknowledgements reached their sender, where neither is seen.
//!
//! A segment tells when it left, and which acknowledgement its sender had seen last (RFC 7323 §4). From the time at which that one
//! passed here to the departure is the way to the sender, by two clocks whose difference is constant: what is more than
//! the least of late, the sender let pass. Queues that segments meet after their departure do not count.

use maxseg_core::evidence::Departures as Found;
use serde::{Deserialize, Serialize};

use super::segments::Answer;
use super::stamp_clock::StampClock;

/// New segments by the time from the acknowledgement that they echo to their departure.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Departures {
    clock: StampClock,
    /// The first departure, and when the acknowledgement passed that it echoes: others are counted from there.
    first: Option<(u32, u64)>,
    /// The least way to the sender in this block of segments, and in the one before.
    least: i64,
    least_before: i64,
    /// When the last acknowledgement passed that was echoed.
    echoed: u64,
    seen: u32,
    /// Segments that count, and those among them that left later than the next acknowledgement allows.
    count: u32,
    late: u32,
    /// Their payload, and that of those that left at once, in bytes.
    payload: u64,
    at_once: u64,
    /// From the first acknowledgement that was echoed to the last, and how much of it is at once after one, in nanoseconds.
    lasted: u64,
    covered: u64,
}

/// What the clocks behind timestamps have to have, in nanoseconds: others are too coarse.
const TICK: u64 = 1_000_000;
/// At once, in nanoseconds: a tick, in which no departure is told from another, and half of one for what hosts and paths vary.
const AT_ONCE: u64 = 1_500_000;
/// Segments of a block. Clocks drift by less than a tick while two of them pass.
const BLOCK: u32 = 32;
/// So many show it.
const MOST: u32 = 4096;
/// Fewer show nothing.
const LEAST: u32 = 30;

impl Departures {
    /// A new segment with so much payload, which left at `stamp` and passes at `at`.
    #[inline]
    pub(super) fn on_new(&mut self, at: u64, stamp: u32, payload: u64, answer: &Answer) {
        if self.count < MOST {
            self.add(at, stamp, payload, answer);
        }
    }

    fn add(&mut self, at: u64, stamp: u32, payload: u64, answer: &Answer) {
        self.clock.on_stamp(stamp, at);
        let (first_stamp, first_echoed) = *self.first.get_or_insert((stamp, answer.echoed));
        let left = i64::from(stamp.wrapping_sub(first_stamp).cast_signed()) * TICK.cast_signed();
        let way = left - answer.echoed.wrapping_sub(first_echoed).cast_signed();
        if self.seen.is_multiple_of(BLOCK) {
            self.least_before = if self.seen == 0 { way } else { self.least };
            self.least = way;
        }
        self.seen += 1;
        self.least = self.least.min(way);
        let passed = answer.echoed.saturating_sub(self.echoed);
        if self.echoed > 0 {
            self.lasted = self.lasted.saturating_add(passed);
            self.covered = self.covered.saturating_add(passed.min(AT_ONCE));
        }
        self.echoed = self.echoed.max(answer.echoed);
        if self.seen <= BLOCK {
            return; // the least is not known yet
        }
        let waited = way.abs_diff(self.least.min(self.least_before));
        self.count += 1;
        self.payload = self.payload.saturating_add(payload);
        if waited <= AT_ONCE {
            self.at_once = self.at_once.saturating_add(payload);
        }
        let until_next = answer.next.map(|next| next.saturating_sub(answer.echoed));
        let is_late = until_next.is_some_and(|until| waited > until.saturating_add(AT_ONCE));
        self.late += u32::from(is_late);
    }

    /// What they show, where the sender's clock ticks often enough.
    pub(super) fn found(&self) -> Option<Found> {
        let is_known = self.count >= LEAST && self.lasted > 0 && self.payload > 0;
        let has_tick = self.clock.usual_tick() == Some(TICK);
        (is_known && has_tick).then(|| Found {
            count: self.count,
            at_once: self.at_once as f64 / self.payload as f64,
            by_chance: self.covered as f64 / self.lasted as f64,
            late: f64::from(self.late) / f64::from(self.count),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip of 40 ms, an acknowledgement each 10 ms, each of which is answered after so many milliseconds; the sender's clock
    /// began elsewhere.
    fn departures(after: impl Fn(u64) -> u64) -> Found {
        let mut departures = Departures::default();
        for n in 0..500_u64 {
            let echoed = (10 * n + 5) * TICK;
            let left = 10 * n + 25 + after(n);
            let answer = Answer { echoed, next: Some(echoed + 10 * TICK) };
            let stamp = u32::try_from(left).unwrap().wrapping_sub(1000);
            departures.on_new((left + 20) * TICK, stamp, 1448, &answer);
        }
        departures.found().unwrap()
    }

    #[test]
    fn what_acknowledgements_clock_out_leaves_when_they_arrive() {
        let found = departures(|n| n % 2);
        assert_eq!((found.count, found.at_once, found.late), (468, 1.0, 0.0));
        assert!((found.by_chance - 0.15).abs() < 1e-9, "{found:?}");
        assert_eq!(found.clocked(), Some(1.0));
    }

    #[test]
    fn a_pace_has_no_regard_to_them() {
        let found = departures(|n| n * 7 % 10);
        assert!((found.at_once - 0.2).abs() < 0.01 && found.late < 1e-9, "{found:?}");
        assert!(found.clocked().is_some_and(|share| share < 0.1), "{found:?}");
    }

    /// A queue on the way of the acknowledgements: they reach the sender later than they could.
    #[test]
    fn a_way_that_varies_is_seen() {
        let found = departures(|n| if n % 64 == 0 { 0 } else { n * 7 % 30 });
        assert!(found.late > 0.4, "{found:?}");
    }
}
