//! The connections that a change reaches, and their segment sizes.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

use maxseg_core::tune::{Counters, Prefix, Sample, Target};
use maxseg_wire::inet_diag::StateSet;
use maxseg_wire::tcp_info::{State, TcpInfo};

use super::TuneError;
use super::route::{MAIN, has_other_tables, main_routes};
use super::socket::canonical;
use crate::netlink::{Netlink, raw::RawRoute};
use crate::observe::sockets::{Selection, SocketLister};

/// Segment sizes of the connections that a change reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentsSeen {
    /// Established connections.
    pub connections: usize,
    /// Those that have sent a segment by the new MTU.
    pub seen: usize,
}

/// How many established connections a change of this target reaches; `None` where this host cannot see them: those that it
/// forwards.
///
/// # Errors
/// The kernel lists no connections.
pub fn touched(target: &Target) -> Result<Option<usize>, TuneError> {
    if matches!(target, Target::Clamp(_) | Target::File(_)) {
        return Ok(None);
    }
    let connections = connections(target).map_err(|error| TuneError::read(target, error))?;
    Ok(Some(connections.len()))
}

/// How many of the connections that a change of an MTU reaches go by it already. The kernel tells a connection's path MTU and
/// segment size as of the last segment that it has sent (`tcp_sync_mss` in `net/ipv4/tcp_output.c`).
///
/// # Errors
/// The kernel lists no connections.
pub fn segments_seen(target: &Target, mtu: u64) -> Result<SegmentsSeen, TuneError> {
    let connections = connections(target).map_err(|error| TuneError::read(target, error))?;
    let goes_by_it = |connection: &&Connection| u64::from(connection.path_mtu) == mtu;
    Ok(SegmentsSeen {
        connections: connections.len(),
        seen: connections.iter().filter(goes_by_it).count(),
    })
}

/// What the kernel has counted of the connections that a change reaches.
///
/// # Errors
/// The kernel lists no connections.
pub fn sample(target: &Target) -> Result<Sample, TuneError> {
    let connections = connections(target).map_err(|error| TuneError::read(target, error))?;
    Ok(connections.iter().map(|one| (one.cookie, one.counters)).collect())
}

#[derive(Debug, Clone, Copy)]
struct Connection {
    local: SocketAddr,
    remote: SocketAddr,
    path_mtu: u32,
    cookie: u64,
    counters: Counters,
}

fn connections(target: &Target) -> io::Result<Vec<Connection>> {
    let mut all = established()?;
    match target {
        Target::Route { prefix, .. } => {
            let routes = main_routes(prefix.is_v6())?;
            all.retain(|connection| takes(connection.remote.ip(), *prefix, &routes));
            if has_other_tables(prefix.is_v6())? {
                retain_of_main(&mut all)?;
            }
        }
        Target::InterfaceMtu(name) => {
            let index = Netlink::interface(name)?.get();
            let mut netlink = Netlink::new()?;
            let mut through: BTreeMap<IpAddr, bool> = BTreeMap::new();
            all.retain(|connection| {
                let to = connection.remote.ip();
                let is_through =
                    || netlink.route_to(to).is_ok_and(|route| route.interface == Some(index));
                *through.entry(to).or_insert_with(is_through)
            });
        }
        Target::Socket { ends, .. } => {
            all.retain(|of| {
                (of.local, of.remote) == (canonical(ends.local), canonical(ends.remote))
            });
        }
        Target::Sysctl(_) => {}
        Target::Clamp(_) | Target::File(_) => all.clear(),
    }
    Ok(all)
}

/// Leaves out those whose packets a rule sends by another table. By a mark of the socket alone it may do so too, which only root is told.
fn retain_of_main(connections: &mut Vec<Connection>) -> io::Result<()> {
    let mut netlink = Netlink::new()?;
    let mut known: BTreeMap<(IpAddr, IpAddr), bool> = BTreeMap::new();
    connections.retain(|connection| {
        let (to, from) = (connection.remote.ip(), connection.local.ip());
        let is_of_main = || netlink.table_to(to, Some(from)).is_ok_and(|table| table == MAIN);
        *known.entry((to, from)).or_insert_with(is_of_main)
    });
    Ok(())
}

/// Whether packets to an address take the route to this prefix: no narrower one of the main table has it.
fn takes(to: IpAddr, prefix: Prefix, routes: &[RawRoute]) -> bool {
    let narrower = |route: &RawRoute| {
        let of = route.destination();
        of.length() > prefix.length() && of.includes(to)
    };
    prefix.includes(to) && !routes.iter().any(narrower)
}

/// The established connections of this namespace; an IPv4 address in the form of IPv6 is one of IPv4.
fn established() -> io::Result<Vec<Connection>> {
    let states = StateSet::NONE.with(State::Established).with(State::CloseWait);
    let selection = Selection { states, filter: None };
    let mut found = Vec::new();
    SocketLister::list_here(&selection, |socket| {
        let path_mtu = socket.info.as_ref().map_or(0, |info| info.pmtu);
        let (local, remote) = (canonical(socket.local), canonical(socket.remote));
        let counters = socket.info.as_ref().map(counters).unwrap_or_default();
        found.push(Connection { local, remote, path_mtu, cookie: socket.cookie, counters });
    })?;
    Ok(found)
}

/// A kernel that does not count how long a connection had data to send (before Linux 4.10) gives nothing to compare.
fn counters(info: &TcpInfo) -> Counters {
    Counters {
        sending_s: info.busy_time.unwrap_or_default().as_secs_f64(),
        acked_bytes: info.bytes_acked.unwrap_or_default(),
        data_segments: info.data_segs_out.unwrap_or_default(),
        retransmitted: info.total_retrans,
        rtt_s: Some(info.rtt.as_secs_f64()).filter(|rtt| *rtt > 0.0),
    }
}
