//! What TCP of this host is set to: sysctls, the route, its interface. Everything is of the calling thread's network
//! namespace, and nothing needs a privilege.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use maxseg_core::units::Time;
use maxseg_wire::procnet::Counters;
use netlink_packet_route::route::RouteMetric;

use crate::netlink::{Netlink, RouteFacts, locks_mtu};
use crate::sys::{Offload, coarse_tick, has_offload};

/// The settings of this host.
#[derive(Debug)]
pub struct HostReading {
    /// Release of the kernel (`uname -r`); `None` without /proc.
    pub kernel: Option<String>,
    /// `1 / CONFIG_HZ`.
    pub tick: Option<Time>,
    /// Whether CUBIC's `HyStart` is on; `None` where no module says so.
    pub hystart: Option<bool>,
    /// The route that was asked for; `None` where there is no default route.
    pub route: io::Result<Option<Route>>,
}

/// A route and its interface.
#[derive(Debug)]
pub struct Route {
    /// Whether it is IPv6's.
    pub is_v6: bool,
    /// What it sets, under the names of ip-route(8), in its order; times in milliseconds, sizes in bytes, windows in
    /// segments.
    pub metrics: Vec<(&'static str, String)>,
    /// Whether its MTU is locked: packets are sent without DF, and what routers say is ignored.
    pub is_mtu_locked: bool,
    /// Its interface.
    pub interface: io::Result<Interface>,
}

/// An interface.
#[derive(Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its MTU in bytes.
    pub mtu: Option<u32>,
    /// Its root queueing discipline, as `fq_codel`.
    pub qdisc: Option<String>,
    /// `tso`, `gso` and `gro`, each with its state; `None` where the device does not say.
    pub offloads: [(&'static str, Option<bool>); 3],
}

impl HostReading {
    /// Reads them, with the route to `to`, or else the default route. A link-local address is reached by the `interface` with its index
    /// alone.
    pub fn here(to: Option<IpAddr>, interface: Option<u32>) -> Self {
        let hystart = text_of("/sys/module/tcp_cubic/parameters/hystart");
        Self {
            kernel: text_of("/proc/sys/kernel/osrelease"),
            tick: coarse_tick(),
            hystart: hystart.map(|text| !matches!(text.as_str(), "0" | "N")),
            route: route(to, interface),
        }
    }
}

/// A sysctl by its dotted name, words separated by one space each.
///
/// # Errors
/// This kernel or this namespace does not have it, or this user may not read it.
pub fn sysctl(name: &str) -> io::Result<String> {
    let text = fs::read_to_string(sysctl_file(name))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether nobody may write a sysctl here: the kernel shows it so in network namespaces that do not have it for themselves.
pub fn is_read_only(name: &str) -> bool {
    sysctl_file(name).metadata().is_ok_and(|file| file.permissions().readonly())
}

/// The file of a sysctl: a dot within a word is a slash in the name, and the other way round (sysctl(8)).
pub(crate) fn sysctl_file(name: &str) -> PathBuf {
    let swapped = name.chars().map(|c| match c {
        '.' => '/',
        '/' => '.',
        other => other,
    });
    Path::new("/proc/sys").join(swapped.collect::<String>())
}

/// The interfaces of this namespace, and their MTUs in bytes.
///
/// # Errors
/// The kernel lists none.
pub fn interface_mtus() -> io::Result<Vec<(String, u32)>> {
    let mut netlink = Netlink::new()?;
    let mut mtus = Vec::new();
    for interface in &nix::net::if_::if_nameindex()? {
        let facts = netlink.interface_facts(interface.index())?;
        mtus.extend(facts.mtu.map(|mtu| (facts.name, mtu)));
    }
    Ok(mtus)
}

fn text_of(file: &str) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().to_owned())
}

fn route(to: Option<IpAddr>, by: Option<u32>) -> io::Result<Option<Route>> {
    let mut netlink = Netlink::new()?;
    let facts = match to {
        Some(address) => Some(netlink.route_to(address, by)?),
        None => netlink.default_route()?,
    };
    Ok(facts.map(|facts| Route {
        is_v6: facts.is_v6,
        interface: interface(&mut netlink, &facts),
        metrics: facts.metrics.iter().filter_map(named).collect(),
        is_mtu_locked: locks_mtu(&facts.metrics),
    }))
}

fn interface(netlink: &mut Netlink, route: &RouteFacts) -> io::Result<Interface> {
    let index = route.interface.ok_or_else(|| io::Error::other("the route names no interface"))?;
    let facts = netlink.interface_facts(index)?;
    let offload = |which| has_offload(&facts.name, which).ok();
    let offloads = [
        ("tso", offload(Offload::Tso)),
        ("gso", offload(Offload::Gso)),
        ("gro", offload(Offload::Gro)),
    ];
    Ok(Interface { offloads, name: facts.name, mtu: facts.mtu, qdisc: facts.qdisc })
}

/// The counters of this network namespace in `netstat` or `snmp`; `None` where the kernel does not tell.
pub(crate) fn counters(file: &str) -> Option<Counters> {
    let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).ok()?;
    Some(Counters::parse(&text))
}

/// A metric under the name that ip-route(8) has for it; none of what the kernel keeps for itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "locks and hop limits are not TCP's")]
pub(super) fn named(metric: &RouteMetric) -> Option<(&'static str, String)> {
    let (name, value) = match metric {
        RouteMetric::CcAlgo(name) => return Some(("congctl", name.clone())),
        RouteMetric::Mtu(n) => ("mtu", n),
        RouteMetric::Window(n) => ("window", n),
        RouteMetric::Rtt(n) => return millis("rtt", *n, 8),
        RouteMetric::RttVar(n) => return millis("rttvar", *n, 4),
        RouteMetric::SsThresh(n) => ("ssthresh", n),
        RouteMetric::Cwnd(n) => ("cwnd", n),
        RouteMetric::Advmss(n) => ("advmss", n),
        RouteMetric::Reordering(n) => ("reordering", n),
        RouteMetric::InitCwnd(n) => ("initcwnd", n),
        RouteMetric::Features(n) => ("features", n),
        RouteMetric::RtoMin(n) => ("rto_min", n),
        RouteMetric::InitRwnd(n) => ("initrwnd", n),
        RouteMetric::QuickAck(n) => ("quickack", n),
        RouteMetric::FastopenNoCookie(n) => ("fastopen_no_cookie", n),
        _ => return None,
    };
    (*value != 0).then(|| (name, value.to_string()))
}

/// A time of which the kernel keeps so many parts a millisecond (`dst_metric_rtt` in `include/net/dst.h`, and `RTAX_RTTVAR`).
fn millis(name: &'static str, count: u32, parts: u32) -> Option<(&'static str, String)> {
    (count != 0).then(|| (name, (f64::from(count) / f64::from(parts)).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_route_are_in_milliseconds() {
        let named = |metric| named(&metric).unwrap();
        assert_eq!(named(RouteMetric::Rtt(800)), ("rtt", "100".to_owned()));
        assert_eq!(named(RouteMetric::RttVar(201)), ("rttvar", "50.25".to_owned()));
        assert_eq!(named(RouteMetric::RtoMin(70)), ("rto_min", "70".to_owned()));
    }
}
