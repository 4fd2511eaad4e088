//! A host or router of the lab: a network namespace, its sysctls, and what its kernel counts.

use std::fs;
use std::io;
use std::net::IpAddr;

use maxseg_core::framing::IpVersion;
use maxseg_core::scenario::{End, LabBackend, Scenario};
use maxseg_core::units::Bytes;
use maxseg_wire::procnet::Counters;
use netlink_packet_route::route::RouteMetric;

use super::error::LabError;
use super::host_setup::HostSetup;
use super::topology::{Side, address, ends, interface_of, settings_at};
use crate::netlink::Netlink;
use crate::sys::{NetNs, Tun, offloads_off};

/// A host or a router.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its name.
    pub(crate) name: String,
    /// Its network namespace.
    pub(crate) namespace: NetNs,
    /// Its addresses, each with the interface that has it.
    pub(crate) addresses: Vec<(String, IpAddr)>,
    /// The congestion control of its routes, where its namespace cannot have it as its default.
    pub(super) congctl: Option<&'static str>,
}

/// Transmit queue length of an interface, in super-packets: more than a relay leaves unread, since a full queue drops
/// without a sign.
pub(super) const QUEUE: u32 = 20_000;

impl Host {
    /// Runs `work` in this host's namespace.
    pub(crate) fn inside<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> Result<T, LabError> {
        self.namespace.run(work).map_err(|error| LabError::Host { host: self.name.clone(), error })
    }

    pub(super) fn tun(&self, interface: &str) -> Result<Tun, LabError> {
        self.namespace.run(|| Tun::new(interface)).map_err(LabError::Tun)
    }

    /// Brings up the host's interface at this side of `hop`, with its address.
    pub(super) fn bring_up(
        &mut self,
        scenario: &Scenario,
        hop: usize,
        side: Side,
    ) -> Result<(), LabError> {
        let spec = &scenario.path.hops[hop];
        let link = if side == Side::Near { &spec.forward } else { &spec.reverse };
        let interface = interface_of(scenario, hop);
        let own = address(scenario.ip, hop, side);
        let makes_super_packets =
            scenario.lab.backend == LabBackend::Relay || scenario.lab.as_netem;
        self.inside(|| {
            let mut netlink = Netlink::new()?;
            let number = Netlink::interface(&interface)?;
            netlink.bring_up(number, u32::from(link.mtu.get()), QUEUE)?;
            if !makes_super_packets {
                offloads_off(&interface)?;
            }
            netlink.add_address(number, own)
        })?;
        self.addresses.push((interface, own));
        Ok(())
    }
}

/// Sets the calling thread's namespace up as a router's.
pub(super) fn only_forwards(ip: IpVersion) -> io::Result<()> {
    NodeSetup { ip, is_router: true, is_far: false, own: HostSetup::default() }.before_interfaces()
}

/// `IPDEFTTL` (linux/ip.h): a packet crosses as many hops, each router but the sender taking one off.
const HOP_LIMIT: usize = 64;
const LARGEST_HOP_LIMIT: &str = "255";

/// The sysctls of a host or router.
pub(super) struct NodeSetup {
    ip: IpVersion,
    is_router: bool,
    /// Whether the path has more routers than a packet with the usual hop limit passes.
    is_far: bool,
    /// The settings of a sender or receiver; empty for a router.
    pub(super) own: HostSetup,
}

impl NodeSetup {
    pub(super) fn of(scenario: &Scenario, index: usize) -> Self {
        let is_router = index > 0 && index < scenario.path.hops.len();
        let own = settings_at(scenario, index).map(|(end, settings)| {
            HostSetup::of(settings, largest_segment(scenario), fits(scenario, index, end))
        });
        let is_far = scenario.path.hops.len() > HOP_LIMIT;
        Self { ip: scenario.ip, is_router, is_far, own: own.unwrap_or_default() }
    }

    pub(super) fn before_interfaces(&self) -> io::Result<()> {
        Netlink::new()?.loopback_up()?;
        let forward = if self.is_router { "1" } else { "0" };
        let common = [
            ("ipv4/ip_forward", forward),
            ("ipv4/conf/all/rp_filter", "0"),
            ("ipv4/conf/default/rp_filter", "0"),
            // No rate limit: every packet that is too large gets its ICMP message.
            ("ipv4/icmp_ratelimit", "0"),
            // Metrics of one connection must not affect the next.
            ("ipv4/tcp_no_metrics_save", "1"),
        ];
        for (key, value) in common {
            set(key, value)?;
        }
        if self.is_far {
            set("ipv4/ip_default_ttl", LARGEST_HOP_LIMIT)?;
        }
        match self.ip {
            // Even without addresses an interface would send router solicitations.
            IpVersion::V4 => set_if_there("ipv6/conf/default/disable_ipv6", "1")?,
            IpVersion::V6 => {
                for (key, value) in [
                    ("ipv6/conf/default/accept_dad", "0"),
                    ("ipv6/conf/default/accept_ra", "0"),
                    ("ipv6/conf/default/router_solicitations", "0"),
                    ("ipv6/conf/all/forwarding", forward),
                    ("ipv6/icmp/ratelimit", "0"),
                ] {
                    set(key, value)?;
                }
                if self.is_far {
                    // Of interfaces to come, and of packets that have none yet.
                    set("ipv6/conf/default/hop_limit", LARGEST_HOP_LIMIT)?;
                    set("ipv6/conf/all/hop_limit", LARGEST_HOP_LIMIT)?;
                }
            }
        }
        self.apply_own()
    }

