//! Every packet at every place where a capture could be taken.
//!
//! A run that nobody taps does not pay for it: the world is generic over its [`Observer`], and those of an
//! untapped run ([`NoObserver`]) have empty bodies.

mod facts;
mod view;

pub use view::{CapturePoint, Content, Loss, PacketForm, PacketView, Sighting, Tap, TcpView};

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow::{Cargo, Packet};
use crate::framing::IpPacket;
use crate::link::{Fate, HopSighting};
use crate::scenario::{End, Scenario};
use crate::tcp::linux::Flags;
use crate::units::Time;
use facts::FlowFacts;

/// Is told of each packet besides its transmission.
pub(super) trait Observer {
    /// What is kept of a packet.
    type View: Copy;
    /// Whether anything is observed: `false` compiles all of it away.
    const OBSERVES: bool;
    /// The host at `from` puts a packet on its first link now, is seen there, and gives it its number.
    fn on_send(&mut self, now: Time, from: End, packet: &mut Packet, shape: IpPacket)
    -> Self::View;
    /// The packet as it is seen on the way.
    fn view(&self, from: End, packet: &Packet, shape: IpPacket) -> Self::View;
    /// The packet is seen in some form, now or later.
    fn on_sighting(
        &mut self,
        at: Time,
        point: CapturePoint,
        form: PacketForm,
        lost: Option<Loss>,
        view: Self::View,
    );
    /// The packet, which `from` sent over links of which the last has this index, is on its way.
    fn on_hop_sighting(&mut self, view: Self::View, from: End, last: usize, sighting: HopSighting);
    /// The host at `end` sends the flow's packets without DF from now on.
    fn on_df_cleared(&mut self, flow: u32, end: End);
    /// Sightings from `since` on are held back: not all of them are known yet.
    fn hold_from(&mut self, since: Time);
    /// Sightings before `until` are complete.
    fn release_until(&mut self, until: Time);
    /// The run ends.
    fn close(&mut self, end: Time);
}

/// Observes nothing, at no cost.
#[derive(Debug)]
pub(super) struct NoObserver;

impl Observer for NoObserver {
    type View = ();
    const OBSERVES: bool = false;
    #[inline(always)]
    fn on_send(&mut self, _: Time, _: End, _: &mut Packet, _: IpPacket) {}
    #[inline(always)]
    fn view(&self, _: End, _: &Packet, _: IpPacket) {}
    #[inline(always)]
    fn on_sighting(&mut self, _: Time, _: CapturePoint, _: PacketForm, _: Option<Loss>, (): ()) {}
    #[inline(always)]
    fn on_hop_sighting(&mut self, (): (), _: End, _: usize, _: HopSighting) {}
    #[inline(always)]
    fn on_df_cleared(&mut self, _: u32, _: End) {}
    #[inline(always)]
    fn hold_from(&mut self, _: Time) {}
    #[inline(always)]
    fn release_until(&mut self, _: Time) {}
    fn close(&mut self, _: Time) {}
}

/// Turns packets into views, and shows them in order of time: where a packet will pass is computed
/// when it is sent, before others that pass earlier.
pub(super) struct TapObserver<'a> {
    tap: &'a mut dyn Tap,
    flows: Vec<FlowFacts>,
    /// Packets sent by the sender's host and by the receiver's.
    sent: [u32; 2],
    ahead: BinaryHeap<Reverse<Ahead>>,
    seen: u64,
    /// What passes from here on is not all known.
    known_until: Time,
}

impl<'a> TapObserver<'a> {
    pub(super) fn new(scenario: &Scenario, tap: &'a mut dyn Tap) -> Self {
        let flows = scenario.flows.iter().map(|flow| FlowFacts::new(scenario, flow)).collect();
        let ahead = BinaryHeap::new();
        Self { tap, flows, sent: [0; 2], ahead, seen: 0, known_until: Time::NEVER }
    }

    /// Shows everything up to `now`, as far as it is known: what is still to be sent passes no point before.
    fn show_until(&mut self, now: Time) {
        let is_due = |at: Time, known: Time| at <= now && at < known;
        while self
            .ahead
            .peek()
            .is_some_and(|Reverse(next)| is_due(next.sighting.at, self.known_until))
        {
            if let Some(Reverse(next)) = self.ahead.pop() {
                self.tap.on_packet(&next.sighting);
            }
        }
    }
}

