//! An IP packet of either version.

use std::net::IpAddr;

use super::fragment::Fragment;
use super::length::{Length, extent};
use super::v4::Ipv4;
use super::v6::{Extensions, Ipv6, extensions};
use crate::checksum::Sum;
use crate::fields::Layout as _;
use crate::{Checksum, DecodeError, Layer};

/// A decoded packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The fixed header.
    pub header: Header,
    /// IPv4 options or IPv6 extension headers, not decoded.
    pub extra: &'a [u8],
    /// The payload's protocol, after all extension headers.
    pub protocol: u8,
    /// Position as a fragment; `None` for a whole packet.
    pub fragment: Option<Fragment>,
    /// The captured part of the payload.
    pub payload: &'a [u8],
    /// Length of the payload on the wire, in bytes.
    pub payload_len: usize,
    /// How the header's length compares with the captured packet.
    pub length: Length,
    /// The header's checksum; IPv6 has none.
    pub checksum: Checksum,
}

/// The fixed header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// Version 4.
    V4(Ipv4),
    /// Version 6.
    V6(Ipv6),
}

impl<'a> Packet<'a> {
    /// Decodes the packet at the start of `bytes`, which had `wire_len` bytes on the wire. Bytes beyond the
    /// header's length are link padding and ignored.
    ///
    /// # Errors
    /// The header is incomplete or contradicts itself.
    pub fn decode(bytes: &'a [u8], wire_len: usize) -> Result<Self, DecodeError> {
        let nothing = DecodeError::Short { layer: Layer::Ip, have: 0, need: Ipv4::LEN };
        match bytes.first().ok_or(nothing)? >> 4 {
            4 => decode_v4(bytes, wire_len.max(bytes.len())),
            6 => decode_v6(bytes, wire_len.max(bytes.len())),
            other => Err(DecodeError::Version(other)),
        }
    }

    /// Source and destination.
    pub const fn ends(&self) -> (IpAddr, IpAddr) {
        match &self.header {
            Header::V4(header) => (IpAddr::V4(header.source), IpAddr::V4(header.destination)),
            Header::V6(header) => (IpAddr::V6(header.source), IpAddr::V6(header.destination)),
        }
    }
}

fn decode_v4(bytes: &[u8], wire_len: usize) -> Result<Packet<'_>, DecodeError> {
    let (header, _) = Ipv4::read(bytes)?;
    let header_len = usize::from(header.header_words) * 4;
    if header_len < Ipv4::LEN {
        return Err(DecodeError::Length { layer: Layer::Ip, says: header_len, least: Ipv4::LEN });
    }
    let stated = usize::from(header.total_length);
    if stated != 0 && stated < header_len {
        return Err(DecodeError::Length { layer: Layer::Ip, says: stated, least: header_len });
    }
    let (there, real, length) = extent(bytes, wire_len, stated);
    let short = DecodeError::Short { layer: Layer::Ip, have: there.len(), need: header_len };
    let (head, payload) = there.split_at_checked(header_len).ok_or(short)?;
    let is_fragment = header.more_fragments || header.fragment_offset > 0;
    Ok(Packet {
        header: Header::V4(header),
        extra: head.get(Ipv4::LEN..).unwrap_or_default(),
        protocol: header.protocol,
        fragment: is_fragment.then(|| Fragment {
            identification: u32::from(header.identification),
            offset: usize::from(header.fragment_offset) * 8,
            more: header.more_fragments,
        }),
        payload,
        payload_len: real.saturating_sub(header_len),
        length,
        checksum: Sum::default().add_bytes(head).verdict(),
    })
}

fn decode_v6(bytes: &[u8], wire_len: usize) -> Result<Packet<'_>, DecodeError> {
    let (header, _) = Ipv6::read(bytes)?;
    let stated = match usize::from(header.payload_length) {
        0 if wire_len > Ipv6::LEN => 0, // offloaded, or a jumbogram (RFC 2675)
        length => Ipv6::LEN + length,
    };
    let (there, real, length) = extent(bytes, wire_len, stated);
    let behind = there.get(Ipv6::LEN..).unwrap_or_default();
    let Extensions { protocol, len, fragment, .. } = extensions(header.next_header, behind)?;
    let (extra, payload) = behind.split_at_checked(len).unwrap_or((behind, &[]));
    Ok(Packet {
        header: Header::V6(header),
        extra,
        protocol,
        fragment,
        payload,
        payload_len: real.saturating_sub(Ipv6::LEN + len),
        length,
        checksum: Checksum::Absent,
    })
}
