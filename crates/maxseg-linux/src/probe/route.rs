//! The route to a host: its interface's MTU, and what the kernel has learnt of the path.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use super::learnt::LearntMtu;
use crate::netlink::{Neighbour, NeighbourEvents, Netlink, RouteQuestion};
use crate::sys::wait_for;

/// The route to a host.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteToHost {
    /// The interface, by its name.
    pub interface: String,
    /// What it is, as `veth` or `wireguard`; `None` of hardware.
    pub kind: Option<String>,
    /// Its MTU, bytes.
    pub interface_mtu: u32,
    /// The MTU that the route itself sets, bytes.
    pub route_mtu: Option<u32>,
    /// This host's address on the way.
    pub source: IpAddr,
    /// The path MTU that the kernel remembers.
    pub learnt: Option<LearntMtu>,
}

/// Reads the route from this network namespace to a host.
///
/// # Errors
/// There is none, or rtnetlink does not answer.
pub fn route_to_host(to: IpAddr) -> io::Result<RouteToHost> {
    let socket = UdpSocket::bind(if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    // Connecting a UDP socket sends nothing: it finds the route and its source address.
    socket.connect(SocketAddr::new(to, 9))?;
    let source = socket.local_addr()?.ip();
    let mut netlink = Netlink::new()?;
    let uid = nix::unistd::Uid::effective().as_raw();
    let question = RouteQuestion { to, from: source, interface: None, mark: None, user: uid };
    let (used, set) = (netlink.route_used(&question)?, netlink.route_set(&question)?);
    let index = used.interface.or(set.interface);
    let index = index.ok_or_else(|| io::Error::other("the route names no interface"))?;
    let facts = netlink.interface_facts(index)?;
    let interface_mtu = facts.mtu.ok_or_else(|| io::Error::other("the interface has no MTU"))?;
    Ok(RouteToHost {
        interface: facts.name,
        kind: facts.kind,
        interface_mtu,
        route_mtu: set.mtu(),
        source,
        learnt: used.learnt_over(&set).map(LearntMtu::from),
    })
}

/// Whom this host hands packets to: the host itself, or the router that leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextHop {
    /// Its address.
    pub address: IpAddr,
    /// The interface that it is on, by its name.
    pub interface: String,
    /// The link-layer address with which it has answered ARP or neighbour discovery.
    pub link_address: String,
}

/// The first port of traceroute (traceroute(8)): hardly anything listens there.
pub const TRACEROUTE_PORT: u16 = 33_434;
/// How long a next hop may take to answer: the kernel asks one that it has not heard of for a while after 5 s (`delay_first_probe_time`), then
/// three times within 3 s (`ucast_solicit`, `retrans_time`).
const LONGEST_RESOLUTION: Duration = Duration::from_secs(10);

/// The next hop of packets from this network namespace to a host, where it answers address resolution now; `None` where it does not, or is
/// not asked, as through a tunnel. Sends a datagram to the host, which has the kernel ask, and waits for the answer.
///
/// # Errors
/// There is no route, or rtnetlink does not answer.
pub fn next_hop(to: IpAddr, from: IpAddr) -> io::Result<Option<NextHop>> {
    let mut netlink = Netlink::new()?;
    let user = nix::unistd::Uid::effective().as_raw();
    let question = RouteQuestion { to, from, interface: None, mark: None, user };
    let route = netlink.route_used(&question)?;
    let Some(index) = route.interface else { return Ok(None) };
    let address = route.gateway.unwrap_or(to);
    let mut events = NeighbourEvents::listen()?;
    // One that is not sent, as a firewall refuses it, leaves what is known as it is.
    let _ =
        UdpSocket::bind((from, 0)).and_then(|socket| socket.send_to(&[0], (to, TRACEROUTE_PORT)));
    let until = Instant::now() + LONGEST_RESOLUTION;
    let mut known = netlink.neighbour(address, index)?;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match known {
            Neighbour::Reachable(link_address) => {
                let interface = netlink.interface_facts(index)?.name;
                return Ok(Some(NextHop { address, interface, link_address }));
            }
            Neighbour::Unconfirmed if !left.is_zero() => wait_for(&[events.as_fd()], Some(left))?,
            Neighbour::Unconfirmed | Neighbour::Unanswered => return Ok(None),
        }
        known = match events.learnt(address, index) {
            Ok(learnt) => learnt.unwrap_or(Neighbour::Unconfirmed),
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                netlink.neighbour(address, index)?
            }
            Err(error) => return Err(error),
        };
    }
}
