//! The connections of a capture.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use maxseg_core::evidence::{Evidence, PathMtuEvent};
use maxseg_core::units::Time;

use super::connection::Connection;
use super::connection_store::ConnectionStore;
use super::key::{FlowKey, LastFlowCache};
use super::owned_segment::OwnedSegment;
use super::pair::Endpoint;
use super::time_order::{TimeOrder, Turn};
use super::{Decoded, DecodedPacket, Seen, TooBig};
use crate::tcp::Flags;

/// What to look at, and how closely.
#[derive(Debug, Clone, Copy)]
pub struct FlowOptions {
    /// Connections that are followed at most; the packets of more are counted only.
    pub most_connections: usize,
    /// Whether every segment is kept, for graphs.
    pub trace: bool,
}

impl Default for FlowOptions {
    fn default() -> Self {
        Self { most_connections: 1_000_000, trace: false }
    }
}

/// The connections that have been seen so far.
#[derive(Debug)]
pub struct Flows {
    options: FlowOptions,
    /// Where in `connections` the present one with these ends is.
    places: HashMap<FlowKey, u32, RandomState>,
    connections: ConnectionStore,
    recent: LastFlowCache,
    order: TimeOrder,
    path_mtu_events: Vec<PathMtuEvent>,
    /// The ends of those that are not followed: each counts once.
    untracked: HashSet<FlowKey, RandomState>,
    untracked_connections: u64,
    untracked_packets: u64,
}

/// What was seen, all in all.
#[derive(Debug)]
pub struct FlowResults<I> {
    /// The connections, in the order of their first packets. Each is made when it is asked for.
    pub connections: I,
    /// What hops said of packets that were too big for them, of all connections and of none.
    pub path_mtu_events: Vec<PathMtuEvent>,
    /// Connections that were not followed, because there were too many.
    pub untracked_connections: u64,
    /// Their packets.
    pub untracked_packets: u64,
}

impl Flows {
    /// None yet.
    pub fn new(options: FlowOptions) -> Self {
        Self::with_awake(options, ConnectionStore::MOST_AWAKE)
    }

    /// None yet; so many of them will not be packed.
    fn with_awake(options: FlowOptions, most_awake: usize) -> Self {
        Self {
            options,
            places: HashMap::default(),
            connections: ConnectionStore::new(most_awake),
            recent: LastFlowCache::new(),
            order: TimeOrder::new(),
            path_mtu_events: Vec::new(),
            untracked: HashSet::default(),
            untracked_connections: 0,
            untracked_packets: 0,
        }
    }

    /// A packet of the capture: what it is decides who hears of it.
    #[inline]
    pub fn on_packet(&mut self, packet: &DecodedPacket<'_>) {
        match &packet.what {
            Decoded::Tcp(seen) => match self.order.on_segment(seen, packet.fragments) {
                Turn::Now => self.on_segment(seen, packet.fragments),
                Turn::Waits => self.next_ordered(),
            },
            Decoded::TooBig(notice) => {
                self.rest_ordered();
                self.on_too_big(notice);
            }
            Decoded::Fragment(_)
            | Decoded::Udp(_)
            | Decoded::Other(_)
            | Decoded::Undecodable(_) => {}
        }
    }

    /// Those leave that have waited long enough for older ones.
    #[cold]
    #[inline(never)]
    fn next_ordered(&mut self) {
        while let Some(segment) = self.order.next() {
            self.on_waited(&segment);
        }
    }

    /// All leave that wait for older ones.
    #[cold]
    #[inline(never)]
    fn rest_ordered(&mut self) {
        for segment in self.order.finish() {
            self.on_waited(&segment);
        }
    }

    #[inline(never)]
    fn on_waited(&mut self, segment: &OwnedSegment) {
        let seen = segment.seen();
        self.on_segment(&seen, segment.fragments);
        if segment.is_late {
            self.of(&seen, |connection, _| connection.on_late());
        }
    }

    /// The connection of a segment that passed already.
    fn of(&mut self, seen: &Seen<'_>, tell: impl FnOnce(&mut Connection, Endpoint)) {
        let (key, sender) = FlowKey::of(seen.source, seen.destination);
        if let Some(place) = self.places.get(&key)
            && let Some(connection) = self.connections.get_mut(*place, seen.at_nanos)
        {
            tell(connection, sender);
        }
    }

    /// A segment passes, put together from so many fragments.
    #[inline(always)]
    fn on_segment(&mut self, seen: &Seen<'_>, fragments: u32) {
        let is_opening = seen.flags.contains(Flags::SYN);
        let recent = self.recent.find(&seen.source, &seen.destination).filter(|_| !is_opening);
        let Some((place, sender)) = recent.or_else(|| self.look_up(seen)) else { return };
        match self.connections.get_mut(place, seen.at_nanos) {
            Some(connection) => connection.on_segment(seen, sender),
            None => self.untracked_packets += 1,
        }
        if fragments > 0 {
            self.on_fragmented(seen);
        }
    }

