//! Destinations to which this host sends nothing by its main table: a route made to them would let out what is held back, or do nothing.

use maxseg_core::tune::Prefix;

use super::tables::LOCAL;
use super::{MAIN, is_for_all};
use crate::netlink::raw::RawRoute;
use crate::tune::nowhere::Nowhere;

/// `RTN_LOCAL`, `RTN_BROADCAST` and `RTN_ANYCAST`.
const OWN: [u8; 3] = [2, 3, 4];
/// The block of multicast, by the bits of its prefix.
const MULTICAST_V4: u8 = 4;
const MULTICAST_V6: u8 = 8;

/// Of these destinations, by all routes.
pub(super) fn nowhere_of<'r>(
    routes: impl IntoIterator<Item = &'r RawRoute>,
    prefix: Prefix,
) -> Option<Nowhere> {
    let least = if prefix.is_v6() { MULTICAST_V6 } else { MULTICAST_V4 };
    if prefix.address().is_multicast() && prefix.length() >= least {
        return Some(Nowhere::Multicast);
    }
    let covers = |route: &&RawRoute| !route.is_learnt() && route.destination().covers(&prefix);
    let is_own = |route: &&RawRoute| route.table() == LOCAL && OWN.contains(&route.header.kind);
    let covering: Vec<&RawRoute> = routes.into_iter().filter(covers).collect();
    if covering.iter().any(is_own) {
        return Some(Nowhere::Own);
    }
    let used = covering
        .into_iter()
        .filter(|route| route.table() == MAIN && is_for_all(route))
        .min_by_key(|route| (u8::MAX - route.header.prefix_length, route.priority()))?;
    Some(Nowhere::Held(holding(used.header.kind)?, used.destination()))
}

/// The kinds of routes that send nothing (`RTN_BLACKHOLE` and those behind it).
const fn holding(kind: u8) -> Option<&'static str> {
    Some(match kind {
        6 => "blackhole",
        7 => "unreachable",
        8 => "prohibit",
        9 => "throw",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::raw::{attribute, bytes_of};

    fn route(prefix: &str, table: u8, kind: u8, priority: u32) -> RawRoute {
        let prefix: Prefix = prefix.parse().unwrap();
        let family = if prefix.is_v6() { 10 } else { 2 };
        let body = [family, prefix.length(), 0, 0, table, 4, 0, kind, 0, 0, 0, 0];
        let mut route = RawRoute::parse(&body).unwrap();
        if prefix.length() > 0 {
            route.set_attribute(attribute::DESTINATION, Some(bytes_of(prefix.address())));
        }
        route.set_attribute(attribute::PRIORITY, Some(priority.to_ne_bytes().to_vec()));
        route
    }

    #[test]
    fn what_a_route_holds_back_is_not_let_out() {
        let routes = [
            route("0.0.0.0/0", 254, 1, 0),
            route("10.50.0.0/16", 254, 1, 100),
            route("10.50.0.0/16", 254, 7, 0),
            route("10.51.0.0/16", 254, 6, 0),
            route("10.51.7.0/24", 254, 1, 0),
            route("10.52.0.0/16", 100, 8, 0),
        ];
        let of = |prefix: &str| nowhere_of(&routes, prefix.parse().unwrap());
        let held = |kind, by: &str| Some(Nowhere::Held(kind, by.parse().unwrap()));
        assert_eq!(of("10.51.2.0/24"), held("blackhole", "10.51.0.0/16"));
        assert_eq!(
            of("10.50.0.0/16"),
            held("unreachable", "10.50.0.0/16"),
            "the other has a larger metric"
        );
        assert_eq!(of("10.51.7.0/24"), None, "a route of its own");
        assert_eq!(of("10.52.0.0/16"), None, "of another table");
        assert_eq!(of("default"), None);
        let six = [route("::/0", 254, 1, 0), route("fd51::/32", 254, 8, 1024)];
        let found = nowhere_of(&six, "fd51:0:1::/48".parse().unwrap());
        assert_eq!(found, held("prohibit", "fd51::/32"));
    }

    #[test]
    fn this_hosts_own_addresses_have_no_route() {
        let routes = [
            route("0.0.0.0/0", 254, 1, 0),
            route("127.0.0.0/8", 255, 2, 0),
            route("10.9.1.1/32", 255, 2, 0),
            route("10.9.1.255/32", 255, 3, 0),
        ];
        let of = |prefix: &str| nowhere_of(&routes, prefix.parse().unwrap());
        for own in ["127.0.0.1", "10.9.1.1", "10.9.1.255"] {
            assert_eq!(of(own), Some(Nowhere::Own), "{own}");
        }
        assert_eq!(of("10.9.1.0/24"), None, "others are there as well");
        assert_eq!(of("224.0.0.0/4"), Some(Nowhere::Multicast));
        assert_eq!(of("10.9.1.2"), None);
    }
}
