//! Which connection a segment belongs to.

use std::net::{IpAddr, SocketAddr};

use super::pair::End;

/// Both ends of a connection, the same for both of its ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    low: (u128, u16),
    high: (u128, u16),
}

impl Key {
    /// The key, and which of its ends `source` is.
    pub(super) fn of(source: SocketAddr, destination: SocketAddr) -> (Self, End) {
        let (source, destination) = (end(source), end(destination));
        if source <= destination {
            (Self { low: source, high: destination }, End::Low)
        } else {
            (Self { low: destination, high: source }, End::High)
        }
    }
}

fn end(address: SocketAddr) -> (u128, u16) {
    let bits = match address.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    };
    (bits, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_one_connection() {
        let (a, b) = ("10.0.0.1:80".parse().unwrap(), "[2001:db8::1]:80".parse().unwrap());
        let (there, from) = Key::of(a, b);
        let (back, from_there) = Key::of(b, a);
        assert_eq!(there, back);
        assert_eq!(from, from_there.other());
        assert_ne!(there, Key::of(a, "[2001:db8::1]:81".parse().unwrap()).0);
    }
}
