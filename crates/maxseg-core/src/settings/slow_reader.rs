//! An application that reads slowly (`read_rate`): so often, as much as its rate allows by then. The simulator's and the lab's.

use crate::units::{BitsPerSec, Bytes, Time};

/// What one call reads at most, of a rate that asks for less in an interval.
const READ_SIZE: Bytes = Bytes::new(1 << 16);

/// The rate, and how far it has come.
#[derive(Debug, Clone)]
pub struct SlowReader {
    rate: BitsPerSec,
    begun: Time,
    taken: u64,
}

impl SlowReader {
    /// From one read to the next.
    pub const INTERVAL: Time = Time::from_millis(5);

    /// It begins to read.
    pub const fn new(rate: BitsPerSec, begun: Time) -> Self {
        Self { rate, begun, taken: 0 }
    }

    /// How many bytes it may take now: what the rate allows since it began. Of what it is behind it takes no more than one call
    /// does, or two intervals bring: where it comes late by less than one, it keeps its rate.
    pub fn allows(&self, now: Time) -> u64 {
        let by_now = self.rate.bytes_in(now.since(self.begun)).get().max(1);
        let at_once = self.rate.bytes_in(Self::INTERVAL.times(2)).max(READ_SIZE).get();
        by_now.saturating_sub(self.taken).min(at_once)
    }

    /// It has taken so many bytes.
    pub const fn take(&mut self, bytes: u64) {
        self.taken += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it takes of as much as it wants within a second, looking so often.
    fn taken(rate: u64, interval: Time) -> u64 {
        let mut reader = SlowReader::new(BitsPerSec::new(rate).unwrap(), Time::ZERO);
        let mut now = Time::ZERO;
        while now <= Time::from_secs(1) {
            reader.take(reader.allows(now));
            now += interval;
        }
        reader.taken
    }

    #[test]
    fn any_rate_is_kept_by_who_comes_in_time_or_a_little_late() {
        for rate in [5_000_000, 100_000_000, 104_857_600, 400_000_000, 10_000_000_000] {
            assert_eq!(taken(rate, SlowReader::INTERVAL), rate / 8, "{rate} bit/s");
            assert_eq!(taken(rate, Time::from_millis(8)), rate / 8, "{rate} bit/s, late");
        }
    }

    #[test]
    fn what_a_slow_one_is_behind_it_reads_call_by_call() {
        let reader = SlowReader::new(BitsPerSec::new(5_000_000).unwrap(), Time::ZERO);
        assert_eq!(reader.allows(Time::ZERO), 1);
        assert_eq!(reader.allows(Time::from_secs(1)), 65_536);
    }
}
