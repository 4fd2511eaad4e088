//! A cache of the connections of the last packets, which most packets belong to.

use std::net::{SocketAddr, SocketAddrV4};

use super::key::FlowKey;
use super::pair::Endpoint;
use super::part::Place;

/// Where the connections of the last packets are, by both ends, whichever sent: those of IPv4, whose entries are small, and all
/// others.
#[derive(Debug)]
pub(super) struct LastFlows {
    v4: Table<V4Ends>,
    others: Table<FlowKey>,
}

/// Both ports, and both addresses: those of the lower end first.
type V4Ends = [u32; 3];

/// Few enough for the processor's second-level cache: about 300 kB each.
const V4_BITS: u32 = 14;
const OTHER_BITS: u32 = 12;

impl LastFlows {
    pub(super) fn new() -> Self {
        Self { v4: Table::new(V4_BITS), others: Table::new(OTHER_BITS) }
    }

    /// Where the connection of packets with these ends is, and which of its ends `source` is, if it is among them.
    #[inline(always)]
    pub(super) fn find(
        &self,
        source: &SocketAddr,
        destination: &SocketAddr,
    ) -> Option<(Place, Endpoint)> {
        if let (SocketAddr::V4(source), SocketAddr::V4(destination)) = (source, destination) {
            let (ends, sender) = ends_of(source, destination);
            return Some((self.v4.find(hash(ends), &ends)?, sender));
        }
        let (key, sender) = FlowKey::of(*source, *destination);
        Some((self.others.find(hash(key.short()), &key)?, sender))
    }

    /// Packets between these ends are of the connection at `place`.
    pub(super) fn put(&mut self, source: SocketAddr, destination: SocketAddr, place: Place) {
        self.set(source, destination, Some(place));
    }

    /// Packets between these ends are of no connection.
    pub(super) fn forget(&mut self, source: SocketAddr, destination: SocketAddr) {
        self.set(source, destination, None);
    }

    /// Both, because a connection's packets may have IPv4 addresses and such that are mapped into IPv6: what one of them shows
    /// of a new connection is true of the other.
    fn set(&mut self, source: SocketAddr, destination: SocketAddr, place: Option<Place>) {
        let (key, _) = FlowKey::of(source, destination);
        let (mut v4, mut other) = (None, None);
        if let (SocketAddr::V4(source), SocketAddr::V4(destination)) = (source, destination) {
            v4 = place.map(|place| LastFlow { ends: ends_of(&source, &destination).0, place });
        } else {
            other = place.map(|place| LastFlow { ends: key, place });
        }
        let hash = hash(key.short());
        self.v4.put(hash, v4);
        self.others.put(hash, other);
    }
}

/// The ends as [`FlowKey`] orders them, and which of them `source` is.
#[inline(always)]
fn ends_of(source: &SocketAddrV4, destination: &SocketAddrV4) -> (V4Ends, Endpoint) {
    let end = |it: &SocketAddrV4| u64::from(it.ip().to_bits()) << 16 | u64::from(it.port());
    let is_low = end(source) <= end(destination);
    let (low, high) = if is_low { (source, destination) } else { (destination, source) };
    let ports = u32::from(low.port()) << 16 | u32::from(high.port());
    let sender = if is_low { Endpoint::Low } else { Endpoint::High };
    ([ports, low.ip().to_bits(), high.ip().to_bits()], sender)
}

/// One entry for each hash: the last.
#[derive(Debug)]
struct Table<E> {
    list: Box<[Option<LastFlow<E>>]>,
    bits: u32,
}

/// Where the connection of packets between these ends is.
#[derive(Debug, Clone, Copy)]
struct LastFlow<E> {
    ends: E,
    place: Place,
}

impl<E: Copy + PartialEq> Table<E> {
    fn new(bits: u32) -> Self {
        Self { list: vec![None; 1 << bits].into_boxed_slice(), bits }
    }

    #[inline(always)]
    fn find(&self, hash: u32, ends: &E) -> Option<Place> {
        let known = self.list.get(self.slot(hash))?.as_ref()?;
        (known.ends == *ends).then_some(known.place)
    }

    fn put(&mut self, hash: u32, flow: Option<LastFlow<E>>) {
        let slot = self.slot(hash);
        if let Some(known) = self.list.get_mut(slot) {
            *known = flow;
        }
    }

    #[inline(always)]
    const fn slot(&self, hash: u32) -> usize {
        (hash >> (u32::BITS - self.bits)) as usize
    }
}

/// Fibonacci hashing of the ports, and of the addresses where they differ in more.
#[inline(always)]
const fn hash([ports, low, high]: V4Ends) -> u32 {
    (ports ^ (low ^ high).rotate_left(7)).wrapping_mul(0x9e37_79b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The latest connection of packets between two ends is found, however these write their addresses.
    #[test]
    fn mapped_addresses_never_lead_to_the_connection_before() {
        let end = |text: &str| text.parse::<SocketAddr>().unwrap();
        let plain = (end("10.0.0.1:80"), end("10.0.0.2:40000"));
        let mapped = (end("[::ffff:10.0.0.1]:80"), end("[::ffff:10.0.0.2]:40000"));
        let place = |number| Place::new(1, number).unwrap();
        let mut last = LastFlows::new();
        for (number, ends, other) in [(1, plain, mapped), (2, mapped, plain), (3, plain, mapped)] {
            last.put(ends.0, ends.1, place(number));
            assert_eq!(last.find(&ends.0, &ends.1), Some((place(number), Endpoint::Low)));
            assert_eq!(last.find(&ends.1, &ends.0), Some((place(number), Endpoint::High)));
            assert_eq!(last.find(&other.0, &other.1), None);
        }
        last.forget(mapped.1, mapped.0);
        assert_eq!(last.find(&plain.0, &plain.1), None);
    }
}
