//! Where the world looks for packets that it does not see itself.

use super::flow::RunningFlow;
use super::net::Net;
use super::tap::{CapturePoint, Eyes, Form};
use super::world::World;
use crate::link::{Fate, Passage};
use crate::scenario::End;

impl<E: Eyes> Net<E> {
    /// Sees what has passed on staged paths and was not known when it was sent.
    #[cold]
    pub(super) fn look_at_lines(&mut self, flows: &[RunningFlow]) {
        let eyes = &mut self.eyes;
        for (from, line) in
            [(End::Sender, &mut self.to_receiver), (End::Receiver, &mut self.to_sender)]
        {
            let last = line.last_hop();
            while let Some((packet, glimpse)) = line.poll_glimpse() {
                let shape = flows[packet.flow as usize].shape(&packet);
                let view = eyes.look_again(from, &packet, shape);
                eyes.glimpse(view, from, last, glimpse);
            }
        }
        eyes.go_on(self.to_receiver.seen_until().min(self.to_sender.seen_until()));
    }

    /// Sees the notice of a packet from `from` that was too large: where it was refused, on each link of
    /// the way back, and at the host.
    #[cold]
    pub(super) fn see_notice(&mut self, from: End, passage: Passage, view: E::View, fate: Fate) {
        let Fate::TooBig { hop, mtu, .. } = fate else {
            return;
        };
        let Some(way) = self.notices.way_back(from, passage.first, fate) else {
            return;
        };
        let last = self.to_receiver.last_hop();
        let from_sender = |index: u16| match from {
            End::Sender => usize::from(index),
            End::Receiver => last - usize::from(index),
        };
        let form = Form::TooBig { hop: from_sender(hop), mtu };
        for (index, at) in way.links {
            self.eyes.see(at, CapturePoint::Hop(from_sender(index)), form, None, view);
        }
        self.eyes.see(way.arrives, CapturePoint::Host(from), form, None, view);
    }
}

impl<E: Eyes> World<E> {
    /// The last look.
    pub(super) fn close_eyes(&mut self) {
        self.net.to_receiver.close();
        self.net.to_sender.close();
        self.net.look_at_lines(&self.flows);
        self.net.eyes.close(self.now);
    }
}