    /// Where the connection of a segment is, perhaps a new one, and which of its ends sent it; `None` where there are too
    /// many.
    #[inline(never)]
    fn look_up(&mut self, seen: &Seen<'_>) -> Option<(u32, Endpoint)> {
        let (key, sender) = FlowKey::of(seen.source, seen.destination);
        let known = self.places.get(&key).copied();
        let place = match known {
            Some(place) if !self.is_over(place, seen, sender) => place,
            before => self.open(key, seen, sender, before.is_some())?,
        };
        self.recent.put((seen.source, seen.destination), place, sender);
        if known != Some(place) {
            // Packets of the other end are not of the connection before any more.
            self.recent.put((seen.destination, seen.source), place, sender.other());
        }
        Some((place, sender))
    }

    fn is_over(&mut self, place: u32, seen: &Seen<'_>, sender: Endpoint) -> bool {
        seen.flags.contains(Flags::SYN)
            && self
                .connections
                .get_mut(place, seen.at_nanos)
                .is_some_and(|connection| connection.is_over_before(seen, sender))
    }

    /// Begins a connection; `None` where there are too many.
    fn open(
        &mut self,
        key: FlowKey,
        seen: &Seen<'_>,
        sender: Endpoint,
        again: bool,
    ) -> Option<u32> {
        let id = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
        if self.connections.len() >= self.options.most_connections {
            self.untracked_packets += 1;
            if again {
                // What follows is of the new connection, and of no other.
                self.places.remove(&key);
                self.recent.forget(&seen.source, &seen.destination);
            }
            let is_new = self.untracked.len() >= MOST_UNTRACKED || self.untracked.insert(key);
            self.untracked_connections += u64::from(is_new);
            return None;
        }
        let mut connection = Connection::new(id, seen, sender, self.options.trace);
        if again {
            connection.reuse_ports();
        }
        self.connections.push(connection, seen.at_nanos);
        self.places.insert(key, id);
        Some(id)
    }

    /// The last segment was put together from fragments.
    #[cold]
    fn on_fragmented(&mut self, seen: &Seen<'_>) {
        self.of(seen, |connection, sender| connection.on_fragmented(seen, sender));
    }

    /// A hop says that a packet was too big for it.
    fn on_too_big(&mut self, notice: &TooBig) {
        let mut event = PathMtuEvent {
            at: Time::from_nanos(notice.at_nanos),
            frame: notice.frame,
            hop: notice.from,
            mtu_bytes: notice.mtu,
            quoted: notice.quoted.map(|quoted| (quoted.source, quoted.destination)),
            packet_bytes: notice.quoted.map_or(0, |quoted| quoted.ip_len),
            connection: None,
        };
        if let Some((source, destination)) = event.quoted
            && let Some(place) = self.places.get(&FlowKey::of(source, destination).0)
            && let Some(connection) = self.connections.get_mut(*place, notice.at_nanos)
        {
            event.connection = Some(connection.id);
            if connection.path_mtu_events.len() < MOST_EVENTS {
                connection.path_mtu_events.push(event);
            }
        }
        if self.path_mtu_events.len() < MOST_EVENTS {
            self.path_mtu_events.push(event);
        }
    }

    /// Nothing more comes.
    pub fn finish(mut self) -> FlowResults<impl Iterator<Item = Evidence>> {
        self.rest_ordered();
        FlowResults {
            connections: self.connections.into_connections().map(Connection::into_evidence),
            path_mtu_events: self.path_mtu_events,
            untracked_connections: self.untracked_connections,
            untracked_packets: self.untracked_packets,
        }
    }
}

/// Most ends of untracked connections that are kept, to count each once; beyond that packets count.
const MOST_UNTRACKED: usize = 1 << 20;
/// Most notices of hops that are kept, of a connection and of all.
const MOST_EVENTS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::PacketReader;
    use crate::synthetic::Load;

    fn connections(capture: &[u8], mut flows: Flows) -> Vec<Evidence> {
        let mut packets = PacketReader::open(capture, None).unwrap();
        packets.for_each(|_, packet| flows.on_packet(packet)).unwrap();
        flows.finish().connections.collect()
    }

    #[test]
    fn what_is_packed_comes_out_as_it_was() {
        for trace in [false, true] {
            let load =
                Load { connections: 90, rounds: 20, at_once: 30, rounds_a_turn: 3, ends: true };
            let mut capture = Vec::new();
            load.write(&mut capture).unwrap();
            let options = FlowOptions { trace, ..FlowOptions::default() };
            let plain = connections(&capture, Flows::new(options));
            assert_eq!(plain.len(), 90);
            for most_awake in [1, 7] {
                let packed = connections(&capture, Flows::with_awake(options, most_awake));
                assert_eq!(plain, packed);
            }
        }
    }
}
