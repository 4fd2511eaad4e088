//! An application that reads slowly, and the window that its buffer leaves.

use crate::units::{BitsPerSec, Bytes, Time};

/// Reads what has arrived at a steady rate, and says what may be offered.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    rate: BitsPerSec,
    buffer: u64,
    mss: u64,
    /// Bytes read by `at`, and bytes there are.
    read: u64,
    arrived: u64,
    at: Time,
    /// The right edge of the last offer: it never moves back (RFC 9293 §3.8.6).
    edge: u64,
}

impl Reader {
    pub(super) fn new(rate: BitsPerSec, buffer: u64, mss: u64) -> Self {
        Self { rate, buffer, mss, read: 0, arrived: 0, at: Time::ZERO, edge: buffer }
    }

    /// So many bytes have arrived by now.
    pub(super) fn on_arrival(&mut self, now: Time, arrived: u64) {
        self.on_time(now);
        self.arrived = arrived;
    }

    /// Reads until now. A reader with nothing to read waits, and does not catch up later.
    pub(super) fn on_time(&mut self, now: Time) {
        let could = self.rate.bytes_in(now - self.at).get();
        if self.read + could >= self.arrived {
            self.read = self.arrived;
            self.at = now;
        } else {
            self.read += could;
            self.at += self.rate.time_for(Bytes::new(could));
        }
    }

    /// The window to offer. It opens by a segment or half the buffer at least, or not at all: silly
    /// windows beget silly segments (RFC 9293 §3.8.6.2.2).
    pub(super) fn offer(&mut self) -> u64 {
        let free = self.read + self.buffer;
        if free >= self.edge + self.mss.min(self.buffer / 2).max(1) {
            self.edge = free;
        }
        self.edge - self.arrived
    }

    /// When the window will have opened so far that the sender is told without being asked: by two
    /// segments or half the buffer (4.4BSD, `tcp_output.c`).
    pub(super) fn update_at(&self) -> Time {
        let step = (2 * self.mss).min(self.buffer / 2).max(1);
        let wanted = (self.edge + step).saturating_sub(self.buffer);
        if self.arrived < wanted {
            return Time::NEVER;
        }
        // Rounded up: a nanosecond sooner the last byte is not yet read.
        let reading = self.rate.time_for(Bytes::new(wanted.saturating_sub(self.read)));
        self.at + reading + Time::from_nanos(1)
    }
}
