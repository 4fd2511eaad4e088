//! Packets that are to go now.

use std::vec::Drain;

use super::Socket;
use super::packet::Packet;

/// Packets in the order of their sending, and room for those to come. A packet is written once, in a box that it
/// keeps until it has arrived, and of which only the fields are written that it has: most have no SACK blocks.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "packets travel in boxes, and these are theirs")]
pub(super) struct Outbox {
    packets: Vec<Box<Packet>>,
    spare: Vec<Box<Packet>>,
}

impl Outbox {
    /// As many as a large window has; copies that links make would pile up beyond.
    const MOST_SPARE: usize = 1 << 16;

    /// A packet to be written: its fields are those of one that arrived long ago.
    #[inline]
    pub(super) fn blank(&mut self) -> Box<Packet> {
        self.spare.pop().unwrap_or_default()
    }

    #[inline]
    pub(super) fn push(&mut self, packet: Box<Packet>) {
        self.packets.push(packet);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// A packet that has arrived, to be written anew.
    #[inline]
    pub(super) fn reuse(&mut self, packet: Box<Packet>) {
        if self.spare.len() < Self::MOST_SPARE {
            self.spare.push(packet);
        }
    }
}

impl Socket {
    /// The next packet to send now, if there is one.
    pub fn poll_transmit(&mut self) -> Option<Packet> {
        if !self.has_packets() {
            return None;
        }
        // The others move up: a write queues few. Where packets are many, `drain_packets` takes them.
        let packet = self.out.packets.remove(0);
        let copy = *packet;
        self.out.reuse(packet);
        Some(copy)
    }

    /// Whether there is one.
    #[inline]
    pub(crate) fn has_packets(&self) -> bool {
        !self.out.is_empty()
    }

    /// All of them, without copies: [`Self::reuse`] takes the boxes back.
    #[inline(always)]
    pub(crate) fn drain_packets(&mut self) -> Drain<'_, Box<Packet>> {
        self.out.packets.drain(..)
    }

    /// The box of a packet that nobody looks at any more, for one to come.
    #[inline]
    pub(crate) fn reuse(&mut self, packet: Box<Packet>) {
        self.out.reuse(packet);
    }
}
