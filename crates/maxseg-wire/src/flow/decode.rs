//! From a record of a capture to the segment in it.
//!
//! This is what every packet of a capture goes through. It reads what [`Seen`] needs and nothing else:
//! checksums are not verified (on the host that sends they are often not there yet), and a packet of
//! which the capture kept only the head counts with its true lengths.

mod icmp;

use std::net::{IpAddr, SocketAddr};

use maxseg_core::evidence::UnreachableEvent;

use super::Seen;
use super::fragments::{FragmentCounts, Fragments};
use crate::capture_file::Record;
use crate::encapsulation::{
    Decapsulated, ETHERNET_LEN, EncapPath, Undecodable, behind_ethernet, decapsulate, within,
};
use crate::ip::{self, Outline, protocol};
use crate::link_type;
use crate::tcp::Flags;
use crate::{DecodeError, Layer};

/// A decoded record of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodedPacket<'a> {
    /// The content.
    pub what: Decoded<'a>,
    /// The headers around the innermost IP packet.
    pub encapsulation: EncapPath,
    /// Bytes of these headers.
    pub overhead: u32,
    /// Number of fragments of the packet, which this record completes; 0 for an unfragmented packet.
    pub fragments: u32,
}

/// The content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// A TCP segment: whole, or completed by this fragment.
    Tcp(Seen<'a>),
    /// A fragment of a packet that is not complete.
    Fragment(FragmentInfo),
    /// An ICMP "packet too big" or "fragmentation needed".
    TooBig(TooBig),
    /// An ICMP "destination unreachable" about a segment.
    Unreachable(UnreachableEvent),
    /// A datagram of UDP.
    Udp(Datagram<'a>),
    /// Another protocol over IP, by its number.
    Other(u8),
    /// Not an IP packet, or a malformed one.
    Undecodable(Undecodable),
}

/// A datagram of UDP, as far as it was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub source: SocketAddr,
    /// Whom it is for.
    pub destination: SocketAddr,
    /// What it carries.
    pub payload: &'a [u8],
}

/// A fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentInfo {
    /// When it passed, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Which packet of the capture it is, counted from 1.
    pub frame: u64,
    /// Who sent it.
    pub source: IpAddr,
    /// Whom it is for.
    pub destination: IpAddr,
    /// What it is a part of.
    pub protocol: u8,
    /// Where it belongs.
    pub fragment: ip::Fragment,
    /// Bytes of the original payload that it has.
    pub payload_len: u32,
}

/// A hop's message that a packet was too big for it (RFC 1191, RFC 4443 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBig {
    /// When it passed, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Which packet of the capture it is, counted from 1.
    pub frame: u64,
    /// Where it passed: the number of the capture's interface, counted from 0 over all sections.
    pub interface: u32,
    /// The hop.
    pub from: IpAddr,
    /// Who is told: the sender of the packet.
    pub to: IpAddr,
    /// What the next hop takes, in bytes; 0 from a router that does not say.
    pub mtu: u32,
    /// The packet, if enough of it is quoted.
    pub quoted: Option<QuotedSegment>,
}

/// The packet that a [`TooBig`] quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotedSegment {
    /// TCP or UDP, by its number.
    pub protocol: u8,
    /// Who sent it.
    pub source: SocketAddr,
    /// Whom it was for.
    pub destination: SocketAddr,
    /// TCP's sequence number; of UDP its length and checksum.
    pub word: u32,
    /// How long the packet was, as its header says.
    pub ip_len: u32,
}

/// Turns records into segments; remembers fragments until their packet is whole.
#[derive(Debug, Default)]
pub struct Decoder {
    fragments: Fragments,
    /// For a record that has no time: that of the one before.
    last_nanos: u64,
}

/// Where and when a packet was captured.
#[derive(Debug, Clone, Copy)]
struct CapturePoint {
    at_nanos: u64,
    frame: u64,
    interface: u32,
    link: u32,
}

