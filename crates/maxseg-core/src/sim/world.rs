//! The simulated world: two directions of a path, some flows, one clock.

use super::deadlines::Deadlines;
use super::flow::{Cargo, Delivery, RunningFlow, Traffic};
use super::host::Hosts;
use super::links::Links;
use super::net::Net;
use super::notices::{Notice, Notices};
use super::sample::sample_of;
use super::tap::Observer;
use crate::engine::{Continue, EngineError, Watch};
use crate::link::LinkChain;
use crate::path::LinkSpec;
use crate::scenario::{End, Scenario};
use crate::tcp::OptionsPool;
use crate::units::Time;

/// Everything that a run consists of.
#[derive(Debug)]
pub(super) struct World<E> {
    pub(super) now: Time,
    pub(super) flows: Vec<RunningFlow>,
    pub(super) net: Net<E>,
    until: Time,
    /// Flows that have an end and have not come to it: some for ever where time alone ends the run.
    unfinished: usize,
    /// Starts of flows at which it is noted how busy others were before; the next one last.
    starts: Vec<Time>,
    /// Events until the watcher is looked at.
    until_look: u32,
}

/// How many events pass between two looks at the watcher.
const EVENTS_PER_LOOK: u32 = 1 << 14;

impl<E: Observer> World<E> {
    pub(super) fn new(scenario: &Scenario, observer: E) -> Self {
        Self::over(scenario, observer, |links| {
            LinkChain::new(links, scenario.seed, scenario.until.time, scenario.is_end_to_end())
        })
    }

    /// The same with every link staged, whether it need be or not.
    #[cfg(test)]
    pub(super) fn staged(scenario: &Scenario, observer: E) -> Self {
        Self::over(scenario, observer, |links| LinkChain::staged(links, scenario.seed))
    }

    fn over(
        scenario: &Scenario,
        observer: E,
        build: impl Fn(&[(&LinkSpec, String)]) -> LinkChain<super::flow::Packet>,
    ) -> Self {
        let chain = |links: &[(&LinkSpec, String)]| {
            let mut chain = build(links);
            if E::OBSERVES {
                chain.watch();
            }
            chain
        };
        let hops = &scenario.path.hops;
        let forward: Vec<(&LinkSpec, String)> =
            hops.iter().map(|hop| (&hop.forward, format!("hop.{}", hop.name))).collect();
        let reverse: Vec<(&LinkSpec, String)> = hops
            .iter()
            .rev()
            .map(|hop| (&hop.reverse, format!("hop.{}.reverse", hop.name)))
            .collect();
        let flows: Vec<_> = (0..)
            .zip(&scenario.flows)
            .map(|(index, flow)| RunningFlow::new(scenario, flow, index))
            .collect();
        Self {
            now: Time::ZERO,
            net: Net {
                links: Links { to_receiver: chain(&forward), to_sender: chain(&reverse) },
                hosts: Hosts::new(scenario),
                notices: Notices::new(scenario),
                observer,
                options_pool: OptionsPool::default(),
                wake: flows.iter().map(RunningFlow::deadline).min().unwrap_or(Time::NEVER),
                deadlines: Deadlines::new(&flows),
            },
            flows,
            until: scenario.until.time,
            unfinished: scenario.flows_that_end().unwrap_or(usize::MAX),
            starts: scenario.starts_behind_others(),
            until_look: EVENTS_PER_LOOK,
        }
    }

    /// Runs to the end.
    pub(super) fn run(&mut self, watch: &mut dyn Watch) -> Result<(), EngineError> {
        self.run_to(self.until, watch)?;
        self.finish();
        Ok(())
    }

    /// Runs to the end, showing the watcher every flow in intervals of the run's time.
    pub(super) fn run_sampled(
        &mut self,
        watch: &mut dyn Watch,
        every: Time,
    ) -> Result<(), EngineError> {
        for flow in &mut self.flows {
            if let Traffic::Linux(connection) = &mut flow.traffic {
                connection.watch();
            }
        }
        let mut next = Time::ZERO;
        while next <= self.until && self.unfinished > 0 {
            self.run_to(next, watch)?;
            // A sample costs as much as some events.
            self.until_look = self.until_look.saturating_sub(16);
            self.sample(next, watch);
            next = next.saturating_add(every.max(Time::from_nanos(1)));
        }
        self.run(watch)
    }

    /// Runs to `end`, and notes on the way how busy links were when a flow starts behind others.
    fn run_to(&mut self, end: Time, watch: &mut dyn Watch) -> Result<(), EngineError> {
        while let Some(start) = self.starts.last().copied().filter(|start| *start <= end) {
            self.run_until(start, watch)?;
            self.note_busy_before(start);
            self.starts.pop();
        }
        self.run_until(end, watch)
    }

