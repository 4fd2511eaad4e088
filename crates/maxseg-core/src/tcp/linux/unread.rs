//! Packets in order that wait to be read (`sk_receive_queue`).

/// A packet that waits to be read, or some in a row that were made one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unread {
    pub(super) end: u64,
    pub(super) truesize: u64,
    /// Room behind its data, in bytes.
    pub(super) room: u64,
}

/// The queue. Most packets are read before the next comes, so that nothing goes round in it: those that were read lie
/// before the others until all are, or half.
#[derive(Debug, Default)]
pub(super) struct UnreadQueue {
    packets: Vec<Unread>,
    /// How many have been read.
    read: usize,
}

impl UnreadQueue {
    #[inline]
    pub(super) fn push(&mut self, packet: Unread) {
        self.packets.push(packet);
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Unread> {
        self.packets.last_mut()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Unread> {
        self.packets.get(self.read)
    }

    /// The first has been read.
    #[inline]
    pub(super) fn drop_first(&mut self) {
        self.read += 1;
        if self.read == self.packets.len() {
            self.packets.clear();
            self.read = 0;
        } else if 2 * self.read >= self.packets.len() {
            self.packets.drain(..self.read);
            self.read = 0;
        }
    }
}
