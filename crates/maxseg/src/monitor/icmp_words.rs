//! What ICMP messages are called.

use std::net::SocketAddr;

use maxseg_wire::icmp::{Icmp, Message, Quoted};
use maxseg_wire::ip::{self, protocol};

use super::decode::protocol_name;

/// What a message says, without the packet that it quotes.
pub(super) fn words(message: Message, is_v4: bool) -> String {
    match message {
        Message::EchoRequest { id, seq } => format!("echo request id {id} seq {seq}"),
        Message::EchoReply { id, seq } => format!("echo reply id {id} seq {seq}"),
        Message::TooBig { mtu } => {
            let what = if is_v4 { "fragmentation needed" } else { "packet too big" };
            match mtu {
                0 => format!("{what}, no next-hop MTU"),
                mtu => format!("{what}, MTU {mtu}"),
            }
        }
        Message::Other { kind, code, .. } => match name(kind, code, is_v4) {
            Some(name) => name.to_owned(),
            None => format!("type {kind} code {code}"),
        },
    }
}

/// The MTU of the link that a router advertises, in bytes (RFC 4861 §4.6.4); `None` of other messages.
pub(super) fn advertised_mtu(icmp: &Icmp<'_>, is_v4: bool) -> Option<u32> {
    /// The type of the message, and what lies before its options: two timers of 4 bytes.
    const ROUTER_ADVERTISEMENT: u8 = 134;
    const TIMERS: usize = 8;
    /// The option's type; lengths are in units of 8 bytes.
    const MTU: u8 = 5;
    const UNIT: usize = 8;
    let is_one =
        matches!(icmp.message, Message::Other { kind: ROUTER_ADVERTISEMENT, .. } if !is_v4);
    let mut options = icmp.body.get(TIMERS..).filter(|_| is_one)?;
    while let [kind, units, ..] = *options {
        if let (MTU, Some(&[_, _, _, _, a, b, c, d])) = (kind, options.first_chunk()) {
            return Some(u32::from_be_bytes([a, b, c, d]));
        }
        // One of no length would never end (RFC 4861 §4.6).
        options = options.get(usize::from(units) * UNIT..).filter(|_| units > 0)?;
    }
    None
}

/// IANA's names, shortened.
fn name(kind: u8, code: u8, is_v4: bool) -> Option<&'static str> {
    Some(match (is_v4, kind, code) {
        (true, 3, 0) => "net unreachable",
        (true, 3, 1) => "host unreachable",
        (true, 3, 2) => "protocol unreachable",
        (true, 3, 3) | (false, 1, 4) => "port unreachable",
        (true, 3, 9 | 10 | 13) | (false, 1, 1) => "administratively prohibited",
        (true, 4, _) => "source quench",
        (true, 5, _) | (false, 137, _) => "redirect",
        (true, 11, 0) | (false, 3, 0) => "time exceeded in transit",
        (true, 11, 1) | (false, 3, 1) => "fragment reassembly time exceeded",
        (true, 12, _) | (false, 4, _) => "parameter problem",
        (false, 1, 0) => "no route",
        (false, 1, 3) => "address unreachable",
        (true, 3, _) | (false, 1, _) => "unreachable",
        (false, 130, _) => "multicast listener query",
        (false, 131 | 143, _) => "multicast listener report",
        (false, 133, _) => "router solicitation",
        (false, 134, _) => "router advertisement",
        (false, 135, _) => "neighbour solicitation",
        (false, 136, _) => "neighbour advertisement",
        _ => return None,
    })
}

/// The packet that an error quotes; `None` of other messages.
pub(super) fn quoted<'a>(icmp: &Icmp<'a>, is_v4: bool) -> Option<Quoted<'a>> {
    let is_error = match icmp.message {
        Message::TooBig { .. } => true,
        Message::EchoRequest { .. } | Message::EchoReply { .. } => false,
        Message::Other { kind, .. } if is_v4 => matches!(kind, 3 | 4 | 5 | 11 | 12),
        Message::Other { kind, .. } => kind < 128,
    };
    icmp.quoted().ok().filter(|_| is_error)
}

/// In words, what a message is about: whose packet, and how long it was. `begin` is where its byte numbers begin.
pub(super) fn about(quoted: &Quoted<'_>, begin: u32) -> String {
    let (source, destination) = quoted.packet.ends();
    let name = protocol_name(quoted.packet.protocol);
    let length = length(&quoted.packet);
    match quoted.flow {
        Some(flow) => {
            let source = SocketAddr::new(source, flow.source_port);
            let destination = SocketAddr::new(destination, flow.destination_port);
            let seq = match quoted.packet.protocol {
                protocol::TCP => format!(" seq {}", flow.word.wrapping_sub(begin)),
                _ => String::new(),
            };
            format!("{source} > {destination} {name}{seq} length {length}")
        }
        None => format!("{source} > {destination} {name} length {length}"),
    }
}

/// How long a packet is by its own header; of a quoted one this is all that is known.
pub(super) fn length(packet: &ip::Packet<'_>) -> usize {
    match packet.header {
        ip::Header::V4(header) => header.total_length.into(),
        ip::Header::V6(header) => usize::from(header.payload_length) + 40,
    }
}
