//! An application that reads slowly: so often, as much as its rate allows by then. The lab's does the same.

use crate::units::{BitsPerSec, Time};

/// From one read to the next.
const READ_INTERVAL: Time = Time::from_millis(5);
/// What one read takes at most.
const READ_SIZE: u64 = 1 << 16;

/// The rate, and how far it has come.
#[derive(Debug)]
pub(super) struct SlowReader {
    rate: BitsPerSec,
    /// When it read first: the rate counts from there.
    begun: Option<Time>,
    next: Time,
    taken: u64,
}

impl SlowReader {
    pub(super) const fn new(rate: BitsPerSec) -> Self {
        Self { rate, begun: None, next: Time::ZERO, taken: 0 }
    }

    /// When it reads next, if there is anything then.
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// What it takes now of so many bytes.
    pub(super) fn read(&mut self, now: Time, readable: u64) -> u64 {
        if now < self.next {
            return 0;
        }
        self.next = now.saturating_add(READ_INTERVAL);
        let begun = *self.begun.get_or_insert(now);
        let allowed = self.rate.bytes_in(now.since(begun)).get().max(1);
        let bytes = allowed.saturating_sub(self.taken).min(READ_SIZE).min(readable);
        self.taken += bytes;
        bytes
    }
}
