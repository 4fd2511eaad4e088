//! Packets that are to go now.

use super::packet::Packet;

/// In the order of their sending. It is emptied whenever the socket is served, so that nothing moves in it.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    packets: Vec<Packet>,
    /// How many have been taken.
    taken: usize,
}

impl Outbox {
    #[inline]
    pub(super) fn push(&mut self, packet: Packet) {
        self.packets.push(packet);
    }

    /// The next one; where there is none, what was taken goes.
    #[inline]
    pub(super) fn take(&mut self) -> Option<&Packet> {
        if self.taken == self.packets.len() {
            self.packets.clear();
            self.taken = 0;
            return None;
        }
        self.taken += 1;
        self.packets.get(self.taken - 1)
    }
}
