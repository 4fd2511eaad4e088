//! Routes by an interface that keep an MTU above the interface's: the kernel goes by theirs, and the interface sends no packet of that
//! size.

use std::fmt::Write as _;
use std::io;

use maxseg_core::tune::{LargerRoute, RouteMetricName, Value};

use super::route::{self, MAIN, UNICAST, exact, main_routes, same_key};
use crate::netlink::Netlink;
use crate::netlink::raw::RawRoute;

/// Routes by an interface that have an MTU of their own, with it.
pub(super) fn with_mtu(index: u32, is_v6: bool) -> io::Result<Vec<(RawRoute, Value)>> {
    let routes = Netlink::new()?.raw_routes(is_v6)?.into_iter();
    let by = routes.filter(|route| !route.is_learnt() && route.interfaces().contains(&index));
    let sized = by.map(|route| {
        let mtu = route::value_of(&route, RouteMetricName::Mtu);
        (route, mtu)
    });
    Ok(sized.filter(|(_, mtu)| *mtu != Value::Unset).collect())
}

/// Those of IPv4 whose MTU is above this one, in any table.
pub(super) fn larger(index: u32, mtu: u64) -> io::Result<Vec<LargerRoute>> {
    let main = main_routes(false)?;
    let mut larger = Vec::new();
    for (route, own) in with_mtu(index, false)? {
        let Some(own) = own.size().filter(|own| *own > mtu && route.header.kind == UNICAST) else {
            continue;
        };
        let to = route.destination();
        let is_named = exact(&main, to).is_some_and(|one| same_key(one, &route))
            && route::refuses(to)?.is_none()
            && route::alike(to)? == 1;
        larger.push(LargerRoute {
            name: name_of(&route),
            prefix: is_named.then_some(to),
            mtu: own,
        });
    }
    Ok(larger)
}

/// Those of IPv6 whose MTU is above this one and locked, in words: the others the kernel lowers with the interface
/// (`rt6_mtu_change_route`).
pub(super) fn locked_above(index: u32, mtu: u64) -> io::Result<Vec<String>> {
    let locked = with_mtu(index, true)?.into_iter();
    let above = locked.filter_map(|(route, own)| {
        let size = own.size().filter(|size| own.is_locked() && *size > mtu)?;
        Some(format!("{size} ({})", name_of(&route)))
    });
    Ok(above.collect())
}

/// A route's destinations, and what tells it from others to them.
fn name_of(route: &RawRoute) -> String {
    let mut name = route.destination().to_string();
    if route.table() != MAIN {
        let _ = write!(name, " table {}", route.table());
    }
    if route.header.tos != 0 {
        let _ = write!(name, " tos {:#x}", route.header.tos);
    }
    if !route.is_v6() && route.priority() != 0 {
        let _ = write!(name, " metric {}", route.priority());
    }
    name
}
