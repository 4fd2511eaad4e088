//! Headers below IP.

use super::header::{Decapsulated, ETHERNET_LEN, Next, Rest};
use super::path::{Encapsulation, Undecodable};
use crate::link_type;

/// `EtherTypes` (IEEE 802).
pub(super) mod ethertype {
    pub(in super::super) const IPV4: u16 = 0x0800;
    pub(in super::super) const IPV6: u16 = 0x86dd;
    pub(in super::super) const PPPOE_SESSION: u16 = 0x8864;
    pub(in super::super) const MPLS: u16 = 0x8847;
    pub(in super::super) const MPLS_MULTICAST: u16 = 0x8848;
    /// Ethernet within GRE or Geneve.
    pub(in super::super) const BRIDGED: u16 = 0x6558;
    /// PPP within GRE (RFC 2637).
    pub(in super::super) const PPP: u16 = 0x880b;
    /// ERSPAN type II, and type I without a header.
    pub(in super::super) const ERSPAN: u16 = 0x88be;
    /// ERSPAN type III.
    pub(in super::super) const ERSPAN_III: u16 = 0x22eb;
    /// A VLAN tag: 802.1Q, 802.1ad, and what was used before it.
    pub(in super::super) const VLAN: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
    /// Below this, the field is a length (IEEE 802.3).
    pub(in super::super) const LEAST: u16 = 0x0600;
}

/// Whether an Ethernet header is followed by IP.
#[inline]
pub(super) const fn announces_ip(head: &[u8; ETHERNET_LEN as usize]) -> bool {
    let [.., t0, t1] = *head;
    matches!(u16::from_be_bytes([t0, t1]), ethertype::IPV4 | ethertype::IPV6)
}

/// What Linux puts into its header where there is no `EtherType`: 802.2.
const SLL_LLC: u16 = 4;

/// Passes what a link type puts before everything.
pub(super) fn first(link_type: u16, rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    match link_type {
        link_type::ETHERNET => Ok(Next::Ethernet),
        link_type::RAW
        | link_type::RAW_BSD
        | link_type::RAW_OPENBSD
        | link_type::IPV4
        | link_type::IPV6 => Ok(Next::Ip),
        link_type::LINUX_SLL => {
            rest.push(Encapsulation::LinuxCooked)?;
            let [.., p0, p1] = *rest.take::<16>()?;
            cooked(u16::from_be_bytes([p0, p1]), rest)
        }
        link_type::LINUX_SLL2 => {
            rest.push(Encapsulation::LinuxCooked)?;
            let [p0, p1, ..] = *rest.take::<20>()?;
            cooked(u16::from_be_bytes([p0, p1]), rest)
        }
        link_type::FDDI => {
            rest.push(Encapsulation::Fddi)?;
            rest.skip(13)?; // frame control and addresses
            llc(rest)
        }
        link_type::NULL | link_type::LOOP => loopback(rest),
        link_type::PPP | link_type::PPP_HDLC => hdlc(rest),
        link_type::CISCO_HDLC => cisco_hdlc(rest),
        link_type::PPP_ETHER => pppoe(rest),
        other => Err(Undecodable::LinkType(other)),
    }
}

/// Passes one header.
pub(super) fn step(next: Next, rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    match next {
        Next::Ip => Ok(Next::Ip),
        Next::Ethernet => {
            rest.push(Encapsulation::Ethernet)?;
            let [.., t0, t1] = *rest.take::<{ ETHERNET_LEN as usize }>()?;
            of_ethertype(u16::from_be_bytes([t0, t1]), rest)
        }
        Next::Ethertype(number) => of_ethertype(number, rest),
        Next::Ppp => ppp(rest),
    }
}

fn of_ethertype(number: u16, rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    match number {
        ethertype::IPV4 | ethertype::IPV6 => Ok(Next::Ip),
        ethertype::PPPOE_SESSION => pppoe(rest),
        ethertype::MPLS | ethertype::MPLS_MULTICAST => mpls(rest),
        ethertype::BRIDGED => Ok(Next::Ethernet),
        ethertype::PPP => Ok(Next::Ppp),
        tag if ethertype::VLAN.contains(&tag) => {
            rest.push(Encapsulation::Vlan)?;
            let [_, _, t0, t1] = *rest.take::<4>()?;
            Ok(Next::Ethertype(u16::from_be_bytes([t0, t1])))
        }
        length if length < ethertype::LEAST => llc(rest),
        other => Err(Undecodable::NotIp(other)),
    }
}

fn cooked(protocol: u16, rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    match protocol {
        SLL_LLC => llc(rest),
        other if other < ethertype::LEAST => Err(Undecodable::NotIp(other)),
        other => Ok(Next::Ethertype(other)),
    }
}

