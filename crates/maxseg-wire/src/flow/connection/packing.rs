//! What a connection takes of memory, and how it is kept while no packet of it comes.

use maxseg_core::evidence::Bin;

use super::Connection;
use crate::flow::send_history::SendHistory;
use crate::flow::squeezed::{Room, expand};

/// Least intervals that a packed connection keeps; it keeps one for every four data segments if that is more. Memory
/// then grows with the packets, not with the time.
const LEAST_INTERVALS: usize = 64;

impl Connection {
    /// The connection serialised, for as long as no packet of it comes; `room` is a buffer for reuse.
    pub(in crate::flow) fn pack(&mut self, now: u64, room: &mut Room) -> Option<Box<[u8]>> {
        self.release_held();
        for half in [&mut self.halves.low, &mut self.halves.high] {
            half.recent.forget_old(now.saturating_sub(self.end));
        }
        self.coarsen();
        room.bytes.clear();
        room.bytes = postcard::to_extend(self, std::mem::take(&mut room.bytes)).ok()?;
        Some(room.squeeze())
    }

    /// Joins intervals where there are many for few segments.
    pub(in crate::flow) fn coarsen(&mut self) {
        for half in [&mut self.halves.low, &mut self.halves.high] {
            let most = LEAST_INTERVALS.max(half.counts.data_packets as usize / 4);
            if let Some(stream) = &mut half.stream {
                stream.sender.bins.coarsen(most);
            }
        }
    }

    /// What it takes of memory at most, about, in bytes: itself, and its intervals as if none was packed.
    pub(in crate::flow) fn bytes(&self) -> usize {
        let stream = |stream: &SendHistory| {
            size_of::<SendHistory>() + size_of::<Bin>() * stream.sender.bins.len()
        };
        let halves = [&self.halves.low, &self.halves.high];
        let each =
            halves.map(|half| half.recent.bytes() + half.stream.as_deref().map_or(0, stream));
        size_of::<Self>() + each.iter().sum::<usize>()
    }

    /// Restores a packed connection.
    pub(in crate::flow) fn unpack(packed: &[u8]) -> Option<Self> {
        let mut connection: Self = postcard::from_bytes(&expand(packed)).ok()?;
        connection.clock.resume(connection.end);
        Some(connection)
    }
}
