//! Hosts and interfaces, made from a scenario. When a [`Network`] is dropped nothing is left of it: its
//! namespaces and interfaces live in its file descriptors.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::IpAddr;

use maxseg_core::framing::IpVersion;
use maxseg_core::path::IcmpPolicy;
use maxseg_core::scenario::{End, LabBackend, Scenario};
use maxseg_core::units::{Bytes, Mtu};
use maxseg_wire::procnet::Counters;
use netlink_packet_route::route::RouteMetric;

use super::boxes::Boxes;
use super::failure::LabError;
use super::host_setup::HostSetup;
use super::kernel_links;
use super::topology::{
    MOST_HOPS, MOST_HOPS_WITH_BOXES, Side, address, ends, every_address, host_names, host_of,
    interface_of, settings_at,
};
use crate::netlink::Netlink;
use crate::sys::{NetNs, Tun, offloads_off};

/// The hosts of a scenario, each in its namespace, with an interface at each end of every hop.
#[derive(Debug)]
pub(crate) struct Network {
    /// From the sender to the receiver.
    pub(crate) hosts: Vec<Host>,
    /// What stands between them.
    pub(crate) hops: Hops,
}

/// What carries packets between two hosts.
#[derive(Debug)]
pub(crate) enum Hops {
    /// The relay, between two interfaces for each hop.
    Relay(Vec<Cable>),
    /// The kernel, in two boxes for each hop.
    Kernel(Vec<Boxes>),
}

/// A host or a router.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its name.
    pub(crate) name: String,
    /// Where it lives.
    pub(crate) namespace: NetNs,
    /// Its addresses, each with the interface that has it.
    pub(crate) addresses: Vec<(String, IpAddr)>,
}

/// Both ends of a hop.
#[derive(Debug)]
pub(crate) struct Cable {
    /// The sender's side.
    pub(crate) near: Tun,
    /// The receiver's side.
    pub(crate) far: Tun,
}

/// More super-packets than a relay ever lets wait: an interface that has no room drops silently.
pub(super) const QUEUE: u32 = 20_000;

impl Network {
    /// Makes everything, and brings it up.
    ///
    /// # Errors
    /// This machine, or this user, may not.
    pub(crate) fn build(scenario: &Scenario) -> Result<Self, LabError> {
        let hops = &scenario.path.hops;
        let most = match scenario.lab.backend {
            LabBackend::Relay => MOST_HOPS,
            LabBackend::Netem => MOST_HOPS_WITH_BOXES,
        };
        if hops.len() > most {
            return Err(LabError::TooManyHops { hops: hops.len(), most });
        }
        let hosts = host_names(hops.len()).into_iter().map(|name| {
            let namespace = NetNs::new().map_err(LabError::Namespace)?;
            Ok(Host { name, namespace, addresses: Vec::new() })
        });
        let mut hosts: Vec<Host> = hosts.collect::<Result<_, LabError>>()?;
        for (index, host) in hosts.iter().enumerate() {
            let setup = Setup::of(scenario, index);
            host.inside(|| setup.before_interfaces())?;
        }
        let hops = Hops::build(scenario, &hosts)?;
        for hop in 0..scenario.path.hops.len() {
            for side in [Side::Near, Side::Far] {
                hosts[host_of(hop, side)].bring_up(scenario, hop, side)?;
            }
        }
        let network = Self { hosts, hops };
        for index in 0..network.hosts.len() {
            network.route(scenario, index)?;
        }
        if let Hops::Kernel(boxes) = &network.hops {
            kernel_links::start(scenario, boxes)?;
        }
        Ok(network)
    }

    /// Hosts whose settings differ between the two scenarios get those of `new`: what their kernels are told.
    pub(crate) fn reconfigure(&self, old: &Scenario, new: &Scenario) -> Result<(), LabError> {
        for (index, host) in self.hosts.iter().enumerate() {
            let setup = Setup::of(new, index);
            if setup.own == Setup::of(old, index).own {
                continue;
            }
            host.inside(|| setup.apply_own())?;
            self.route(new, index)?;
        }
        Ok(())
    }

    /// Whether what the hosts' kernels are told differs between the two scenarios.
    pub(crate) fn settings_differ(old: &Scenario, new: &Scenario) -> bool {
        let setups = |scenario: &Scenario| -> Vec<HostSetup> {
            let hosts = 0..=scenario.path.hops.len();
            hosts.map(|index| Setup::of(scenario, index).own).collect()
        };
        setups(old) != setups(new)
    }

