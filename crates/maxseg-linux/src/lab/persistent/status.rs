//! The status of a lab: hosts, interfaces and link counters.

use std::net::IpAddr;

use maxseg_core::outcome::{LabLink, Lateness};
use maxseg_core::path::HopSpec;
use maxseg_core::scenario::{End, Scenario};
use serde::{Deserialize, Serialize};

use crate::lab::host::Host;
use crate::lab::network::Network;
use crate::lab::relay::{LatenessMeter, Report};
use crate::lab::tally;
use crate::lab::topology::{Side, address, host_of, interface_of, link_name};
use crate::netlink::Netlink;

/// The status of a lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabStatus {
    /// The lab's name.
    pub name: String,
    /// The scenario's name.
    pub scenario: String,
    /// The lab's process ID.
    pub process: u32,
    /// Time since `lab up`, in seconds.
    pub up_s: f64,
    /// The hosts, from the sender to the receiver.
    pub hosts: Vec<StatusHost>,
    /// The counters of each link in the order of the path, towards the receiver, then towards the sender.
    pub links: Vec<LabLink>,
    /// Lateness of the packets of all links.
    pub lateness: Lateness,
    /// Packets that the kernel dropped before or after a link.
    pub kernel_drops: u64,
    /// CPU time of the relay threads, in seconds.
    pub relay_cpu_s: f64,
    /// Settings that this kernel did not apply.
    pub notes: Vec<String>,
}

/// A host or a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusHost {
    /// Its name.
    pub host: String,
    /// From the sender's side to the receiver's.
    pub interfaces: Vec<StatusInterface>,
}

/// An interface, and the link over which it sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusInterface {
    /// Its name.
    pub interface: String,
    /// Its address.
    pub address: IpAddr,
    /// Its MTU, as the kernel has it now.
    pub mtu: u16,
    /// The link: `hop.NAME`, or `hop.NAME.reverse` towards the sender.
    pub link: String,
    /// The host at the link's far end.
    pub towards: String,
}

/// The hosts with their interfaces.
pub(super) fn hosts(scenario: &Scenario, network: &Network) -> Vec<StatusHost> {
    let hops = &scenario.path.hops;
    let of_host = |(index, host): (usize, &Host)| {
        let back = index.checked_sub(1).map(|hop| (hop, Side::Far));
        let onward = (index < hops.len()).then_some((index, Side::Near));
        let plugs = back.into_iter().chain(onward);
        let interfaces = plugs.map(|plug| interface(scenario, network, plug)).collect();
        StatusHost { host: host.name.clone(), interfaces }
    };
    network.hosts.iter().enumerate().map(of_host).collect()
}

fn interface(
    scenario: &Scenario,
    network: &Network,
    (hop, side): (usize, Side),
) -> StatusInterface {
    let hops = &scenario.path.hops;
    let name = interface_of(scenario, hop);
    // Somebody may have changed it inside the host.
    let mtu = network.hosts[host_of(hop, side)].namespace.run(|| Netlink::mtu_of(&name)).ok();
    let (spec, to, far) = match side {
        Side::Near => (&hops[hop].forward, End::Receiver, hop + 1),
        Side::Far => (&hops[hop].reverse, End::Sender, hop),
    };
    StatusInterface {
        interface: name,
        address: address(scenario.ip, hop, side),
        mtu: mtu.and_then(|mtu| u16::try_from(mtu).ok()).unwrap_or(spec.mtu.get()),
        link: link_name(&hops[hop].name, to),
        towards: network.hosts[far].name.clone(),
    }
}

/// The counters of the links, without expected losses: the errors may have changed before.
pub(super) fn links(scenario: &Scenario, reports: &[[Report; 2]]) -> Vec<LabLink> {
    let specs = scenario.path.hops.iter().flat_map(HopSpec::links);
    let links = reports.iter().flatten().zip(specs);
    links
        .map(|(report, spec)| LabLink { damaged_expected: None, ..tally::link(report, spec) })
        .collect()
}

/// Lateness of the packets of all links.
pub(super) fn lateness(reports: &[[Report; 2]]) -> Lateness {
    let mut lateness = LatenessMeter::default();
    reports.iter().flatten().for_each(|report| lateness.merge(&report.lateness));
    lateness.outcome()
}

/// Variables for a program in host `index`: its own name, and every host's address.
pub(super) fn environment(
    scenario: &Scenario,
    network: &Network,
    index: usize,
) -> impl Iterator<Item = (String, String)> {
    let here = network.hosts[index].name.clone();
    let variable = |(name, address): (String, IpAddr)| {
        (format!("MAXSEG_{}_ADDRESS", name.to_uppercase()), address.to_string())
    };
    std::iter::once(("MAXSEG_HOST".to_owned(), here))
        .chain(names(scenario, network, index).map(variable))
}

/// Every host's name with the address at which host `index` reaches it.
pub(super) fn names(
    scenario: &Scenario,
    network: &Network,
    index: usize,
) -> impl Iterator<Item = (String, IpAddr)> {
    let reach = move |(other, host): (usize, &Host)| {
        // The nearest of its addresses; of this host's own the one towards the receiver, where it has one.
        let is_last = other == network.hosts.len() - 1;
        let near = if other < index || (other == index && !is_last) {
            address(scenario.ip, other, Side::Near)
        } else {
            address(scenario.ip, other - 1, Side::Far)
        };
        (host.name.clone(), near)
    };
    network.hosts.iter().enumerate().map(reach)
}
