//! Hosts with a processing time per packet: each has one processor with a FIFO queue.
//!
//! ```text
//! TCP sends → [processor: cost] → first link          last link → [processor: cost] → TCP receives
//! ```
//!
//! Sending and receiving share the processor of a host. Its queue is unlimited, without priorities or batches.

use super::flow::{HopSpans, Packet};
use super::notices::Notice;
use crate::framing::IpPacket;
use crate::link::ArrivalQueue;
use crate::scenario::{End, Host, Scenario};
use crate::units::Time;

/// The hosts of a run with a processing time.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Receivers first, which are served first at equal times.
    processors: Vec<(Host, Processor)>,
    /// For each flow, the indices of its sender's and its receiver's host.
    of_flow: Vec<[Option<usize>; 2]>,
}

/// The processor of a host.
#[derive(Debug)]
pub(super) struct Processor {
    cost: Time,
    /// Time when all queued work is done.
    free_at: Time,
    /// Queued work, each with the time when it is done.
    work: ArrivalQueue<Work>,
    /// Total processing time, queued work included.
    busy: Time,
}

/// A task of a processor.
#[derive(Debug)]
pub(super) enum Work {
    /// Deliver an arrived packet to its flow.
    Deliver(Packet),
    /// Deliver an ICMP "packet too big".
    DeliverNotice(Notice),
    /// Send a packet on the first link.
    Send(Departure),
}

/// A packet to be sent.
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

    /// Queues work at `now`; returns the time when it is done.
    pub(super) fn take(&mut self, now: Time, work: Work) -> Time {
        let done = now.max(self.free_at).saturating_add(self.cost);
        self.free_at = done;
        self.busy = self.busy.saturating_add(self.cost);
        self.work.push(done, work);
        done
    }

    /// Processing time up to `now`.
    fn busy_until(&self, now: Time) -> Time {
        self.busy.since(self.free_at.since(now))
    }
}

impl Hosts {
    /// The hosts of `scenario`; `None` where no host has a processing time.
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

    /// The time when the next work is done.
    pub(super) fn next_event(&self) -> Time {
        let done = self.processors.iter().map(|(_, processor)| processor.work.next_arrival());
        done.min().unwrap_or(Time::NEVER)
    }

    /// Processing time up to `now` of the busier host of a flow.
    pub(super) fn busiest(&self, now: Time, flow: usize) -> Time {
        let places = self.of_flow[flow].iter().flatten();
        places.map(|place| self.processors[*place].1.busy_until(now)).max().unwrap_or_default()
    }

    /// Work that is done at `now`, with its end.
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
