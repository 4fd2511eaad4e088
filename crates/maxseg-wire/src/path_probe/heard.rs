//! What an interface hears of a connection: its segments, and what routers say of them.

use std::net::{IpAddr, SocketAddr};

use crate::Checksum;
use crate::icmp::{Icmp, Message};
use crate::ip::{Header, Packet, protocol};
use crate::options::{SackBlock, TcpOption, walk};
use crate::tcp::{Segment, Tcp};

/// Something that concerns the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A segment of this host's.
    Ours(HeardSegment),
    /// A segment of the far end's.
    Theirs(HeardSegment),
    /// A router, or the far end, says something of a packet of this host's.
    Router {
        /// Who.
        from: IpAddr,
        /// What.
        message: RouterMessage,
        /// Of which packet.
        quote: Quote,
    },
}

/// A segment without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeardSegment {
    /// Its header.
    pub tcp: Tcp,
    /// Bytes of payload.
    pub payload_len: usize,
    /// The MSS option.
    pub mss: Option<u16>,
    /// Whether it permits SACK.
    pub sack_permitted: bool,
    /// `TSval` and `TSecr`.
    pub timestamps: Option<(u32, u32)>,
    /// The first block of SACK: where bytes came again, these (RFC 2883 §4).
    pub first_sack: Option<SackBlock>,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// IPv6's flow label; 0 in IPv4.
    pub flow_label: u32,
}

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouterMessage {
    /// The packet is too big for the next link.
    TooBig {
        /// That link's MTU; 0 of an IPv4 router that does not say.
        mtu: u32,
    },
    /// Its TTL or hop limit came to its end.
    HopLimit,
    /// It cannot be delivered: the code of the message.
    Unreachable(u8),
}

/// The packet that a message quotes, as far as it is needed to tell which it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// The port of this host's end.
    pub port: u16,
    /// The number of the first byte.
    pub seq: u32,
    /// Bytes of the packet, as its header says.
    pub size: usize,
}

/// What a packet, which begins with its IP header, says of the connections between this host's address and `far`; `None` for
/// nothing. A message with a wrong checksum says nothing.
pub fn hear(packet: &[u8], local: IpAddr, far: SocketAddr) -> Option<Heard> {
    let packet = Packet::decode(packet, packet.len()).ok()?;
    if packet.fragment.is_some() {
        return None;
    }
    let (source, destination) = packet.ends();
    match packet.protocol {
        protocol::TCP => {
            let segment =
                Segment::decode(packet.payload, packet.payload_len, packet.ends()).ok()?;
            let heard = of_segment(&segment, &packet.header);
            let ports = (segment.header.source_port, segment.header.destination_port);
            let is_ours = (source, destination) == (local, far.ip()) && ports.1 == far.port();
            let is_theirs = (source, destination) == (far.ip(), local) && ports.0 == far.port();
            // Checksums say nothing here: the network card fills them in later, and between interfaces of one host nobody does.
            match (is_ours, is_theirs) {
                (true, _) => Some(Heard::Ours(heard)),
                (false, true) => Some(Heard::Theirs(heard)),
                (false, false) => None,
            }
        }
        protocol::ICMP | protocol::ICMPV6 if destination == local => {
            let icmp = Icmp::decode(packet.payload, packet.payload_len, packet.ends()).ok()?;
            let message = message_of(icmp.message, source.is_ipv6())?;
            let quote = quote_of(&icmp, local, far).filter(|_| icmp.checksum == Checksum::Good)?;
            Some(Heard::Router { from: source, message, quote })
        }
        _ => None,
    }
}

fn of_segment(segment: &Segment<'_>, header: &Header) -> HeardSegment {
    let (hop_limit, flow_label) = match header {
        Header::V4(header) => (header.ttl, 0),
        Header::V6(header) => (header.hop_limit, header.flow_label),
    };
    let mut heard = HeardSegment {
        tcp: segment.header,
        payload_len: segment.payload_len,
        mss: None,
        sack_permitted: false,
        timestamps: None,
        first_sack: None,
        hop_limit,
        flow_label,
    };
    for option in walk(segment.options).values() {
        match option {
            TcpOption::Mss(mss) => heard.mss = Some(mss),
            TcpOption::SackPermitted => heard.sack_permitted = true,
            TcpOption::Timestamps { value, echo } => heard.timestamps = Some((value, echo)),
            TcpOption::Sack(blocks) => heard.first_sack = blocks.iter().next(),
            TcpOption::NoOperation
            | TcpOption::WindowScale(_)
            | TcpOption::FastOpen(_)
            | TcpOption::Md5(_)
            | TcpOption::Ao { .. }
            | TcpOption::Other { .. } => {}
        }
    }
    heard
}

/// Types of messages: RFC 792, RFC 4443 §3.
fn message_of(message: Message, is_v6: bool) -> Option<RouterMessage> {
    match (message, is_v6) {
        (Message::TooBig { mtu }, _) => Some(RouterMessage::TooBig { mtu }),
        (Message::Other { kind: 11, code: 0, .. }, false)
        | (Message::Other { kind: 3, code: 0, .. }, true) => Some(RouterMessage::HopLimit),
        (Message::Other { kind: 3, code, .. }, false)
        | (Message::Other { kind: 1, code, .. }, true) => Some(RouterMessage::Unreachable(code)),
        _ => None,
    }
}

fn quote_of(icmp: &Icmp<'_>, local: IpAddr, far: SocketAddr) -> Option<Quote> {
    let quoted = icmp.quoted().ok()?;
    let flow = quoted.flow.filter(|_| quoted.packet.protocol == protocol::TCP)?;
    let is_ours = quoted.packet.ends() == (local, far.ip()) && flow.destination_port == far.port();
    let header = match quoted.packet.header {
        Header::V4(header) => usize::from(header.total_length),
        Header::V6(header) => usize::from(header.payload_length) + 40,
    };
    is_ours.then_some(Quote { port: flow.source_port, seq: flow.word, size: header })
}