/// IEEE 802.2: SNAP with an `EtherType`, or IP's own service access point.
fn llc(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    rest.push(Encapsulation::Llc)?;
    match *rest.take::<3>()? {
        [0xaa, 0xaa, 3] => match *rest.take::<5>()? {
            // RFC 1042, and what bridges make of it (IEEE 802.1H).
            [0, 0, 0 | 0xf8, t0, t1] => Ok(Next::Ethertype(u16::from_be_bytes([t0, t1]))),
            [_, _, _, t0, t1] => Err(Undecodable::NotIp(u16::from_be_bytes([t0, t1]))),
        },
        [6, 6, 3] => Ok(Next::Ip),
        [destination, source, _] => {
            Err(Undecodable::NotIp(u16::from_be_bytes([destination, source])))
        }
    }
}

/// A protocol family, in the byte order of the host that captured; IPv6's differs between systems.
fn loopback(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    rest.push(Encapsulation::Loopback)?;
    match *rest.take::<4>()? {
        [0, 0, 0, family] | [family, 0, 0, 0] => match family {
            2 | 10 | 23 | 24 | 28 | 30 => Ok(Next::Ip),
            other => Err(Undecodable::NotIp(other.into())),
        },
        [_, _, high, low] => Err(Undecodable::NotIp(u16::from_be_bytes([high, low]))),
    }
}

fn hdlc(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    match rest.bytes {
        [0x0f | 0x8f, 0, ..] => cisco_hdlc(rest),
        _ => Ok(Next::Ppp),
    }
}

fn cisco_hdlc(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    rest.push(Encapsulation::CiscoHdlc)?;
    let [_, _, t0, t1] = *rest.take::<4>()?;
    Ok(Next::Ethertype(u16::from_be_bytes([t0, t1])))
}

fn pppoe(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    rest.push(Encapsulation::Pppoe)?;
    let [_, code, _, _, l0, l1] = *rest.take::<6>()?;
    if code != 0 {
        return Err(Undecodable::NotIp(ethertype::PPPOE_SESSION));
    }
    // What is longer is the padding of a short frame.
    rest.wire_len = rest.wire_len.min(u16::from_be_bytes([l0, l1]).into());
    rest.bytes = rest.bytes.get(..rest.wire_len as usize).unwrap_or(rest.bytes);
    Ok(Next::Ppp)
}

/// Address and control may be left out, and the protocol's first octet where it is zero (RFC 1661 §6).
fn ppp(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    rest.push(Encapsulation::Ppp)?;
    if let [0xff, 0x03, ..] = rest.bytes {
        rest.skip(2)?;
    }
    let protocol = match *rest.take::<1>()? {
        [low] if low & 1 == 1 => u16::from(low),
        [high] => {
            let [low] = *rest.take::<1>()?;
            u16::from_be_bytes([high, low])
        }
    };
    match protocol {
        0x0021 | 0x0057 => Ok(Next::Ip),
        0x0281 | 0x0283 => mpls(rest),
        other => Err(Undecodable::NotIp(other)),
    }
}

/// Labels down to the last, and what the first bits behind it look like: nothing says it (RFC 4928).
fn mpls(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    loop {
        rest.push(Encapsulation::Mpls)?;
        let [_, _, low, _] = *rest.take::<4>()?;
        if low & 1 == 1 {
            break;
        }
    }
    match rest.bytes.first().map(|first| first >> 4) {
        Some(4 | 6) if !is_ethernet(rest.bytes) => Ok(Next::Ip),
        Some(0) if !is_ethernet(rest.bytes) => {
            rest.push(Encapsulation::Pseudowire)?;
            rest.skip(4)?;
            Ok(Next::Ethernet)
        }
        Some(_) if is_ethernet(rest.bytes) => Ok(Next::Ethernet),
        Some(_) => Err(Undecodable::NotIp(ethertype::MPLS)),
        None => Err(Undecodable::Short),
    }
}

/// Whether bytes could be an Ethernet frame with IP or a tag in it, and could be nothing else.
fn is_ethernet(bytes: &[u8]) -> bool {
    let Some([_, _, _, _, _, _, _, _, _, _, _, _, t0, t1, first]) = bytes.first_chunk::<15>()
    else {
        return false;
    };
    match u16::from_be_bytes([*t0, *t1]) {
        ethertype::IPV4 => first >> 4 == 4 && first & 0xf >= 5,
        ethertype::IPV6 => first >> 4 == 6,
        other => ethertype::VLAN.contains(&other) && bytes.first().is_none_or(|b| b >> 4 != 4),
    }
}

/// MPLS within IP.
pub(super) fn labels(rest: &mut Rest<'_>) -> Result<Next, Undecodable> {
    mpls(rest)
}

/// The first IP packet from here on.
pub(super) fn outermost(
    mut next: Next,
    mut rest: Rest<'_>,
) -> Result<Decapsulated<'_>, Undecodable> {
    while next != Next::Ip {
        next = step(next, &mut rest)?;
    }
    rest.into_packet()
}
