//! What this host does to the segment size and the window of one connection: route, interface, what was learnt, sysctls, rules of
//! the firewall. Everything is only read.

mod clamps;

use std::io;
use std::net::IpAddr;
use std::process::Command;

use serde_json::Value;

pub use clamps::{Clamp, Clamps, NotRead};

use super::host::{counters, named, sysctl};
use super::sockets::{NamespaceError, Place, PlaceName};
use crate::netlink::{FoundRoute, Netlink, RouteQuestion, locks_mtu};
use crate::sys::find_program;

/// A socket, as far as the kernel chooses its route by it.
#[derive(Debug, Clone, Copy)]
pub struct SocketKey {
    /// This end's address.
    pub local: IpAddr,
    /// The peer's address.
    pub remote: IpAddr,
    /// Index of the interface that it is bound to; 0 for none.
    pub interface: u32,
    /// Its mark (`SO_MARK`), where that is known.
    pub mark: Option<u32>,
    /// The user that opened it.
    pub user: u32,
}

/// The path of a connection, as this host knows it.
#[derive(Debug)]
pub struct PathReading {
    /// The route that it takes.
    pub route: io::Result<RouteReading>,
    /// Other routes that include the destination, the most specific first.
    pub lost: Vec<RouteReading>,
    /// Its interface.
    pub interface: io::Result<InterfaceReading>,
    /// Sysctls by their names; those that this namespace does not have are left out.
    pub sysctls: Vec<(&'static str, String)>,
    /// Probes for the path MTU that have arrived in this namespace, of all connections (`TCPMTUPSuccess` of nstat(8)).
    pub probes_arrived: Option<u64>,
    /// What was remembered of earlier connections to this host (`tcp_metrics`), in `ip`'s words; empty for nothing.
    pub remembered: Result<Vec<(String, String)>, NotRead>,
    /// Rules that change the MSS option of this IP version.
    pub clamps: Clamps,
}

/// A route.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteReading {
    /// Its destinations, as `192.0.2.0/24` or `default`.
    pub destination: String,
    /// The next hop.
    pub gateway: Option<IpAddr>,
    /// The interface, by its name.
    pub interface: Option<String>,
    /// The table: 254 is `main`, 255 `local`.
    pub table: u32,
    /// The less, the more the kernel prefers it.
    pub preference: u32,
    /// What it sets, under the names of ip-route(8).
    pub metrics: Vec<(&'static str, String)>,
    /// Whether its `mtu` is locked: packets may be fragmented.
    pub is_mtu_locked: bool,
    /// The path MTU that was learnt, and for how many seconds it is remembered.
    pub learnt: Option<(u32, f64)>,
}

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceReading {
    /// Its name.
    pub name: String,
    /// Its MTU, bytes.
    pub mtu: Option<u32>,
    /// What it is, as `veth`, `wireguard` or `vxlan`; `None` of hardware.
    pub kind: Option<String>,
}

/// What bounds segment sizes and windows of every connection.
const SYSCTLS: [&str; 12] = [
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_min_snd_mss",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_rto_min_us",
    "net.ipv4.tcp_slow_start_after_idle",
];

/// `RT_TABLE_DEFAULT` and `RT_TABLE_MAIN`, which the rules of every host lead to.
const SEARCHED_TABLES: [u32; 2] = [253, 254];

/// What is the same for every connection of a network namespace, read once: programs are run for it.
#[derive(Debug)]
pub struct NamespaceReading {
    place: Option<PlaceName>,
    sysctls: Vec<(&'static str, String)>,
    /// See [`PathReading::probes_arrived`].
    probes_arrived: Option<u64>,
    /// All that is remembered, by destination.
    remembered: Result<Vec<Remembered>, NotRead>,
    clamps: Clamps,
}

/// An entry of `ip -j tcp_metrics`.
type Remembered = serde_json::Map<String, Value>;

impl NamespaceReading {
    /// Of this place, which is one namespace.
    ///
    /// # Errors
    /// There is no such namespace, or this user may not enter it.
    pub fn of(place: &Place) -> Result<Self, NamespaceError> {
        let place = place.namespaces()?.each.into_iter().next();
        let Some(name) = place.clone() else { return Ok(Self::here(None)) };
        name.run(|| Ok(Self::here(place)))
    }

    /// Of the calling thread's namespace, which is this place.
    fn here(place: Option<PlaceName>) -> Self {
        let read = |name: &'static str| sysctl(name).ok().map(|value| (name, value));
        Self {
            place,
            sysctls: SYSCTLS.into_iter().filter_map(read).collect(),
            probes_arrived: counters("netstat")
                .and_then(|all| all.get("TcpExt", "TCPMTUPSuccess"))
                .and_then(|arrived| arrived.try_into().ok()),
            remembered: all_remembered(),
            clamps: Clamps::read(),
        }
    }

    /// The path of a socket.
    ///
    /// # Errors
    /// There is no such namespace any more, or this user may not enter it.
    pub fn path(&self, key: &SocketKey) -> Result<PathReading, NamespaceError> {
        let Some(name) = &self.place else { return Ok(self.path_here(key)) };
        name.run(|| Ok(self.path_here(key)))
    }

