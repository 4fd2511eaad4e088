//! The next hops of a route: its own, or those of which the kernel chooses one for each connection (`RTA_MULTIPATH`).

use std::net::IpAddr;

use super::{RawRoute, address_of, attribute, parse_attributes, u16_at, u32_at};

/// `RTNH_F_DEAD`, `_OFFLOAD`, `_LINKDOWN`, `_UNRESOLVED` and `_TRAP`: what the kernel tells of a next hop, and refuses to take back.
const TOLD_FLAGS: u8 = 1 | 8 | 16 | 32 | 64;
/// `struct rtnexthop`: length, flags, weight less 1, and the index of the interface.
const HOP_HEADER: usize = 8;

/// One of several next hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Index of its interface.
    pub(crate) interface: u32,
    /// Its address.
    pub(crate) gateway: Option<IpAddr>,
    /// Its share among the others.
    pub(crate) weight: u16,
}

impl RawRoute {
    /// Where it leads: everything by which the next hop is chosen, and nothing of how the links are doing. Several next hops are in one order,
    /// whatever the one in which they were given: the kernel goes by their weights.
    pub(crate) fn next_hops(&self) -> Vec<(u16, Vec<u8>)> {
        use attribute::{GATEWAY, MULTIPATH, NEXT_HOP_ID, OUT_INTERFACE, VIA};
        let hops = [OUT_INTERFACE, GATEWAY, MULTIPATH, VIA, NEXT_HOP_ID];
        let of_hops = self.attributes.iter().filter(|(kind, _)| hops.contains(kind));
        of_hops
            .map(|(kind, value)| match *kind {
                MULTIPATH => (MULTIPATH, in_order(&hops_taken_back(value))),
                kind => (kind, value.clone()),
            })
            .collect()
    }

    /// Each of several next hops; none of a route with one.
    pub(crate) fn hops(&self) -> Vec<Hop> {
        let mut found = Vec::new();
        let mut hops = self.attribute(attribute::MULTIPATH).unwrap_or_default();
        while let (Some(length), Some(interface)) = (u16_at(hops, 0), u32_at(hops, 4)) {
            let length = usize::from(length);
            let Some(attributes) = hops.get(HOP_HEADER..length) else { break };
            let gateway = parse_attributes(attributes).into_iter().find_map(|of| match of {
                (attribute::GATEWAY, address) => address_of(&address),
                // `struct rtvia`: a family before the address.
                (attribute::VIA, via) => address_of(via.get(2..)?),
                _ => None,
            });
            found.push(Hop { interface, gateway, weight: u16::from(hops[3]) + 1 });
            hops = hops.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        found
    }

    /// Indices of the interfaces of all its next hops.
    pub(crate) fn interfaces(&self) -> Vec<u32> {
        let of_hops = self.hops().into_iter().map(|hop| hop.interface);
        self.interface().into_iter().chain(of_hops).collect()
    }
}

/// The same next hops (`struct rtnexthop`), each as it is, in the order of their bytes.
fn in_order(hops: &[u8]) -> Vec<u8> {
    let mut rest = hops;
    let mut each = Vec::new();
    while let Some(length) = u16_at(rest, 0).map(usize::from).filter(|length| *length >= HOP_HEADER)
    {
        let (hop, after) = rest.split_at(length.next_multiple_of(4).min(rest.len()));
        each.push(hop);
        rest = after;
    }
    each.push(rest);
    each.sort_unstable();
    each.concat()
}

/// Next hops (`struct rtnexthop`) without the flags that are the kernel's to tell.
pub(crate) fn hops_taken_back(hops: &[u8]) -> Vec<u8> {
    let mut hops = hops.to_vec();
    let mut at = 0;
    while let Some(length) = hops.get(at..).and_then(<[u8]>::first_chunk) {
        let length = usize::from(u16::from_ne_bytes(*length));
        if let Some(flags) = hops.get_mut(at + 2) {
            *flags &= !TOLD_FLAGS;
        }
        if length == 0 {
            break;
        }
        at += length.next_multiple_of(4);
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `nexthop via 192.0.2.2 dev 3 weight 2 nexthop via 192.0.2.3 dev 4`, the second with these flags.
    fn route(flags: u8) -> RawRoute {
        let hop = |flags: u8, hops: u8, index: u8, last: u8| {
            [16, 0, flags, hops, index, 0, 0, 0, 8, 0, 5, 0, 192, 0, 2, last]
        };
        let mut route = RawRoute::parse(&[2, 8, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0]).unwrap();
        let hops = [hop(0, 1, 3, 2), hop(flags, 0, 4, 3)].concat();
        route.set_attribute(attribute::MULTIPATH, Some(hops));
        route
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_link_that_is_down_leads_nowhere_else() {
        let up = route(0);
        let hop = |interface, last, weight| Hop {
            interface,
            gateway: Some(IpAddr::from([192, 0, 2, last])),
            weight,
        };
        assert_eq!(up.hops(), [hop(3, 2, 2), hop(4, 3, 1)]);
        assert_eq!(up.interfaces(), [3, 4]);
        for flags in [1, 16, 17, 8, 32, 64] {
            assert_eq!(route(flags).next_hops(), up.next_hops(), "{flags}");
        }
        assert_ne!(route(4).next_hops(), up.next_hops(), "onlink is part of a route");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_order_of_next_hops_leads_nowhere_else() {
        let given = route(0);
        let hops = given.attribute(attribute::MULTIPATH).unwrap();
        let with = |hops: Vec<u8>| {
            let mut route = given.clone();
            route.set_attribute(attribute::MULTIPATH, Some(hops));
            route
        };
        let turned = with([&hops[16..], &hops[..16]].concat());
        assert_ne!(turned.hops(), given.hops());
        assert_eq!(turned.next_hops(), given.next_hops());
        let mut weights = hops.to_vec();
        weights.swap(3, 19);
        assert_ne!(with(weights).next_hops(), given.next_hops(), "each has its own weight");
        for length in 0..hops.len() {
            let _ = with(hops[..length].to_vec()).next_hops(); // a cut one is no panic
        }
    }
}
