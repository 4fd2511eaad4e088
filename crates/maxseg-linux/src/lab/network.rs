//! Hosts and interfaces, made from a scenario. When a [`Network`] is dropped nothing is left of it: its
//! namespaces and interfaces live in its file descriptors.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::IpAddr;

use maxseg_core::framing::IpVersion;
use maxseg_core::path::IcmpPolicy;
use maxseg_core::scenario::{End, Scenario};
use maxseg_core::units::{Bytes, Mtu};
use netlink_packet_route::route::RouteMetric;

use super::failure::LabError;
use super::host_setup::HostSetup;
use super::topology::{MOST_HOPS, Side, address, ends, host_names, interface_name, settings_at};
use crate::netlink::Netlink;
use crate::sys::{NetNs, Tun};

/// The hosts of a scenario, each in its namespace, with an interface at each end of every hop.
#[derive(Debug)]
pub(crate) struct Network {
    /// From the sender to the receiver.
    pub(crate) hosts: Vec<Host>,
    /// The interfaces of every hop.
    pub(crate) hops: Vec<Cable>,
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
    /// What its interfaces are called.
    pub(crate) interface: String,
    /// The sender's side.
    pub(crate) near: Tun,
    /// The receiver's side.
    pub(crate) far: Tun,
}

/// More super-packets than a relay ever lets wait: an interface that has no room drops silently.
const QUEUE: u32 = 20_000;

impl Network {
    /// Makes everything, and brings it up.
    ///
    /// # Errors
    /// This machine, or this user, may not.
    pub(crate) fn build(scenario: &Scenario) -> Result<Self, LabError> {
        let hops = &scenario.path.hops;
        if hops.len() > MOST_HOPS {
            return Err(LabError::TooManyHops { hops: hops.len(), most: MOST_HOPS });
        }
        let hosts = host_names(hops.len()).into_iter().map(|name| {
            let namespace = NetNs::new().map_err(LabError::Namespace)?;
            Ok(Host { name, namespace, addresses: Vec::new() })
        });
        let mut network = Self { hosts: hosts.collect::<Result<_, LabError>>()?, hops: Vec::new() };
        for (index, host) in network.hosts.iter().enumerate() {
            let setup = Setup::of(scenario, index);
            host.inside(|| setup.before_interfaces())?;
        }
        for (index, hop) in hops.iter().enumerate() {
            let interface = interface_name(index, &hop.name);
            let [near, far] = [(index, Side::Near), (index + 1, Side::Far)].map(|(at, side)| {
                let host = &mut network.hosts[at];
                let link = if side == Side::Near { &hop.forward } else { &hop.reverse };
                let own = address(scenario.ip, index, side);
                let tun = host.plug(&interface, u32::from(link.mtu.get()), own)?;
                host.addresses.push((interface.clone(), own));
                Ok::<Tun, LabError>(tun)
            });
            network.hops.push(Cable { interface, near: near?, far: far? });
        }
        for index in 0..network.hosts.len() {
            network.route(scenario, index)?;
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
    pub(crate) fn set_mtu(&self, hop: usize, side: Side, mtu: Mtu) -> Result<(), LabError> {
        let host = &self.hosts[if side == Side::Near { hop } else { hop + 1 }];
        host.inside(|| {
            let interface = Netlink::interface(&self.hops[hop].interface)?;
            Netlink::new()?.set_mtu(interface, u32::from(mtu.get()))
        })
    }

    /// Host `index` learns the way to every other one.
    fn route(&self, scenario: &Scenario, index: usize) -> Result<(), LabError> {
        let host = &self.hosts[index];
        let setup = Setup::of(scenario, index);
        host.inside(|| {
            let mut netlink = Netlink::new()?;
            for (hop, side) in
                (0..self.hops.len()).flat_map(|hop| [(hop, Side::Near), (hop, Side::Far)])
            {
                let (at, to) = (
                    if side == Side::Near { hop } else { hop + 1 },
                    address(scenario.ip, hop, side),
                );
                if at == index {
                    continue;
                }
                let (through, own) =
                    if at < index { (index - 1, Side::Far) } else { (index, Side::Near) };
                let interface = Netlink::interface(&self.hops[through].interface)?;
                let source = address(scenario.ip, through, own);
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

    /// Packets that the kernel dropped because an interface had no room (`/proc/net/dev`).
    pub(crate) fn drops(&self) -> Result<u64, LabError> {
        let mut drops = 0;
        for host in &self.hosts {
            let text = host.inside(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
            drops += text.lines().filter_map(dropped).sum::<u64>();
        }
        Ok(drops)
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

    fn plug(&self, interface: &str, mtu: u32, own: IpAddr) -> Result<Tun, LabError> {
        let tun = self.namespace.run(|| Tun::new(interface)).map_err(LabError::Tun)?;
        self.inside(|| {
            let mut netlink = Netlink::new()?;
            let number = Netlink::interface(interface)?;
            netlink.bring_up(number, mtu, QUEUE)?;
            netlink.add_address(number, own)
        })?;
        Ok(tun)
    }
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

/// The drops of an interface other than loopback: the fourth number of what it received, and of what it
/// sent (`net/core/net-procfs.c`).
fn dropped(line: &str) -> Option<u64> {
    let (name, numbers) = line.split_once(':')?;
    if name.trim() == "lo" {
        return None;
    }
    let numbers: Vec<u64> =
        numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    Some(numbers.get(3)? + numbers.get(11)?)
}