    /// The inner loop: the earliest of two arrivals and of all else, until nothing is left before or
    /// at `end`. At one instant arrivals at the receiver go first, then timers, then arrivals at the
    /// sender: in ns-2 what was scheduled first goes first, and there a data packet's arrival is set
    /// when it leaves its last queue, a retransmission timeout a round trip or more before, and an
    /// acknowledgement's arrival last. Where hosts take time for packets, what they are through with comes
    /// behind all of these.
    fn run_until(&mut self, end: Time, watch: &mut dyn Watch) -> Result<(), EngineError> {
        while self.unfinished > 0 {
            while self.until_look > 0 {
                self.until_look -= 1;
                let to_receiver = self.net.links.to_receiver.next_arrival();
                let to_sender = self.net.links.to_sender.next_arrival();
                let wake = self.net.wake;
                if to_receiver <= to_sender && to_receiver <= wake {
                    if to_receiver > end {
                        return Ok(());
                    }
                    self.now = to_receiver;
                    self.arrive(End::Receiver);
                } else if to_sender < wake {
                    if to_sender > end {
                        return Ok(());
                    }
                    self.now = to_sender;
                    self.arrive(End::Sender);
                } else {
                    if wake > end {
                        return Ok(());
                    }
                    self.now = wake;
                    self.wake_up(to_sender == wake);
                }
            }
            if self.unfinished == 0 {
                break;
            }
            self.until_look = EVENTS_PER_LOOK;
            if watch.on_progress(self.now, self.until) == Continue::Stop {
                return Err(EngineError::Cancelled);
            }
        }
        Ok(())
    }

    /// The next packet reaches the host at `end`.
    #[inline(always)]
    fn arrive(&mut self, end: End) {
        if self.net.hosts.is_some() && self.net.queue_delivery(self.now, end) {
            return;
        }
        self.deliver(end);
    }

    /// The next packet is delivered to its flow at `end`. It is read in place: moving it costs more than
    /// processing it.
    #[inline(always)]
    pub(super) fn deliver(&mut self, end: End) {
        let now = self.now;
        let Some(packet) = self.net.links.towards_mut(end).take() else {
            return;
        };
        let flow = &mut self.flows[packet.flow as usize];
        let RunningFlow { from, traffic, losses, hop_spans, .. } = flow;
        match (traffic, &mut packet.cargo) {
            (Traffic::Tcp(connection), Cargo::Segment(segment)) if end == *from => {
                connection.sender.on_ack(now, segment);
                self.net.options_pool.put_back(segment.options.take());
                if connection.sender.is_done() && !connection.finished {
                    connection.finished = true;
                    self.unfinished -= 1;
                    self.until_look = 0;
                }
                self.net.send_data(now, end, hop_spans, connection, losses);
            }
            (Traffic::Tcp(connection), Cargo::Segment(segment)) => {
                connection.receiver.on_segment(now, segment);
                self.net.options_pool.put_back(segment.options.take());
                self.net.send_acks(now, end, hop_spans, connection);
            }
            (_, cargo) => {
                let index = packet.flow;
                match std::mem::replace(cargo, Cargo::Datagram { number: 0 }) {
                    Cargo::Linux(packet) => {
                        if self.net.deliver_linux(now, end, flow, packet) {
                            self.complete();
                        }
                    }
                    cargo @ (Cargo::Segment(_)
                    | Cargo::Datagram { .. }
                    | Cargo::EchoRequest { .. }
                    | Cargo::EchoReply { .. }) => self.deliver_other(end, index, cargo),
                }
            }
        }
    }

    /// A packet of any other flow.
    #[cold]
    #[inline(never)]
    fn deliver_other(&mut self, end: End, flow: u32, mut cargo: Cargo) {
        let now = self.now;
        let flow = &mut self.flows[flow as usize];
        let delivery = flow.on_packet(now, end, &cargo);
        if let Cargo::Segment(segment) = &mut cargo {
            self.net.options_pool.put_back(segment.options.take());
        }
        self.net.answer(now, end, flow, delivery);
        if delivery == Delivery::Complete {
            self.complete();
        }
    }

    /// One flow more has come to its end.
    fn complete(&mut self) {
        self.unfinished -= 1;
        self.until_look = 0;
    }

    /// Timers and notices that are due; then what happens on the way, once every host has done what it
    /// does at this instant: an arrival at a queue goes before a departure from it.
    fn wake_up(&mut self, sender_arrival_due: bool) {
        self.expire_timers();
        self.deliver_notices();
        let mut next_event = self.net.next_event();
        if next_event <= self.now {
            if sender_arrival_due {
                self.arrive_late();
            } else if !self.finish_work() {
                self.net.advance(self.now, &mut self.flows);
            }
            next_event = self.net.next_event();
        }
        self.net.wake = self.net.wake.min(next_event).max(self.now);
    }

