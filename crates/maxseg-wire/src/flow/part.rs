//! The parts that connections are split into, by a hash of both ends: what is of one part needs no other, so that each
//! may be followed in a thread of its own. There are as many of them whoever follows them: what depends on the
//! number of connections, as what is packed and when, is the same with one thread and with several.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Parts.
pub(super) const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 2;

/// Which part packets between these ends are of, below [`PARTS`].
#[inline]
pub(super) fn part_of(a: &SocketAddr, b: &SocketAddr) -> usize {
    let ports = u32::from(a.port()) ^ u32::from(b.port());
    let mixed = low_bits(a) ^ low_bits(b) ^ ports.rotate_left(16);
    (mixed.wrapping_mul(0x9e37_79b9) >> (u32::BITS - PART_BITS)) as usize
}

/// Of an address: the same for IPv4 and what is mapped into IPv6 of it.
#[inline]
fn low_bits(end: &SocketAddr) -> u32 {
    match end.ip() {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(address) => {
            let [.., a, b, c, d] = address.octets();
            u32::from_be_bytes([a, b, c, d])
        }
    }
}

/// Where a connection is kept: its part, and its number among those of that, in one number from 1, so that a place which may
/// be missing takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place(NonZeroU32);

impl Place {
    /// `None` where there are too many for it.
    pub(super) fn new(part: usize, number: usize) -> Option<Self> {
        let both = u32::try_from(number << PART_BITS | part).ok()?;
        NonZeroU32::MIN.checked_add(both).map(Self)
    }

    #[inline]
    pub(super) const fn part(self) -> usize {
        self.both() % PARTS
    }

    #[inline]
    pub(super) const fn number(self) -> usize {
        self.both() / PARTS
    }

    #[inline]
    const fn both(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_in_one_part_however_an_address_is_written() {
        let ends = ["10.0.0.1:80", "10.9.0.7:40001", "[2001:db8::7]:443", "[2001:db8::9]:50000"];
        for [a, b] in [[0, 1], [2, 3]].map(|pair| pair.map(|it: usize| ends[it].parse().unwrap())) {
            assert_eq!(part_of(&a, &b), part_of(&b, &a));
        }
        let [plain, mapped] =
            ["10.0.0.1:80", "[::ffff:10.0.0.1]:80"].map(|end| end.parse::<SocketAddr>().unwrap());
        let other = ends[1].parse().unwrap();
        assert_eq!(part_of(&plain, &other), part_of(&mapped, &other));
    }

    #[test]
    fn connections_of_two_hosts_are_in_all_parts() {
        let mut counts = [0_u32; PARTS];
        let server = ([10, 0, 0, 1], 443).into();
        for port in 40_000..40_400 {
            counts[part_of(&([10, 0, 0, 2], port).into(), &server)] += 1;
        }
        assert!(counts.iter().all(|count| (50..150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_place_has_a_part_and_a_number() {
        let place = Place::new(3, 1_000_000).unwrap();
        assert_eq!((place.part(), place.number()), (3, 1_000_000));
        assert_eq!(Place::new(0, 1 << 30), None);
    }
}
