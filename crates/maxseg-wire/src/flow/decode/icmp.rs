//! What ICMP says of segments: too big for a hop, or their destination unreachable.

use std::net::SocketAddr;

use maxseg_core::evidence::{UnreachableCode, UnreachableEvent};
use maxseg_core::units::Time;

use super::{CapturePoint, Decoded, QuotedSegment, TooBig};
use crate::icmp::{Icmp, Message};
use crate::ip::{self, Outline, protocol};

#[cold]
pub(super) fn decode<'a>(seen: CapturePoint, ip: &Outline<'a>) -> Decoded<'a> {
    let ends = (ip.source, ip.destination);
    let Ok(icmp) = Icmp::decode(ip.payload, ip.payload_len as usize, ends) else {
        return Decoded::Other(ip.protocol);
    };
    let is_v4 = ip.source.is_ipv4();
    if is_v4 != (ip.protocol == protocol::ICMP) {
        return Decoded::Other(ip.protocol);
    }
    let (at_nanos, frame, interface) = (seen.at_nanos, seen.frame, seen.interface);
    let (from, to) = ends;
    match icmp.message {
        Message::TooBig { mtu } => Decoded::TooBig(TooBig {
            at_nanos,
            frame,
            interface,
            from,
            to,
            mtu,
            quoted: quoted(&icmp),
        }),
        Message::Other { kind, code, .. } if kind == if is_v4 { 3 } else { 1 } => {
            let quoted = quoted(&icmp).filter(|quoted| quoted.protocol == protocol::TCP);
            quoted.map_or(Decoded::Other(ip.protocol), |quoted| {
                Decoded::Unreachable(UnreachableEvent {
                    at: Time::from_nanos(at_nanos),
                    frame,
                    from,
                    code: UnreachableCode { is_v4, number: code },
                    quoted: (quoted.source, quoted.destination),
                })
            })
        }
        Message::EchoRequest { .. } | Message::EchoReply { .. } | Message::Other { .. } => {
            Decoded::Other(ip.protocol)
        }
    }
}

fn quoted(icmp: &Icmp<'_>) -> Option<QuotedSegment> {
    let quoted = icmp.quoted().ok()?;
    let (source, destination) = quoted.packet.ends();
    let flow = quoted.flow?;
    let ip_len = match quoted.packet.header {
        ip::Header::V4(header) => u32::from(header.total_length),
        ip::Header::V6(header) => u32::from(header.payload_length) + 40,
    };
    Some(QuotedSegment {
        protocol: quoted.packet.protocol,
        source: SocketAddr::new(source, flow.source_port),
        destination: SocketAddr::new(destination, flow.destination_port),
        word: flow.word,
        ip_len,
    })
}
