//! Time that a capture of several files has nothing of.

use serde::{Deserialize, Serialize};

use super::{Bin, DirectionStats};
use crate::units::Time;

/// A hole in a capture through which a connection went on: files are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// The last packet that the capture has before it.
    pub from: Time,
    /// The first packet of the connection behind it.
    pub to: Time,
    /// Payload of the direction that passed meanwhile, at least.
    pub bytes: u64,
}

impl Unseen {
    /// How much of an interval lies in it.
    pub fn part_of(&self, bin: &Bin) -> Time {
        bin.end().min(self.to).since(bin.at.max(self.from))
    }

    /// How long it lasted.
    pub fn lasted(&self) -> Time {
        self.to.since(self.from)
    }
}

impl DirectionStats {
    /// How much of an interval lies in holes of the capture.
    pub fn unseen_part_of(&self, bin: &Bin) -> Time {
        let parts = self.holes.iter().map(|hole| hole.part_of(bin));
        parts.fold(Time::ZERO, Time::saturating_add)
    }

    /// Whether the capture has all of an interval.
    pub fn has_seen(&self, bin: &Bin) -> bool {
        self.unseen_part_of(bin) == Time::ZERO
    }

    /// Payload that was acknowledged and not captured while the capture went on: it lost packets.
    pub fn lost_by_capture(&self) -> u64 {
        let in_holes: u64 = self.holes.iter().map(|hole| hole.bytes).sum();
        self.unseen_bytes.saturating_sub(in_holes)
    }
}