    pub(super) fn apply_own(&self) -> io::Result<()> {
        for (key, value) in &self.own.sysctls {
            set(key, value)?;
        }
        for (key, value) in &self.own.newer_sysctls {
            set_if_there(key, value)?;
        }
        Ok(())
    }

    /// The route metrics from host `from` to host `to`.
    pub(super) fn metrics_towards(
        &self,
        scenario: &Scenario,
        from: usize,
        to: usize,
    ) -> &[RouteMetric] {
        let last = scenario.path.hops.len();
        let is_end = from == 0 || from == last;
        let meets = |pair| pair == (from, to) || pair == (to, from);
        if is_end || scenario.flows.iter().any(|flow| meets(ends(flow))) {
            return &self.own.metrics;
        }
        &[]
    }
}

/// The payload that fits the MTU of host `index`'s interface towards the other end, after IP and TCP headers.
pub(super) fn fits(scenario: &Scenario, index: usize, end: End) -> Bytes {
    let hops = &scenario.path.hops;
    let link = match end {
        End::Sender => hops.get(index).map(|hop| &hop.forward),
        End::Receiver => index.checked_sub(1).and_then(|hop| hops.get(hop)).map(|hop| &hop.reverse),
    };
    let mtu = link.map_or(Bytes::ZERO, |link| link.mtu.bytes());
    mtu.saturating_sub(scenario.tcp_ip_headers())
}

/// Payload of the largest segments of any flow, in which a window in segments is counted.
pub(super) fn largest_segment(scenario: &Scenario) -> Bytes {
    let of_flows = scenario.flows.iter().filter(|flow| flow.kind.is_tcp());
    let sizes = of_flows.flat_map(|flow| [scenario.mss(flow), scenario.mss(&flow.reversed())]);
    sizes.map(|mss| mss.unbound.bytes()).max().unwrap_or(Bytes::new(1460))
}

/// Sets a key below `net.` in the calling thread's namespace.
pub(super) fn set(key: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/{key}"), value).map_err(|error| {
        io::Error::new(error.kind(), format!("net.{} = {value}: {error}", key.replace('/', ".")))
    })
}

/// Reads a key below `net.` in the calling thread's namespace.
pub(super) fn get(key: &str) -> io::Result<String> {
    Ok(fs::read_to_string(format!("/proc/sys/net/{key}"))?.trim().to_owned())
}

fn set_if_there(key: &str, value: &str) -> io::Result<()> {
    match set(key, value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The counters of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InterfaceCounters {
    pub(super) name: String,
    /// Bytes and packets received, super-packets as one.
    pub(super) bytes: u64,
    pub(super) packets: u64,
    /// Packets dropped, of those received and of those sent.
    pub(super) dropped: u64,
}

/// The counters of all interfaces in the calling thread's namespace (`net/core/net-procfs.c`).
pub(super) fn interface_counters() -> io::Result<Vec<InterfaceCounters>> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    let interface = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let numbers: Vec<u64> =
            numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        Some(InterfaceCounters {
            name: name.trim().to_owned(),
            bytes: *numbers.first()?,
            packets: *numbers.get(1)?,
            dropped: numbers.get(3)? + numbers.get(11)?,
        })
    };
    Ok(text.lines().filter_map(interface).collect())
}

/// Datagrams dropped at full socket buffers and segments dropped at full backlogs, in the calling thread's namespace.
pub(super) fn socket_drops() -> io::Result<u64> {
    let counted = |file: &str, group: &str, names: &[&str]| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}"))?;
        let counters = Counters::parse(&text);
        let values = names.iter().filter_map(|name| counters.get(group, name));
        Ok::<u64, io::Error>(values.map(|value| u64::try_from(value).unwrap_or(0)).sum())
    };
    let of_v6 = match fs::read_to_string("/proc/thread-self/net/snmp6") {
        Ok(text) => single(&text, "Udp6RcvbufErrors"),
        // A kernel without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(counted("snmp", "Udp", &["RcvbufErrors"])?
        + of_v6
        + counted("netstat", "TcpExt", &["TCPBacklogDrop", "TCPRcvQDrop", "RcvPruned"])?)
}

/// A counter of a file with a name and a number a line (`snmp6_seq_show_item`, net/ipv6/proc.c); 0 without one.
fn single(text: &str, name: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let mut values = lines.filter(|(known, _)| *known == name);
    values.find_map(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_ipv6_are_a_name_and_a_number_a_line() {
        let text = "Udp6InErrors                    \t3\nUdp6RcvbufErrors                \t7\n\
                    UdpLite6RcvbufErrors            \t9\n";
        assert_eq!((single(text, "Udp6RcvbufErrors"), single(text, "Udp6SndbufErrors")), (7, 0));
    }
}
