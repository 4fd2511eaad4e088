//! What follows connections: all of them, or those of some [parts](super::part).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::RandomState;
use maxseg_core::evidence::{PathMtuEvent, UnreachableEvent};
use maxseg_core::units::Time;

use super::backlog::Backlog;
use super::connection::Connection;
use super::connection_store::ConnectionStore;
use super::hole::HoleInTime;
use super::key::FlowKey;
use super::last_flows::LastFlows;
use super::options::FlowOptions;
use super::pair::Endpoint;
use super::part::{PARTS, Place, part_of};
use super::places::Places;
use super::seen::Passing;
use super::{Seen, TooBig};
use crate::ip::protocol;
use crate::tcp::Flags;

/// Connections and where they are.
#[derive(Debug)]
pub(super) struct Follower {
    options: FlowOptions,
    /// Where the present one with these ends is.
    places: Places,
    /// The connections of each part.
    pub(super) stores: [ConnectionStore; PARTS],
    /// Deferred segments of each part.
    backlogs: [Backlog; PARTS],
    /// A part's segments are deferred from so many connections on that are not packed. Their number never falls below it
    /// again: no segment is followed at once while one before it waits.
    pub(super) defers_from: usize,
    recent: LastFlows,
    /// Connections that have begun, those of other followers included.
    begun: Arc<AtomicUsize>,
    pub(super) notices: Vec<Notice>,
    /// What the capture has nothing of, so far.
    holes: Vec<HoleInTime>,
    /// The ends of those that are not followed: each counts once.
    untracked: HashSet<FlowKey, RandomState>,
    pub(super) untracked_connections: u64,
    pub(super) untracked_packets: u64,
}

/// What a hop said of a packet that was too big for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notice {
    /// Which one it is, among the segments.
    pub(super) count: u64,
    pub(super) event: PathMtuEvent,
    /// The connection of the packet.
    pub(super) place: Option<Place>,
}

impl Follower {
    /// No connection yet.
    pub(super) fn new(options: FlowOptions) -> Self {
        Self::beside(options, Arc::default())
    }

    /// No connection yet; others add theirs to `begun`.
    pub(super) fn beside(options: FlowOptions, begun: Arc<AtomicUsize>) -> Self {
        Self::with_awake(options, begun, ConnectionStore::MOST_AWAKE)
    }

    /// No connection yet; so many of each part will not be packed.
    pub(super) fn with_awake(
        options: FlowOptions,
        begun: Arc<AtomicUsize>,
        most_awake: usize,
    ) -> Self {
        Self {
            options,
            places: Places::default(),
            stores: std::array::from_fn(|_| ConnectionStore::new(most_awake)),
            backlogs: Default::default(),
            defers_from: DEFERS_FROM.min(most_awake),
            recent: LastFlows::new(),
            begun,
            notices: Vec::new(),
            holes: Vec::new(),
            untracked: HashSet::default(),
            untracked_connections: 0,
            untracked_packets: 0,
        }
    }

    /// A segment passes: which one it is, in the order of their times and with the notices of hops, is its `count`, from 1.
    #[inline(always)]
    pub(super) fn on_segment(&mut self, seen: &Seen<'_>, passing: Passing, count: u64) {
        let is_opening = seen.flags.contains(Flags::SYN);
        let recent = self.recent.find(&seen.source, &seen.destination).filter(|_| !is_opening);
        let Some((place, sender)) = recent.or_else(|| self.look_up(seen, count)) else {
            return;
        };
        if self.defers(place.part()) {
            self.defer(place, seen, sender, passing);
            return;
        }
        let store = self.stores.get_mut(place.part());
        match store.and_then(|store| store.get_mut(place.number(), seen.at_nanos)) {
            Some(connection) => {
                pass_holes(connection, &self.holes, seen, sender);
                follow(connection, seen, sender, passing);
            }
            None => self.untracked_packets += 1,
        }
    }

    /// Whether so many connections of a part are in use that the processor's caches do not hold them.
    #[inline]
    fn defers(&self, part: usize) -> bool {
        self.stores.get(part).is_some_and(|store| store.awake() >= self.defers_from)
    }

    #[inline(never)]
    fn defer(&mut self, place: Place, seen: &Seen<'_>, sender: Endpoint, passing: Passing) {
        let Some(backlog) = self.backlogs.get_mut(place.part()) else { return };
        if backlog.push(place.number(), seen, passing, sender) {
            self.drain(place.part());
        }
    }

