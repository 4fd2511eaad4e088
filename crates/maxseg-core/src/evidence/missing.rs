//! What a direction lost on its way, and what the capture has not of it.

use std::borrow::Cow;

use super::{Bin, DirectionStats};
use crate::units::Time;

impl DirectionStats {
    /// The lost share of all segments: needed retransmissions of each that was sent, from 0 to 1.
    pub fn lost_share(&self) -> f64 {
        self.needed_retransmissions() as f64 / self.segments().max(1) as f64
    }

    /// How much of an interval lies in holes of the capture.
    pub fn unseen_part_of(&self, bin: &Bin) -> Time {
        let parts = self.holes.iter().map(|hole| hole.part_of(bin));
        parts.fold(Time::ZERO, Time::saturating_add)
    }

    /// Whether the capture has all of an interval.
    pub fn has_seen(&self, bin: &Bin) -> bool {
        self.unseen_part_of(bin) == Time::ZERO
    }

    /// Those of some intervals that the capture has all of.
    pub fn seen_of<'b>(&self, bins: &'b [Bin]) -> Cow<'b, [Bin]> {
        if self.holes.is_empty() {
            return Cow::Borrowed(bins);
        }
        bins.iter().filter(|bin| self.has_seen(bin)).copied().collect()
    }

    /// Payload that was acknowledged and not captured while the capture went on: it lost packets.
    pub fn lost_by_capture(&self) -> u64 {
        let in_holes: u64 = self.holes.iter().map(|hole| hole.bytes).sum();
        self.unseen_bytes.saturating_sub(in_holes)
    }
}
