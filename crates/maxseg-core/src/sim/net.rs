//! What is between the hosts, and how packets come on it.

use super::deadlines::Deadlines;
use super::flow::{Cargo, Connection, Delivery, HopSpans, Packet, RunningFlow, Traffic};
use super::host::{Departure, Hosts};
use super::links::Links;
use super::linux::LinuxConnection;
use super::losses::Losses;
use super::notices::Notices;
use super::request::Side;
use super::tap::Observer;
use crate::framing::IpPacket;
use crate::link::{Fate, SendOutcome};
use crate::scenario::End;
use crate::tcp::{OptionsPool, Segment, linux};
use crate::units::Time;

/// The links between the hosts, and what the flows share on them.
#[derive(Debug)]
pub(super) struct Net<E> {
    pub(super) links: Links,
    /// Where some host takes time for packets.
    pub(super) hosts: Option<Box<Hosts>>,
    pub(super) notices: Notices,
    pub(super) observer: E,
    pub(super) options_pool: OptionsPool,
    /// Before this no timer of any flow expires, no notice arrives, no host is through with anything, and
    /// nothing happens on the way that is not known yet.
    pub(super) wake: Time,
    /// The same of each flow's timers.
    pub(super) deadlines: Deadlines,
}

impl<E: Observer> Net<E> {
    /// The host at `from` sends a packet of this `shape`. Gives when it is lost, if that is known. Most packets are seen
    /// by nobody and meet nothing but queues, wires and errors: such a one is made where it will lie until it arrives.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        cargo: impl Into<Cargo>,
        shape: IpPacket,
    ) -> Option<Time> {
        let chain = self.links.towards_mut(from.other());
        if E::OBSERVES || self.hosts.is_some() || !chain.is_plain(shape) {
            let packet = Packet::new(hop_spans.flow, cargo.into());
            return self.send_any(now, from, Departure { packet, shape, hop_spans: *hop_spans });
        }
        let packet = || Packet::new(hop_spans.flow, cargo.into());
        match chain.send_plain(now, shape, |_| (), packet) {
            Ok(()) => None,
            Err(fate) => Some(self.on_loss(from, hop_spans, fate, None)),
        }
    }

    /// The same for a packet that somebody sees, that waits for its host, or that may be cut, doubled, marked or held up.
    #[cold]
    fn send_any(&mut self, now: Time, from: End, what: Departure) -> Option<Time> {
        if self.hosts.is_some() {
            return self.send_by_host(now, from, what);
        }
        self.put_on_wire(now, from, what)
    }

    /// A packet leaves the host at `from` for its first link. Gives when it is lost, if that is known.
    pub(super) fn put_on_wire(
        &mut self,
        now: Time,
        from: End,
        Departure { mut packet, shape, hop_spans }: Departure,
    ) -> Option<Time> {
        let observer = &mut self.observer;
        let view = observer.on_send(now, from, &mut packet, shape);
        let chain = self.links.towards_mut(from.other());
        let is_markable = packet.cargo.is_markable();
        let (hop_span, last) = (hop_spans.from(from, is_markable), chain.last_hop());
        let see = |sighting| observer.on_hop_sighting(view, from, last, sighting);
        match chain.send_seen(now, packet, shape, hop_span, see) {
            SendOutcome::InFlight => None,
            SendOutcome::Lost(fate) => Some(self.on_loss(from, &hop_spans, fate, Some(view))),
            SendOutcome::Undecided => {
                observer.hold_from(now);
                self.wake = self.wake.min(chain.next_event()).max(now);
                None
            }
        }
    }

    /// A packet that `from` sent is lost: its sender may hear of it. Gives when.
    fn on_loss(
        &mut self,
        from: End,
        hop_spans: &HopSpans,
        fate: Fate,
        view: Option<E::View>,
    ) -> Time {
        let hop_span = hop_spans.from(from, false);
        if E::OBSERVES
            && let Some(view) = view
        {
            self.observe_notice(from, hop_span, view, fate);
        }
        self.notices.on_loss(from, hop_span.first, hop_spans.flow, fate);
        self.wake = self.wake.min(self.notices.next_arrival());
        fate.at()
    }

    /// When something happens on the way, or at a host that takes time, that is not known yet.
    pub(super) fn next_event(&self) -> Time {
        let hosts = self.hosts.as_ref().map_or(Time::NEVER, |hosts| hosts.next_event());
        self.links.next_event().min(hosts)
    }

    /// Whatever happens on the way up to `now`.
    pub(super) fn advance(&mut self, now: Time, flows: &mut [RunningFlow]) {
        self.links.advance(now);
        if E::OBSERVES {
            self.observe_staged(flows);
        }
        for from in [End::Sender, End::Receiver] {
            while let Some((packet, fate)) = self.links.towards_mut(from.other()).poll_loss() {
                let flow = &mut flows[packet.flow as usize];
                let view = self.observer.view(from, &packet, flow.shape(&packet));
                let at = self.on_loss(from, &flow.hop_spans, fate, Some(view));
                if packet.counts() {
                    flow.losses.push(now, at);
                }
            }
        }
    }

    /// A timer of `flow` expires at `deadline`.
    #[inline(always)]
    pub(super) fn note_deadline(&mut self, flow: u32, deadline: Time) {
        self.wake = self.wake.min(deadline);
        self.deadlines.note(flow, deadline);
    }

    /// Sends all that the flow's connection, if it is one, has to send at `end` now.
    pub(super) fn pump(&mut self, now: Time, flow: &mut RunningFlow, end: End) {
        let RunningFlow { from, traffic, losses, hop_spans, .. } = flow;
        let connection = match traffic {
            Traffic::Tcp(connection) => connection,
            Traffic::Linux(connection) => {
                return self.send_linux(now, end, end == *from, hop_spans, connection, losses);
            }
            Traffic::Requests(_) | Traffic::Datagrams(_) | Traffic::Echo(_) => {
                return self.pump_requests(now, flow, end);
            }
        };
        if end == *from {
            self.send_data(now, end, hop_spans, connection, losses);
        } else {
            self.send_acks(now, end, hop_spans, connection);
        }
    }

    /// The same for a request flow.
    fn pump_requests(&mut self, now: Time, flow: &mut RunningFlow, end: End) {
        let side = Side::of(end, flow.from);
        let Traffic::Requests(requests) = &mut flow.traffic else { return };
        while let Some(segment) = requests.poll_transmit(now, side, &mut self.options_pool) {
            let shape = requests.sizes().packet(&segment);
            let has_payload = segment.len > 0;
            if let Some(at) = self.send(now, end, &flow.hop_spans, segment, shape)
                && has_payload
            {
                flow.losses.push(now, at);
            }
        }
        let deadline = requests.deadline();
        self.note_deadline(flow.hop_spans.flow, deadline);
    }

    /// A packet of Linux's own TCP is delivered at `end`; gives whether its flow is complete now. Apart, so that the
    /// world's loop keeps its registers for bulk flows of the other stacks.
    #[inline(never)]
    pub(super) fn deliver_linux(
        &mut self,
        now: Time,
        end: End,
        flow: &mut RunningFlow,
        packet: Box<linux::Packet>,
    ) -> bool {
        let RunningFlow { from, traffic, losses, hop_spans, .. } = flow;
        let Traffic::Linux(connection) = traffic else { return false };
        let to_sender = end == *from;
        let completes = connection.on_packet(now, to_sender, packet);
        if to_sender {
            self.send_linux(now, end, true, hop_spans, connection, losses);
        } else {
            self.send_linux(now, end, false, hop_spans, connection, losses);
        }
        completes
    }

    /// Sends all that the data's sender, or their receiver, has to send now, of two hosts with Linux's own TCP.
    #[inline(always)]
    pub(super) fn send_linux(
        &mut self,
        now: Time,
        from: End,
        of_sender: bool,
        hop_spans: &HopSpans,
        connection: &mut LinuxConnection,
        losses: &mut Losses,
    ) {
        let mut outgoing = connection.outgoing(of_sender);
        while let Some((packet, shape)) = outgoing.next() {
            let has_payload = packet.len > 0;
            if let Some(at) = self.send(now, from, hop_spans, packet, shape)
                && has_payload
            {
                losses.push(now, at);
            }
        }
        self.note_deadline(hop_spans.flow, connection.refresh_deadline(of_sender));
    }

    /// Sends all that the sender of data has to send now.
    #[inline(always)]
    pub(super) fn send_data(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        connection: &mut Connection,
        losses: &mut Losses,
    ) {
        if connection.sender.has_control() {
            self.send_control(now, from, hop_spans, connection, losses);
        }
        while let Some(segment) = connection.sender.poll_data(now, &mut self.options_pool) {
            self.send_data_segment(now, from, hop_spans, connection, losses, segment);
        }
        self.wake = self.wake.min(connection.sender.next_timeout());
    }

    #[cold]
    fn send_control(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        connection: &mut Connection,
        losses: &mut Losses,
    ) {
        if let Some(segment) = connection.sender.poll_control(now, &mut self.options_pool) {
            self.send_data_segment(now, from, hop_spans, connection, losses, segment);
        }
    }

    #[inline(always)]
    fn send_data_segment(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        connection: &mut Connection,
        losses: &mut Losses,
        segment: Segment,
    ) {
        let shape = connection.sizes.packet(&segment);
        connection.sent.count(shape);
        let has_payload = segment.len > 0;
        if let Some(at) = self.send(now, from, hop_spans, segment, shape)
            && has_payload
        {
            losses.push(now, at);
        }
    }

    /// Sends all that the receiver of data has to send now.
    #[inline(always)]
    pub(super) fn send_acks(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        connection: &mut Connection,
    ) {
        if connection.receiver.has_control() {
            self.send_control_ack(now, from, hop_spans, connection);
        }
        if let Some(segment) = connection.receiver.poll_ack(now, &mut self.options_pool) {
            self.send_ack(now, from, hop_spans, connection, segment);
        }
        self.wake = self.wake.min(connection.receiver.next_timeout());
    }

    #[cold]
    fn send_control_ack(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        connection: &mut Connection,
    ) {
        if let Some(segment) = connection.receiver.poll_control(now, &mut self.options_pool) {
            self.send_ack(now, from, hop_spans, connection, segment);
        }
    }

    #[inline(always)]
    fn send_ack(
        &mut self,
        now: Time,
        from: End,
        hop_spans: &HopSpans,
        connection: &mut Connection,
        segment: Segment,
    ) {
        let shape = connection.sizes.packet(&segment);
        connection.answered.count(shape);
        let _ = self.send(now, from, hop_spans, segment, shape);
    }

    /// What a host sends on hearing such a packet.
    #[cold]
    pub(super) fn answer(
        &mut self,
        now: Time,
        from: End,
        flow: &mut RunningFlow,
        delivery: Delivery,
    ) {
        match (&flow.traffic, delivery) {
            (Traffic::Echo(echo), Delivery::EchoRequest { sent }) => {
                let reply = Cargo::EchoReply { sent };
                if let Some(at) = self.send(now, from, &flow.hop_spans, reply, echo.packet) {
                    flow.losses.push(now, at);
                }
            }
            _ => self.pump(now, flow, from),
        }
    }

    /// A flow's time has come: timers expire, the next packet is due.
    pub(super) fn expire(&mut self, now: Time, flow: &mut RunningFlow) {
        let lost = match &mut flow.traffic {
            Traffic::Tcp(connection) => {
                connection.expire(now);
                self.pump(now, flow, flow.from);
                return self.pump(now, flow, flow.from.other());
            }
            Traffic::Linux(connection) => {
                let [of_sender, of_receiver] = connection.on_timer(now);
                let (spans, losses) = (&flow.hop_spans, &mut flow.losses);
                if of_sender {
                    self.send_linux(now, flow.from, true, spans, connection, losses);
                }
                if of_receiver {
                    let far = flow.from.other();
                    self.send_linux(now, far, false, spans, connection, losses);
                }
                return;
            }
            Traffic::Requests(requests) => {
                requests.on_timeout(now);
                self.pump(now, flow, flow.from);
                return self.pump(now, flow, flow.from.other());
            }
            Traffic::Datagrams(datagrams) => {
                let cargo = Cargo::Datagram { number: datagrams.send() };
                self.send(now, flow.from, &flow.hop_spans, cargo, datagrams.packet)
            }
            Traffic::Echo(echo) => {
                echo.sent += 1;
                echo.schedule.advance();
                self.send(
                    now,
                    flow.from,
                    &flow.hop_spans,
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
