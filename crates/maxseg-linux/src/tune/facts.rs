//! What has to be known of this host before a step is made.

use std::io;
use std::net::IpAddr;

use maxseg_core::tune::{
    Facts, Floors, LargerRoute, LearntPathMtu, RouteMetricName, Session, Step, Target, V6Loss,
};

use super::interface::{HeldByV6, held_by_v6, moved_with};
use super::interface_image::mtu_of;
use super::interface_routes::{larger, locked_above};
use super::interface_v6::{LEAST, has_own_sysctls, has_sized_routes, lowered};
use super::route::{Image, interfaces_of, other_table, value_of};
use super::sysctl::number;
use super::{TuneError, interface, sysctl};
use crate::netlink::raw::RawRoute;
use crate::netlink::{Link, Netlink, below};
use crate::observe::host::{is_read_only, sysctl as text_of};

/// The other end of the connection over which this session runs (`SSH_CONNECTION`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// The interface, of an address that only holds on one link: `eth0` of `fe80::1%eth0`.
    pub zone: Option<String>,
}

/// The facts for a step, with this session's peer.
///
/// # Errors
/// Netlink fails.
pub fn facts(step: &Step, session: Option<&Peer>) -> Result<Facts, TuneError> {
    gather(step, session).map_err(|error| TuneError::read(&step.target, error))
}

fn gather(step: &Step, session: Option<&Peer>) -> io::Result<Facts> {
    let mut facts = Facts {
        floors: Floors {
            min_snd_mss: number("net.ipv4.tcp_min_snd_mss", Floors::default().min_snd_mss),
            min_adv_mss: number("net.ipv4.route.min_adv_mss", Floors::default().min_adv_mss),
            min_pmtu: number("net.ipv4.route.min_pmtu", Floors::default().min_pmtu),
        },
        congestion_controls: step
            .target
            .is_congestion_control()
            .then(congestion_controls)
            .flatten(),
        allowed_congestion_controls: allowed_congestion_controls(&step.target),
        ..Facts::default()
    };
    let mut is_reached = false;
    match &step.target {
        Target::Route { prefix, .. } => {
            facts.forwards = forwards(prefix.is_v6());
            facts.learnt = learnt(prefix.is_v6())?;
            let made = made_mtu(step);
            // What a route is made with that is no larger exceeds nothing of what it does not know any more.
            let is_exceeded = |mtu: u32| made.is_none_or(|made| made > mtu.into());
            facts.learnt.retain(|learnt| prefix.includes(learnt.to) && is_exceeded(learnt.mtu));
            facts.other_table = other_table(*prefix)?;
            facts.out = out(step);
            facts.advmss = announced(step);
            is_reached = session.is_some_and(|peer| prefix.includes(peer.address));
        }
        Target::InterfaceMtu(name) => {
            if let (Some(index), Some(mtu)) = (interface::index(name), mtu_of(&step.after)) {
                for (link, mtu) in moved_with(index, mtu)? {
                    let is_bridge = link.index != index;
                    of_interface(&mut facts, &link, mtu, is_bridge)?;
                    if is_bridge {
                        facts.bridge = Some((link.name, mtu));
                    }
                }
            }
            let is_read_only = |held: &HeldByV6| {
                matches!(sysctl::may_write(&held.sysctl(), None), Err(TuneError::ReadOnly { .. }))
            };
            if held_by_v6(step).iter().any(is_read_only) {
                facts.v6_loss = facts.v6_loss.or(Some(V6Loss::Held));
            }
            let links = Netlink::new()?.links()?;
            facts.is_bridge = links.iter().any(|link| link.name == *name && link.is_bridge());
            facts.forwards = forwards(false) || (facts.has_v6 && forwards(true));
            is_reached = session.map(|peer| carries(name, peer)).transpose()? == Some(true);
        }
        Target::Socket { ends, .. } => {
            is_reached = session.map(|peer| peer.address) == Some(ends.remote.ip().to_canonical());
        }
        // A clamp is for new connections; of sysctls the guards know.
        Target::Sysctl(_) | Target::Clamp(_) | Target::File(_) => {}
    }
    facts.session = match session {
        None => Session::None,
        Some(_) if is_reached => Session::Reached,
        Some(_) => Session::Elsewhere,
    };
    Ok(facts)
}

/// What is known of an interface that is to have this MTU, or that the kernel gives it with another one.
fn of_interface(facts: &mut Facts, link: &Link, mtu: u32, is_bridge: bool) -> io::Result<()> {
    facts.has_v6 |= interface::has_v6(&link.name) || has_sized_routes(link.index)?;
    if mtu < LEAST && has_own_sysctls(&link.name) {
        facts.v6_loss = Some(V6Loss::Sysctls);
    }
    facts.lowered_besides.extend(lowered(link.index, mtu)?.1);
    if mtu < link.mtu {
        // What leads by the interface that is named needs no word of it.
        let by = if is_bridge { format!(" dev {}", link.name) } else { String::new() };
        let routes = larger(link.index, mtu.into())?.into_iter();
        let named = routes.map(|route| LargerRoute { name: route.name + &by, ..route });
        facts.larger_routes.extend(named);
        facts.locked_routes.extend(locked_above(link.index, mtu.into())?);
    }
    Ok(())
}

