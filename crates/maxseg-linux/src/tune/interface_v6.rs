//! What IPv6 keeps of the MTU of an interface: the kernel changes both with it, and does not restore them (`rt6_mtu_change_route` in
//! `net/ipv6/route.c`, `NETDEV_CHANGEMTU` in `net/ipv6/addrconf.c`).
//!
//! - The MTU of routes by it that have one: what is larger is lowered, and what equals IPv6's own MTU of the interface goes up with it.
//! - IPv6's own MTU of the interface (`net.ipv6.conf.IFACE.mtu`), which a router advertisement may have lowered: it becomes the interface's.

use std::io;

use maxseg_core::tune::Prefix;

use super::interface_routes::with_mtu;
use super::route::{self, exact, main_routes, same_key};
use super::sysctl;
use crate::netlink::raw::RawRoute;

/// The least MTU of IPv6 (RFC 8200).
const LEAST: u32 = 1280;
/// `RTPROT_RA`.
const ROUTER_ADVERTISEMENT: u8 = 9;

fn name_of(interface: &str) -> String {
    format!("net.ipv6.conf.{}.mtu", interface.replace('.', "/"))
}

/// IPv6's own MTU of an interface that has another one itself; `None` where a router advertises it, which sets it again, and its
/// routes with it, only while it is another.
pub(super) fn own_mtu(interface: &str, index: u32, mtu: u32) -> Option<u32> {
    let own = sysctl::number(&name_of(interface), mtu);
    let is_advertised = || {
        let routes = routes_by(index).unwrap_or_default();
        routes.iter().any(|(route, _)| route.header.protocol == ROUTER_ADVERTISEMENT)
    };
    (own != mtu && !is_advertised()).then_some(own)
}

/// Sets IPv6's own MTU of an interface.
pub(super) fn set_own_mtu(interface: &str, mtu: u32) -> io::Result<()> {
    std::fs::write(crate::observe::host::sysctl_file(&name_of(interface)), format!("{mtu}\n"))
}

/// Makes IPv6's own MTU differ from that of every route by the interface, where it does not: the routes keep theirs then while the
/// interface's goes up.
pub(super) fn hold_routes(interface: &str, index: u32, mtu: u32) -> io::Result<()> {
    let sizes: Vec<u32> = routes_by(index)?.into_iter().map(|(_, size)| size).collect();
    let own = sysctl::number(&name_of(interface), mtu);
    if !sizes.contains(&own) {
        return Ok(());
    }
    let other = (LEAST..=mtu).find(|size| !sizes.contains(size));
    other.map_or(Ok(()), |other| set_own_mtu(interface, other))
}

/// Whether routes of IPv6 by an interface have an MTU of their own: with one below 1280 the interface would lose them.
pub(super) fn has_sized_routes(index: u32) -> io::Result<bool> {
    Ok(!with_mtu(index, true)?.is_empty())
}

/// Routes by an interface of which the kernel lowers the MTU with it: those that can be restored, and the others in words.
pub(super) fn lowered(index: u32, mtu: u32) -> io::Result<(Vec<Prefix>, Vec<String>)> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let main = main_routes(true)?;
    for (route, size) in routes_by(index)? {
        let to = route.destination();
        let is_the_one = exact(&main, to).is_some_and(|one| same_key(one, &route));
        if size <= mtu {
            continue;
        }
        if is_the_one && route::refuses(to)?.is_none() && route::alike(to)? == 1 {
            own.push(to);
        } else {
            let table = route.table();
            let table =
                if table == route::MAIN { String::new() } else { format!(" table {table}") };
            others.push(format!("{to}{table}"));
        }
    }
    Ok((own, others))
}

/// The routes by an interface that have an MTU of their own, which is not locked, with it.
fn routes_by(index: u32) -> io::Result<Vec<(RawRoute, u32)>> {
    let sized = with_mtu(index, true)?.into_iter();
    Ok(sized.filter_map(|(route, mtu)| Some((route, u32::try_from(mtu.number()?).ok()?))).collect())
}