impl Decoder {
    /// What a record is.
    #[inline(always)]
    pub fn decode<'a>(&'a mut self, record: &Record<'a>) -> DecodedPacket<'a> {
        let at_nanos = record.at_nanos.unwrap_or(self.last_nanos);
        self.last_nanos = at_nanos;
        let link = link_of(record);
        let seen =
            CapturePoint { at_nanos, frame: record.number, interface: record.interface, link };
        match plain_segment(seen, record) {
            Some(segment) => DecodedPacket {
                what: Decoded::Tcp(segment),
                encapsulation: EncapPath::ETHERNET,
                overhead: ETHERNET_LEN,
                fragments: 0,
            },
            None => self.rarer(seen, record),
        }
    }

    /// What the fragments of the capture came to, so far.
    pub fn fragment_counts(&self) -> FragmentCounts {
        self.fragments.counts()
    }

    #[inline(never)]
    fn rarer<'a>(&'a mut self, seen: CapturePoint, record: &Record<'a>) -> DecodedPacket<'a> {
        let inner = match decapsulate(record.link_type, record.data, record.original_len) {
            Ok(inner) => inner,
            Err(why) => return DecodedPacket::nothing(why),
        };
        if inner.ip.fragment.is_none() && !inner.ip.is_atomic {
            return DecodedPacket::of(seen, &inner, 0);
        }
        self.fragment(seen, inner)
    }

    #[cold]
    fn fragment<'a>(
        &'a mut self,
        seen: CapturePoint,
        inner: Decapsulated<'a>,
    ) -> DecodedPacket<'a> {
        let Decapsulated { encapsulation, overhead, .. } = inner;
        let Some(fragment) = inner.ip.fragment else {
            self.fragments.on_atomic();
            return DecodedPacket::of(seen, &inner, 1);
        };
        let part = FragmentInfo {
            at_nanos: seen.at_nanos,
            frame: seen.frame,
            source: inner.ip.source,
            destination: inner.ip.destination,
            protocol: inner.ip.protocol,
            fragment,
            payload_len: inner.ip.payload_len,
        };
        match self.fragments.add(seen.at_nanos, seen.interface, fragment, &inner.ip) {
            None => DecodedPacket {
                what: Decoded::Fragment(part),
                encapsulation,
                overhead,
                fragments: 0,
            },
            Some((ip, fragments)) => {
                let whole =
                    Decapsulated { bytes: &[], wire_len: ip.len, ip, encapsulation, overhead };
                DecodedPacket::of(seen, &within(whole), fragments)
            }
        }
    }
}

impl<'a> DecodedPacket<'a> {
    fn of(seen: CapturePoint, inner: &Decapsulated<'a>, fragments: u32) -> Self {
        let what = transport(seen, &inner.ip);
        Self { what, encapsulation: inner.encapsulation, overhead: inner.overhead, fragments }
    }

    #[cold]
    fn nothing(why: Undecodable) -> Self {
        let what = Decoded::Undecodable(why);
        Self { what, encapsulation: EncapPath::default(), overhead: 0, fragments: 0 }
    }
}

/// The whole TCP segment right behind an Ethernet header: what [`decapsulate`] and [`transport`] make of most
/// packets, in a third of the time, because each version's packet stays in registers.
#[inline(always)]
fn plain_segment<'a>(seen: CapturePoint, record: &Record<'a>) -> Option<Seen<'a>> {
    let (bytes, wire_len) = behind_ethernet(record)?;
    match bytes.first()? >> 4 {
        4 => whole_segment(seen, &Outline::read_v4(bytes, wire_len).ok()?),
        6 => whole_segment(seen, &Outline::read_v6(bytes, wire_len).ok()?),
        _ => None,
    }
}

#[inline(always)]
fn whole_segment<'a>(seen: CapturePoint, ip: &Outline<'a>) -> Option<Seen<'a>> {
    let is_whole = ip.protocol == protocol::TCP && ip.fragment.is_none() && !ip.is_atomic;
    if is_whole { segment(seen, ip).ok() } else { None }
}

fn transport<'a>(seen: CapturePoint, ip: &Outline<'a>) -> Decoded<'a> {
    match ip.protocol {
        protocol::TCP => match segment(seen, ip) {
            Ok(segment) => Decoded::Tcp(segment),
            // The capture kept less of the packet than its header.
            Err(DecodeError::Short { .. }) if ip.payload.len() < ip.payload_len as usize => {
                Decoded::Undecodable(Undecodable::Short)
            }
            Err(error) => Decoded::Undecodable(Undecodable::Broken(error)),
        },
        protocol::ICMP | protocol::ICMPV6 => icmp::decode(seen, ip),
        protocol::UDP => datagram(ip).map_or(Decoded::Other(protocol::UDP), Decoded::Udp),
        other => Decoded::Other(other),
    }
}

