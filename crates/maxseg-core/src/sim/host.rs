//! Hosts that take time for packets: each has one processor, and does its work in the order in which it
//! comes.
//!
//! ```text
//! TCP sends → [processor: cost] → first link          last link → [processor: cost] → TCP receives
//! ```
//!
//! The two are one processor at each host. What waits for it waits without limit; it knows no
//! priorities, and no batches.

use super::flow::{HopSpans, Packet};
use super::notices::Notice;
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
pub(super) struct Processor {
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
pub(super) enum Work {
    /// Deliver a packet that has arrived to its flow.
    Deliver(Packet),
    /// Deliver an ICMP notice that a packet was too large.
    DeliverNotice(Notice),
    /// Put a packet on the first link.
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
    pub(super) fn take(&mut self, now: Time, work: Work) -> Time {
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
    pub(super) fn pop_done(&mut self, now: Time) -> Option<(End, Work)> {
        self.processors.iter_mut().find_map(|(host, processor)| {
            let (_, work) = processor.work.pop_due(now)?;
            Some((host.end, work))
        })
    }

    pub(super) fn processor(&mut self, end: End, flow: u32) -> Option<&mut Processor> {
        let [sender, receiver] = self.of_flow[flow as usize];
        let place = match end {
            End::Sender => sender,
            End::Receiver => receiver,
        };
        place.map(|place| &mut self.processors[place].1)
    }
}

#[cfg(test)]
mod tests;
