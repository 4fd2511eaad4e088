//! What SACK options tell of the segments in flight.

use maxseg_core::evidence::{Event, EventKind, SackPoint};
use maxseg_core::units::Time;

use super::SendHistory;
use super::traced::bytes;
use crate::flow::retransmissions::Retransmission;
use crate::flow::segments::PassedPacket;

/// The first number of a connection is its SYN's: nothing was sent before it.
const SYN: i64 = -1;

impl SendHistory {
    /// A retransmission proved spurious.
    pub(super) fn note_spurious(&mut self, retransmission: &Retransmission) {
        self.events.note(Event {
            kind: EventKind::Spurious(retransmission.cause),
            at: Time::from_nanos(retransmission.at),
            frame: retransmission.frame,
            offset: retransmission.start.max(0).cast_unsigned(),
            bytes: u32::try_from(retransmission.end - retransmission.start).unwrap_or(0),
            lasted: Time::ZERO,
        });
    }

    /// SACK blocks of a packet of the receiver that acknowledges up to `una`; `is_whole`: both SYNs were seen, and with them what may have
    /// been sent. Gives whether the first is a D-SACK (RFC 2883).
    pub(in crate::flow) fn on_sack(
        &mut self,
        blocks: impl Iterator<Item = (i64, i64)>,
        una: i64,
        is_whole: bool,
        packet: PassedPacket,
    ) -> bool {
        let (beyond, mut are_outside) = (self.nxt.max(self.edge), false);
        let within = blocks.filter(|(left, right)| {
            // A device that changes sequence numbers may leave those of SACK blocks: a sender makes nothing of them.
            let is_outside = is_whole && (*left > beyond || *right < SYN);
            are_outside |= is_outside;
            left < right && !is_outside
        });
        let is_dsack = self.on_blocks(within, una, packet);
        self.counts.sacks_outside += u32::from(are_outside);
        is_dsack
    }

    fn on_blocks(
        &mut self,
        mut blocks: impl Iterator<Item = (i64, i64)>,
        una: i64,
        packet: PassedPacket,
    ) -> bool {
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