    /// Follows the deferred segments of a part, connection by connection.
    fn drain(&mut self, part: usize) {
        let Some(backlog) = self.backlogs.get_mut(part) else { return };
        let numbers = backlog.take_numbers();
        for number in &numbers {
            self.drain_connection(part, *number as usize);
        }
        if let Some(backlog) = self.backlogs.get_mut(part) {
            backlog.clear(numbers);
        }
    }

    /// Follows the deferred segments of a connection.
    fn drain_connection(&mut self, part: usize, number: usize) {
        let (Some(backlog), Some(store)) = (self.backlogs.get_mut(part), self.stores.get_mut(part))
        else {
            return;
        };
        if !backlog.has(number) {
            return;
        }
        let mut connection = store.get_mut(number, backlog.since(u64::MAX));
        let mut followed = 0_u32;
        while let Some(gathered) = backlog.gather(number) {
            followed += gathered;
            let Some(connection) = &mut connection else {
                self.untracked_packets += u64::from(gathered);
                continue;
            };
            let ends = connection.ends;
            for (seen, passing, sender) in backlog.gathered(ends) {
                pass_holes(connection, &self.holes, &seen, sender);
                follow(connection, &seen, sender, passing);
            }
        }
        store.add_uses(followed.saturating_sub(1));
    }

    /// Follows the deferred segments of a part before one of its new connections is packed, only to be unpacked for them.
    fn drain_before_packing(&mut self, part: usize) {
        let Some((store, backlog)) = self.stores.get(part).zip(self.backlogs.get(part)) else {
            return;
        };
        if store.is_half_new(backlog.begun()) {
            self.drain(part);
        }
    }

    /// Nothing is there of this time; what passed before it has come.
    pub(super) fn on_hole(&mut self, hole: HoleInTime) {
        (0..PARTS).for_each(|part| self.drain(part));
        self.holes.push(hole);
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self) {
        (0..PARTS).for_each(|part| self.drain(part));
    }

    /// A connection with all of its segments so far.
    fn get_mut(&mut self, place: Place, now: u64) -> Option<&mut Connection> {
        self.drain_connection(place.part(), place.number());
        let now = self.backlogs.get(place.part())?.since(now);
        self.stores.get_mut(place.part())?.get_mut(place.number(), now)
    }

    /// Where the connection of a segment is, perhaps a new one, and which of its ends sent it; `None` where there are too
    /// many.
    #[inline(never)]
    fn look_up(&mut self, seen: &Seen<'_>, count: u64) -> Option<(Place, Endpoint)> {
        let (key, sender) = FlowKey::of(seen.source, seen.destination);
        let place = match self.places.get(&key) {
            Some(place) if !self.is_over(place, seen, sender) => place,
            before => self.open(key, seen, sender, count, before)?,
        };
        self.recent.put(seen.source, seen.destination, place);
        Some((place, sender))
    }

    fn is_over(&mut self, place: Place, seen: &Seen<'_>, sender: Endpoint) -> bool {
        seen.flags.contains(Flags::SYN)
            && self
                .get_mut(place, seen.at_nanos)
                .is_some_and(|connection| connection.is_over_before(seen, sender))
    }

    /// Begins a connection; `None` where there are too many.
    fn open(
        &mut self,
        key: FlowKey,
        seen: &Seen<'_>,
        sender: Endpoint,
        count: u64,
        before: Option<Place>,
    ) -> Option<Place> {
        let part = part_of(&seen.source, &seen.destination);
        let place = Place::new(part, self.stores.get(part)?.len());
        let has_room = self.begun.fetch_add(1, Ordering::Relaxed) < self.options.most_connections;
        let is_behind_later = before
            .and_then(|before| self.get_mut(before, seen.at_nanos))
            .is_some_and(|it| it.on_ports_reused(seen));
        let Some(place) = place.filter(|_| has_room) else {
            self.untracked_packets += 1;
            if before.is_some() {
                // What follows is of the new connection, and of no other.
                self.places.remove(&key);
                self.recent.forget(seen.source, seen.destination);
            }
            let is_new = self.untracked.len() >= MOST_UNTRACKED || self.untracked.insert(key);
            self.untracked_connections += u64::from(is_new);
            return None;
        };
        let mut connection = Connection::new(seen, sender, self.options.trace);
        connection.holes_before = self.holes.len();
        if before.is_some() {
            connection.reuse_ports(is_behind_later);
        }
        self.drain_before_packing(part);
        let now = self.backlogs.get(part)?.since(seen.at_nanos);
        self.stores.get_mut(part)?.push(connection, count, now);
        self.places.insert(key, place);
        Some(place)
    }

