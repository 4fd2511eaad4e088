//! The key of a connection: both of its endpoints.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use super::pair::Endpoint;

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

/// Of both ends where both are IPv4's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct V4Key([u32; 3]);

/// What IPv4 addresses have above their bits where they are mapped into IPv6 (RFC 4291 §2.5.5.2).
const MAPPED: u64 = 0xffff;

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

    /// Both ports, and 32 bits of each address: the same for IPv4 and what is mapped into IPv6 of it.
    #[inline]
    pub(super) fn short(&self) -> [u32; 3] {
        let low_bits = |half: u64| u32::try_from(half & u64::from(u32::MAX)).unwrap_or(0);
        [self.ports, low_bits(self.low.1), low_bits(self.high.1)]
    }

    /// The key in little memory; `None` where an end is not IPv4's.
    #[inline]
    pub(super) fn v4(&self) -> Option<V4Key> {
        let is_v4 = |end: Address| end.0 == 0 && end.1 >> 32 == MAPPED;
        (is_v4(self.low) && is_v4(self.high)).then(|| V4Key(self.short()))
    }

    fn between(low: (Address, u16), high: (Address, u16)) -> Self {
        Self { low: low.0, high: high.0, ports: u32::from(low.1) << 16 | u32::from(high.1) }
    }
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

impl Hash for V4Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [ports, low, high] = self.0;
        state.write_u64(u64::from(low) << 32 | u64::from(high));
        state.write_u32(ports);
    }
}

fn end(address: SocketAddr) -> (Address, u16) {
    let bits = match address.ip() {
        IpAddr::V4(v4) => (0, MAPPED << 32 | u64::from(v4.to_bits())),
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
