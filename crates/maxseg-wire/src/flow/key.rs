//! The key of a connection: both of its endpoints.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use super::pair::Endpoint;
use super::part::Place;

/// Both ends of a connection, the same for both of its ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlowKey {
    // First, because it is compared first, and differs most.
    ports: u32,
    low: Address,
    high: Address,
}

/// Of IPv6, or IPv4 mapped into it: both halves of its bits.
type Address = (u64, u64);

impl FlowKey {
    /// The key, and which of its ends `source` is.
    #[inline]
    pub(crate) fn of(source: SocketAddr, destination: SocketAddr) -> (Self, Endpoint) {
        let (source, destination) = (end(source), end(destination));
        if source <= destination {
            (Self::between(source, destination), Endpoint::Low)
        } else {
            (Self::between(destination, source), Endpoint::High)
        }
    }

    fn between(low: (Address, u16), high: (Address, u16)) -> Self {
        Self { low: low.0, high: high.0, ports: u32::from(low.1) << 16 | u32::from(high.1) }
    }
}

/// A cache of the connections of the last packets, which most packets belong to.
#[derive(Debug)]
pub(super) struct LastFlowCache {
    list: Box<[Option<LastFlow>]>,
}

/// Where the connection of packets with these ends is, and which of its ends sends them.
#[derive(Debug, Clone, Copy)]
struct LastFlow {
    source: SocketAddr,
    destination: SocketAddr,
    place: Place,
    sender: Endpoint,
}

/// Few enough for the CPU's second-level cache: 300 kB.
const LAST_FLOWS: usize = 1 << LAST_FLOWS_BITS;
const LAST_FLOWS_BITS: u32 = 12;

impl LastFlowCache {
    pub(super) fn new() -> Self {
        Self { list: vec![None; LAST_FLOWS].into_boxed_slice() }
    }

    /// Where the connection of these ends is, and which of its ends `source` is, if it is among them.
    #[inline(always)]
    pub(super) fn find(
        &self,
        source: &SocketAddr,
        destination: &SocketAddr,
    ) -> Option<(Place, Endpoint)> {
        let known = self.list.get(short(source, destination))?.as_ref()?;
        (is_same(&known.source, source) && is_same(&known.destination, destination))
            .then_some((known.place, known.sender))
    }

    /// Packets from `source` are of the connection at `place`, and `sender` is the end that sends them.
    pub(super) fn put(
        &mut self,
        (source, destination): (SocketAddr, SocketAddr),
        place: Place,
        sender: Endpoint,
    ) {
        if let Some(known) = self.list.get_mut(short(&source, &destination)) {
            *known = Some(LastFlow { source, destination, place, sender });
        }
    }

    /// Packets between these ends are of no connection.
    pub(super) fn forget(&mut self, a: &SocketAddr, b: &SocketAddr) {
        for place in [short(a, b), short(b, a)] {
            if let Some(known) = self.list.get_mut(place) {
                *known = None;
            }
        }
    }
}

/// Whether two ends are the same; most have IPv4.
#[inline(always)]
fn is_same(a: &SocketAddr, b: &SocketAddr) -> bool {
    match (a, b) {
        (SocketAddr::V4(a), SocketAddr::V4(b)) => {
            a.ip().to_bits() == b.ip().to_bits() && a.port() == b.port()
        }
        _ => a == b,
    }
}

/// A few bits of a packet's ends: Fibonacci hashing of the ports.
#[inline(always)]
fn short(source: &SocketAddr, destination: &SocketAddr) -> usize {
    let ports = u32::from(source.port()) << 16 | u32::from(destination.port());
    (ports.wrapping_mul(0x9e37_79b9) >> (u32::BITS - LAST_FLOWS_BITS)) as usize
}

impl Hash for FlowKey {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        // IPv4 has nothing in the upper half.
        for half in [self.low.0, self.high.0].into_iter().filter(|half| *half != 0) {
            state.write_u64(half);
        }
        state.write_u64(self.low.1);
        state.write_u64(self.high.1);
        state.write_u32(self.ports);
    }
}

fn end(address: SocketAddr) -> (Address, u16) {
    const MAPPED: u64 = 0xffff << 32; // RFC 4291 §2.5.5.2
    let bits = match address.ip() {
        IpAddr::V4(v4) => (0, MAPPED | u64::from(v4.to_bits())),
        IpAddr::V6(v6) => {
            let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
            (half(v6.to_bits() >> 64), half(v6.to_bits()))
        }
    };
    (bits, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_one_connection() {
        let (a, b) = ("10.0.0.1:80".parse().unwrap(), "[2001:db8::1]:80".parse().unwrap());
        let (there, from) = FlowKey::of(a, b);
        let (back, from_there) = FlowKey::of(b, a);
        assert_eq!(there, back);
        assert_eq!(from, from_there.other());
        assert_ne!(there, FlowKey::of(a, "[2001:db8::1]:81".parse().unwrap()).0);
    }
}
