//! From a packet's bytes to what it says.

use std::net::{IpAddr, SocketAddr};

use maxseg_wire::bpf::Selection;
use maxseg_wire::encapsulation::{Decapsulated, Encapsulation, Undecodable, decapsulate};
use maxseg_wire::icmp::Icmp;
use maxseg_wire::ip::{self, protocol};
use maxseg_wire::tcp::Segment;
use maxseg_wire::udp::Datagram;
use maxseg_wire::{DecodeError, link_type};

use super::arp::Arp;
use super::connections::{Connections, Numbers};
use super::frame;
use super::view::View;

/// A packet with its meaning.
#[derive(Debug)]
pub(crate) struct Decoded<'a> {
    pub(super) vlans: Vec<u16>,
    /// The tunnels and the like around an IP packet.
    pub(super) around: Vec<&'static str>,
    pub(super) content: Content<'a>,
}

/// What a frame carries.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// The innermost packet.
    Ip(ip::Packet<'a>, Transport<'a>),
    Arp(Arp),
    /// An `EtherType`, or what takes its place.
    Other(u16),
    Broken(Undecodable),
}

/// What an IP packet carries.
#[derive(Debug)]
pub(super) enum Transport<'a> {
    Tcp(Segment<'a>, Numbers),
    Udp(Datagram<'a>),
    /// With where the byte numbers of a TCP segment that it quotes begin, if that is known.
    Icmp(Icmp<'a>, Option<u32>),
    /// The middle or the end of something.
    LaterFragment,
    /// Something else, or nothing that this is.
    Other,
    Broken(DecodeError),
}

/// ARP's `EtherType`.
const ARP: u16 = 0x0806;

impl<'a> Decoded<'a> {
    pub(super) fn of(view: &View<'a>, connections: &mut Connections) -> Self {
        let (vlans, body) = match view.link_type {
            link_type::ETHERNET => frame::ethernet(view.bytes),
            _ => (Vec::new(), &[][..]),
        };
        let mut around = Vec::new();
        let content = match decapsulate(view.link_type, view.bytes, view.original_len) {
            Ok(inner) => {
                around.extend(
                    inner
                        .encapsulation
                        .iter()
                        .filter(|header| is_remarkable(*header))
                        .map(Encapsulation::name),
                );
                Content::of_ip(&inner, connections)
            }
            Err(Undecodable::NotIp(ARP)) => Arp::of(body).map_or(Content::Other(ARP), Content::Arp),
            Err(Undecodable::NotIp(kind)) => Content::Other(kind),
            Err(other) => Content::Broken(other),
        };
        Self { vlans, around, content }
    }

    /// Whether it is asked for: an IP packet by itself, ARP by the hosts that it is about, and nothing else where
    /// anything is asked for.
    pub(crate) fn passes(&self, selection: &Selection) -> bool {
        match &self.content {
            Content::Ip(packet, _) => selection.passes(packet),
            Content::Arp(arp) => selection.passes_arp(arp.sender, arp.target),
            Content::Other(_) | Content::Broken(_) => selection.is_everything(),
        }
    }
}

/// Whether a header around a packet is worth a word: a link's own is not.
fn is_remarkable(header: Encapsulation) -> bool {
    use Encapsulation::{Mpls, Pppoe, Pseudowire};
    header.is_tunnel() || matches!(header, Mpls | Pppoe | Pseudowire)
}

impl<'a> Content<'a> {
    fn of_ip(inner: &Decapsulated<'a>, connections: &mut Connections) -> Self {
        let whole = usize::try_from(inner.wire_len).unwrap_or(usize::MAX);
        match ip::Packet::decode(inner.bytes, whole) {
            Ok(packet) => {
                let transport = Transport::of(&packet, connections);
                Self::Ip(packet, transport)
            }
            Err(error) => Self::Broken(error.into()),
        }
    }
}

impl<'a> Transport<'a> {
    fn of(packet: &ip::Packet<'a>, connections: &mut Connections) -> Self {
        if packet.fragment.is_some_and(|fragment| fragment.offset > 0) {
            return Self::LaterFragment;
        }
        let ends = packet.ends();
        let decoded = match (packet.protocol, ends.0) {
            (protocol::TCP, _) => Segment::decode(packet.payload, packet.payload_len, ends)
                .map(|segment| Self::of_tcp(segment, ends, connections)),
            (protocol::UDP, _) => Datagram::decode(packet.payload, ends).map(Self::Udp),
            (protocol::ICMP, IpAddr::V4(_)) | (protocol::ICMPV6, IpAddr::V6(_)) => {
                Icmp::decode(packet.payload, packet.payload_len, ends)
                    .map(|icmp| Self::of_icmp(icmp, connections))
            }
            _ => Ok(Self::Other),
        };
        decoded.unwrap_or_else(Self::Broken)
    }

    fn of_tcp(segment: Segment<'a>, ends: (IpAddr, IpAddr), connections: &mut Connections) -> Self {
        let source = SocketAddr::new(ends.0, segment.header.source_port);
        let destination = SocketAddr::new(ends.1, segment.header.destination_port);
        let numbers = connections.read(source, destination, &segment);
        Self::Tcp(segment, numbers)
    }

    fn of_icmp(icmp: Icmp<'a>, connections: &Connections) -> Self {
        let begin = icmp.quoted().ok().and_then(|quoted| {
            let flow = quoted.flow.filter(|_| quoted.packet.protocol == protocol::TCP)?;
            let (source, destination) = quoted.packet.ends();
            connections.begin(
                SocketAddr::new(source, flow.source_port),
                SocketAddr::new(destination, flow.destination_port),
            )
        });
        Self::Icmp(icmp, begin)
    }

    /// Source and destination port, where there are any.
    pub(super) fn ports(&self) -> Option<(u16, u16)> {
        match self {
            Self::Tcp(segment, _) => {
                Some((segment.header.source_port, segment.header.destination_port))
            }
            Self::Udp(datagram) => {
                Some((datagram.header.source_port, datagram.header.destination_port))
            }
            Self::Icmp(..) | Self::LaterFragment | Self::Other | Self::Broken(_) => None,
        }
    }
}

/// The name of a protocol of IP; of the less known its number.
pub(super) fn protocol_name(number: u8) -> String {
    let name = match number {
        protocol::ICMP => "ICMP",
        2 => "IGMP",
        4 => "IPIP",
        protocol::TCP => "TCP",
        protocol::UDP => "UDP",
        41 => "IPv6",
        47 => "GRE",
        50 => "ESP",
        51 => "AH",
        protocol::ICMPV6 => "ICMPv6",
        89 => "OSPF",
        132 => "SCTP",
        other => return format!("protocol {other}"),
    };
    name.to_owned()
}
