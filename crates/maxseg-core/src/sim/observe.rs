//! Packets shown to the observer that are not known when they are sent: on staged paths, and ICMP notices.

use super::flow::RunningFlow;
use super::net::Net;
use super::tap::{CapturePoint, Observer, PacketForm};
use super::world::World;
use crate::link::{Fate, HopSpan};
use crate::scenario::End;

impl<E: Observer> Net<E> {
    /// Packets that passed on staged paths are shown to the observer.
    #[cold]
    pub(super) fn observe_staged(&mut self, flows: &[RunningFlow]) {
        let observer = &mut self.observer;
        for (from, chain) in
            [(End::Sender, &mut self.links.to_receiver), (End::Receiver, &mut self.links.to_sender)]
        {
            let last = chain.last_hop();
            while let Some((packet, sighting)) = chain.poll_sighting() {
                let shape = flows[packet.flow as usize].shape(&packet);
                let view = observer.view(from, &packet, shape);
                observer.on_hop_sighting(view, from, last, sighting);
            }
        }
        observer.release_until(self.links.seen_until());
    }

    /// The ICMP notice for a packet from `from` that was too large is shown where the packet was refused, on each
    /// link of the way back, and at the host.
    #[cold]
    pub(super) fn observe_notice(
        &mut self,
        from: End,
        hop_span: HopSpan,
        view: E::View,
        fate: Fate,
    ) {
        let Fate::TooBig { hop, mtu, .. } = fate else {
            return;
        };
        let Some(route) = self.notices.return_route(from, hop_span.first, fate) else {
            return;
        };
        let last = self.links.last_hop();
        let from_sender = |index: u16| match from {
            End::Sender => usize::from(index),
            End::Receiver => last - usize::from(index),
        };
        let form = PacketForm::TooBig { hop: from_sender(hop), mtu };
        for (index, at) in route.links {
            self.observer.on_sighting(at, CapturePoint::Hop(from_sender(index)), form, None, view);
        }
        self.observer.on_sighting(route.arrives, CapturePoint::Host(from), form, None, view);
    }
}

impl<E: Observer> World<E> {
    /// The run is over: everything still on its way is shown as far as it has come.
    pub(super) fn close_observer(&mut self) {
        self.net.links.close();
        self.net.observe_staged(&self.flows);
        self.net.observer.close(self.now);
    }
}
