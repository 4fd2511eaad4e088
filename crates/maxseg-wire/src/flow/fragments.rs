//! Fragments, put together as far as their packet's header and length (RFC 791 §3.2, RFC 8200 §4.5).
//!
//! Of a packet's payload only the beginning is kept: what holds the headers behind IP.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::ip::{Fragment, Outline};

/// What fragments there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FragmentCounts {
    /// Fragments of IPv4 packets.
    pub ipv4_fragments: u64,
    /// IPv4 packets of which there was a fragment.
    pub ipv4_datagrams: u64,
    /// IPv6 packets with a fragment header, those of whole packets included.
    pub ipv6_fragments: u64,
    /// IPv6 packets of which there was a fragment; whole packets do not count.
    pub ipv6_datagrams: u64,
    /// IPv6 packets with a fragment header that are whole (RFC 6946).
    pub ipv6_atomic_fragments: u64,
    /// Packets that became whole.
    pub reassembled: u64,
    /// Packets of which not all fragments came within a minute, or before the end.
    pub incomplete: u64,
    /// Packets among the incomplete that were not waited for, because there were too many at once, or
    /// because they were in too many pieces.
    pub given_up: u64,
    /// Fragments that bring again what was there, or contradict where their packet ends.
    pub overlapping: u64,
}

/// Packets that are waited for at once.
const MOST_WAITING: usize = 4096;
/// Holes of a packet.
const MOST_HOLES: usize = 128;
/// Bytes that are kept of a packet's payload.
const MOST_KEPT: usize = 2048;
/// How long a packet is waited for, from its first fragment to come: 60 s (RFC 8200 §4.5; RFC 1122
/// §3.3.2 has 60 to 120 s).
const PATIENCE_NANOS: u64 = 60_000_000_000;
/// The largest packet that offsets can describe.
const MOST_PAYLOAD: u32 = 65_535;

/// What the fragments of a packet have in common. In IPv6 the protocol is only in the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DatagramKey {
    /// The same packet passes several interfaces, each time whole or in all its fragments.
    interface: u32,
    source: IpAddr,
    destination: IpAddr,
    identification: u32,
    protocol: Option<u8>,
}

/// The packets that are not whole yet.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    waiting: BTreeMap<DatagramKey, PartialDatagram>,
    /// The same in the order in which they began.
    order: BTreeMap<u64, DatagramKey>,
    begun: u64,
    counts: FragmentCounts,
    /// The beginning of the last payload that became whole.
    assembled: Vec<u8>,
}

#[derive(Debug, Default)]
struct PartialDatagram {
    serial: u64,
    since_nanos: u64,
    fragments: u32,
    /// The header of the first fragment.
    first: Option<Outline<'static>>,
    /// The beginning of the payload, with gaps where it is not there yet.
    kept: Vec<u8>,
    /// Where that has the first gap that stays: the capture cut a fragment.
    cut_at: Option<usize>,
    /// What is there of the payload: disjoint, in order, not touching.
    pieces: Vec<(u32, u32)>,
    /// How long the payload is, once the last fragment is there.
    payload_len: Option<u32>,
}

/// What a fragment brings to what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    New,
    Overlaps,
    TooManyHoles,
}

impl Fragments {
    pub(super) fn on_atomic(&mut self) {
        self.counts.ipv6_fragments += 1;
        self.counts.ipv6_atomic_fragments += 1;
    }

    /// Counts; those that are still waited for as incomplete.
    pub(super) fn counts(&self) -> FragmentCounts {
        let waiting = self.waiting.len() as u64;
        FragmentCounts { incomplete: self.counts.incomplete + waiting, ..self.counts }
    }

    /// Adds a fragment. The packet that it makes whole, and of how many fragments.
    pub(super) fn add(
        &mut self,
        now_nanos: u64,
        interface: u32,
        fragment: Fragment,
        ip: &Outline<'_>,
    ) -> Option<(Outline<'_>, u32)> {
        let is_v4 = ip.source.is_ipv4();
        let key = DatagramKey {
            interface,
            source: ip.source,
            destination: ip.destination,
            identification: fragment.identification,
            protocol: is_v4.then_some(ip.protocol),
        };
        self.expire(key, now_nanos);
        let is_new = !self.waiting.contains_key(&key);
        if is_new {
            self.begin(key, now_nanos);
        }
        let counts = &mut self.counts;
        let (fragments, datagrams) = if is_v4 {
            (&mut counts.ipv4_fragments, &mut counts.ipv4_datagrams)
        } else {
            (&mut counts.ipv6_fragments, &mut counts.ipv6_datagrams)
        };
        *fragments += 1;
        *datagrams += u64::from(is_new);
        let datagram = self.waiting.get_mut(&key)?;
        match datagram.add(fragment, ip) {
            Fit::New => {}
            Fit::Overlaps => counts.overlapping += 1,
            Fit::TooManyHoles => {
                self.give_up(key);
                return None;
            }
        }
        if !datagram.is_whole() {
            return None;
        }
        let datagram = self.remove(key)?;
        self.counts.reassembled += 1;
        let head = datagram.first?;
        self.assembled = datagram.kept;
        self.assembled.truncate(datagram.cut_at.unwrap_or(MOST_KEPT));
        let payload_len = datagram.payload_len?;
        let whole = Outline {
            fragment: None,
            len: head.header_len() + payload_len,
            payload: &self.assembled,
            payload_len,
            ..head
        };
        Some((whole, datagram.fragments))
    }

