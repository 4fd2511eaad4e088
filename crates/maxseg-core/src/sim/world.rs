//! The simulated world: two directions of a path, some flows, one clock.

use super::flow::{Cargo, Connection, Packet, RunningFlow, Traffic};
use super::host::{Departure, Hosts};
use super::notices::{Notice, Notices};
use super::tap::Eyes;
use crate::engine::{Continue, EngineError, Sample, Watch};
use crate::framing::IpPacket;
use crate::link::{Fate, Line, Passage, Sent};
use crate::path::LinkSpec;
use crate::scenario::{End, FlowKind, Scenario};
use crate::tcp::Segment;
use crate::units::Time;

/// Everything that a run consists of.
#[derive(Debug)]
pub(super) struct World<E> {
    pub(super) now: Time,
    pub(super) flows: Vec<RunningFlow>,
    pub(super) net: Net<E>,
    until: Time,
    /// Bulk flows with data left to send; `None` where they have no end.
    unfinished: Option<usize>,
    /// Events until the watcher is looked at.
    until_look: u32,
}

/// The two directions between the hosts.
#[derive(Debug)]
pub(super) struct Net<E> {
    pub(super) to_receiver: Line<Packet>,
    pub(super) to_sender: Line<Packet>,
    /// Where some host takes time for packets.
    pub(super) hosts: Option<Box<Hosts>>,
    pub(super) notices: Notices,
    pub(super) eyes: E,
    /// Before this no timer of any flow expires, no notice arrives, and nothing happens on the way that
    /// is not known yet.
    pub(super) wake: Time,
}

/// How many events pass between two looks at the watcher.
const EVENTS_PER_LOOK: u32 = 1 << 14;

impl<E: Eyes> World<E> {
    pub(super) fn new(scenario: &Scenario, eyes: E) -> Self {
        Self::over(scenario, eyes, |links| {
            Line::new(links, scenario.seed, scenario.until.time, scenario.is_end_to_end())
        })
    }

    /// The same with every link staged, whether it need be or not.
    #[cfg(test)]
    pub(super) fn staged(scenario: &Scenario, eyes: E) -> Self {
        Self::over(scenario, eyes, |links| Line::staged(links, scenario.seed))
    }

    fn over(
        scenario: &Scenario,
        eyes: E,
        line: impl Fn(&[(&LinkSpec, String)]) -> Line<Packet>,
    ) -> Self {
        let line = |links: &[(&LinkSpec, String)]| {
            let mut line = line(links);
            if E::LOOK {
                line.watch();
            }
            line
        };
        let hops = &scenario.path.hops;
        let forward: Vec<(&LinkSpec, String)> =
            hops.iter().map(|hop| (&hop.forward, format!("hop.{}", hop.name))).collect();
        let reverse: Vec<(&LinkSpec, String)> = hops
            .iter()
            .rev()
            .map(|hop| (&hop.reverse, format!("hop.{}.reverse", hop.name)))
            .collect();
        let flows: Vec<_> =
            scenario.flows.iter().map(|flow| RunningFlow::new(scenario, flow)).collect();
        let bulk = scenario.flows.iter().filter(|flow| flow.kind == FlowKind::Bulk).count();
        Self {
            now: Time::ZERO,
            net: Net {
                to_receiver: line(&forward),
                to_sender: line(&reverse),
                hosts: Hosts::new(scenario),
                notices: Notices::new(scenario),
                eyes,
                wake: flows.iter().map(RunningFlow::deadline).min().unwrap_or(Time::NEVER),
            },
            flows,
            until: scenario.until.time,
            unfinished: scenario.until.bytes.map(|_| bulk),
            until_look: EVENTS_PER_LOOK,
        }
    }

    /// Runs to the end.
    pub(super) fn run(&mut self, watch: &mut dyn Watch) -> Result<(), EngineError> {
        self.run_until(self.until, watch)?;
        self.finish();
        Ok(())
    }

    /// Runs to the end, showing the watcher every flow in intervals of the run's time.
    pub(super) fn run_sampled(
        &mut self,
        watch: &mut dyn Watch,
        every: Time,
    ) -> Result<(), EngineError> {
        let mut next = Time::ZERO;
        while next <= self.until && self.unfinished != Some(0) {
            self.run_until(next, watch)?;
            // A sample costs as much as some events.
            self.until_look = self.until_look.saturating_sub(16);
            self.sample(next, watch);
            next = next.saturating_add(every.max(Time::from_nanos(1)));
        }
        self.run(watch)
    }