    fn path_here(&self, key: &SocketKey) -> PathReading {
        let mut reading = PathReading {
            route: Err(io::Error::other("rtnetlink does not answer")),
            lost: Vec::new(),
            interface: Err(io::Error::other("the route names no interface")),
            sysctls: self.sysctls.clone(),
            probes_arrived: self.probes_arrived,
            remembered: self
                .remembered
                .as_ref()
                .map(|all| of_pair(all, key.local, key.remote))
                .map_err(Clone::clone),
            clamps: self.clamps.clone(),
        };
        let other_family = if key.remote.to_canonical().is_ipv4() { "ip6" } else { "ip" };
        reading.clamps.rules.retain(|rule| rule.family != other_family);
        match Netlink::new() {
            Ok(mut netlink) => reading.add_routes(&mut netlink, key),
            Err(error) => reading.route = Err(error),
        }
        reading
    }
}

impl PathReading {
    fn add_routes(&mut self, netlink: &mut Netlink, key: &SocketKey) {
        let question = RouteQuestion {
            to: key.remote.to_canonical(),
            from: key.local.to_canonical(),
            interface: (key.interface != 0).then_some(key.interface),
            mark: key.mark.filter(|mark| *mark != 0),
            user: key.user,
        };
        let (used, set) = match (netlink.route_used(&question), netlink.route_set(&question)) {
            (Ok(used), Ok(set)) => (used, set),
            (Err(error), _) | (_, Err(error)) => {
                self.route = Err(error);
                return;
            }
        };
        if let Some(index) = used.interface.or(set.interface) {
            self.interface = netlink.interface_facts(index).map(|facts| InterfaceReading {
                name: facts.name,
                mtu: facts.mtu,
                kind: facts.kind,
            });
        }
        let others = netlink.routes_to(question.to).unwrap_or_default();
        let is_other = |route: &FoundRoute| {
            let key = |route: &FoundRoute| (route.prefix_length, route.table, route.preference);
            // A table that only a policy rule leads to was not searched, unless the route is of it.
            let is_searched = route.table == set.table || SEARCHED_TABLES.contains(&route.table);
            route.leads_somewhere && is_searched && key(route) != key(&set)
        };
        let to = question.to;
        self.lost = others
            .iter()
            .filter(|route| is_other(route))
            .map(|route| told(netlink, route, to))
            .collect();
        let learnt = used.learnt_over(&set).map(|learnt| (learnt.mtu, learnt.expires_s));
        self.route = Ok(RouteReading { learnt, ..told(netlink, &set, to) });
    }

    /// A sysctl that was read.
    pub fn sysctl(&self, name: &str) -> Option<&str> {
        self.sysctls.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

impl RouteReading {
    /// What it sets under a name of ip-route(8).
    pub fn metric(&self, name: &str) -> Option<&str> {
        self.metrics.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

fn told(netlink: &mut Netlink, route: &FoundRoute, to: IpAddr) -> RouteReading {
    let destination = match (route.destination, route.prefix_length) {
        (None, _) => "default".to_owned(),
        (Some(address), length) => {
            let is_whole = length == if to.is_ipv4() { 32 } else { 128 };
            if is_whole { address.to_string() } else { format!("{address}/{length}") }
        }
    };
    let name = |index| netlink.interface_facts(index).ok().map(|facts| facts.name);
    RouteReading {
        destination,
        gateway: route.gateway,
        table: route.table,
        preference: route.preference,
        metrics: route.metrics.iter().filter_map(named).collect(),
        is_mtu_locked: locks_mtu(&route.metrics),
        learnt: None,
        interface: route.interface.and_then(name),
    }
}

/// What the kernel remembers of connections to any address: for one alone `ip` writes no JSON.
fn all_remembered() -> Result<Vec<Remembered>, NotRead> {
    let file = find_program("ip").ok_or(NotRead::NoProgram("ip"))?;
    let odd = || NotRead::Odd("ip tcp_metrics");
    let output = Command::new(file)
        .args(["-j", "tcp_metrics", "show"])
        .output()
        .map_err(|_| NotRead::NoProgram("ip"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().into();
        return Err(NotRead::Failed { program: "ip".to_owned(), why });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let document: Value = serde_json::from_str(&text).map_err(|_| odd())?;
    let entries = document.as_array().ok_or_else(odd)?;
    Ok(entries.iter().filter_map(Value::as_object).cloned().collect())
}

/// What is remembered of connections between these addresses: there is an entry for each pair (`tcp_get_metrics`,
/// `net/ipv4/tcp_metrics.c`).
fn of_pair(all: &[Remembered], from: IpAddr, to: IpAddr) -> Vec<(String, String)> {
    let [from, to] = [from, to].map(|address| address.to_canonical().to_string());
    let plain = |(key, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), value)
    };
    let is_of = |entry: &&Remembered| {
        let is = |key, address: &str| entry.get(key).is_none_or(|is| is.as_str() == Some(address));
        is("dst", &to) && is("source", &from)
    };
    let entries = all.iter().filter(is_of).flatten();
    entries.map(plain).filter(|(key, _)| key != "dst").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_belongs_to_a_pair_of_addresses() {
        let entries = r#"[{"dst":"192.0.2.1","rtt":0.01,"source":"192.0.2.2"},
            {"dst":"192.0.2.1","rtt":0.2,"source":"198.51.100.2"},
            {"dst":"192.0.2.9","rtt":0.3,"source":"192.0.2.2"}]"#;
        let all: Vec<Remembered> = serde_json::from_str(entries).unwrap();
        let [from, to] = ["192.0.2.2", "::ffff:192.0.2.1"].map(|it| it.parse().unwrap());
        let of_pair = of_pair(&all, from, to);
        let rtts = of_pair.iter().filter(|(key, _)| key == "rtt");
        assert_eq!(rtts.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["0.01"]);
        assert_eq!(of_pair.len(), 2, "the destination is known: {of_pair:?}");
    }
}