    fn begin(&mut self, key: DatagramKey, now_nanos: u64) {
        if self.waiting.len() >= MOST_WAITING
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.give_up(oldest);
        }
        self.begun += 1;
        self.order.insert(self.begun, key);
        let datagram = PartialDatagram {
            serial: self.begun,
            since_nanos: now_nanos,
            ..PartialDatagram::default()
        };
        self.waiting.insert(key, datagram);
    }

    /// Numbers are used again: what has waited too long is another packet.
    fn expire(&mut self, key: DatagramKey, now_nanos: u64) {
        let since = self.waiting.get(&key).map(|datagram| datagram.since_nanos);
        if since.is_some_and(|since| now_nanos.saturating_sub(since) > PATIENCE_NANOS) {
            self.remove(key);
            self.counts.incomplete += 1;
        }
    }

    fn give_up(&mut self, key: DatagramKey) {
        if self.remove(key).is_some() {
            self.counts.incomplete += 1;
            self.counts.given_up += 1;
        }
    }

    fn remove(&mut self, key: DatagramKey) -> Option<PartialDatagram> {
        let datagram = self.waiting.remove(&key)?;
        self.order.remove(&datagram.serial);
        Some(datagram)
    }
}

impl PartialDatagram {
    fn add(&mut self, fragment: Fragment, ip: &Outline<'_>) -> Fit {
        self.fragments += 1;
        let begin = u32::try_from(fragment.offset).unwrap_or(u32::MAX);
        let end = begin.saturating_add(ip.payload_len);
        let reached = self.pieces.last().map_or(0, |(_, end)| *end);
        let ends_elsewhere = match self.payload_len {
            Some(known) => end > known || (!fragment.more && end != known),
            None => !fragment.more && end < reached,
        };
        if ends_elsewhere || end > MOST_PAYLOAD {
            return Fit::Overlaps;
        }
        if !fragment.more {
            self.payload_len = Some(end);
        }
        if begin == 0 && self.first.is_none() {
            self.first = Some(ip.without_payload());
        }
        self.keep(fragment.offset, ip);
        self.cover(begin, end)
    }

    fn keep(&mut self, begin: usize, ip: &Outline<'_>) {
        if begin >= MOST_KEPT {
            return;
        }
        let end = (begin + ip.payload.len()).min(MOST_KEPT);
        if self.kept.len() < end {
            self.kept.resize(end, 0);
        }
        if let Some(place) = self.kept.get_mut(begin..end) {
            place.iter_mut().zip(ip.payload).for_each(|(place, byte)| *place = *byte);
        }
        if ip.payload.len() < ip.payload_len as usize {
            self.cut_at = Some(self.cut_at.map_or(end, |at| at.min(end)));
        }
    }

    /// Notes that what lies between is there.
    fn cover(&mut self, begin: u32, end: u32) -> Fit {
        if begin == end {
            return Fit::New;
        }
        let overlaps = self.pieces.iter().any(|(from, to)| begin < *to && *from < end);
        // What touches becomes one piece.
        let (mut joined, mut apart) = ((begin, end), Vec::with_capacity(self.pieces.len() + 1));
        for (from, to) in self.pieces.drain(..) {
            if from <= joined.1 && joined.0 <= to {
                joined = (joined.0.min(from), joined.1.max(to));
            } else {
                apart.push((from, to));
            }
        }
        let place = apart.partition_point(|(from, _)| *from < joined.0);
        apart.insert(place, joined);
        self.pieces = apart;
        if self.pieces.len() > MOST_HOLES {
            Fit::TooManyHoles
        } else if overlaps {
            Fit::Overlaps
        } else {
            Fit::New
        }
    }

    fn is_whole(&self) -> bool {
        let is_covered =
            |len| matches!(self.pieces.as_slice(), [(0, end)] if *end == len) || len == 0;
        self.first.is_some() && self.payload_len.is_some_and(is_covered)
    }
}

#[cfg(test)]
mod tests;
