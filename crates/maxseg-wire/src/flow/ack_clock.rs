//! The ACK clock: whether new segments leave at once after an acknowledgement has reached the sender.
//!
//! Elsewhere than at the sender an acknowledgement has first to get there, and what it brings out has to come back. The
//! least round trip to the sender is that of empty queues: a sender that answers later waits for something else.

use std::collections::VecDeque;

use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::bin_recorder::BinRecorder;

/// Acknowledgements of data on their way to the sender, and the last that has reached it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AckClock {
    under_way: VecDeque<u64>,
    /// When the last one reached the sender; 0 where payload came after it.
    last: u64,
}

/// At once, at the sender, in nanoseconds: a program that a full buffer had stopped wakes up and writes in that time.
const AT_ONCE: u64 = 300_000;
/// At once, elsewhere: what a path delays one packet more than another.
const MOST: u64 = 2_000_000;
/// Most acknowledgements that are kept.
const KEPT: usize = 4096;

impl AckClock {
    /// Later than this after an acknowledgement, in nanoseconds, nobody sends whom it has woken: two ticks of usual timestamps, and more
    /// than a host takes to run a program that waits.
    pub(super) const LATE: u64 = MOST;

    /// How long after an acknowledgement a segment still is at once; `far` from the sender, on a path with this
    /// round trip.
    pub(super) fn at_once(far: bool, round_trip: u64) -> u64 {
        if far { (round_trip / 32).clamp(AT_ONCE, MOST) } else { AT_ONCE }
    }

    /// An acknowledgement of new data passes.
    pub(super) fn on_ack(&mut self, at: u64) {
        if self.under_way.len() >= KEPT {
            self.under_way.pop_front();
        }
        self.under_way.push_back(at);
    }

    /// Payload passes towards the sender: what follows may be the answer to it.
    pub(super) fn on_question(&mut self) {
        self.under_way.clear();
        self.last = 0;
    }

    /// How long ago the last acknowledgement reached the sender, which is `distance` away. Adds to `bins` the time
    /// that was at once after one.
    #[inline(always)]
    pub(super) fn since(
        &mut self,
        at: u64,
        distance: u64,
        at_once: u64,
        bins: &mut BinRecorder,
    ) -> u64 {
        while let Some(passed) = self.under_way.front() {
            let reached = passed.saturating_add(distance);
            if reached > at {
                break;
            }
            self.under_way.pop_front();
            if self.last > 0 && reached > self.last {
                let span = Time::from_nanos((reached - self.last).min(at_once));
                let bin = bins.at(Time::from_nanos(reached));
                bin.clock_time = bin.clock_time.saturating_add(span);
            }
            self.last = reached.max(self.last);
        }
        at.saturating_sub(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn what_an_acknowledgement_brings_out_comes_at_once() {
        let mut bins = BinRecorder::new(Time::ZERO, Time::from_millis(100));
        let mut clock = AckClock::default();
        for n in 1..10 {
            clock.on_ack(n * 4 * MILLI);
            let since = clock.since(n * 4 * MILLI + 40 * MILLI, 40 * MILLI, MILLI, &mut bins);
            assert_eq!(since, 0, "40 ms away");
        }
        let covered: u64 = bins.iter().map(|bin| bin.clock_time.as_nanos()).sum();
        assert_eq!(covered, 8 * MILLI, "a quarter of the time");
        assert_eq!(clock.since(79 * MILLI, 40 * MILLI, MILLI, &mut bins), 3 * MILLI);
    }

    #[test]
    fn an_answer_is_not_clocked_by_the_acknowledgement_in_its_question() {
        let mut bins = BinRecorder::new(Time::ZERO, Time::from_millis(100));
        let mut clock = AckClock::default();
        clock.on_ack(5 * MILLI);
        clock.on_question();
        assert_eq!(clock.since(6 * MILLI, 0, MILLI, &mut bins), 6 * MILLI);
    }
}
