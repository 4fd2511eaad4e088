//! The packets of two captures, in the order of one clock.

use std::collections::VecDeque;

use maxseg_core::evidence::{ClockDifference, Evidence, Joined};

use super::changes::changes;
use super::connections::Connections;
use super::delays::seconds;
use super::pairing::{Matched, Pair2, Pairing, nanos};
use super::passing::Passing;
use super::recent::Recent;
use super::way::{Coverages, Way, WayFacts};
use super::{Capture, Census, JoinError};
use crate::flow::{Endpoint, Pair, Seen};

/// The packets of two captures.
#[derive(Debug)]
pub(crate) struct Crossings {
    censuses: Pair2<Census>,
    pairing: Pairing,
    /// First and last packet of each capture, by the clock of the first.
    covered: Pair2<(i64, i64)>,
    numbers: Pair2<Connections>,
    recent: Pair2<Recent>,
    ways: Vec<Option<Box<Pair<Way>>>>,
    /// Packets at their receiver wait for those that are being sent: the clock is not exact.
    arriving: VecDeque<Passing>,
    /// Packets on their way in all connections.
    waiting: usize,
}

/// How long a packet at its receiver waits, in nanoseconds.
const LAG: i64 = 100_000_000;
/// From so many packets on their way on, each is given up sooner.
const CROWDED: usize = 1 << 20;

impl Crossings {
    /// The connections that are in both captures; `covered` are the first and the last time of each.
    pub(crate) fn new(
        censuses: Pair2<Census>,
        covered: Pair2<(u64, u64)>,
    ) -> Result<Self, JoinError> {
        let [first, second] = &censuses;
        let pairing = Pairing::of(first, second)?;
        let [own, other] = covered;
        let clock = pairing.clock;
        let covered = [
            (nanos(own.0), nanos(own.1)),
            (clock.to_first(nanos(other.0)), clock.to_first(nanos(other.1))),
        ];
        let ways = pairing.pairs.iter().map(|_| None).collect();
        Ok(Self {
            censuses,
            pairing,
            covered,
            numbers: <[_; 2]>::default(),
            recent: <[_; 2]>::default(),
            ways,
            arriving: VecDeque::new(),
            waiting: 0,
        })
    }

    /// A packet of a capture that is read again, from its first one on, if its connection is in both captures.
    pub(crate) fn of(&mut self, capture: Capture, seen: &Seen<'_>) -> Option<Packet> {
        let most = self.censuses.get(capture.index())?.connections.len();
        let (number, sender) = self.numbers.get_mut(capture.index())?.find(seen, most)?;
        let places = self.pairing.places.get(capture.index())?;
        let pair = (*places.get(number as usize)?)?;
        let matched = self.pairing.pairs.get(pair as usize)?;
        let at = nanos(seen.at_nanos);
        let (at, sender) = match capture {
            Capture::First => (at, sender),
            // To swap the ends is its own inverse.
            Capture::Second => (self.pairing.clock.to_first(at), matched.in_second(sender)),
        };
        let is_sent = matched.near(sender) == capture;
        Some(Packet { passing: Passing::of(seen, at, pair, sender), is_sent, capture })
    }

    /// The packets come in the order of [`Packet::at`].
    pub(crate) fn on_packet(&mut self, packet: &Packet) {
        self.arrive_until(packet.passing.at - LAG);
        let Packet { passing, is_sent, capture } = packet;
        let Some(recent) = self.recent.get_mut(capture.index()) else { return };
        let before = recent.note(passing.identity(), passing.point);
        // The same packet at another interface, or twice at a mirror port.
        let is_other_point = before.is_some_and(|point| point != passing.point);
        if is_other_point || *is_sent && before.is_some() && passing.ip_id > 0 {
            return;
        }
        if *is_sent {
            self.on_sent(passing);
        } else {
            self.arriving.push_back(Passing { is_copy: before.is_some(), ..*passing });
        }
    }

    fn on_sent(&mut self, packet: &Passing) {
        let is_crowded = self.waiting > CROWDED;
        self.acknowledge(packet, false);
        self.at_way(packet, |way| {
            way.give_up(packet.at, is_crowded);
            way.on_sent(packet);
        });
    }

    fn arrive_until(&mut self, at: i64) {
        while self.arriving.front().is_some_and(|packet| packet.at <= at) {
            let Some(packet) = self.arriving.pop_front() else { return };
            self.on_received(&packet);
        }
    }

