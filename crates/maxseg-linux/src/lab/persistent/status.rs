//! How a lab is: who is where, and what the links did.

use std::net::IpAddr;

use maxseg_core::outcome::{LabLink, Lateness};
use maxseg_core::path::HopSpec;
use maxseg_core::scenario::{End, Scenario};
use serde::{Deserialize, Serialize};

use crate::lab::host::Host;
use crate::lab::network::Network;
use crate::lab::relay::{LatenessMeter, Report};
use crate::lab::tally;
use crate::lab::topology::{Side, address, interface_of, link_name};

/// How a lab is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabStatus {
    /// What it is called.
    pub name: String,
    /// What its scenario is called.
    pub scenario: String,
    /// The process that it lives in.
    pub process: u32,
    /// For how long, in seconds.
    pub up_s: f64,
    /// Who there is, from the sender to the receiver.
    pub hosts: Vec<StatusHost>,
    /// What each link did, in the order of the path, each towards the receiver and back.
    pub links: Vec<LabLink>,
    /// How late packets left, all links together.
    pub lateness: Lateness,
    /// Packets that the kernel dropped before or behind a link.
    pub kernel_drops: u64,
    /// CPU time of the links' threads, in seconds.
    pub relay_cpu_s: f64,
    /// What this kernel did otherwise than asked.
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

/// An interface, and the link that takes what it sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusInterface {
    /// Its name.
    pub interface: String,
    /// Its address.
    pub address: IpAddr,
    /// Its MTU.
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
    let (spec, to, far) = match side {
        Side::Near => (&hops[hop].forward, End::Receiver, hop + 1),
        Side::Far => (&hops[hop].reverse, End::Sender, hop),
    };
    StatusInterface {
        interface: interface_of(scenario, hop),
        address: address(scenario.ip, hop, side),
        mtu: spec.mtu.get(),
        link: link_name(&hops[hop].name, to),
        towards: network.hosts[far].name.clone(),
    }
}

/// What the links did. What is to be expected of their errors is left out: they may have been others before.
pub(super) fn links(scenario: &Scenario, reports: &[[Report; 2]]) -> Vec<LabLink> {
    let specs = scenario.path.hops.iter().flat_map(HopSpec::links);
    let links = reports.iter().flatten().zip(specs);
    links
        .map(|(report, spec)| LabLink { damaged_expected: None, ..tally::link(report, spec) })
        .collect()
}

/// How late they were, all together.
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
