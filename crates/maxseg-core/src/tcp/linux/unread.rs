//! Packets in order that wait to be read (`sk_receive_queue`).

use std::collections::VecDeque;

/// A packet that waits to be read, or some in a row that were made one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unread {
    pub(super) end: u64,
    pub(super) truesize: u64,
    /// Room behind its data, in bytes.
    pub(super) room: u64,
}

/// The queue. Most packets are read before the next comes: the first has a place of its own.
#[derive(Debug, Default)]
pub(super) struct UnreadQueue {
    first: Option<Unread>,
    behind: VecDeque<Unread>,
}

impl UnreadQueue {
    #[inline]
    pub(super) fn push(&mut self, packet: Unread) {
        if self.first.is_none() {
            self.first = Some(packet);
        } else {
            self.behind.push_back(packet);
        }
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Unread> {
        self.behind.back_mut().or(self.first.as_mut())
    }

    #[inline]
    pub(super) const fn first(&self) -> Option<Unread> {
        self.first
    }

    /// The first has been read.
    #[inline]
    pub(super) fn drop_first(&mut self) {
        self.first = self.behind.pop_front();
    }
}
