//! Where packets are seen, and whose addresses they carry.
//!
//! ```text
//! sender ─ hop 0 ─ router ─ hop 1 ─ router ─ hop 2 ─ receiver
//! .0.1             .2.254           .3.254           .0.2          of 10.0.0.0/8
//! ```
//! A flow over a part of the path has hosts of its own at the routers between which it runs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use maxseg_core::framing::IpVersion;
use maxseg_core::path::HopSpec;
use maxseg_core::scenario::{End, Host, Scenario};
use maxseg_core::sim::{CapturePoint, PacketForm, Sighting};

/// The points of a path, and who is there.
#[derive(Debug)]
pub(super) struct Places {
    ip: IpVersion,
    hops: Vec<String>,
    /// The hosts of each flow: at its sender's end, and at its receiver's.
    flows: Vec<[Host; 2]>,
    /// Hosts that are not the path's own.
    others: Vec<Host>,
}

impl Places {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let flows = scenario.flows.iter();
        let flows =
            flows.map(|flow| [End::Sender, End::Receiver].map(|end| scenario.host(flow, end)));
        let flows: Vec<[Host; 2]> = flows.collect();
        let hops: Vec<String> = scenario.path.hops.iter().map(HopSpec::label).collect();
        let mut others: Vec<Host> = Vec::new();
        for host in flows.iter().flatten() {
            if !is_of_path(*host, hops.len()) && !others.contains(host) {
                others.push(*host);
            }
        }
        Self { ip: scenario.ip, hops, flows, others }
    }

    /// What each interface is called and what it is, in the order of their numbers.
    pub(super) fn interfaces(&self, path: &[HopSpec]) -> Vec<(String, String)> {
        let host = |name: &str| (name.to_owned(), format!("at the {name}"));
        let hops =
            self.hops.iter().zip(path).map(|(name, hop)| (name.clone(), describe(name, hop)));
        let others = self.others.iter().map(|host| {
            let hop = &self.hops[host.hop];
            match host.end {
                End::Sender => {
                    (format!("sender.{hop}"), format!("at a sender whose first hop is {hop}"))
                }
                End::Receiver => {
                    (format!("receiver.{hop}"), format!("at a receiver whose last hop is {hop}"))
                }
            }
        });
        std::iter::once(host("sender"))
            .chain(hops)
            .chain([host("receiver")])
            .chain(others)
            .collect()
    }

    /// The number of the interface at which something is seen.
    pub(super) fn interface(&self, seen: &Sighting) -> usize {
        match seen.point {
            CapturePoint::Hop(hop) => hop + 1,
            CapturePoint::Host(end) => {
                let host = self.host(seen.packet.flow, end);
                match self.others.iter().position(|other| *other == host) {
                    Some(place) => self.hops.len() + 2 + place,
                    None if end == End::Sender => 0,
                    None => self.hops.len() + 1,
                }
            }
        }
    }

    /// Source and destination of what is seen.
    pub(super) fn ends(&self, seen: &Sighting) -> (IpAddr, IpAddr) {
        let (source, destination) = self.ends_of_packet(seen);
        match seen.form {
            PacketForm::Whole | PacketForm::Fragment(_) => (source, destination),
            PacketForm::TooBig { hop, .. } => (self.router(seen, hop).unwrap_or(source), source),
        }
    }

    /// Source and destination of the packet that is seen, or quoted.
    pub(super) fn ends_of_packet(&self, seen: &Sighting) -> (IpAddr, IpAddr) {
        let at = |end| self.address(self.host(seen.packet.flow, end));
        (at(seen.packet.from), at(seen.packet.from.other()))
    }

    /// How many routers have passed on what is seen.
    pub(super) fn routers_passed(&self, seen: &Sighting) -> usize {
        let origin = self.host(seen.packet.flow, seen.packet.from).hop;
        match (seen.point, seen.form) {
            (CapturePoint::Hop(here), PacketForm::TooBig { hop, .. }) => between(hop, here),
            (CapturePoint::Host(_), PacketForm::TooBig { hop, .. }) => between(hop, origin),
            (CapturePoint::Hop(here), _) => here.abs_diff(origin),
            (CapturePoint::Host(end), _) => self.host(seen.packet.flow, end).hop.abs_diff(origin),
        }
    }

    /// How many had passed on the packet that `hop` refused.
    pub(super) fn routers_passed_before(&self, seen: &Sighting, hop: usize) -> usize {
        between(hop, self.host(seen.packet.flow, seen.packet.from).hop)
    }

    fn host(&self, flow: usize, end: End) -> Host {
        let [sender, receiver] = self.flows[flow];
        match end {
            End::Sender => sender,
            End::Receiver => receiver,
        }
    }

    /// Who stands where packets from this side enter a hop; `None` for their own host.
    fn router(&self, seen: &Sighting, hop: usize) -> Option<IpAddr> {
        let host = self.host(seen.packet.flow, seen.packet.from);
        let in_front_of = match seen.packet.from {
            End::Sender => hop,
            End::Receiver => hop + 1,
        };
        (host.hop != hop).then(|| self.at_place(in_front_of + 1, 254))
    }

    fn address(&self, host: Host) -> IpAddr {
        let place = if is_of_path(host, self.hops.len()) { 0 } else { host.hop + 1 };
        self.at_place(place, if host.end == End::Sender { 1 } else { 2 })
    }

    /// Of more than 65 536 places some share their addresses.
    fn at_place(&self, place: usize, who: u8) -> IpAddr {
        let place = u16::try_from(place % (usize::from(u16::MAX) + 1)).unwrap_or(0);
        let [high, low] = place.to_be_bytes();
        match self.ip {
            IpVersion::V4 => Ipv4Addr::new(10, high, low, who).into(),
            IpVersion::V6 => Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, place, who.into()).into(),
        }
    }
}

/// Whether a host is the path's sender or receiver.
const fn is_of_path(host: Host, hops: usize) -> bool {
    match host.end {
        End::Sender => host.hop == 0,
        End::Receiver => host.hop + 1 == hops,
    }
}

/// Routers strictly between two hops' links, one of which is at the news's origin.
const fn between(origin: usize, here: usize) -> usize {
    origin.abs_diff(here).saturating_sub(1)
}

fn describe(name: &str, hop: &HopSpec) -> String {
    let link = |link: &maxseg_core::path::LinkSpec| format!("{}, {}", link.rate, link.delay);
    let (forward, reverse) = (link(&hop.forward), link(&hop.reverse));
    let back = if forward == reverse { String::new() } else { format!("; back: {reverse}") };
    format!("where packets enter the link {name}: {forward}{back}")
}