    /// The inner loop: the earliest of two arrivals and of all else, until nothing is left before or
    /// at `end`. At one instant arrivals at the receiver go first, then timers, then arrivals at the
    /// sender: in ns-2 what was scheduled first goes first, and there a data packet's arrival is set
    /// when it leaves its last queue, a retransmission timeout a round trip or more before, and an
    /// acknowledgement's arrival last. Where hosts take time for packets, what they are through with comes
    /// behind all of these.
    fn run_until(&mut self, end: Time, watch: &mut dyn Watch) -> Result<(), EngineError> {
        loop {
            while self.until_look > 0 {
                let to_receiver = self.net.to_receiver.next_arrival();
                let to_sender = self.net.to_sender.next_arrival();
                let next = to_receiver.min(to_sender).min(self.net.wake);
                if next > end || self.unfinished == Some(0) {
                    return Ok(());
                }
                self.until_look -= 1;
                self.now = next;
                if to_receiver == next {
                    self.arrive(End::Receiver);
                } else if self.net.wake > next {
                    self.arrive(End::Sender);
                } else {
                    self.wake_up(to_sender == next);
                }
            }
            self.until_look = EVENTS_PER_LOOK;
            if watch.on_progress(self.now, self.until) == Continue::Stop {
                return Err(EngineError::Cancelled);
            }
        }
    }

    /// The next packet reaches the host at `end`.
    #[inline]
    fn arrive(&mut self, end: End) {
        if self.net.hosts.is_some() && self.net.begin_to_hear(self.now, end) {
            return;
        }
        self.hear(end);
    }

    /// The host at `end` hears of the next packet. It is looked at where it lies: moving it costs more than
    /// all that it brings about.
    #[inline]
    pub(super) fn hear(&mut self, end: End) {
        let now = self.now;
        let line = match end {
            End::Receiver => &mut self.net.to_receiver,
            End::Sender => &mut self.net.to_sender,
        };
        let Some(packet) = line.first_arriving() else {
            return;
        };
        let index = packet.flow;
        let flow = &mut self.flows[index as usize];
        let mut reply = None;
        match (&mut flow.traffic, &mut packet.cargo) {
            (Traffic::Tcp(connection), Cargo::Segment(segment)) => {
                segment.marked = packet.marked;
                if end == flow.from {
                    let finished = connection.sender.is_done();
                    connection.sender.on_ack(now, segment);
                    if connection.sender.is_done() && !finished {
                        self.unfinished = self.unfinished.map(|count| count - 1);
                    }
                } else {
                    connection.receiver.on_segment(now, segment);
                }
            }
            (Traffic::Datagrams(datagrams), Cargo::Datagram) => datagrams.delivered += 1,
            (Traffic::Echo(echo), Cargo::EchoRequest { sent }) => {
                echo.answered_at_far_end += 1;
                reply = Some((*sent, echo.packet));
            }
            (Traffic::Echo(echo), Cargo::EchoReply { sent }) => {
                echo.round_trips.record(now - *sent);
            }
            (_, cargo) => unreachable!("a flow carries its own kind of packet, not {cargo:?}"),
        }
        line.drop_first_arriving();
        if let Traffic::Tcp(_) = flow.traffic {
            self.net.pump(now, index, flow, end);
            self.net.wake = self.net.wake.min(flow.deadline());
        }
        if let Some((sent, shape)) = reply {
            let reply = Packet::new(index, Cargo::EchoReply { sent });
            let passage = flow.passage(end);
            if let Some(at) = self.net.send(now, end, reply, shape, passage) {
                flow.losses.push(now, at);
            }
        }
    }

    /// Timers and notices that are due; then what happens on the way, once every host has done what it
    /// does at this instant: an arrival at a queue goes before a departure from it.
    fn wake_up(&mut self, sender_hears: bool) {
        self.expire_timers();
        self.hear_notices();
        if self.net.next_event() <= self.now {
            if sender_hears {
                self.arrive(End::Sender);
            } else if !self.finish_work() {
                self.net.advance(self.now, &mut self.flows);
            }
        }
        self.net.wake = self.net.wake.min(self.net.next_event()).max(self.now);
    }

