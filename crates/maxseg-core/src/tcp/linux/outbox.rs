//! Packets that are to go now.

use super::Socket;
use super::packet::Packet;
use super::short_queue::ShortQueue;

/// Packets in the order of their sending, and room for those to come. A packet is written once, in a box that it
/// keeps until it has arrived, and of which only the fields are written that it has: most have no SACK blocks.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "packets travel in boxes, and these are theirs")]
pub(super) struct Outbox {
    packets: ShortQueue<Box<Packet>>,
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

    /// A packet that has arrived, to be written anew.
    #[inline]
    pub(super) fn reuse(&mut self, packet: Box<Packet>) {
        if self.spare.len() == self.spare.capacity() {
            return self.reuse_beyond_room(packet);
        }
        self.spare.push(packet);
    }

    /// The same where there is no room for it.
    #[cold]
    fn reuse_beyond_room(&mut self, packet: Box<Packet>) {
        if self.spare.len() < Self::MOST_SPARE {
            self.spare.push(packet);
        }
    }
}

impl Socket {
    /// The next packet to send now, if there is one.
    pub fn poll_transmit(&mut self) -> Option<Packet> {
        let packet = self.take_packet()?;
        let copy = *packet;
        self.out.reuse(packet);
        Some(copy)
    }

    /// The same without a copy: [`Self::reuse`] takes the box back.
    #[inline(always)]
    pub(crate) fn take_packet(&mut self) -> Option<Box<Packet>> {
        self.out.packets.pop()
    }

    /// The box of a packet that nobody looks at any more, for one to come.
    #[inline]
    pub(crate) fn reuse(&mut self, packet: Box<Packet>) {
        self.out.reuse(packet);
    }
}
