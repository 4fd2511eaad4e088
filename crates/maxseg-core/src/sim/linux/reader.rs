//! The application of a receiver with a `read_rate`.

use crate::settings::SlowReader;
use crate::units::{BitsPerSec, Time};

/// What it may read, and when it looks again.
#[derive(Debug)]
pub(super) struct PacedReader {
    rate: BitsPerSec,
    /// Since there was something to read first.
    reader: Option<SlowReader>,
    next: Time,
}

impl PacedReader {
    pub(super) const fn new(rate: BitsPerSec) -> Self {
        Self { rate, reader: None, next: Time::ZERO }
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
        self.next = now.saturating_add(SlowReader::INTERVAL);
        let reader = self.reader.get_or_insert_with(|| SlowReader::new(self.rate, now));
        let bytes = reader.allows(now).min(readable);
        reader.take(bytes);
        bytes
    }
}