    /// Lets every timer expire that is due, and finds when the next one is.
    fn expire_timers(&mut self) {
        let now = self.now;
        self.net.wake = self.net.notices.next_arrival();
        for (index, flow) in (0_u32..).zip(&mut self.flows) {
            if flow.deadline() <= now {
                self.net.expire(now, index, flow);
            }
            self.net.wake = self.net.wake.min(flow.deadline());
        }
    }

    /// Hosts learn which of their packets were too large.
    fn hear_notices(&mut self) {
        let now = self.now;
        while let Some(notice) = self.net.notices.pop_due(now) {
            if self.net.hosts.is_none() || !self.net.begin_to_hear_news(now, notice) {
                self.hear_news(notice);
            }
        }
    }

    /// A flow learns that one of its packets was too large.
    pub(super) fn hear_news(&mut self, notice: Notice) {
        let now = self.now;
        let flow = &mut self.flows[notice.flow as usize];
        flow.on_frag_needed(now, notice.to, notice.mtu);
        self.net.pump(now, notice.flow, flow, notice.to);
        self.net.wake = self.net.wake.min(flow.deadline());
    }

    /// Brings what accumulates over time up to the end.
    fn finish(&mut self) {
        if self.unfinished != Some(0) {
            self.now = self.until;
        }
        for flow in &mut self.flows {
            if let Traffic::Tcp(connection) = &mut flow.traffic {
                connection.sender.account(self.now);
            }
        }
        if E::LOOK {
            self.close_eyes();
        }
    }

    fn sample(&self, at: Time, watch: &mut dyn Watch) {
        for (index, flow) in self.flows.iter().enumerate() {
            if let Traffic::Tcp(connection) = &flow.traffic {
                let sender = &connection.sender;
                watch.on_sample(&Sample {
                    at,
                    flow: index,
                    cwnd: sender.cwnd(),
                    window: sender.peer_window(),
                    in_flight: sender.in_flight(),
                    srtt: sender.rto().srtt(),
                    rto: sender.rto().current(),
                    queue: self.net.towards(flow.from.other()).backlog(at),
                    acknowledged: sender.acknowledged(),
                });
            }
        }
    }
}

impl<E> Net<E> {
    /// The direction that ends at this host.
    pub(super) fn towards(&self, end: End) -> &Line<Packet> {
        match end {
            End::Receiver => &self.to_receiver,
            End::Sender => &self.to_sender,
        }
    }

    /// The same, to change it.
    pub(super) fn line_towards(&mut self, end: End) -> &mut Line<Packet> {
        match end {
            End::Receiver => &mut self.to_receiver,
            End::Sender => &mut self.to_sender,
        }
    }
}

impl<E: Eyes> Net<E> {
    /// The host at `from` sends `packet`. Gives when it is lost, if that is known.
    #[inline(always)]
    fn send(
        &mut self,
        now: Time,
        from: End,
        packet: Packet,
        shape: IpPacket,
        passage: Passage,
    ) -> Option<Time> {
        if self.hosts.is_some() {
            return self.send_by_host(now, from, Departure { packet, shape, passage });
        }
        self.put_on_wire(now, from, packet, shape, passage)
    }

    /// A packet leaves the host at `from` for its first link. Gives when it is lost, if that is known.
    #[inline(always)]
    pub(super) fn put_on_wire(
        &mut self,
        now: Time,
        from: End,
        mut packet: Packet,
        shape: IpPacket,
        passage: Passage,
    ) -> Option<Time> {
        let line = match from {
            End::Sender => &mut self.to_receiver,
            End::Receiver => &mut self.to_sender,
        };
        let flow = packet.flow;
        let eyes = &mut self.eyes;
        let view = eyes.look(now, from, &mut packet, shape);
        let last = line.last_hop();
        let sent = line.send_seen(now, packet, shape, passage, |glimpse| {
            eyes.glimpse(view, from, last, glimpse);
        });
        match sent {
            Sent::OnItsWay => None,
            Sent::Lost(fate) => {
                if E::LOOK {
                    self.see_notice(from, passage, view, fate);
                }
                Some(self.on_loss(from, passage, flow, fate))
            }
            Sent::Undecided => {
                self.eyes.wait(now);
                self.wake = self.wake.min(line.next_event()).max(now);
                None
            }
        }
    }

