//! The fields of an IP packet that tracking its connection needs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::fragment::Fragment;
use super::length::extent;
use super::v4::Ipv4;
use super::v6;
use crate::fields::Layout as _;
use crate::{DecodeError, Layer};

/// A faster [`Packet::decode`](super::Packet::decode), without checksum and rarely used fields, for captures of
/// millions of packets. Both accept the same packets and agree on every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline<'a> {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// The payload's protocol, after all extension headers.
    pub protocol: u8,
    /// The identification of IPv4; `None` in IPv6.
    pub identification: Option<u16>,
    /// The DF flag of IPv4; always set in IPv6.
    pub dont_fragment: bool,
    /// TTL, or hop limit.
    pub ttl: u8,
    /// The two ECN bits (RFC 3168).
    pub ecn: u8,
    /// Length of the packet on the wire, in bytes.
    pub len: u32,
    /// Position as a fragment; `None` for a whole packet.
    pub fragment: Option<Fragment>,
    /// An atomic fragment: whole, with an IPv6 fragment header (RFC 6946).
    pub is_atomic: bool,
    /// The captured part of the payload.
    pub payload: &'a [u8],
    /// Length of the payload on the wire, in bytes.
    pub payload_len: u32,
}

impl<'a> Outline<'a> {
    /// Decodes the packet at the start of `bytes`, which had `wire_len` bytes on the wire. Bytes beyond the
    /// header's length are link padding and ignored.
    ///
    /// # Errors
    /// The header is incomplete or contradicts itself.
    pub fn read(bytes: &'a [u8], wire_len: usize) -> Result<Self, DecodeError> {
        let wire_len = wire_len.max(bytes.len());
        let nothing = DecodeError::Short { layer: Layer::Ip, have: 0, need: Ipv4::LEN };
        match bytes.first().ok_or(nothing)? >> 4 {
            4 => Self::read_v4(bytes, wire_len),
            6 => Self::read_v6(bytes, wire_len),
            other => Err(DecodeError::Version(other)),
        }
    }

    /// Bytes of headers, extension headers included.
    pub const fn header_len(&self) -> u32 {
        self.len - self.payload_len
    }

    /// The outline without the borrowed payload; `payload_len` stays.
    pub const fn without_payload(self) -> Outline<'static> {
        Outline {
            source: self.source,
            destination: self.destination,
            protocol: self.protocol,
            identification: self.identification,
            dont_fragment: self.dont_fragment,
            ttl: self.ttl,
            ecn: self.ecn,
            len: self.len,
            fragment: self.fragment,
            is_atomic: self.is_atomic,
            payload: &[],
            payload_len: self.payload_len,
        }
    }

    /// Decodes an IPv4 packet; `wire_len` is at least the length of `bytes`.
    #[inline(always)]
    pub(crate) fn read_v4(bytes: &'a [u8], wire_len: usize) -> Result<Self, DecodeError> {
        const LEN: usize = 20;
        let layer = Layer::Ip;
        let short = |have, need| DecodeError::Short { layer, have, need };
        let head = bytes.first_chunk::<LEN>().ok_or_else(|| short(bytes.len(), LEN))?;
        let &[
            vihl,
            tos,
            l0,
            l1,
            i0,
            i1,
            f0,
            f1,
            ttl,
            protocol,
            _,
            _,
            s0,
            s1,
            s2,
            s3,
            d0,
            d1,
            d2,
            d3,
        ] = head;
        let header_len = usize::from(vihl & 0xf) * 4;
        if header_len < LEN {
            return Err(DecodeError::Length { layer, says: header_len, least: LEN });
        }
        let stated = usize::from(u16::from_be_bytes([l0, l1]));
        if stated != 0 && stated < header_len {
            return Err(DecodeError::Length { layer, says: stated, least: header_len });
        }
        let (there, real, _) = extent(bytes, wire_len, stated);
        let payload = there.get(header_len..).ok_or_else(|| short(there.len(), header_len))?;
        let identification = u16::from_be_bytes([i0, i1]);
        let place = u16::from_be_bytes([f0, f1]);
        let more = place & 0x2000 != 0;
        let offset = usize::from(place & 0x1fff) * 8;
        let fragment = (more || offset > 0).then_some(Fragment {
            identification: identification.into(),
            offset,
            more,
        });
        let len = count(real.max(header_len));
        Ok(Self {
            source: IpAddr::V4(Ipv4Addr::new(s0, s1, s2, s3)),
            destination: IpAddr::V4(Ipv4Addr::new(d0, d1, d2, d3)),
            protocol,
            identification: Some(identification),
            dont_fragment: place & 0x4000 != 0,
            ttl,
            ecn: tos & 3,
            len,
            fragment,
            is_atomic: false,
            payload,
            payload_len: len - count(header_len),
        })
    }

    /// Decodes an IPv6 packet, likewise.
    #[inline(always)]
    pub(crate) fn read_v6(bytes: &'a [u8], wire_len: usize) -> Result<Self, DecodeError> {
        const LEN: usize = 40;
        /// The usual protocols, none of them an extension header.
        const TCP: u8 = super::protocol::TCP;
        let short = DecodeError::Short { layer: Layer::Ip, have: bytes.len(), need: LEN };
        let (head, behind) = bytes.split_first_chunk::<LEN>().ok_or(short)?;
        let (fixed, addresses) = head.split_first_chunk::<8>().ok_or(short)?;
        let &[_, class, _, _, l0, l1, next_header, ttl] = fixed;
        let (source, destination) = addresses.split_first_chunk::<16>().ok_or(short)?;
        let destination = destination.first_chunk::<16>().ok_or(short)?;
        let stated = match usize::from(u16::from_be_bytes([l0, l1])) {
            0 if wire_len > LEN => 0, // offloaded, or a jumbogram (RFC 2675)
            length => LEN + length,
        };
        let (there, real, _) = extent(behind, wire_len - LEN, stated.saturating_sub(LEN));
        let there = if stated == LEN { &[] } else { there };
        let real = if stated == LEN { 0 } else { real };
        let extensions = if next_header == TCP {
            v6::Extensions { protocol: TCP, len: 0, fragment: None, is_atomic: false }
        } else {
            v6::extensions(next_header, there)?
        };
        let payload = there.get(extensions.len..).unwrap_or_default();
        let real = real.max(extensions.len);
        Ok(Self {
            source: IpAddr::V6(Ipv6Addr::from(*source)),
            destination: IpAddr::V6(Ipv6Addr::from(*destination)),
            protocol: extensions.protocol,
            identification: None,
            dont_fragment: true,
            ttl,
            ecn: class >> 4 & 3,
            len: count(LEN + real),
            fragment: extensions.fragment,
            is_atomic: extensions.is_atomic,
            payload,
            payload_len: count(real - extensions.len),
        })
    }
}

/// A length, which has 32 bits in a capture file.
#[inline]
fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
