//! The connections that a change reaches, and their segment sizes.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

use maxseg_core::tune::{Counters, Entry, History, Prefix, Sample, Step, Target, Value};
use maxseg_wire::inet_diag::StateSet;
use maxseg_wire::tcp_info::{State, TcpInfo};

use super::TuneError;
use super::copies::{Copied, copied_of};
use super::route::{MAIN, has_other_tables, main_routes};
use super::socket::canonical;
use crate::netlink::{Netlink, bridge_of, raw::RawRoute};
use crate::observe::sockets::{Selection, SocketLister};

/// Segment sizes of the connections that a change reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentsSeen {
    /// Established connections.
    pub connections: usize,
    /// Those that have sent a segment by the new MTU.
    pub seen: usize,
}

/// Routes that are narrower than the one that is changed.
#[derive(Debug, Default)]
struct Narrower {
    /// Those that have the change as well: they are made from that one, without a value of their own.
    copies: Vec<Prefix>,
    /// Those that are made in the same plan with a value of their own.
    own: Vec<Prefix>,
}

impl Narrower {
    /// By the steps of the plan of a step.
    fn planned(target: &Target, steps: &[Step]) -> Self {
        let Target::Route { prefix, metric } = *target else { return Self::default() };
        let (mut copies, mut own) = (Vec::new(), Vec::new());
        for step in steps {
            let Target::Route { prefix: of, metric: set } = step.target else { continue };
            if of == prefix || !prefix.covers(&of) {
                continue;
            }
            if set == metric {
                own.push(of);
            } else if step.before == Value::Absent {
                copies.push(of);
            }
        }
        copies.retain(|copy| !own.contains(copy));
        Self { copies, own }
    }

    /// Whether one that has not the change has this address. `routes` are those that the kernel has.
    fn keeps(&self, to: IpAddr, prefix: Prefix, routes: &[RawRoute]) -> bool {
        let in_kernel = routes.iter().map(RawRoute::destination);
        let in_kernel = in_kernel.filter(|of| !self.copies.contains(of));
        let mut narrower = in_kernel.chain(self.own.iter().copied());
        narrower.any(|of| of.length() > prefix.length() && of.includes(to))
    }
}

/// How many established connections a step of a plan of these steps reaches; `None` where this host cannot see them: those that it
/// forwards.
///
/// # Errors
/// The kernel lists no connections.
pub fn touched(target: &Target, steps: &[Step]) -> Result<Option<usize>, TuneError> {
    if matches!(target, Target::Clamp(_) | Target::File(_)) {
        return Ok(None);
    }
    Ok(Some(connections(target, &Narrower::planned(target, steps))?.len()))
}

/// How many of the connections that a change of an MTU, of a plan of these steps, reaches go by it already. The kernel tells a connection's
/// path MTU and segment size as of the last segment that it has sent (`tcp_sync_mss` in `net/ipv4/tcp_output.c`).
///
/// # Errors
/// The kernel lists no connections.
pub fn segments_seen(target: &Target, mtu: u64, steps: &[Step]) -> Result<SegmentsSeen, TuneError> {
    let connections = connections(target, &Narrower::planned(target, steps))?;
    let goes_by_it = |connection: &&Connection| u64::from(connection.path_mtu) == mtu;
    Ok(SegmentsSeen {
        connections: connections.len(),
        seen: connections.iter().filter(goes_by_it).count(),
    })
}

/// What the kernel has counted of the connections that a step reaches, before a plan of these steps is made.
pub(super) fn sample(target: &Target, steps: &[Step]) -> Result<Sample, TuneError> {
    Ok(counted(&connections(target, &Narrower::planned(target, steps))?))
}

/// The same of those that a change reaches now.
pub(super) fn sample_of(entry: &Entry, history: &History) -> Result<Sample, TuneError> {
    let copies = copied_of(history, &entry.place, entry);
    let copies = copies.iter().map(Copied::destinations).collect();
    Ok(counted(&connections(&entry.step.target, &Narrower { copies, own: Vec::new() })?))
}

fn counted(connections: &[Connection]) -> Sample {
    connections.iter().map(|one| (one.cookie, one.counters)).collect()
}

#[derive(Debug, Clone, Copy)]
struct Connection {
    local: SocketAddr,
    remote: SocketAddr,
    path_mtu: u32,
    cookie: u64,
    counters: Counters,
}

fn connections(target: &Target, narrower: &Narrower) -> Result<Vec<Connection>, TuneError> {
    listed(target, narrower).map_err(|error| TuneError::read(target, error))
}

fn listed(target: &Target, narrower: &Narrower) -> io::Result<Vec<Connection>> {
    let mut all = established()?;
    match target {
        Target::Route { prefix, .. } => {
            let routes = main_routes(prefix.is_v6())?;
            all.retain(|connection| {
                let to = connection.remote.ip();
                prefix.includes(to) && !narrower.keeps(to, *prefix, &routes)
            });
            if has_other_tables(prefix.is_v6())? {
                retain_of_main(&mut all)?;
            }
        }
        Target::InterfaceMtu(name) => {
            let index = Netlink::interface(name)?.get();
            let mut netlink = Netlink::new()?;
            // What leaves by a bridge may leave by any port of it.
            let links = netlink.links()?;
            let bridge = bridge_of(&links, index).map(|bridge| bridge.index);
            let mut through: BTreeMap<IpAddr, bool> = BTreeMap::new();
            all.retain(|connection| {
                let to = connection.remote.ip();
                let is_through = || {
                    let out = netlink.route_to(to, None).ok().and_then(|route| route.interface);
                    out.is_some() && [Some(index), bridge].contains(&out)
                };
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
