//! Time that a capture of several files has nothing of.

use serde::{Deserialize, Serialize};

use super::Bin;
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
