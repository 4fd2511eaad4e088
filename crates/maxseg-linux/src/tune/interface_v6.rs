//! What IPv6 keeps of the MTU of an interface: the kernel changes both with it, and does not restore them (`rt6_mtu_change_route` in
//! `net/ipv6/route.c`, `NETDEV_CHANGEMTU` in `net/ipv6/addrconf.c`).
//!
//! - The MTU of routes by it that have one: what is larger is lowered, and what equals IPv6's own MTU of the interface goes up with it.
//! - IPv6's own MTU of the interface (`net.ipv6.conf.IFACE.mtu`), which a router advertisement may have lowered: it becomes the interface's.
//! - Below 1280 bytes the interface has no IPv6: addresses, routes and all sysctls of `net.ipv6.conf.IFACE` are gone, and begin anew above.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;

use maxseg_core::tune::{Prefix, RouteMetricName, Value};

use super::interface_routes::with_mtu;
use super::route::{self, Image, exact, main_routes, same_key};
use super::sysctl;
use crate::netlink::raw::RawRoute;
use crate::netlink::{Link, Netlink};
use crate::observe::host::{sysctl as text_of, sysctl_file};

/// The least MTU of IPv6 (RFC 8200).
pub(super) const LEAST: u32 = 1280;
/// `RTPROT_RA`.
const ROUTER_ADVERTISEMENT: u8 = 9;

/// The sysctl of IPv6's own MTU of an interface.
pub(super) fn sysctl_of(interface: &str) -> String {
    format!("net.ipv6.conf.{}.mtu", interface.replace('.', "/"))
}

/// IPv6's own MTU of an interface that has another one itself; `None` where a router advertises it, which sets it again, and its
/// routes with it, only while it is another.
pub(super) fn own_mtu(interface: &str, index: u32, mtu: u32) -> Option<u32> {
    let own = sysctl::number(&sysctl_of(interface), mtu);
    (own != mtu && !is_advertised(index)).then_some(own)
}

/// Sets IPv6's own MTU of an interface, which is the interface's where it has none, unless it is so already.
pub(super) fn set_own_mtu(link: &Link, own: Option<u32>) -> io::Result<()> {
    let name = sysctl_of(&link.name);
    let wanted = own.filter(|own| *own <= link.mtu).unwrap_or(link.mtu);
    let is_so = sysctl::number(&name, wanted) == wanted;
    if is_so || own.is_none() && is_advertised(link.index) {
        return Ok(());
    }
    std::fs::write(sysctl_file(&name), format!("{wanted}\n"))
}

fn is_advertised(index: u32) -> bool {
    let routes = routes_by(index).unwrap_or_default();
    routes.iter().any(|(route, _)| route.header.protocol == ROUTER_ADVERTISEMENT)
}

/// IPv6's own MTU of an interface while the interface's changes. Routes that have the same one would be raised with it, whether the interface's
/// goes up or down to one above them: it is made another one as long.
#[derive(Debug)]
pub(super) struct OwnMtu {
    index: u32,
    /// The interface's, before.
    mtu: u32,
    /// As it is, before.
    own: u32,
    /// What it is made while the interface's changes.
    held: Option<u32>,
    /// What it is to be behind that; `None` where it goes with the interface's.
    restored: Option<u32>,
    /// The routes that cannot be held so, as there is no other MTU below the interface's: they are replaced by themselves.
    put_back: Vec<RawRoute>,
    /// Where it is written, if it has to be.
    file: Option<File>,
}

impl OwnMtu {
    /// Of an interface that is to have this MTU. Nothing is changed: what cannot be written later is known before.
    pub(super) fn open(link: &Link, after: u32, restored: Option<u32>) -> io::Result<Self> {
        let own = sysctl::number(&sysctl_of(&link.name), link.mtu);
        let routes = routes_by(link.index)?;
        let sizes: Vec<u32> = routes.iter().map(|(_, size)| *size).collect();
        let (mut held, mut put_back) = (None, Vec::new());
        if is_raised(&sizes, own, after) {
            held = (LEAST..=link.mtu).find(|size| !sizes.contains(size));
            if held.is_none() {
                let raised = routes.into_iter().filter(|(_, size)| *size == own);
                put_back.extend(raised.map(|(route, _)| route));
            }
        }
        let restored = restored.filter(|restored| *restored <= after);
        let file = (held.is_some() || restored.is_some())
            .then(|| OpenOptions::new().write(true).open(sysctl_file(&sysctl_of(&link.name))));
        let file = file.transpose()?;
        Ok(Self { index: link.index, mtu: link.mtu, own, held, restored, put_back, file })
    }

    /// Before the interface's changes.
    pub(super) fn hold(&mut self) -> io::Result<()> {
        self.held.map_or(Ok(()), |held| self.set(held))
    }

    /// Behind it, whether it has changed or not.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let has_moved = Netlink::new()?.interface_facts(self.index)?.mtu != Some(self.mtu);
        if !has_moved {
            return self.held.map_or(Ok(()), |_| self.set(self.own));
        }
        self.put_back.iter().try_for_each(|route| put_back(route, self.own))?;
        self.restored.map_or(Ok(()), |restored| self.set(restored))
    }

    fn set(&self, mtu: u32) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.write_all_at(format!("{mtu}\n").as_bytes(), 0)
    }
}

/// Whether IPv6's own MTU has to be written for an interface to have this MTU, or to have the one of now again.
pub(super) fn is_needed(link: &Link, after: u32, restored: Option<u32>) -> bool {
    let own = sysctl::number(&sysctl_of(&link.name), link.mtu);
    let routes = routes_by(link.index).unwrap_or_default();
    let sizes: Vec<u32> = routes.iter().map(|(_, size)| *size).collect();
    let then: Vec<u32> = sizes.iter().map(|size| *size.min(&after)).collect();
    let own_then = restored.filter(|restored| *restored <= after).unwrap_or(after);
    let is_raised_later = is_raised(&then, own_then, link.mtu);
    restored.is_some() || is_raised(&sizes, own, after) || is_raised_later
}

/// Whether routes of these MTUs get the interface's, which is to be this one (`fib6_nh_mtu_change`).
fn is_raised(sizes: &[u32], own: u32, after: u32) -> bool {
    own < after && sizes.contains(&own)
}

/// Gives a route of the main table its MTU again.
fn put_back(route: &RawRoute, mtu: u32) -> io::Result<()> {
    if route.table() != route::MAIN {
        return Ok(());
    }
    let (image, mtu) = (Image::of(route, false).text(), Value::Text(mtu.to_string()));
    route::write(route.destination(), RouteMetricName::Mtu, &mtu, Some(&image))
        .map_err(io::Error::other)
}

/// Whether an interface has sysctls of IPv6 that are not those with which a new one begins: with an MTU below 1280 they are gone.
pub(super) fn has_own_sysctls(interface: &str) -> bool {
    let value = |of: &str, word: &str| text_of(&format!("net.ipv6.conf.{of}.{word}")).ok();
    let own = interface.replace('.', "/");
    let folder = std::fs::read_dir(format!("/proc/sys/net/ipv6/conf/{interface}"));
    let files = folder.into_iter().flatten().flatten();
    let mut words = files.filter_map(|file| file.file_name().into_string().ok());
    words.any(|word| word != "mtu" && value(&own, &word) != value("default", &word))
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
