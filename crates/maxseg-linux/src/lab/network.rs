//! Hosts and interfaces, made from a scenario. When a [`Network`] is dropped nothing is left of it: its
//! namespaces and interfaces live in its file descriptors.

use std::io;
use std::process::Command;

use maxseg_core::scenario::{LabBackend, Scenario};
use maxseg_core::units::Mtu;
use netlink_packet_route::route::RouteMetric;

use super::HostCommand;
use super::error::LabError;
use super::host::{Host, NodeSetup, interface_counters, socket_drops};
use super::host_setup::HostSetup;
use super::kernel_links;
use super::netem_bridge::NetemBridge;
use super::topology::{
    MAX_HOPS, MAX_HOPS_NETEM, Side, address, every_address, host_names, host_of, interface_of,
};
use crate::netlink::Netlink;
use crate::sys::{NetNs, Tun};

/// The hosts of a scenario, each in its namespace, with an interface at each end of every hop.
#[derive(Debug)]
pub(crate) struct Network {
    /// From the sender to the receiver.
    pub(crate) hosts: Vec<Host>,
    /// The links between them.
    pub(crate) hops: Hops,
}

/// The links of a network.
#[derive(Debug)]
pub(crate) enum Hops {
    /// The relay, between two interfaces for each hop.
    Relay(Vec<TunPair>),
    /// The kernel, in two boxes for each hop.
    Kernel(Vec<NetemBridge>),
}

/// Both ends of a hop.
#[derive(Debug)]
pub(crate) struct TunPair {
    /// The sender's side.
    pub(crate) near: Tun,
    /// The receiver's side.
    pub(crate) far: Tun,
}

impl Network {
    /// Creates hosts, links and routes, and brings them up.
    ///
    /// # Errors
    /// The kernel refuses a part of it.
    pub(crate) fn build(scenario: &Scenario) -> Result<Self, LabError> {
        let hops = &scenario.path.hops;
        let most = match scenario.lab.backend {
            LabBackend::Relay => MAX_HOPS,
            LabBackend::Netem => MAX_HOPS_NETEM,
        };
        if hops.len() > most {
            return Err(LabError::TooManyHops { hops: hops.len(), most });
        }
        let hosts = host_names(hops.len()).into_iter().map(|name| {
            let namespace = NetNs::new().map_err(LabError::Namespace)?;
            Ok(Host { name, namespace, addresses: Vec::new(), congctl: None })
        });
        let mut hosts: Vec<Host> = hosts.collect::<Result<_, LabError>>()?;
        for (index, host) in hosts.iter().enumerate() {
            let setup = NodeSetup::of(scenario, index);
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

    /// Hosts whose settings differ between the two scenarios get those of `new`: sysctls and route metrics.
    pub(crate) fn reconfigure(&self, old: &Scenario, new: &Scenario) -> Result<(), LabError> {
        for (index, host) in self.hosts.iter().enumerate() {
            let setup = NodeSetup::of(new, index);
            if setup.own == NodeSetup::of(old, index).own {
                continue;
            }
            host.inside(|| setup.apply_own())?;
            self.route(new, index)?;
        }
        Ok(())
    }

    /// Gives the routes of host `index` this congestion control, or none of their own.
    pub(crate) fn set_congctl(
        &mut self,
        scenario: &Scenario,
        index: usize,
        name: Option<&'static str>,
    ) -> Result<(), LabError> {
        if self.hosts[index].congctl == name {
            return Ok(());
        }
        self.hosts[index].congctl = name;
        self.route(scenario, index)
    }

    /// Whether the hosts' sysctls or route metrics differ between the two scenarios.
    pub(crate) fn settings_differ(old: &Scenario, new: &Scenario) -> bool {
        let setups = |scenario: &Scenario| -> Vec<HostSetup> {
            let hosts = 0..=scenario.path.hops.len();
            hosts.map(|index| NodeSetup::of(scenario, index).own).collect()
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

    /// Sets the routes of host `index` to every other host.
    fn route(&self, scenario: &Scenario, index: usize) -> Result<(), LabError> {
        let host = &self.hosts[index];
        let setup = NodeSetup::of(scenario, index);
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
                let mut metrics = setup.metrics_towards(scenario, index, at).to_vec();
                metrics.extend(host.congctl.map(|name| RouteMetric::CcAlgo(name.to_owned())));
                netlink.set_route(to, interface, source, &metrics)?;
            }
            Ok(())
        })
    }

    /// Runs a command in a host.
    ///
    /// # Errors
    /// There is no such host, or the command fails.
    pub(crate) fn command(&self, HostCommand { host, line }: &HostCommand) -> Result<(), LabError> {
        let failed = |error| LabError::Host { host: host.clone(), error };
        let found = self.hosts.iter().find(|known| known.name == *host);
        let found = found.ok_or_else(|| failed(io::Error::from(io::ErrorKind::NotFound)))?;
        // A child is in the namespace of the thread that starts it.
        let output = found.inside(|| Command::new("sh").arg("-c").arg(line).output())?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        Err(failed(io::Error::other(format!("`{line}` failed ({}): {said}", output.status))))
    }

    /// The interfaces of every hop that the relay carries.
    pub(crate) fn tun_pairs(&self) -> &[TunPair] {
        match &self.hops {
            Hops::Relay(pairs) => pairs,
            Hops::Kernel(_) => &[],
        }
    }

    /// Packets that the kernel dropped at full interfaces of the hosts (`/proc/net/dev`), socket buffers
    /// and backlogs.
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

impl Hops {
    /// The interfaces of every hop, down and without addresses.
    fn build(scenario: &Scenario, hosts: &[Host]) -> Result<Self, LabError> {
        let hops = 0..scenario.path.hops.len();
        Ok(match scenario.lab.backend {
            LabBackend::Relay => {
                let pair = |hop| {
                    let name = interface_of(scenario, hop);
                    Ok(TunPair { near: hosts[hop].tun(&name)?, far: hosts[hop + 1].tun(&name)? })
                };
                Self::Relay(hops.map(pair).collect::<Result<_, LabError>>()?)
            }
            LabBackend::Netem => {
                let boxes = |hop| NetemBridge::build(scenario, hop, [&hosts[hop], &hosts[hop + 1]]);
                Self::Kernel(hops.map(boxes).collect::<Result<_, LabError>>()?)
            }
        })
    }
}