    /// A hop says that a packet was too big for it.
    pub(super) fn on_too_big(&mut self, notice: &TooBig, count: u64) {
        let event = PathMtuEvent {
            at: Time::from_nanos(notice.at_nanos),
            frame: notice.frame,
            hop: notice.from,
            mtu_bytes: notice.mtu,
            quoted: notice.quoted.map(|quoted| (quoted.source, quoted.destination)),
            packet_bytes: notice.quoted.map_or(0, |quoted| quoted.ip_len),
            connection: None,
        };
        let known = notice.quoted.and_then(|quoted| {
            let (key, sender) = FlowKey::of(quoted.source, quoted.destination);
            let tcp = (quoted.protocol == protocol::TCP).then_some((sender, quoted.word));
            Some((self.places.get(&key)?, tcp))
        });
        let connection = known.and_then(|(place, _)| self.get_mut(place, notice.at_nanos));
        let place = known.map(|(place, _)| place).filter(|_| connection.is_some());
        if let Some(connection) = connection {
            if let Some((sender, number)) = known.and_then(|(_, tcp)| tcp) {
                connection.on_too_large(notice.at_nanos, sender, number);
            }
            let events = &mut connection.aside.get_or_insert_default().path_mtu_events;
            if events.len() < MOST_EVENTS {
                events.push(event);
            }
        }
        if self.notices.len() < MOST_EVENTS {
            self.notices.push(Notice { count, event, place });
        }
    }

    /// Somebody says that the destination of a segment is unreachable.
    pub(super) fn on_unreachable(&mut self, event: &UnreachableEvent) {
        let (source, destination) = event.quoted;
        let known = self.places.get(&FlowKey::of(source, destination).0);
        let Some(connection) = known.and_then(|place| self.get_mut(place, event.at.as_nanos()))
        else {
            return;
        };
        let events = &mut connection.aside.get_or_insert_default().unreachable;
        if events.len() < MOST_EVENTS {
            events.push(*event);
        }
    }
}

/// Tells a connection of the holes between its last packet and this one.
#[inline(always)]
fn pass_holes(
    connection: &mut Connection,
    holes: &[HoleInTime],
    seen: &Seen<'_>,
    sender: Endpoint,
) {
    if connection.holes_before != holes.len() {
        connection.on_holes(holes, seen, sender);
    }
}

#[inline(always)]
fn follow(connection: &mut Connection, seen: &Seen<'_>, sender: Endpoint, passing: Passing) {
    connection.note_setting(passing.is_set);
    connection.on_segment(seen, sender);
    // One alone is an atomic fragment (RFC 6946): translators between IPv4 and IPv6 make them of whole packets.
    if passing.fragments > 1 {
        connection.on_fragmented(seen, sender);
    }
    if passing.is_late {
        connection.on_late();
    }
}

/// Connections in use in a part from which on its segments are deferred: each takes about 10 kB, and fewer stay in the
/// processor's second-level cache.
const DEFERS_FROM: usize = 64;
/// Most ends of untracked connections that are kept, to count each once; beyond that packets count.
const MOST_UNTRACKED: usize = 1 << 20;
/// Most notices of hops that are kept, of a connection and of all.
pub(super) const MOST_EVENTS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::segment;

    #[test]
    fn connections_of_the_same_ports_are_told_apart_by_their_packets() {
        let mut follower = Follower::new(FlowOptions::default());
        let syn = |frame, seq| Seen {
            flags: Flags::SYN,
            seq,
            ack: 0,
            frame,
            ip_id: None,
            ..segment(1000 * frame)
        };
        let data = Seen { frame: 2, payload_len: 100, ..segment(2000) };
        for (seen, count) in [syn(1, 999), data, syn(3, 77_000)].iter().zip(1..) {
            follower.on_segment(
                seen,
                Passing { fragments: 0, is_late: false, is_set: false },
                count,
            );
        }
        follower.finish();
        let found = super::super::results::gather(vec![follower]).connections;
        let frames: Vec<_> = found.map(|evidence| evidence.capture.frames).collect();
        assert_eq!(frames, [Some((1, 2)), Some((3, 3))]);
    }

    #[test]
    fn an_atomic_fragment_is_no_fragmentation() {
        let fragmented = |fragments: u32| {
            let seen = Seen { payload_len: 100, ..segment(0) };
            let mut connection = Connection::new(&seen, Endpoint::Low, false);
            follow(
                &mut connection,
                &seen,
                Endpoint::Low,
                Passing { fragments, is_late: false, is_set: false },
            );
            connection.into_evidence(0).forward.fragmented_packets
        };
        assert_eq!([0, 1, 2].map(fragmented), [0, 0, 1]);
    }
}
