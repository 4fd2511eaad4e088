//! Tables of routes to which rules lead, beside the main one.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use maxseg_core::tune::Prefix;

use super::MAIN;
use crate::netlink::Netlink;

/// `RT_TABLE_LOCAL`: it is looked up before any other (`ip rule`).
pub(super) const LOCAL: u32 = 255;
/// `RT_TABLE_DEFAULT` and those two, to which the rules of every host lead.
const USUAL_TABLES: [u32; 3] = [253, MAIN, LOCAL];

/// Whether an IP version has routes of tables to which rules alone lead.
pub(in crate::tune) fn has_other_tables(is_v6: bool) -> io::Result<bool> {
    let routes = Netlink::new()?.raw_routes(is_v6)?;
    Ok(routes.iter().any(|route| !route.is_learnt() && !USUAL_TABLES.contains(&route.table())))
}

/// The table that packets to these destinations go by, with one of them, where it is not the main one; of the first that is not this
/// host's own.
pub(in crate::tune) fn other_table(prefix: Prefix) -> io::Result<Option<(IpAddr, u32)>> {
    if !has_other_tables(prefix.is_v6())? {
        return Ok(None);
    }
    let mut netlink = Netlink::new()?;
    let table = |to| Some((to, netlink.table_to(to, None).ok()?));
    let mut tables = some_of(prefix).into_iter().filter_map(table);
    let found = tables.find(|(_, table)| *table != LOCAL);
    Ok(found.filter(|(_, table)| *table != MAIN))
}

/// A few of these destinations, the least first; of all there are, those that documents have (RFC 5737, RFC 3849).
fn some_of(prefix: Prefix) -> Vec<IpAddr> {
    const FEW: u8 = 3;
    match prefix.address() {
        one if prefix.is_host() => vec![one],
        IpAddr::V4(_) if prefix.length() == 0 => vec![Ipv4Addr::new(192, 0, 2, 1).into()],
        IpAddr::V6(_) if prefix.length() == 0 => {
            vec![Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()]
        }
        // The least one is a network's own, which is of the local table.
        IpAddr::V4(least) => {
            let of = |number: u8| Ipv4Addr::from(u32::from(least) | u32::from(number));
            (1..=FEW).map(|number| of(number).into()).filter(|to| prefix.includes(*to)).collect()
        }
        IpAddr::V6(least) => {
            let of = |number: u8| Ipv6Addr::from(u128::from(least) | u128::from(number));
            (1..=FEW).map(|number| of(number).into()).filter(|to| prefix.includes(*to)).collect()
        }
    }
}
