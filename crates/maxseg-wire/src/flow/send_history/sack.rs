//! What SACK options tell of the segments in flight.

use maxseg_core::evidence::SackPoint;
use maxseg_core::units::Time;

use super::SendHistory;
use super::traced::bytes;
use crate::flow::segments::PassedPacket;

impl SendHistory {
    /// SACK blocks of a packet of the receiver that acknowledges up to `una`. Gives whether the first is a D-SACK (RFC 2883).
    pub(in crate::flow) fn on_sack(
        &mut self,
        blocks: impl Iterator<Item = (i64, i64)>,
        una: i64,
        packet: PassedPacket,
    ) -> bool {
        let mut blocks = blocks.filter(|(left, right)| left < right);
        let Some(first) = blocks.next() else { return false };
        let second = blocks.next();
        let is_within = second.is_some_and(|next| next.0 <= first.0 && first.1 <= next.1);
        let is_dsack = first.1 <= una || is_within;
        if is_dsack && let Some(spurious) = self.retransmissions.on_dsack(first.0, first.1) {
            self.note_spurious(&spurious);
        }
        // The first block is what made the receiver send it (RFC 2018 §4); the others repeat earlier ones, unless those were lost.
        self.trace_sack(first, is_dsack, packet);
        let plain = (!is_dsack).then_some(first);
        for block in plain.into_iter().chain(second).chain(blocks) {
            self.sacked = self.sacked.max(block.1);
            let news = self.sent.sack(block.0, block.1);
            self.delivered += news;
            if news > 0 && block != first {
                self.trace_sack(block, false, packet);
            }
        }
        is_dsack
    }

    /// A block of a SACK option passes.
    #[inline]
    fn trace_sack(&mut self, block: (i64, i64), is_duplicate: bool, packet: PassedPacket) {
        if let Some(trace) = &mut self.trace {
            trace.on_sack(SackPoint {
                at: Time::from_nanos(packet.at),
                frame: packet.frame,
                offset: bytes(block.0),
                bytes: u32::try_from(block.1 - block.0).unwrap_or(u32::MAX),
                is_duplicate,
            });
        }
    }
}