impl Observer for TapObserver<'_> {
    type View = PacketView;

    const OBSERVES: bool = true;

    fn on_send(
        &mut self,
        now: Time,
        from: End,
        packet: &mut Packet,
        shape: IpPacket,
    ) -> PacketView {
        self.show_until(now);
        let sent = match from {
            End::Sender => &mut self.sent[0],
            End::Receiver => &mut self.sent[1],
        };
        packet.number = *sent;
        *sent += 1;
        let view = self.view(from, packet, shape);
        self.on_sighting(now, CapturePoint::Host(from), PacketForm::Whole, None, view);
        view
    }

    fn view(&self, from: End, packet: &Packet, shape: IpPacket) -> PacketView {
        let facts = &self.flows[packet.flow as usize];
        let (is_markable, is_marked) = match &packet.cargo {
            Cargo::Segment(segment) => (segment.markable, segment.marked),
            Cargo::Linux(packet) => (packet.flags.has(Flags::ECT), packet.flags.has(Flags::CE)),
            Cargo::Datagram { .. } | Cargo::EchoRequest { .. } | Cargo::EchoReply { .. } => {
                (false, false)
            }
        };
        PacketView {
            flow: packet.flow as usize,
            from,
            number: u64::from(packet.number),
            ip_len: u32::try_from(shape.length().get()).unwrap_or(u32::MAX),
            dont_fragment: facts.forbids_fragments(from),
            ecn: match (is_marked, is_markable) {
                (true, _) => CONGESTION_EXPERIENCED,
                (false, true) => ECN_CAPABLE,
                (false, false) => 0,
            },
            content: facts.content(from, &packet.cargo),
        }
    }

    fn on_sighting(
        &mut self,
        at: Time,
        point: CapturePoint,
        form: PacketForm,
        lost: Option<Loss>,
        packet: PacketView,
    ) {
        let sighting = Sighting { at, point, lost, form, packet };
        self.ahead.push(Reverse(Ahead { order: self.seen, sighting }));
        self.seen += 1;
    }

    fn on_hop_sighting(
        &mut self,
        mut view: PacketView,
        from: End,
        last_link: usize,
        sighting: HopSighting,
    ) {
        let point = match (sighting.link, from) {
            (None, _) => CapturePoint::Host(from.other()),
            (Some(index), End::Sender) => CapturePoint::Hop(index),
            (Some(index), End::Receiver) => CapturePoint::Hop(last_link - index),
        };
        let lost = match sighting.fate {
            Fate::Arrives(_) | Fate::Marked(_) => None,
            Fate::Damaged(_) => Some(Loss::Damaged),
            Fate::Refused(then) if then > sighting.at => Some(Loss::Dropped),
            // It never got a place there.
            Fate::Refused(_) | Fate::TooBig { .. } => return,
        };
        if sighting.marked {
            view.ecn = CONGESTION_EXPERIENCED;
        }
        let form = sighting.part.map_or(PacketForm::Whole, PacketForm::Fragment);
        self.on_sighting(sighting.at, point, form, lost, view);
    }

    fn on_df_cleared(&mut self, flow: u32, end: End) {
        self.flows[flow as usize].allow_fragments(end);
    }

    fn hold_from(&mut self, since: Time) {
        self.known_until = self.known_until.min(since);
    }

    fn release_until(&mut self, until: Time) {
        self.known_until = until;
    }

    fn close(&mut self, end: Time) {
        self.known_until = Time::NEVER;
        self.show_until(end);
    }
}

/// The codepoints CE and ECT(0) (RFC 3168 §5).
const CONGESTION_EXPERIENCED: u8 = 0b11;
const ECN_CAPABLE: u8 = 0b10;

/// A sighting to come; in order of time, and then as they were computed.
#[derive(Debug)]
struct Ahead {
    order: u64,
    sighting: Sighting,
}

impl Ahead {
    const fn key(&self) -> (u64, u64) {
        (self.sighting.at.as_nanos(), self.order)
    }
}

impl Ord for Ahead {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Ahead {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ahead {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Ahead {}

#[cfg(test)]
mod tests;
