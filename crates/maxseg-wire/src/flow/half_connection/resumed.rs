//! An end goes on behind a hole in the capture.

use super::super::hole::HoleInTime;
use super::HalfConnection;

/// The largest window there is: 65 535 bytes, shifted by 14 bits (RFC 7323 §2.3).
const LARGEST_WINDOW: i64 = 1 << 30;

impl HalfConnection {
    /// Payload goes on at this number behind a hole in the capture.
    pub(in crate::flow) fn resume(&mut self, hole: HoleInTime, number: u32) {
        self.unanswered.pass_hole();
        self.shut_at = None;
        (self.acknowledged, self.window_bytes) = (None, None);
        let Some(sequence) = self.sequence else { return };
        let mut offset = sequence.offset(number, self.nxt);
        // What is acknowledged is not sent again: there is more than 2³¹ bytes between.
        if offset < self.una.saturating_sub(LARGEST_WINDOW) {
            offset += 1 << 32;
        }
        (self.nxt, self.una) = (offset, offset);
        if let Some(stream) = &mut self.stream {
            stream.resume(hole, offset.min(self.fin.unwrap_or(i64::MAX)));
        }
    }

    /// The number behind all that passed of it.
    pub(in crate::flow) fn number(&self) -> Option<u32> {
        self.sequence.map(|sequence| sequence.number(self.nxt))
    }
}
