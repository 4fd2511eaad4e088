//! Work of hosts that take time for packets: what arrives waits for the processor, and so does what leaves.

use super::flow::RunningFlow;
use super::host::{Departure, Work};
use super::net::Net;
use super::notices::Notice;
use super::tap::Observer;
use super::world::World;
use crate::scenario::End;
use crate::units::Time;

impl<E: Observer> Net<E> {
    /// The first packet to arrive at `end` waits for its host there. Gives `false` where the host takes no
    /// time.
    #[cold]
    pub(super) fn queue_delivery(&mut self, now: Time, end: End) -> bool {
        let chain = self.links.towards_mut(end);
        let Some(flow) = chain.first().map(|packet| packet.flow) else {
            return false;
        };
        let hosts = self.hosts.as_mut();
        let Some(processor) = hosts.and_then(|hosts| hosts.processor(end, flow)) else {
            return false;
        };
        if let Some((_, packet)) = chain.pop() {
            self.wake = self.wake.min(processor.take(now, Work::Deliver(packet)));
        }
        true
    }

    /// A notice waits for its host. Gives `false` where the host takes no time.
    #[cold]
    pub(super) fn queue_notice(&mut self, now: Time, notice: Notice) -> bool {
        let hosts = self.hosts.as_mut();
        let processor = hosts.and_then(|hosts| hosts.processor(notice.to, notice.flow));
        let Some(processor) = processor else {
            return false;
        };
        self.wake = self.wake.min(processor.take(now, Work::DeliverNotice(notice)));
        true
    }

    /// A packet that the host at `from` sends leaves it when its processor is through with it. Gives when it
    /// is lost, if that is known now.
    #[cold]
    pub(super) fn send_by_host(&mut self, now: Time, from: End, what: Departure) -> Option<Time> {
        let hosts = self.hosts.as_mut();
        match hosts.and_then(|hosts| hosts.processor(from, what.packet.flow)) {
            Some(processor) => {
                self.wake = self.wake.min(processor.take(now, Work::Send(what)));
                None
            }
            None => self.put_on_wire(now, from, what),
        }
    }
}

impl<E: Observer> World<E> {
    /// Carries on with one packet whose processing ends at this instant, if there is one.
    pub(super) fn finish_work(&mut self) -> bool {
        let now = self.now;
        let done = self.net.hosts.as_mut().and_then(|hosts| hosts.pop_done(now));
        let Some((end, work)) = done else {
            return false;
        };
        match work {
            Work::Deliver(packet) => {
                self.net.links.towards_mut(end).put_back(now, packet);
                self.deliver(end);
            }
            Work::DeliverNotice(notice) => self.deliver_notice(notice),
            Work::Send(what) => {
                let (flow, counts) = (what.packet.flow, what.packet.counts());
                if let Some(at) = self.net.put_on_wire(now, end, what)
                    && counts
                {
                    self.flow(flow).losses.push(now, at);
                }
            }
        }
        true
    }

    fn flow(&mut self, index: u32) -> &mut RunningFlow {
        &mut self.flows[index as usize]
    }
}
