//! Path MTU black holes: a segment that is retransmitted and never arrives, because it is too large for a hop that
//! sends no ICMP message (RFC 2923 §2.1).

use maxseg_core::evidence::BlackHole;
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::segments::{AckSegment, DataSegment};

/// The segment that the retransmission timer repeats, and the black hole that it proves.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct BlackHoleDetector {
    start: i64,
    size: i64,
    /// When it was first sent.
    since: u64,
    frame: u64,
    repeats: u32,
    /// The payload with which it was last sent, in bytes.
    now: i64,
    /// Largest segment that arrived without retransmission, in bytes.
    passed: i64,
    /// Largest segment that ever arrived without retransmission, in bytes.
    largest: i64,
    found: Option<BlackHole>,
}

/// Timeouts of a segment that prove a black hole, if a smaller one arrives in its place.
const HEALED_AFTER: u32 = 2;
/// Timeouts of a segment that prove a black hole, if none arrives in its place.
const STUCK_AFTER: u32 = 3;

impl BlackHoleDetector {
    /// The timer retransmitted a segment that was sent at `before`.
    pub(super) fn on_timeout(&mut self, data: &DataSegment, before: Option<u64>) {
        let size = data.end - data.start;
        if data.start == self.start && self.repeats > 0 {
            self.repeats += u32::from(size >= self.size);
            self.now = size;
        } else {
            let since = before.unwrap_or(data.at);
            let found = self.found.take();
            *self = Self {
                start: data.start,
                size,
                since,
                frame: data.frame,
                repeats: 1,
                now: size,
                // Earlier segments may have taken another path.
                passed: 0,
                largest: self.largest,
                found,
            };
        }
    }

    /// A segment was retransmitted for another cause.
    pub(super) fn on_other(&mut self, data: &DataSegment) {
        if data.start == self.start && self.repeats > 0 {
            self.now = data.end - data.start;
        }
    }

    /// An acknowledgement; `largest` is the largest segment it covers that was never retransmitted, in bytes.
    pub(super) fn on_acknowledged(&mut self, ack: &AckSegment, largest: i64) {
        self.passed = self.passed.max(largest);
        self.largest = self.largest.max(largest);
        if self.repeats == 0 || ack.una <= self.start {
            return;
        }
        if self.repeats >= HEALED_AFTER && self.now < self.size && self.passed < self.size {
            self.find(ack.at, self.now.max(self.passed));
        }
        self.repeats = 0;
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, end: u64) {
        if self.repeats >= STUCK_AFTER && self.passed < self.size && self.size > LEAST_MSS {
            self.find(end, self.passed);
        }
    }

    fn find(&mut self, to: u64, passed: i64) {
        let bytes = |n: i64| u32::try_from(n).unwrap_or(0);
        self.found.get_or_insert(BlackHole {
            from: Time::from_nanos(self.since),
            to: Time::from_nanos(to),
            frame: self.frame,
            segment_bytes: bytes(self.size),
            repeats: self.repeats,
            passed_bytes: bytes(passed),
            passed_before_bytes: bytes(self.largest),
        });
    }

    pub(super) const fn found(&self) -> Option<BlackHole> {
        self.found
    }
}

/// The MSS that every path takes: a segment of at most this size is not lost for its size (RFC 9293 §3.7.1).
const LEAST_MSS: i64 = 536;
