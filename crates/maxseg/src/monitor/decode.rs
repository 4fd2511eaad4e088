//! From a packet's bytes to what it says.

use std::net::{IpAddr, SocketAddr};

use maxseg_linux::observe::capture::Sighting;
use maxseg_wire::DecodeError;
use maxseg_wire::icmp::Icmp;
use maxseg_wire::ip::{self, protocol};
use maxseg_wire::tcp::Segment;
use maxseg_wire::udp::Datagram;

use super::arp::Arp;
use super::connections::{Connections, Numbers};
use super::frame::Frame;

/// A packet with its meaning.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) vlans: Vec<u16>,
    pub(super) content: Content<'a>,
}

/// What a frame carries.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Ip(ip::Packet<'a>, Transport<'a>),
    Arp(Arp),
    /// An `EtherType` or, below 1536, a length; and how many bytes follow.
    Other(Option<u16>, usize),
    /// It begins as an IP packet, and is none.
    Broken(DecodeError),
}

/// What an IP packet carries.
#[derive(Debug)]
pub(super) enum Transport<'a> {
    Tcp(Segment<'a>, Numbers),
    Udp(Datagram<'a>),
    Icmp(Icmp<'a>),
    /// The middle or the end of something.
    LaterFragment,
    /// Something else, or nothing that this is.
    Other,
    Broken(DecodeError),
}

impl<'a> Decoded<'a> {
    pub(super) fn of(sighting: &Sighting<'a>, connections: &mut Connections) -> Self {
        let Frame { vlans, ether_type, body, body_len } = Frame::of(sighting);
        let content = match ether_type {
            None if body.is_empty() => Content::Other(None, body_len),
            None | Some(0x0800 | 0x86dd) => match ip::Packet::decode(body, body_len) {
                Ok(packet) => {
                    let transport = Transport::of(&packet, connections);
                    Content::Ip(packet, transport)
                }
                Err(error) => Content::Broken(error),
            },
            Some(0x0806) => Arp::of(body)
                .map_or(Content::Other(ether_type, body_len), Content::Arp),
            Some(_) => Content::Other(ether_type, body_len),
        };
        Self { vlans, content }
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
                Icmp::decode(packet.payload, packet.payload_len, ends).map(Self::Icmp)
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

    /// Source and destination port, where there are any.
    pub(super) fn ports(&self) -> Option<(u16, u16)> {
        match self {
            Self::Tcp(segment, _) => {
                Some((segment.header.source_port, segment.header.destination_port))
            }
            Self::Udp(datagram) => {
                Some((datagram.header.source_port, datagram.header.destination_port))
            }
            Self::Icmp(_) | Self::LaterFragment | Self::Other | Self::Broken(_) => None,
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