/// Whether packets that arrive by some interface are forwarded. IPv4's are where that interface forwards (`ip_route_input_slow`);
/// IPv6's by one setting for all of them, or by the interface's `force_forwarding` (`ip6_forward`).
pub fn forwards(is_v6: bool) -> bool {
    let (family, word) = if is_v6 { ("ipv6", "force_forwarding") } else { ("ipv4", "forwarding") };
    let for_all = if is_v6 { "net.ipv6.conf.all.forwarding" } else { "net.ipv4.ip_forward" };
    number(for_all, 0) != 0 || any_interface_has(family, word)
}

fn any_interface_has(family: &str, word: &str) -> bool {
    let folder = std::fs::read_dir(format!("/proc/sys/net/{family}/conf"));
    let names = folder.into_iter().flatten().flatten();
    let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
    // What interfaces begin with that do not exist yet forwards nothing.
    let is_on = |name: String| {
        let key = name.replace('.', "/");
        name != "default" && number(&format!("net.{family}.conf.{key}.{word}"), 0) != 0
    };
    names.any(is_on)
}

/// The interfaces of the route of a step, with their MTUs; of one that is gone nothing is known.
fn out(step: &Step) -> Vec<(String, u32)> {
    let indices = step.image.as_deref().map(interfaces_of);
    let facts = |index| Netlink::new()?.interface_facts(index);
    let facts = indices.unwrap_or_default().into_iter().filter_map(|index| facts(index).ok());
    facts.filter_map(|facts| Some((facts.name, facts.mtu?))).collect()
}

/// The MTU that the route that is made for a step has from the one that it is made from; `None` of a route that is there, or where the step
/// sets the MTU itself.
fn made_mtu(step: &Step) -> Option<u64> {
    let image = Image::parse(step.image.as_deref()?).filter(|image| image.added)?;
    if matches!(step.target, Target::Route { metric: RouteMetricName::Mtu, .. }) {
        return None;
    }
    value_of(&image.raw()?, RouteMetricName::Mtu).size()
}

/// The MSS that the route of a step announces by its own metric.
fn announced(step: &Step) -> Option<u32> {
    let route = Image::parse(step.image.as_deref()?)?.raw()?;
    u32::try_from(value_of(&route, RouteMetricName::Advmss).number()?).ok()
}

/// What the kernel has learnt of paths (`ip route show cache`).
fn learnt(is_v6: bool) -> io::Result<Vec<LearntPathMtu>> {
    let routes = Netlink::new()?.raw_routes(is_v6)?;
    let learnt = routes.iter().filter_map(RawRoute::learnt);
    Ok(learnt
        .map(|(to, learnt)| LearntPathMtu { to, mtu: learnt.mtu, expires_s: learnt.expires_s })
        .collect())
}

/// Whether packets to an address pass this interface: it is that of the route, or below it.
fn carries(name: &str, to: &Peer) -> io::Result<bool> {
    let out = match &to.zone {
        // Every link has a route to such addresses.
        Some(zone) => interface::index(zone),
        None => interface_to(to.address)?,
    };
    let (Some(own), Some(out)) = (interface::index(name), out) else {
        return Ok(false);
    };
    Ok(below(&Netlink::new()?.links()?, out).contains(&own))
}

/// The congestion controls that this namespace has, and those whose modules can be loaded; `None` where the kernel does not tell.
fn congestion_controls() -> Option<Vec<String>> {
    let there = text_of("net.ipv4.tcp_available_congestion_control").ok()?;
    let mut names: Vec<String> = there.split_whitespace().map(str::to_owned).collect();
    let release = text_of("kernel.osrelease").unwrap_or_default();
    let modules = format!("/lib/modules/{release}/modules.dep");
    let modules = std::fs::read_to_string(modules).unwrap_or_default();
    // `kernel/net/ipv4/tcp_westwood.ko.xz: …`
    let files = modules.lines().filter_map(|line| line.split(':').next()?.rsplit('/').next());
    let of_module = |file: &str| Some(file.strip_prefix("tcp_")?.split_once(".ko")?.0.to_owned());
    names.extend(files.filter_map(of_module).filter(|name| name != "diag"));
    names.sort();
    names.dedup();
    Some(names)
}

/// What the default of a namespace other than the machine's first can be (`tcp_set_default_congestion_control`). Such a namespace shows
/// the list and may not change it.
fn allowed_congestion_controls(target: &Target) -> Option<Vec<String>> {
    const ALLOWED: &str = "net.ipv4.tcp_allowed_congestion_control";
    let Target::Sysctl(_) = target else { return None };
    if !target.is_congestion_control() || !is_read_only(ALLOWED) {
        return None;
    }
    Some(text_of(ALLOWED).ok()?.split_whitespace().map(str::to_owned).collect())
}

/// Index of the interface through which packets to an address leave; `None` without a route.
fn interface_to(address: IpAddr) -> io::Result<Option<u32>> {
    match Netlink::new()?.route_to(address, None) {
        Ok(route) => Ok(route.interface),
        Err(error) if error.raw_os_error() == Some(libc::ENETUNREACH) => Ok(None),
        Err(error) => Err(error),
    }
}