    /// What arrives at the sender when something else happens as well.
    #[cold]
    fn arrive_late(&mut self) {
        self.arrive(End::Sender);
    }

    /// Lets every timer expire that is due, and finds when the next one is.
    fn expire_timers(&mut self) {
        let now = self.now;
        self.net.wake = self.net.notices.next_arrival();
        if !self.net.deadlines.blocks().is_empty() {
            return self.expire_timers_of_many();
        }
        for flow in &mut self.flows {
            let deadline = expire_due(&mut self.net, now, flow);
            self.net.wake = self.net.wake.min(deadline);
        }
    }

    /// The same where flows are many: only those are looked at of which some timer may be due. Apart, so that the loop keeps its
    /// registers where they are few.
    #[cold]
    #[inline(never)]
    fn expire_timers_of_many(&mut self) {
        for block in 0..self.net.deadlines.blocks().len() {
            let deadline = self.net.deadlines.blocks()[block];
            if deadline <= self.now {
                self.expire_timers_of(block);
            } else {
                self.net.wake = self.net.wake.min(deadline);
            }
        }
    }

    fn expire_timers_of(&mut self, block: usize) {
        let now = self.now;
        for index in self.net.deadlines.flows_of(block) {
            let flow = &mut self.flows[index];
            let mut deadline = self.net.deadlines.of(index);
            debug_assert!(deadline <= flow.deadline(), "flow {index} at {now:?}");
            if deadline <= now {
                deadline = expire_due(&mut self.net, now, flow);
                if flow.tells_deadlines() {
                    self.net.deadlines.set(index, deadline);
                }
            }
            self.net.wake = self.net.wake.min(deadline);
        }
        self.net.deadlines.refresh(block);
    }

    /// ICMP notices that are due reach their hosts.
    fn deliver_notices(&mut self) {
        let now = self.now;
        while let Some(notice) = self.net.notices.pop_due(now) {
            if self.net.hosts.is_none() || !self.net.queue_notice(now, notice) {
                self.deliver_notice(notice);
            }
        }
    }

    /// A flow learns that one of its packets was too large.
    pub(super) fn deliver_notice(&mut self, notice: Notice) {
        let now = self.now;
        let flow = &mut self.flows[notice.flow as usize];
        if flow.on_frag_needed(now, notice.to, notice.mtu) {
            self.net.observer.on_df_cleared(notice.flow, notice.to);
        }
        self.net.pump(now, flow, notice.to);
        self.net.note_deadline(notice.flow, flow.deadline());
    }

    /// Brings what accumulates over time up to the end.
    fn finish(&mut self) {
        if self.unfinished > 0 {
            self.now = self.until;
        }
        for flow in &mut self.flows {
            match &mut flow.traffic {
                Traffic::Tcp(connection) => connection.sender.account(self.now),
                Traffic::Linux(connection) => connection.account(self.now),
                Traffic::Requests(requests) => requests.finish(self.now),
                Traffic::Datagrams(_) | Traffic::Echo(_) => {}
            }
        }
        if E::OBSERVES {
            self.close_observer();
        }
    }

    fn sample(&self, at: Time, watch: &mut dyn Watch) {
        for (index, flow) in self.flows.iter().enumerate() {
            let queue = |towards| self.net.links.towards(towards).backlog(at);
            let sample = match &flow.traffic {
                Traffic::Tcp(connection) => {
                    let sender = &connection.sender;
                    let queue = queue(flow.from.other());
                    sample_of(sender, at, index, queue, sender.acknowledged())
                }
                Traffic::Linux(connection) => {
                    watch.on_socket(at, index, &connection.sender.info_at(at));
                    connection.sample(at, index, queue(flow.from.other()))
                }
                // Of a request flow the server, whose replies are what its client waits for.
                Traffic::Requests(requests) => match requests.server() {
                    Some(server) => {
                        if let Some(info) = server.socket_info(at) {
                            watch.on_socket(at, index, &info);
                        }
                        server.sample(at, index, queue(flow.from), requests.acknowledged())
                    }
                    None => continue,
                },
                Traffic::Datagrams(_) | Traffic::Echo(_) => continue,
            };
            watch.on_sample(&sample);
        }
    }
}

/// Lets the timers of a flow expire that are due; gives when the next one is.
#[inline(always)]
fn expire_due<E: Observer>(net: &mut Net<E>, now: Time, flow: &mut RunningFlow) -> Time {
    let deadline = flow.deadline();
    if deadline > now {
        return deadline;
    }
    net.expire(now, flow);
    flow.deadline()
}