    /// The interface at this side of a hop gets another MTU.
    pub(crate) fn set_mtu(
        &self,
        scenario: &Scenario,
        (hop, side): (usize, Side),
        mtu: Mtu,
    ) -> Result<(), LabError> {
        let host = &self.hosts[host_of(hop, side)];
        host.inside(|| {
            let interface = Netlink::interface(&interface_of(scenario, hop))?;
            Netlink::new()?.set_mtu(interface, u32::from(mtu.get()))
        })
    }

    /// Host `index` learns the way to every other one.
    fn route(&self, scenario: &Scenario, index: usize) -> Result<(), LabError> {
        let host = &self.hosts[index];
        let setup = Setup::of(scenario, index);
        host.inside(|| {
            let mut netlink = Netlink::new()?;
            for (at, to) in every_address(scenario) {
                if at == index {
                    continue;
                }
                let (through, own) =
                    if at < index { (index - 1, Side::Far) } else { (index, Side::Near) };
                let interface = Netlink::interface(&interface_of(scenario, through))?;
                let source = Some(address(scenario.ip, through, own));
                netlink.set_route(
                    to,
                    interface,
                    source,
                    setup.metrics_towards(scenario, index, at),
                )?;
            }
            Ok(())
        })
    }

    /// Who may not tell the sender of what crosses `hop` towards `to` that a packet was too large: the router
    /// before the next hop, if that hop is a black hole.
    pub(crate) fn silent(scenario: &Scenario, hop: usize, to: End) -> BTreeSet<IpAddr> {
        let hops = &scenario.path.hops;
        // News travels against the packets that it is about.
        let (router, drops) = match to {
            End::Sender => (
                hop + 1,
                hops.get(hop + 1).is_some_and(|next| next.forward.icmp == IcmpPolicy::Drop),
            ),
            End::Receiver => {
                let before = hop.checked_sub(1).and_then(|before| hops.get(before));
                (hop, before.is_some_and(|before| before.reverse.icmp == IcmpPolicy::Drop))
            }
        };
        if !drops {
            return BTreeSet::new();
        }
        [(router.checked_sub(1), Side::Far), (Some(router), Side::Near)]
            .into_iter()
            .filter_map(|(hop, side)| Some(address(scenario.ip, hop?, side)))
            .collect()
    }

    /// The interfaces of every hop that the relay carries.
    pub(crate) fn cables(&self) -> &[Cable] {
        match &self.hops {
            Hops::Relay(cables) => cables,
            Hops::Kernel(_) => &[],
        }
    }

    /// Packets that the kernel dropped because a host's interface had no room (`/proc/net/dev`), or a
    /// socket's buffer or backlog.
    pub(crate) fn drops(&self) -> Result<u64, LabError> {
        let mut drops = 0;
        for host in &self.hosts {
            let interfaces = host.inside(interface_counters)?;
            let all_but_loopback = interfaces.iter().filter(|counters| counters.name != "lo");
            drops += all_but_loopback.map(|counters| counters.dropped).sum::<u64>();
            drops += host.inside(socket_drops)?;
        }
        Ok(drops)
    }
}

/// Datagrams without room in a socket, and segments without room in a backlog, of the calling thread's host.
fn socket_drops() -> io::Result<u64> {
    let counted = |file: &str, group: &str, names: &[&str]| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}"))?;
        let counters = Counters::parse(&text);
        let values = names.iter().filter_map(|name| counters.get(group, name));
        Ok::<u64, io::Error>(values.map(|value| u64::try_from(value).unwrap_or(0)).sum())
    };
    Ok(counted("snmp", "Udp", &["RcvbufErrors"])?
        + counted("netstat", "TcpExt", &["TCPBacklogDrop", "TCPRcvQDrop", "RcvPruned"])?)
}

impl Hops {
    /// The interfaces of every hop, down and without addresses.
    fn build(scenario: &Scenario, hosts: &[Host]) -> Result<Self, LabError> {
        let hops = 0..scenario.path.hops.len();
        Ok(match scenario.lab.backend {
            LabBackend::Relay => {
                let cable = |hop| {
                    let name = interface_of(scenario, hop);
                    Ok(Cable { near: hosts[hop].tun(&name)?, far: hosts[hop + 1].tun(&name)? })
                };
                Self::Relay(hops.map(cable).collect::<Result<_, LabError>>()?)
            }
            LabBackend::Netem => {
                let boxes = |hop| Boxes::build(scenario, hop, [&hosts[hop], &hosts[hop + 1]]);
                Self::Kernel(hops.map(boxes).collect::<Result<_, LabError>>()?)
            }
        })
    }
}