    fn on_received(&mut self, packet: &Passing) {
        self.acknowledge(packet, true);
        self.at_way(packet, |way| {
            if way.on_received(packet) {
                return;
            }
            if packet.is_copy {
                way.on_duplicate(packet);
            } else {
                way.on_unknown(packet, i64::from(packet.len));
            }
        });
    }

    /// Lets a packet act on its way, and counts what waits there.
    fn at_way(&mut self, packet: &Passing, act: impl FnOnce(&mut Way)) {
        let Some(ways) = self.ways_of(packet.pair as usize) else { return };
        let way = ways.of_mut(packet.sender);
        let before = way.waiting();
        act(way);
        let after = way.waiting();
        self.waiting = (self.waiting + after).saturating_sub(before);
    }

    /// What a packet acknowledges has arrived.
    fn acknowledge(&mut self, packet: &Passing, has_arrived: bool) {
        if let Some(ack) = packet.ack
            && let Some(ways) = self.ways.get_mut(packet.pair as usize).and_then(Option::as_mut)
        {
            ways.of_mut(packet.sender.other()).on_acknowledged(ack, !has_arrived);
        }
    }

    /// Both directions of a connection, by its place among the pairs.
    fn ways_of(&mut self, place: usize) -> Option<&mut Pair<Way>> {
        if self.ways.get(place)?.is_none() {
            let ways = self.new_ways(self.pairing.pairs.get(place)?)?;
            *self.ways.get_mut(place)? = Some(Box::new(ways));
        }
        self.ways.get_mut(place)?.as_deref_mut()
    }

    fn facts(&self, matched: &Matched, sender: Endpoint) -> Option<WayFacts> {
        let near = matched.near(sender);
        let covered = |capture: Capture| self.covered.get(capture.index()).copied();
        let numbers = |end: Endpoint| {
            let base = |capture: Capture| {
                let identity = self.identity(matched, capture)?;
                identity.base(matched.end_in(capture, end))
            };
            let first = |capture: Capture| {
                let identity = self.identity(matched, capture)?;
                *identity.first_seq.of(matched.end_in(capture, end))
            };
            let known = base(near).or_else(|| base(near.other())).or_else(|| first(near));
            let known = known.or_else(|| first(near.other())).unwrap_or(0);
            (base(near).unwrap_or(known), base(near.other()).unwrap_or(known))
        };
        Some(WayFacts {
            bases: numbers(sender),
            acked_bases: numbers(sender.other()),
            segment: self.segment(matched, sender)?,
            keeps_ids: self.pairing.keeps_ids,
            covered: Coverages { sender: covered(near)?, receiver: covered(near.other())? },
            base: self.pairing.clock.base,
        })
    }

    /// Payload of a full segment of an end: what both SYNs allow where it sends, and no more than arrives at once where
    /// nothing joins segments.
    fn segment(&self, matched: &Matched, sender: Endpoint) -> Option<u32> {
        let near = matched.near(sender);
        let (here, there) = (self.identity(matched, near)?, self.identity(matched, near.other())?);
        let syn = |end: Endpoint| here.syn.of(matched.end_in(near, end)).as_ref();
        let offered = syn(sender.other()).and_then(|syn| syn.mss);
        let own = syn(sender).and_then(|syn| syn.mss);
        let both = syn(sender).zip(syn(sender.other()));
        let options = if both.is_some_and(|(a, b)| a.timestamp.is_some() && b.timestamp.is_some()) {
            TIMESTAMPS
        } else {
            0
        };
        let largest = *there.largest.of(matched.end_in(near.other(), sender));
        let allowed = match (offered, own) {
            (Some(offered), own) => {
                u32::from(own.map_or(offered, |own| own.min(offered))).saturating_sub(options)
            }
            (None, _) if largest <= LARGEST_FRAME => largest,
            (None, _) => USUAL_SEGMENT,
        };
        Some(if largest == 0 { allowed } else { allowed.min(largest) }.max(1))
    }

    fn identity(&self, matched: &Matched, capture: Capture) -> Option<&super::census::Identity> {
        let number = *matched.numbers.get(capture.index())?;
        self.censuses.get(capture.index())?.connections.get(number as usize)
    }

    /// Connections that only one of the captures holds: the first, the second.
    pub(crate) fn only_in(&self) -> Pair2<u64> {
        let shared = self.pairing.pairs.len() as u64;
        self.censuses.each_ref().map(|census| census.connections.len() as u64 - shared)
    }

