//! What is between the hosts, and how packets come on it.

use super::flow::{Cargo, Connection, Heard, Losses, Packet, Passages, RunningFlow, Traffic};
use super::host::{Departure, Hosts};
use super::notices::Notices;
use super::tap::Eyes;
use crate::framing::IpPacket;
use crate::link::{Fate, Line, Sent};
use crate::scenario::End;
use crate::tcp::{Segment, Spares};
use crate::units::Time;

/// The two directions between the hosts.
#[derive(Debug)]
pub(super) struct Net<E> {
    pub(super) to_receiver: Line<Packet>,
    pub(super) to_sender: Line<Packet>,
    /// Where some host takes time for packets.
    pub(super) hosts: Option<Box<Hosts>>,
    pub(super) notices: Notices,
    pub(super) eyes: E,
    pub(super) spares: Spares,
    /// Before this no timer of any flow expires, no notice arrives, no host is through with anything, and
    /// nothing happens on the way that is not known yet.
    pub(super) wake: Time,
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
    #[inline(always)]
    pub(super) fn line_towards(&mut self, end: End) -> &mut Line<Packet> {
        match end {
            End::Receiver => &mut self.to_receiver,
            End::Sender => &mut self.to_sender,
        }
    }
}

impl<E: Eyes> Net<E> {
    /// The host at `from` sends a packet of this `shape`. Gives when it is lost, if that is known.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        cargo: Cargo,
        shape: IpPacket,
    ) -> Option<Time> {
        let packet = Packet::new(passages.flow, cargo);
        if self.hosts.is_some() {
            return self.send_by_host(now, from, Departure { packet, shape, passages: *passages });
        }
        self.put_on_wire(now, from, passages, packet, shape)
    }

    /// A packet leaves the host at `from` for its first link. Gives when it is lost, if that is known.
    #[inline(always)]
    pub(super) fn put_on_wire(
        &mut self,
        now: Time,
        from: End,
        passages: &Passages,
        mut packet: Packet,
        shape: IpPacket,
    ) -> Option<Time> {
        let view = self.eyes.look(now, from, &mut packet, shape);
        let line = match from {
            End::Sender => &mut self.to_receiver,
            End::Receiver => &mut self.to_sender,
        };
        if !line.is_plain(shape) {
            let what = Departure { packet, shape, passages: *passages };
            return self.send_any(now, from, what, view);
        }
        let last = if E::LOOK { line.last_hop() } else { 0 };
        let eyes = &mut self.eyes;
        let see = |glimpse| eyes.glimpse(view, from, last, glimpse);
        match line.send_plain(now, packet, shape, see) {
            Ok(()) => None,
            Err(fate) => Some(self.on_loss(from, passages, fate, view)),
        }
    }

    /// The same for a packet that may be cut, doubled, marked or held up.
    #[cold]
    fn send_any(
        &mut self,
        now: Time,
        from: End,
        Departure { packet, shape, passages }: Departure,
        view: E::View,
    ) -> Option<Time> {
        let eyes = &mut self.eyes;
        let line = match from {
            End::Sender => &mut self.to_receiver,
            End::Receiver => &mut self.to_sender,
        };
        let is_markable = matches!(&packet.cargo, Cargo::Segment(segment) if segment.markable);
        let (passage, last) = (passages.from(from, is_markable), line.last_hop());
        let see = |glimpse| eyes.glimpse(view, from, last, glimpse);
        match line.send_seen(now, packet, shape, passage, see) {
            Sent::OnItsWay => None,
            Sent::Lost(fate) => Some(self.on_loss(from, &passages, fate, view)),
            Sent::Undecided => {
                eyes.wait(now);
                self.wake = self.wake.min(line.next_event()).max(now);
                None
            }
        }
    }

    /// A packet that `from` sent is lost: its sender may hear of it. Gives when.
    fn on_loss(&mut self, from: End, passages: &Passages, fate: Fate, view: E::View) -> Time {
        let passage = passages.from(from, false);
        if E::LOOK {
            self.see_notice(from, passage, view, fate);
        }
        self.notices.on_loss(from, passage.first, passages.flow, fate);
        self.wake = self.wake.min(self.notices.next_arrival());
        fate.at()
    }

    /// When something happens on the way, or at a host that takes time, that is not known yet.
    pub(super) fn next_event(&self) -> Time {
        let hosts = self.hosts.as_ref().map_or(Time::NEVER, |hosts| hosts.next_event());
        self.to_receiver.next_event().min(self.to_sender.next_event()).min(hosts)
    }

    /// Whatever happens on the way up to `now`.
    pub(super) fn advance(&mut self, now: Time, flows: &mut [RunningFlow]) {
        self.to_receiver.advance(now);
        self.to_sender.advance(now);
        if E::LOOK {
            self.look_at_lines(flows);
        }
        for from in [End::Sender, End::Receiver] {
            while let Some((packet, fate)) = self.line_towards(from.other()).poll_loss() {
                let flow = &mut flows[packet.flow as usize];
                let view = self.eyes.look_again(from, &packet, flow.shape(&packet));
                let at = self.on_loss(from, &flow.passages, fate, view);
                if packet.counts() {
                    flow.losses.push(now, at);
                }
            }
        }
    }

    /// Sends all that the flow's connection, if it is one, has to send at `end` now.
    pub(super) fn pump(&mut self, now: Time, flow: &mut RunningFlow, end: End) {
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
    pub(super) fn send_data(
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
        if let Some(segment) = connection.sender.poll_urgent(now, &mut self.spares) {
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
        let shape = connection.sizes.packet(&segment);
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
    pub(super) fn send_acks(
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
        if let Some(segment) = connection.receiver.poll_urgent(now, &mut self.spares) {
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
        let shape = connection.sizes.packet(&segment);
        connection.answered.count(shape);
        let _ = self.send(now, from, passages, Cargo::Segment(segment), shape);
    }

    /// What a host sends on hearing what is no bulk flow's.
    #[cold]
    pub(super) fn answer(&mut self, now: Time, from: End, flow: &mut RunningFlow, heard: Heard) {
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
    pub(super) fn expire(&mut self, now: Time, flow: &mut RunningFlow) {
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
