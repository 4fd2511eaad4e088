//! A cache of the connections of the last packets, which most packets belong to.

use std::net::SocketAddr;

use super::pair::Endpoint;
use super::part::Place;

/// Where the connections of the last packets are, by the ends of these packets: those of IPv4, whose entries are small, and all
/// others.
#[derive(Debug)]
pub(super) struct LastFlows {
    v4: Table<[u32; 3]>,
    others: Table<(SocketAddr, SocketAddr)>,
}

/// Packets with these ends.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// Both addresses, and both ports.
    V4([u32; 3]),
    Others((SocketAddr, SocketAddr)),
}

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
        let hash = hash(source, destination);
        match Ends::of(source, destination) {
            Ends::V4(ends) => self.v4.find(hash, ends),
            Ends::Others(ends) => self.others.find(hash, ends),
        }
    }

    /// Packets from `source` are of the connection at `place`, and `sender` is the end that sends them.
    pub(super) fn put(
        &mut self,
        (source, destination): (SocketAddr, SocketAddr),
        place: Place,
        sender: Endpoint,
    ) {
        let (v4, other) = match Ends::of(&source, &destination) {
            Ends::V4(ends) => (Some(LastFlow { ends, place, sender }), None),
            Ends::Others(ends) => (None, Some(LastFlow { ends, place, sender })),
        };
        self.set(hash(&source, &destination), v4, other);
    }

    /// Packets between these ends are of no connection.
    pub(super) fn forget(&mut self, a: &SocketAddr, b: &SocketAddr) {
        for (source, destination) in [(a, b), (b, a)] {
            self.set(hash(source, destination), None, None);
        }
    }

    /// Both, because a connection's packets may have IPv4 addresses and such that are mapped into IPv6: what one of them shows
    /// of a new connection is true of the other.
    fn set(
        &mut self,
        hash: u32,
        v4: Option<LastFlow<[u32; 3]>>,
        other: Option<LastFlow<(SocketAddr, SocketAddr)>>,
    ) {
        self.v4.put(hash, v4);
        self.others.put(hash, other);
    }
}

impl Ends {
    #[inline(always)]
    fn of(source: &SocketAddr, destination: &SocketAddr) -> Self {
        match (source, destination) {
            (SocketAddr::V4(a), SocketAddr::V4(b)) => {
                let ports = u32::from(a.port()) << 16 | u32::from(b.port());
                Self::V4([ports, a.ip().to_bits(), b.ip().to_bits()])
            }
            _ => Self::Others((*source, *destination)),
        }
    }
}

/// One entry for each hash: the last.
#[derive(Debug)]
struct Table<E> {
    list: Box<[Option<LastFlow<E>>]>,
    bits: u32,
}

/// Where the connection of packets with these ends is, and which of its ends sends them.
#[derive(Debug, Clone, Copy)]
struct LastFlow<E> {
    ends: E,
    place: Place,
    sender: Endpoint,
}

impl<E: Copy + PartialEq> Table<E> {
    fn new(bits: u32) -> Self {
        Self { list: vec![None; 1 << bits].into_boxed_slice(), bits }
    }

    #[inline(always)]
    fn find(&self, hash: u32, ends: E) -> Option<(Place, Endpoint)> {
        let known = self.list.get(self.slot(hash))?.as_ref()?;
        (known.ends == ends).then_some((known.place, known.sender))
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

/// Of a packet's ends: Fibonacci hashing of the ports.
#[inline(always)]
fn hash(source: &SocketAddr, destination: &SocketAddr) -> u32 {
    let ports = u32::from(source.port()) << 16 | u32::from(destination.port());
    ports.wrapping_mul(0x9e37_79b9)
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
            last.put(ends, place(number), Endpoint::Low);
            assert_eq!(last.find(&ends.0, &ends.1), Some((place(number), Endpoint::Low)));
            assert_eq!(last.find(&ends.1, &ends.0), None);
            assert_eq!(last.find(&other.0, &other.1), None);
        }
        last.forget(&mapped.1, &mapped.0);
        assert_eq!(last.find(&plain.0, &plain.1), None);
    }
}
