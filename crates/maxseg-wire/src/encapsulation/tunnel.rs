//! Packets within packets.

use super::header::{Decapsulated, Next, Rest};
use super::link::{self, ethertype, outermost};
use super::path::{Encapsulation, Undecodable};
use crate::ip::{Outline, protocol};

/// UDP ports of tunnels (IANA; VXLAN had 8472 in Linux before it had one).
mod port {
    pub(super) const GTP_U: u16 = 2152;
    pub(super) const VXLAN: u16 = 4789;
    pub(super) const VXLAN_GPE: u16 = 4790;
    pub(super) const GENEVE: u16 = 6081;
    pub(super) const VXLAN_LINUX: u16 = 8472;
}

/// Whether a packet could hold another.
#[inline]
pub(super) const fn may_hold(ip: &Outline<'_>) -> bool {
    !matches!(ip.protocol, protocol::TCP | protocol::ICMP | protocol::ICMPV6)
}

/// The packet within a packet; `None` if it holds none, or none that can be followed.
pub(super) fn inside<'a>(outer: &Decapsulated<'a>) -> Option<Decapsulated<'a>> {
    // The parts of a packet hold a tunnel's header once, and only together the packet in it.
    if outer.ip.fragment.is_some() {
        return None;
    }
    let mut rest = Rest {
        bytes: outer.ip.payload,
        wire_len: outer.ip.payload_len,
        overhead: outer.overhead.saturating_add(outer.ip.header_len()),
        encapsulation: outer.encapsulation,
    };
    let next = of_protocol(outer.ip.protocol, &mut rest).ok().flatten()?;
    outermost(next, rest).ok()
}

/// Passes the header of a tunnel; `None` if the protocol is none.
fn of_protocol(number: u8, rest: &mut Rest<'_>) -> Result<Option<Next>, Undecodable> {
    match number {
        protocol::IPV4 | protocol::IPV6 => {
            rest.push(Encapsulation::IpInIp)?;
            Ok(Some(Next::Ip))
        }
        protocol::GRE => gre(rest).map(Some),
        protocol::MPLS => link::labels(rest).map(Some),
        protocol::UDP => udp(rest),
        _ => Ok(None),
    }
}

/// GRE (RFC 2784, 2890), and version 1 of it, which PPTP uses (RFC 2637).
fn gre(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    rest.push(Encapsulation::Gre)?;
    let [f0, f1, p0, p1] = *rest.take::<4>()?;
    let (flags, carried) = (u16::from_be_bytes([f0, f1]), u16::from_be_bytes([p0, p1]));
    let version = flags & 7;
    if flags & ROUTING != 0 || version > 1 {
        return Err(Undecodable::NotIp(carried));
    }
    let acknowledgement = if version == 1 { ACKNOWLEDGEMENT } else { 0 };
    for option in [CHECKSUM, KEY, SEQUENCE, acknowledgement] {
        if flags & option != 0 {
            rest.skip(4)?;
        }
    }
    match carried {
        ethertype::ERSPAN => {
            rest.push(Encapsulation::Erspan)?;
            // Type I has neither a sequence number nor a header.
            rest.skip(if flags & SEQUENCE == 0 { 0 } else { 8 })?;
            Ok(Next::Ethernet)
        }
        ethertype::ERSPAN_III => {
            rest.push(Encapsulation::Erspan)?;
            let [.., last] = *rest.take::<12>()?;
            rest.skip(if last & 1 == 0 { 0 } else { 8 })?;
            Ok(Next::Ethernet)
        }
        length if length < ethertype::LEAST => Err(Undecodable::NotIp(length)),
        other => Ok(Next::Ethertype(other)),
    }
}

fn udp(rest: &mut Rest<'_>) -> Result<Option<Next>, Undecodable> {
    let [s0, s1, d0, d1, l0, l1, _, _] = *rest.take::<8>()?;
    let (source, destination) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
    let length = u16::from_be_bytes([l0, l1]);
    // 0 is the network card's to fill in.
    if let Some(payload_len) = u32::from(length).checked_sub(8) {
        rest.wire_len = rest.wire_len.min(payload_len);
        rest.bytes = rest.bytes.get(..rest.wire_len as usize).unwrap_or(rest.bytes);
    }
    match destination {
        port::VXLAN | port::VXLAN_LINUX | port::VXLAN_GPE => vxlan(destination, rest).map(Some),
        port::GENEVE => geneve(rest).map(Some),
        port::GTP_U => gtp(rest).map(Some),
        _ if source == port::GTP_U => gtp(rest).map(Some),
        _ => Ok(None),
    }
}

/// VXLAN (RFC 7348), and its generic protocol extension (draft-ietf-nvo3-vxlan-gpe), which says what it
/// carries.
fn vxlan(port: u16, rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    /// A network is named.
    const INSTANCE: u8 = 0x08;
    /// The protocol is named.
    const PROTOCOL: u8 = 0x04;
    rest.push(Encapsulation::Vxlan)?;
    let [flags, _, _, carried, _, _, _, _] = *rest.take::<8>()?;
    if port == port::VXLAN_GPE && flags & PROTOCOL != 0 {
        return match carried {
            1 | 2 => Ok(Next::Ip),
            3 => Ok(Next::Ethernet),
            other => Err(Undecodable::NotIp(other.into())),
        };
    }
    if flags & INSTANCE == 0 { Err(Undecodable::NotIp(port)) } else { Ok(Next::Ethernet) }
}

/// Geneve (RFC 8926 §3).
fn geneve(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    rest.push(Encapsulation::Geneve)?;
    let [first, _, p0, p1, _, _, _, _] = *rest.take::<8>()?;
    if first >> 6 != 0 {
        return Err(Undecodable::NotIp(port::GENEVE));
    }
    rest.skip(usize::from(first & 0x3f) * 4)?;
    Ok(Next::Ethertype(u16::from_be_bytes([p0, p1])))
}

/// GTP-U, a message that carries a user's packet (3GPP TS 29.281 §5).
fn gtp(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    const USER_PACKET: u8 = 0xff;
    rest.push(Encapsulation::Gtp)?;
    let [flags, kind, _, _, _, _, _, _] = *rest.take::<8>()?;
    // Version 1, and GTP itself, not its charging variant.
    if flags >> 4 != 0b0011 || kind != USER_PACKET {
        return Err(Undecodable::NotIp(port::GTP_U));
    }
    // Any of these three makes room for all of them.
    if flags & 0b111 != 0 {
        let [_, _, _, mut extension] = *rest.take::<4>()?;
        while extension != 0 {
            let units = usize::from(rest.bytes.first().copied().unwrap_or(0));
            // The last octet of an extension header names the next one.
            let last = (units * 4).checked_sub(1).and_then(|last| rest.bytes.get(last));
            extension = *last.ok_or(Undecodable::Short)?;
            rest.skip(units * 4)?;
        }
    }
    Ok(Next::Ip)
}
