//! Packets without the copies that the capture made of them.

use super::DirectionStats;

impl DirectionStats {
    /// Packets of the sender, each once however often it was captured.
    pub const fn packets_once(&self) -> u64 {
        self.packets.saturating_sub(self.capture_duplicates)
    }

    /// Packets with payload, each once however often it was captured: copies are taken to be made of all alike.
    pub fn data_packets_once(&self) -> u64 {
        self.data_packets - self.copies_of(self.data_packets)
    }
}