    /// A packet that `from` sent is lost: its sender may hear of it. Gives when.
    fn on_loss(&mut self, from: End, passage: Passage, flow: u32, fate: Fate) -> Time {
        self.notices.on_loss(from, passage.first, flow, fate);
        self.wake = self.wake.min(self.notices.next_arrival());
        fate.at()
    }

    /// When something happens on the way that is not known yet.
    fn next_event(&self) -> Time {
        let hosts = self.hosts.as_ref().map_or(Time::NEVER, |hosts| hosts.next_event());
        self.to_receiver.next_event().min(self.to_sender.next_event()).min(hosts)
    }

    /// Whatever happens on the way up to `now`.
    fn advance(&mut self, now: Time, flows: &mut [RunningFlow]) {
        self.to_receiver.advance(now);
        self.to_sender.advance(now);
        if E::LOOK {
            self.look_at_lines(flows);
        }
        for from in [End::Sender, End::Receiver] {
            let line = |net: &mut Self| match from {
                End::Sender => net.to_receiver.poll_loss(),
                End::Receiver => net.to_sender.poll_loss(),
            };
            while let Some((packet, fate)) = line(self) {
                let flow = &mut flows[packet.flow as usize];
                if E::LOOK {
                    let view = self.eyes.look_again(from, &packet, flow.shape(&packet));
                    self.see_notice(from, flow.passage(from), view, fate);
                }
                let at = self.on_loss(from, flow.passage(from), packet.flow, fate);
                if packet.counts() {
                    flow.losses.push(now, at);
                }
            }
        }
    }

    /// Sends all that the connection's side at `end` has to send now.
    #[inline]
    fn pump(&mut self, now: Time, index: u32, flow: &mut RunningFlow, end: End) {
        let passage = flow.passage(end);
        let Traffic::Tcp(connection) = &mut flow.traffic else {
            return;
        };
        let packet = |segment: Segment| Packet::new(index, Cargo::Segment(segment));
        if end == flow.from {
            while let Some(segment) = connection.sender.poll_transmit(now) {
                let shape = connection.packet(&segment);
                connection.sent.count(shape);
                let passage = Passage { ect: segment.markable, ..passage };
                let has_payload = segment.len > 0;
                if let Some(at) = self.send(now, end, packet(segment), shape, passage)
                    && has_payload
                {
                    flow.losses.push(now, at);
                }
            }
        } else {
            while let Some(segment) = connection.receiver.poll_transmit(now) {
                let shape = connection.packet(&segment);
                connection.answered.count(shape);
                let _ = self.send(now, end, packet(segment), shape, passage);
            }
        }
    }

    /// A flow's time has come: timers expire, the next packet is due.
    fn expire(&mut self, now: Time, index: u32, flow: &mut RunningFlow) {
        let passage = flow.passage(flow.from);
        match &mut flow.traffic {
            Traffic::Tcp(connection) => {
                connection.expire(now);
                self.pump(now, index, flow, flow.from);
                self.pump(now, index, flow, flow.from.other());
            }
            Traffic::Datagrams(datagrams) => {
                datagrams.sent += 1;
                datagrams.beat.advance();
                let packet = Packet::new(index, Cargo::Datagram);
                if let Some(at) = self.send(now, flow.from, packet, datagrams.packet, passage) {
                    flow.losses.push(now, at);
                }
            }
            Traffic::Echo(echo) => {
                echo.sent += 1;
                echo.beat.advance();
                let packet = Packet::new(index, Cargo::EchoRequest { sent: now });
                if let Some(at) = self.send(now, flow.from, packet, echo.packet, passage) {
                    flow.losses.push(now, at);
                }
            }
        }
    }
}

impl Connection {
    /// Lets the timers expire that are due; before the start, opens the connection.
    fn expire(&mut self, now: Time) {
        self.started = true;
        if self.sender.next_timeout() <= now {
            self.sender.on_timeout(now);
        }
        if self.receiver.next_timeout() <= now {
            self.receiver.on_timeout(now);
        }
    }
}
