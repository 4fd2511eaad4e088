//! The simulated world: two directions of a path, some flows, one clock.

use super::flow::{Cargo, Connection, Heard, Losses, Packet, Passages, RunningFlow, Traffic};
use super::notices::Notices;
use super::tap::{CapturePoint, Eyes};
use crate::engine::{Continue, EngineError, Sample, Watch};
use crate::framing::IpPacket;
use crate::link::{Fate, Line, Sent};
use crate::path::LinkSpec;
use crate::scenario::{End, Scenario};
use crate::tcp::{Segment, Spares};
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
    /// Events until the watcher is looked at.
    until_look: u32,
}

/// The two directions between the hosts.
#[derive(Debug)]
pub(super) struct Net<E> {
    to_receiver: Line<Packet>,
    to_sender: Line<Packet>,
    notices: Notices,
    eyes: E,
    spares: Spares,
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
                to_receiver: line(&forward),
                to_sender: line(&reverse),
                notices: Notices::new(scenario),
                eyes,
                spares: Spares::default(),
                wake: flows.iter().map(RunningFlow::deadline).min().unwrap_or(Time::NEVER),
            },
            flows,
            until: scenario.until.time,
            unfinished: scenario.flows_that_end().unwrap_or(usize::MAX),
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
        while next <= self.until && self.unfinished > 0 {
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
    /// acknowledgement's arrival last.
    fn run_until(&mut self, end: Time, watch: &mut dyn Watch) -> Result<(), EngineError> {
        while self.unfinished > 0 {
            while self.until_look > 0 {
                self.until_look -= 1;
                let to_receiver = self.net.to_receiver.next_arrival();
                let to_sender = self.net.to_sender.next_arrival();
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

    /// The next packet reaches the host at `end`. It is looked at where it lies: moving it costs more than
    /// all that it brings about.
    #[inline(always)]
    fn arrive(&mut self, end: End) {
        let now = self.now;
        let line = match end {
            End::Receiver => &mut self.net.to_receiver,
            End::Sender => &mut self.net.to_sender,
        };
        let Some(packet) = line.take() else {
            return;
        };
        let flow = &mut self.flows[packet.flow as usize];
        if E::LOOK {
            let view = self.net.eyes.look_again(end.other(), packet, flow.shape(packet));
            self.net.eyes.see(now, CapturePoint::Host(end), false, view);
        }
        let RunningFlow { from, traffic, losses, passages, .. } = flow;
        let (Traffic::Tcp(connection), Cargo::Segment(segment)) = (traffic, &mut packet.cargo)
        else {
            let heard = flow.on_packet(now, end, &packet.cargo);
            if heard == Heard::TheLast {
                self.unfinished -= 1;
                self.until_look = 0;
            }
            return self.net.answer(now, end, flow, heard);
        };
        if end == *from {
            connection.sender.on_ack(now, segment);
            self.net.spares.put_back(segment.options.take());
            if connection.sender.is_done() && !connection.finished {
                connection.finished = true;
                self.unfinished -= 1;
                self.until_look = 0;
            }
            self.net.send_data(now, end, passages, connection, losses);
        } else {
            connection.receiver.on_segment(now, segment);
            self.net.spares.put_back(segment.options.take());
            self.net.send_acks(now, end, passages, connection);
        }
    }

    /// Timers and notices that are due; then what happens on the way, once every host has done what it
    /// does at this instant: an arrival at a queue goes before a departure from it.
    fn wake_up(&mut self, sender_hears: bool) {
        self.expire_timers();
        self.hear_notices();
        if self.net.next_event() <= self.now {
            if sender_hears {
                self.arrive_late();
            } else {
                self.net.advance(self.now, &mut self.flows);
            }
        }
        self.net.wake = self.net.wake.min(self.net.next_event()).max(self.now);
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
        for flow in &mut self.flows {
            if flow.deadline() <= now {
                self.net.expire(now, flow);
            }
            self.net.wake = self.net.wake.min(flow.deadline());
        }
    }

    /// Hosts learn which of their packets were too large.
    fn hear_notices(&mut self) {
        let now = self.now;
        while let Some(notice) = self.net.notices.pop_due(now) {
            let flow = &mut self.flows[notice.flow as usize];
            flow.on_frag_needed(now, notice.to, notice.mtu);
            self.net.pump(now, flow, notice.to);
            self.net.wake = self.net.wake.min(flow.deadline());
        }
    }

    /// Brings what accumulates over time up to the end.
    fn finish(&mut self) {
        if self.unfinished > 0 {
            self.now = self.until;
        }
        for flow in &mut self.flows {
            match &mut flow.traffic {
                Traffic::Tcp(connection) => connection.sender.account(self.now),
                Traffic::Exchange(exchange) => exchange.finish(self.now),
                Traffic::Datagrams(_) | Traffic::Echo(_) => {}
            }
        }
        self.net.eyes.close(self.now);
    }

    fn sample(&self, at: Time, watch: &mut dyn Watch) {
        for (index, flow) in self.flows.iter().enumerate() {
            // Of a request flow the server, whose replies are what its client waits for.
            let (sender, towards, acknowledged) = match &flow.traffic {
                Traffic::Tcp(connection) => {
                    let sender = &connection.sender;
                    (sender, flow.from.other(), sender.acknowledged())
                }
                Traffic::Exchange(exchange) => match exchange.server() {
                    Some(server) => (server.sender(), flow.from, exchange.acknowledged()),
                    None => continue,
                },
                Traffic::Datagrams(_) | Traffic::Echo(_) => continue,
            };
            watch.on_sample(&Sample {
                at,
                flow: index,
                cwnd: sender.cwnd(),
                window: sender.peer_window(),
                in_flight: sender.in_flight(),
                srtt: sender.rto().srtt(),
                rto: sender.rto().current(),
                queue: self.net.towards(towards).backlog(at),
                acknowledged,
            });
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
}

impl<E: Eyes> Net<E> {
    /// A host sends a packet of this `shape`. Gives when it is lost, if that is known.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        cargo: Cargo,
        shape: IpPacket,
    ) -> Option<Time> {
        let line = match from {
            End::Sender => &mut self.to_receiver,
            End::Receiver => &mut self.to_sender,
        };
        let mut packet = Packet::new(passages.flow, cargo);
        let eyes = &mut self.eyes;
        let view = eyes.look(now, from, &mut packet, shape);
        eyes.see(now, CapturePoint::Host(from), false, view);
        let last = if E::LOOK { line.last_hop() } else { 0 };
        if !line.keeps_whole(shape) {
            return self.send_in_stages(now, from, passages, packet, shape);
        }
        let passed = line.send_whole(now, packet, shape, |index, at, passed| {
            let hop = if from == End::Sender { index } else { last.saturating_sub(index) };
            if !matches!(passed, Err(Fate::Refused(_))) {
                eyes.see(at, CapturePoint::Hop(hop), passed.is_err(), view);
            }
        });
        match passed {
            Ok(()) => None,
            Err(fate) => Some(self.on_loss(from, passages, fate)),
        }
    }

    /// The same for a packet that may be cut, doubled, marked or held up.
    #[cold]
    fn send_in_stages(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        packet: Packet,
        shape: IpPacket,
    ) -> Option<Time> {
        let line = match from {
            End::Sender => &mut self.to_receiver,
            End::Receiver => &mut self.to_sender,
        };
        let is_markable = matches!(&packet.cargo, Cargo::Segment(segment) if segment.markable);
        match line.send(now, packet, shape, passages.from(from, is_markable)) {
            Sent::OnItsWay => None,
            Sent::Lost(fate) => Some(self.on_loss(from, passages, fate)),
            Sent::Undecided => {
                self.wake = self.wake.min(line.next_event()).max(now);
                None
            }
        }
    }

    /// A packet that `from` sent is lost: its sender may hear of it. Gives when.
    fn on_loss(&mut self, from: End, passages: &Passages, fate: Fate) -> Time {
        self.notices.on_loss(from, passages.from(from, false).first, passages.flow, fate);
        self.wake = self.wake.min(self.notices.next_arrival());
        fate.at()
    }

    /// When something happens on the way that is not known yet.
    fn next_event(&self) -> Time {
        self.to_receiver.next_event().min(self.to_sender.next_event())
    }

    /// Whatever happens on the way up to `now`.
    fn advance(&mut self, now: Time, flows: &mut [RunningFlow]) {
        self.to_receiver.advance(now);
        self.to_sender.advance(now);
        for from in [End::Sender, End::Receiver] {
            let line = |net: &mut Self| match from {
                End::Sender => net.to_receiver.poll_loss(),
                End::Receiver => net.to_sender.poll_loss(),
            };
            while let Some((packet, fate)) = line(self) {
                let flow = &mut flows[packet.flow as usize];
                let at = self.on_loss(from, &flow.passages, fate);
                if packet.counts() {
                    flow.losses.push(now, at);
                }
            }
        }
    }

    /// Sends all that the flow's connection, if it is one, has to send at `end` now.
    fn pump(&mut self, now: Time, flow: &mut RunningFlow, end: End) {
        let RunningFlow { from, traffic, losses, passages, .. } = flow;
        let Traffic::Tcp(connection) = traffic else {
            return self.pump_exchange(now, flow, end);
        };
        if end == *from {
            self.send_data(now, end, passages, connection, losses);
        } else {
            self.send_acks(now, end, passages, connection);
        }
    }

    /// Sends all that the sender of data has to send now.
    #[inline(always)]
    fn send_data(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        connection: &mut Connection,
        losses: &mut Losses,
    ) {
        if connection.sender.has_urgent() {
            self.send_urgent_data(now, from, passages, connection, losses);
        }
        while let Some(segment) = connection.sender.poll_data(now, &mut self.spares) {
            self.send_data_segment(now, from, passages, connection, losses, segment);
        }
        self.wake = self.wake.min(connection.sender.next_timeout());
    }

    #[cold]
    fn send_urgent_data(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        connection: &mut Connection,
        losses: &mut Losses,
    ) {
        if let Some(segment) = connection.sender.poll_urgent(now) {
            self.send_data_segment(now, from, passages, connection, losses, segment);
        }
    }

    #[inline(always)]
    fn send_data_segment(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        connection: &mut Connection,
        losses: &mut Losses,
        segment: Segment,
    ) {
        let shape = connection.packet(&segment);
        connection.sent.count(shape);
        let has_payload = segment.len > 0;
        if let Some(at) = self.send(now, from, passages, Cargo::Segment(segment), shape)
            && has_payload
        {
            losses.push(now, at);
        }
    }

    /// Sends all that the receiver of data has to send now.
    #[inline(always)]
    fn send_acks(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        connection: &mut Connection,
    ) {
        if connection.receiver.has_urgent() {
            self.send_urgent_ack(now, from, passages, connection);
        }
        if let Some(segment) = connection.receiver.poll_ack(now, &mut self.spares) {
            self.send_ack(now, from, passages, connection, segment);
        }
        self.wake = self.wake.min(connection.receiver.next_timeout());
    }

    #[cold]
    fn send_urgent_ack(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        connection: &mut Connection,
    ) {
        if let Some(segment) = connection.receiver.poll_urgent(now) {
            self.send_ack(now, from, passages, connection, segment);
        }
    }

    #[inline(always)]
    fn send_ack(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        connection: &mut Connection,
        segment: Segment,
    ) {
        let shape = connection.packet(&segment);
        connection.answered.count(shape);
        let _ = self.send(now, from, passages, Cargo::Segment(segment), shape);
    }

    /// What a host sends on hearing what is no bulk flow's.
    #[cold]
    fn answer(&mut self, now: Time, from: End, flow: &mut RunningFlow, heard: Heard) {
        match (&flow.traffic, heard) {
            (Traffic::Echo(echo), Heard::Request { sent }) => {
                let reply = Cargo::EchoReply { sent };
                if let Some(at) = self.send(now, from, &flow.passages, reply, echo.packet) {
                    flow.losses.push(now, at);
                }
            }
            _ => self.pump(now, flow, from),
        }
    }

    /// A flow's time has come: timers expire, the next packet is due.
    fn expire(&mut self, now: Time, flow: &mut RunningFlow) {
        let lost = match &mut flow.traffic {
            Traffic::Tcp(connection) => {
                connection.expire(now);
                self.pump(now, flow, flow.from);
                return self.pump(now, flow, flow.from.other());
            }
            Traffic::Exchange(exchange) => {
                exchange.on_timeout(now);
                self.pump(now, flow, flow.from);
                return self.pump(now, flow, flow.from.other());
            }
            Traffic::Datagrams(datagrams) => {
                datagrams.sent += 1;
                datagrams.beat.advance();
                self.send(now, flow.from, &flow.passages, Cargo::Datagram, datagrams.packet)
            }
            Traffic::Echo(echo) => {
                echo.sent += 1;
                echo.beat.advance();
                self.send(
                    now,
                    flow.from,
                    &flow.passages,
                    Cargo::EchoRequest { sent: now },
                    echo.packet,
                )
            }
        };
        if let Some(at) = lost {
            flow.losses.push(now, at);
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