    /// What both show of each connection, when all packets have come.
    pub(crate) fn finish(mut self) -> JoinedConnections {
        self.arrive_until(i64::MAX);
        let mut list = Vec::with_capacity(self.pairing.pairs.len());
        let mut weights = [0; 2];
        let pairs = std::mem::take(&mut self.pairing.pairs);
        for (place, matched) in pairs.iter().enumerate() {
            let joined = self.joined(place, matched);
            if let Some((joined, bytes)) = joined.as_ref()
                && let Some(weight) = weights.get_mut(joined.judged_in)
            {
                *weight += bytes;
            }
            list.push(joined.map(|(joined, _)| joined));
        }
        let [first, second] = weights;
        let main = if second > first { Capture::Second } else { Capture::First };
        JoinedConnections { pairing: self.pairing, list, main }
    }

    /// What both show of a connection, and its payload.
    fn joined(&mut self, place: usize, matched: &Matched) -> Option<(Joined, u64)> {
        let clock = self.clock(matched.near(matched.client));
        let ways = match self.ways.get_mut(place)?.take() {
            Some(ways) => *ways,
            None => self.new_ways(matched)?,
        };
        let client = matched.client;
        let (there, back) = match client {
            Endpoint::Low => (ways.low, ways.high),
            Endpoint::High => (ways.high, ways.low),
        };
        let windows = (there.windows.rewritten(), back.windows.rewritten());
        let (forward, reverse) = (there.finish(clock.is_some()), back.finish(clock.is_some()));
        let near_client = matched.near(client);
        let payload = |end: Endpoint| {
            let near = matched.near(end);
            let identity = self.identity(matched, near);
            identity.map_or(0, |known| *known.payload_bytes.of(matched.end_in(near, end)))
        };
        let (up, down) = (payload(client), payload(client.other()));
        let near_sender = if down > up { near_client.other() } else { near_client };
        let completeness = |capture: Capture| {
            self.identity(matched, capture).map(super::census::Identity::completeness)
        };
        let is_better = completeness(near_sender.other()) > completeness(near_sender);
        let judged = if is_better { near_sender.other() } else { near_sender };
        let changes = changes(
            self.identity(matched, Capture::First)?,
            self.identity(matched, Capture::Second)?,
            matched,
            windows,
        );
        let joined = Joined {
            client_capture: near_client.index(),
            judged_in: judged.index(),
            clock,
            forward,
            reverse,
            changes,
        };
        Some((joined, up + down))
    }

    #[cold]
    fn new_ways(&self, matched: &Matched) -> Option<Pair<Way>> {
        let way = |sender| Some(Way::new(self.facts(matched, sender)?));
        Some(Pair { low: way(Endpoint::Low)?, high: way(Endpoint::High)? })
    }

    /// The clock at the server against that at the client.
    fn clock(&self, near_client: Capture) -> Option<ClockDifference> {
        let clock = &self.pairing.clock;
        let base = clock.base?;
        let sign = if near_client == Capture::First { 1.0 } else { -1.0 };
        Some(ClockDifference {
            offset_s: sign * seconds(clock.offset),
            uncertainty_s: seconds(base) / 2.0,
            skew_ppm: (clock.skew.abs() > 0.0).then_some(sign * clock.skew * 1e6),
            base_rtt_s: seconds(base),
        })
    }
}

/// Bytes of the timestamps option with its padding.
const TIMESTAMPS: u32 = 12;
/// Payload of a segment on Ethernet, where nothing shows another.
const USUAL_SEGMENT: u32 = 1448;
/// No frame is larger on the wire.
const LARGEST_FRAME: u32 = 9000;

/// A packet of one of the captures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    passing: Passing,
    /// Whether it passes the capture nearer to its sender.
    is_sent: bool,
    capture: Capture,
}

impl Packet {
    /// When it passed, by the clock of the first capture.
    pub(crate) const fn at(&self) -> i64 {
        self.passing.at
    }
}

/// What both captures show of each connection.
#[derive(Debug)]
pub(crate) struct JoinedConnections {
    pairing: Pairing,
    list: Vec<Option<Joined>>,
    /// The capture nearer to the sender of most payload.
    pub(crate) main: Capture,
}

impl JoinedConnections {
    /// Gives a connection what the other capture adds, if this is the capture that it is judged in; once.
    pub(crate) fn join(&mut self, capture: Capture, mut evidence: Evidence) -> Option<Evidence> {
        let place = self.pairing.place_of(capture, &evidence)?;
        let slot = self.list.get_mut(place as usize)?;
        let joined = slot.take_if(|joined| joined.judged_in == capture.index())?;
        evidence.joined = Some(Box::new(joined));
        Some(evidence)
    }
}
