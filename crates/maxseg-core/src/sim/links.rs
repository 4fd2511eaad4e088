//! The two directions of the path.

use super::flow::Packet;
use crate::link::LinkChain;
use crate::scenario::End;
use crate::units::Time;

/// The links between the hosts, by the host at which a direction ends.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) to_receiver: LinkChain<Packet>,
    pub(super) to_sender: LinkChain<Packet>,
}

impl Links {
    /// The direction that ends at this host.
    pub(super) fn towards(&self, end: End) -> &LinkChain<Packet> {
        match end {
            End::Receiver => &self.to_receiver,
            End::Sender => &self.to_sender,
        }
    }

    /// The same, to change it.
    #[inline(always)]
    pub(super) fn towards_mut(&mut self, end: End) -> &mut LinkChain<Packet> {
        match end {
            End::Receiver => &mut self.to_receiver,
            End::Sender => &mut self.to_sender,
        }
    }

    /// When something happens on the way next, other than the arrivals that are known.
    pub(super) fn next_event(&self) -> Time {
        self.to_receiver.next_event().min(self.to_sender.next_event())
    }

    /// Everything that happens on the way up to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        self.to_receiver.advance(now);
        self.to_sender.advance(now);
    }

    /// All that passed before this is known.
    pub(super) fn seen_until(&self) -> Time {
        self.to_receiver.seen_until().min(self.to_sender.seen_until())
    }

    /// The index of the last hop.
    pub(super) fn last_hop(&self) -> usize {
        self.to_receiver.last_hop()
    }

    /// Nothing more happens on the way.
    pub(super) fn close(&mut self) {
        self.to_receiver.close();
        self.to_sender.close();
    }
}
