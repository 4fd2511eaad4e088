//! Hosts that take time for packets: each has one processor, and does its work in the order in which it
//! comes.
//!
//! ```text
//! TCP sends → [processor: cost] → first link          last link → [processor: cost] → TCP hears
//! ```
//!
//! The two are one processor at each host. What waits for it waits without limit; it knows no
//! priorities, and no batches.

use super::flow::{HopSpans, Packet, RunningFlow};
use super::net::Net;
use super::notices::Notice;
use super::tap::Observer;
use super::world::World;
use crate::framing::IpPacket;
use crate::link::ArrivalQueue;
use crate::scenario::{End, Host, Scenario};
use crate::units::Time;

/// The hosts of a run of which some take time for packets.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Those behind the path first: at one instant they go first.
    processors: Vec<(Host, Processor)>,
    /// For each flow, which of them works at its sender's end, and at its receiver's.
    of_flow: Vec<[Option<usize>; 2]>,
}

/// A host's only processor.
#[derive(Debug)]
struct Processor {
    cost: Time,
    /// When it will be through with all that it has.
    free_at: Time,
    /// In order, each until it is through with it.
    work: ArrivalQueue<Work>,
    /// Time for all work so far, what is ahead included.
    busy: Time,
}

/// What a processor does.
#[derive(Debug)]
enum Work {
    /// A packet has come, for the flow to hear of.
    Deliver(Packet),
    /// The news that a packet was too large has come, a packet itself.
    DeliverNotice(Notice),
    /// A packet is to be put on the first link.
    Send(Departure),
}

/// A packet that leaves its host.
#[derive(Debug)]
pub(super) struct Departure {
    pub(super) packet: Packet,
    pub(super) shape: IpPacket,
    pub(super) hop_spans: HopSpans,
}

impl Processor {
    fn new(cost: Time) -> Self {
        Self { cost, free_at: Time::ZERO, work: ArrivalQueue::default(), busy: Time::ZERO }
    }

    /// More work comes at `now`. Gives when it will be done.
    fn take(&mut self, now: Time, work: Work) -> Time {
        let done = now.max(self.free_at).saturating_add(self.cost);
        self.free_at = done;
        self.busy = self.busy.saturating_add(self.cost);
        self.work.push(done, work);
        done
    }

    /// Time that it worked up to `now`.
    fn busy_until(&self, now: Time) -> Time {
        self.busy.since(self.free_at.since(now))
    }
}

impl Hosts {
    /// The hosts of `scenario`; `None` where none takes time.
    pub(super) fn new(scenario: &Scenario) -> Option<Box<Self>> {
        let mut hosts: Vec<Host> = Vec::new();
        for flow in &scenario.flows {
            let ends = [End::Receiver, End::Sender].into_iter();
            let ends = ends.filter(|end| scenario.packet_cost(*end).is_some());
            hosts.extend(ends.map(|end| scenario.host(flow, end)));
        }
        hosts.sort_by_key(|host| (host.end == End::Sender, host.hop));
        hosts.dedup();
        let of_flow = scenario.flows.iter().map(|flow| {
            let place = |end| hosts.iter().position(|host| *host == scenario.host(flow, end));
            [place(End::Sender), place(End::Receiver)]
        });
        let of_flow = of_flow.collect();
        let processor = |host: Host| Some((host, Processor::new(scenario.packet_cost(host.end)?)));
        let processors: Vec<_> = hosts.into_iter().filter_map(processor).collect();
        (!processors.is_empty()).then(|| Box::new(Self { processors, of_flow }))
    }

    /// When some processor is through with something next.
    pub(super) fn next_event(&self) -> Time {
        let done = self.processors.iter().map(|(_, processor)| processor.work.next_arrival());
        done.min().unwrap_or(Time::NEVER)
    }

    /// The share of the time up to `now` that the busiest host of a flow worked.
    pub(super) fn busy_share(&self, now: Time, flow: usize) -> f64 {
        let places = self.of_flow[flow].iter().flatten();
        let busy = places.map(|place| self.processors[*place].1.busy_until(now)).max();
        busy.unwrap_or_default().as_secs_f64() / now.as_secs_f64().max(1e-9)
    }

    /// What is done at `now`, and at which end.
    fn pop_done(&mut self, now: Time) -> Option<(End, Work)> {
        self.processors.iter_mut().find_map(|(host, processor)| {
            let (_, work) = processor.work.pop_due(now)?;
            Some((host.end, work))
        })
    }

    fn processor(&mut self, end: End, flow: u32) -> Option<&mut Processor> {
        let [sender, receiver] = self.of_flow[flow as usize];
        let place = match end {
            End::Sender => sender,
            End::Receiver => receiver,
        };
        place.map(|place| &mut self.processors[place].1)
    }
}

impl<E: Observer> Net<E> {
    /// The first packet to arrive at `end` waits for its host there. Gives `false` where the host takes no
    /// time.
    #[cold]
    pub(super) fn queue_delivery(&mut self, now: Time, end: End) -> bool {
        let chain = match end {
            End::Receiver => &mut self.to_receiver,
            End::Sender => &mut self.to_sender,
        };
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

    /// News waits for its host. Gives `false` where the host takes no time.
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
            None => self.put_on_wire(now, from, &what.hop_spans, what.packet, what.shape),
        }
    }
}

impl<E: Observer> World<E> {
    /// Goes on with one packet with which a processor is through at this instant, if there is one.
    pub(super) fn finish_work(&mut self) -> bool {
        let now = self.now;
        let done = self.net.hosts.as_mut().and_then(|hosts| hosts.pop_done(now));
        let Some((end, work)) = done else {
            return false;
        };
        match work {
            Work::Deliver(packet) => {
                self.net.chain_towards(end).put_back(now, packet);
                self.deliver(end);
            }
            Work::DeliverNotice(notice) => self.deliver_notice(notice),
            Work::Send(Departure { packet, shape, hop_spans }) => {
                let (flow, counts) = (packet.flow, packet.counts());
                if let Some(at) = self.net.put_on_wire(now, end, &hop_spans, packet, shape)
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

#[cfg(test)]
mod tests;
