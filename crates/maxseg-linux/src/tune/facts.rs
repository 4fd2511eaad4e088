//! What has to be known of this host before a step is made.

use std::io;
use std::net::IpAddr;

use maxseg_core::tune::{Facts, Floors, LearntPathMtu, Step, Target};

use super::sysctl::number;
use super::{TuneError, interface};
use crate::netlink::Netlink;
use crate::netlink::raw::RawRoute;

/// The facts for a step; `session` is the other end of the connection over which this session runs (`SSH_CONNECTION`).
///
/// # Errors
/// Netlink fails.
pub fn facts(step: &Step, session: Option<IpAddr>) -> Result<Facts, TuneError> {
    gather(step, session).map_err(|error| TuneError::read(&step.target, error))
}

fn gather(step: &Step, session: Option<IpAddr>) -> io::Result<Facts> {
    let mut facts = Facts {
        floors: Floors {
            min_snd_mss: number("net.ipv4.tcp_min_snd_mss", Floors::default().min_snd_mss),
            min_adv_mss: number("net.ipv4.route.min_adv_mss", Floors::default().min_adv_mss),
            min_pmtu: number("net.ipv4.route.min_pmtu", Floors::default().min_pmtu),
        },
        ..Facts::default()
    };
    match &step.target {
        Target::Route { prefix, .. } => {
            facts.forwards = forwards(prefix.is_v6());
            facts.learnt = learnt(prefix.is_v6())?;
            facts.learnt.retain(|learnt| prefix.includes(learnt.to));
            facts.reaches_own_session = session.is_some_and(|peer| prefix.includes(peer));
        }
        Target::InterfaceMtu(name) => {
            facts.has_v6 = interface::has_v6(name);
            facts.forwards = forwards(false) || (facts.has_v6 && forwards(true));
            facts.reaches_own_session = match session {
                Some(peer) => interface_to(peer)? == interface::index(name),
                None => false,
            };
        }
        Target::Socket { ends, .. } => {
            facts.reaches_own_session = session == Some(ends.remote.ip().to_canonical());
        }
        // What is set for all connections, or for those of others, does not cut one off.
        Target::Sysctl(_) | Target::Clamp(_) | Target::File(_) => {}
    }
    Ok(facts)
}

fn forwards(is_v6: bool) -> bool {
    let name = if is_v6 { "net.ipv6.conf.all.forwarding" } else { "net.ipv4.ip_forward" };
    number(name, 0) != 0
}

/// What the kernel has learnt of paths (`ip route show cache`).
fn learnt(is_v6: bool) -> io::Result<Vec<LearntPathMtu>> {
    let routes = Netlink::new()?.raw_routes(is_v6)?;
    let learnt = routes.iter().filter_map(RawRoute::learnt);
    Ok(learnt
        .map(|(to, learnt)| LearntPathMtu { to, mtu: learnt.mtu, expires_s: learnt.expires_s })
        .collect())
}

/// Index of the interface through which packets to an address leave; `None` without a route.
fn interface_to(address: IpAddr) -> io::Result<Option<u32>> {
    match Netlink::new()?.route_to(address) {
        Ok(route) => Ok(route.interface),
        Err(error) if error.raw_os_error() == Some(libc::ENETUNREACH) => Ok(None),
        Err(error) => Err(error),
    }
}