impl Host {
    /// What `work` gives, done in this host.
    pub(crate) fn inside<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> Result<T, LabError> {
        self.namespace.run(work).map_err(|error| LabError::Host { host: self.name.clone(), error })
    }

    fn tun(&self, interface: &str) -> Result<Tun, LabError> {
        self.namespace.run(|| Tun::new(interface)).map_err(LabError::Tun)
    }

    /// Its interface at this side of `hop` comes up, with its address.
    fn bring_up(&mut self, scenario: &Scenario, hop: usize, side: Side) -> Result<(), LabError> {
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

/// What a box is told that only forwards: the same as a router.
pub(super) fn only_forwards(ip: IpVersion) -> io::Result<()> {
    Setup { ip, is_router: true, own: HostSetup::default() }.before_interfaces()
}

/// What a host is told about itself.
struct Setup {
    ip: IpVersion,
    is_router: bool,
    own: HostSetup,
}

impl Setup {
    fn of(scenario: &Scenario, index: usize) -> Self {
        let is_router = index > 0 && index < scenario.path.hops.len();
        let own = settings_at(scenario, index).map(|(end, settings)| {
            HostSetup::of(settings, largest_segment(scenario), fits(scenario, index, end))
        });
        Self { ip: scenario.ip, is_router, own: own.unwrap_or_default() }
    }

    fn before_interfaces(&self) -> io::Result<()> {
        Netlink::new()?.loopback_up()?;
        let forward = if self.is_router { "1" } else { "0" };
        let common = [
            ("ipv4/ip_forward", forward),
            ("ipv4/conf/all/rp_filter", "0"),
            ("ipv4/conf/default/rp_filter", "0"),
            // Every packet that is too large is news, not one in a while.
            ("ipv4/icmp_ratelimit", "0"),
            // What one connection learnt is not to help the next.
            ("ipv4/tcp_no_metrics_save", "1"),
        ];
        for (key, value) in common {
            set(key, value)?;
        }
        match self.ip {
            // Without addresses the kernel still sends solicitations over every interface: not here.
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
            }
        }
        self.apply_own()
    }

    fn apply_own(&self) -> io::Result<()> {
        for (key, value) in &self.own.sysctls {
            set(key, value)?;
        }
        for (key, value) in &self.own.newer_sysctls {
            set_if_there(key, value)?;
        }
        Ok(())
    }

    /// The metrics of the way from host `from` to host `to`.
    fn metrics_towards(&self, scenario: &Scenario, from: usize, to: usize) -> &[RouteMetric] {
        let last = scenario.path.hops.len();
        let is_end = from == 0 || from == last;
        let meets = |pair| pair == (from, to) || pair == (to, from);
        if is_end || scenario.flows.iter().any(|flow| meets(ends(flow))) {
            return &self.own.metrics;
        }
        &[]
    }
}

/// What the interface of host `index` towards the other `end` has room for behind IP and TCP headers.
fn fits(scenario: &Scenario, index: usize, end: End) -> Bytes {
    let hops = &scenario.path.hops;
    let link = match end {
        End::Sender => hops.get(index).map(|hop| &hop.forward),
        End::Receiver => index.checked_sub(1).and_then(|hop| hops.get(hop)).map(|hop| &hop.reverse),
    };
    let mtu = link.map_or(Bytes::ZERO, |link| link.mtu.bytes());
    mtu.saturating_sub(scenario.tcp_ip_headers())
}

/// Payload of the largest segments of any flow: what a window in segments counts.
fn largest_segment(scenario: &Scenario) -> Bytes {
    let of_flows = scenario.flows.iter().filter(|flow| flow.kind.is_tcp());
    let sizes = of_flows.flat_map(|flow| [scenario.mss(flow), scenario.mss(&flow.reversed())]);
    sizes.map(|mss| mss.effective.bytes()).max().unwrap_or(Bytes::new(1460))
}

/// Sets a key below `net.` in the calling thread's namespace.
pub(super) fn set(key: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/{key}"), value).map_err(|error| {
        io::Error::new(error.kind(), format!("net.{} = {value}: {error}", key.replace('/', ".")))
    })
}

fn set_if_there(key: &str, value: &str) -> io::Result<()> {
    match set(key, value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// What an interface counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InterfaceCounters {
    pub(super) name: String,
    /// Bytes and packets received, super-packets as one.
    pub(super) bytes: u64,
    pub(super) packets: u64,
    /// Dropped, of what it received and of what it sent.
    pub(super) dropped: u64,
}

/// Those of all interfaces in the calling thread's namespace (`net/core/net-procfs.c`).
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
