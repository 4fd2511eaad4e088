//! What routes and interfaces are set to.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of many messages and attributes, few matter to TCP"
)]

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Netlink, dumped, end_of_list, interrupted, of_family, of_one};

/// A route, as far as TCP goes by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RouteFacts {
    /// Index of the interface that it leads through; of several next hops the first.
    pub(crate) interface: Option<u32>,
    /// What the route sets (`RTA_METRICS`).
    pub(crate) metrics: Vec<RouteMetric>,
    /// Whether it is IPv6's.
    pub(crate) is_v6: bool,
    /// The less, the more the kernel prefers it (`RTA_PRIORITY`).
    preference: u32,
}

/// An interface, as far as TCP goes by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct InterfaceFacts {
    /// Its name.
    pub(crate) name: String,
    /// Its MTU in bytes.
    pub(crate) mtu: Option<u32>,
    /// Its root queueing discipline.
    pub(crate) qdisc: Option<String>,
    /// What it is, as `veth`, `wireguard` or `vxlan`; `None` of hardware.
    pub(crate) kind: Option<String>,
    /// Whether it is brought up.
    pub(crate) is_up: bool,
}

impl Netlink {
    /// The default route, IPv4's before IPv6's; of several the one that the kernel prefers.
    pub(crate) fn default_route(&mut self) -> io::Result<Option<RouteFacts>> {
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut message = RouteMessage::default();
            message.header.address_family = family;
            let routes = match self.answers(RouteNetlinkMessage::GetRoute(message), NLM_F_DUMP) {
                // A kernel without IPv6 has no routes of it.
                Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => continue,
                other => other?,
            };
            let defaults = routes.iter().filter_map(|answer| match answer {
                RouteNetlinkMessage::NewRoute(route) if is_default(route) => Some(facts_of(route)),
                _ => None,
            });
            if let Some(preferred) = defaults.min_by_key(|route| route.preference) {
                return Ok(Some(preferred));
            }
        }
        Ok(None)
    }

    /// The route that packets to `address` take (`ip route get ADDRESS`).
    pub(crate) fn route_to(
        &mut self,
        address: IpAddr,
        interface: Option<u32>,
    ) -> io::Result<RouteFacts> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) = of_one(address);
        message.attributes = vec![RouteAttribute::Destination(of_family(address))];
        message.attributes.extend(interface.map(RouteAttribute::Oif));
        let answers = self.answers(RouteNetlinkMessage::GetRoute(message), 0)?;
        let route = answers.iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => Some(facts_of(route)),
            _ => None,
        });
        route.ok_or_else(|| io::Error::other("the kernel answered without a route"))
    }

    /// The interface with this index (`ip link show`).
    pub(crate) fn interface_facts(&mut self, index: u32) -> io::Result<InterfaceFacts> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        let mut facts = InterfaceFacts::default();
        for answer in self.answers(RouteNetlinkMessage::GetLink(message), 0)? {
            let RouteNetlinkMessage::NewLink(link) = answer else { continue };
            facts.is_up = link.header.flags.contains(LinkFlags::Up);
            for attribute in link.attributes {
                match attribute {
                    LinkAttribute::IfName(name) => facts.name = name,
                    LinkAttribute::Mtu(mtu) => facts.mtu = Some(mtu),
                    LinkAttribute::Qdisc(qdisc) => facts.qdisc = Some(qdisc),
                    LinkAttribute::LinkInfo(infos) => facts.kind = kind_of(&infos),
                    _ => {}
                }
            }
        }
        Ok(facts)
    }

    /// Sends a question and collects what is answered: one message, or all of a dump.
    pub(super) fn answers(
        &mut self,
        question: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        let mut message = NetlinkMessage::from(question);
        message.header.flags = NLM_F_REQUEST | flags;
        dumped(|| self.answered(&mut message))
    }

    fn answered(
        &mut self,
        message: &mut NetlinkMessage<RouteNetlinkMessage>,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.sequence += 1;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut answers = Vec::new();
        let mut is_whole = true;
        loop {
            let (datagram, _) = self.socket.recv_from_full()?;
            let mut rest = &datagram[..];
            while !rest.is_empty() {
                let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(|error| io::Error::other(error.to_string()))?;
                let length = (answer.header.length as usize).next_multiple_of(4);
                rest = rest.get(length.max(4)..).unwrap_or_default();
                if answer.header.sequence_number != self.sequence {
                    continue; // a reply to an earlier request
                }
                is_whole &= answer.header.flags & NLM_F_DUMP_INTR == 0;
                match answer.payload {
                    NetlinkPayload::Done(_) if !is_whole => return Err(interrupted()),
                    NetlinkPayload::Done(done) => return end_of_list(done.code).map(|()| answers),
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        return Err(error.to_io());
                    }
                    NetlinkPayload::InnerMessage(inner) => answers.push(inner),
                    _ => {}
                }
            }
            if message.header.flags & NLM_F_DUMP == 0 && !answers.is_empty() {
                return Ok(answers);
            }
        }
    }
}

/// What an interface is, as `vlan`; `None` of hardware.
pub(super) fn kind_of(infos: &[LinkInfo]) -> Option<String> {
    infos.iter().find_map(|info| match info {
        LinkInfo::Kind(kind) => Some(kind.to_string()),
        _ => None,
    })
}

/// Whether it is a default route of the main table that leads somewhere.
fn is_default(route: &RouteMessage) -> bool {
    route.header.destination_prefix_length == 0
        && route.header.table == RouteHeader::RT_TABLE_MAIN
        && route.header.kind == RouteType::Unicast
}

fn facts_of(route: &RouteMessage) -> RouteFacts {
    let is_v6 = route.header.address_family == AddressFamily::Inet6;
    let mut facts = RouteFacts { is_v6, ..RouteFacts::default() };
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => facts.interface = Some(*index),
            RouteAttribute::Metrics(metrics) => facts.metrics.clone_from(metrics),
            RouteAttribute::Priority(priority) => facts.preference = *priority,
            RouteAttribute::MultiPath(hops) => {
                facts.interface =
                    facts.interface.or_else(|| hops.first().map(|hop| hop.interface_index));
            }
            _ => {}
        }
    }
    facts
}