fn datagram<'a>(ip: &Outline<'a>) -> Option<Datagram<'a>> {
    let (head, payload) = ip.payload.split_first_chunk::<8>()?;
    let [s0, s1, d0, d1, ..] = *head;
    Some(Datagram {
        source: SocketAddr::new(ip.source, u16::from_be_bytes([s0, s1])),
        destination: SocketAddr::new(ip.destination, u16::from_be_bytes([d0, d1])),
        payload,
    })
}

/// What [`tcp::Segment::decode`](crate::tcp::Segment::decode) says of a segment, but its checksum; it
/// refuses the same.
#[inline(always)]
fn segment<'a>(seen: CapturePoint, ip: &Outline<'a>) -> Result<Seen<'a>, DecodeError> {
    const LEN: usize = 20;
    const LAYER: Layer = Layer::Tcp;
    let short = |have, need| DecodeError::Short { layer: LAYER, have, need };
    let (head, rest) =
        ip.payload.split_first_chunk::<LEN>().ok_or_else(|| short(ip.payload.len(), LEN))?;
    let &[
        s0,
        s1,
        d0,
        d1,
        q0,
        q1,
        q2,
        q3,
        a0,
        a1,
        a2,
        a3,
        f0,
        f1,
        w0,
        w1,
        c0,
        c1,
        _,
        _, //
    ] = head;
    let offset_and_flags = u16::from_be_bytes([f0, f1]);
    let header_len = usize::from(offset_and_flags >> 12) * 4;
    let Some(options_len) = header_len.checked_sub(LEN) else {
        return Err(DecodeError::Length { layer: LAYER, says: header_len, least: LEN });
    };
    let Some(payload_len) = ip.payload_len.checked_sub(u32::from(f0 >> 4) * 4) else {
        return Err(short(ip.payload_len as usize, header_len));
    };
    // A capture may end within the options.
    let (options, payload) = rest.split_at_checked(options_len).unwrap_or((rest, &[]));
    Ok(Seen {
        at_nanos: seen.at_nanos,
        frame: seen.frame,
        interface: seen.interface,
        link: seen.link,
        source: SocketAddr::new(ip.source, u16::from_be_bytes([s0, s1])),
        destination: SocketAddr::new(ip.destination, u16::from_be_bytes([d0, d1])),
        ip_id: ip.identification,
        dont_fragment: ip.dont_fragment,
        ttl: ip.ttl,
        ecn: ip.ecn,
        ip_len: ip.len,
        seq: u32::from_be_bytes([q0, q1, q2, q3]),
        ack: u32::from_be_bytes([a0, a1, a2, a3]),
        window: u16::from_be_bytes([w0, w1]),
        flags: Flags::from_bits(offset_and_flags),
        checksum: u16::from_be_bytes([c0, c1]),
        payload_len,
        payload,
        options_len: (f0 >> 4).saturating_sub(5) * 4,
        options,
    })
}

/// What tells the links of an interface apart; see [`Seen::link`].
#[inline(always)]
fn link_of(record: &Record<'_>) -> u32 {
    match (record.link_type, record.data) {
        // Both addresses, mixed so that their order does not matter.
        (link_type::ETHERNET, [_, _, a0, a1, a2, a3, _, _, b0, b1, b2, b3, ..]) => {
            u32::from_ne_bytes([*a0, *a1, *a2, *a3]) ^ u32::from_ne_bytes([*b0, *b1, *b2, *b3])
        }
        (link_type::LINUX_SLL2, [_, _, _, _, i0, i1, i2, i3, ..]) => {
            u32::from_be_bytes([*i0, *i1, *i2, *i3])
        }
        // To this host, or from it.
        (link_type::LINUX_SLL, [t0, t1, ..]) => u32::from(u16::from_be_bytes([*t0, *t1])) + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
