//! IP packets of either version.

mod outline;
mod v4;
mod v6;

use std::net::IpAddr;

pub use outline::Outline;
pub use v4::Ipv4;
pub use v6::{Ipv6, Ipv6Fragment};

use crate::{Checksum, DecodeError};

/// Protocol numbers (IANA), as IPv4's `protocol` and IPv6's `next_header` hold them.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// IPv4 within IP (RFC 2003).
    pub const IPV4: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 within IP (RFC 4213).
    pub const IPV6: u8 = 41;
    /// Generic routing encapsulation (RFC 2784).
    pub const GRE: u8 = 47;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// MPLS within IP (RFC 4023).
    pub const MPLS: u8 = 137;
    /// For experiments (RFC 3692).
    pub const EXPERIMENT: u8 = 253;
}

/// A decoded packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The fixed header.
    pub header: Header,
    /// IPv4 options, or IPv6 extension headers, as they stand.
    pub extra: &'a [u8],
    /// What the payload is: the protocol behind all extension headers.
    pub protocol: u8,
    /// Which part of a larger packet this is; `None` for a whole one.
    pub fragment: Option<Fragment>,
    /// The payload, as far as it is there.
    pub payload: &'a [u8],
    /// How long the payload was when it was sent.
    pub payload_len: usize,
    /// Whether the header's length agrees with what was captured.
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

/// Where a fragment belongs (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The fragments of a packet have the same.
    pub identification: u32,
    /// Where in the original payload it begins, in bytes.
    pub offset: usize,
    /// Whether there are fragments behind it.
    pub more: bool,
}

/// How the header's length compares with the packet that was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// All that the header counts is there.
    Whole,
    /// The packet was whole; the capture kept so many bytes less.
    Cut(usize),
    /// The header counts so many bytes more than the packet had when it was captured.
    Overstated(usize),
    /// The header counts nothing: the network card was to cut the packet up and fill the lengths in
    /// (segmentation offload). What was captured counts.
    Offloaded,
}

impl<'a> Packet<'a> {
    /// The packet at the head of `bytes`, which was `wire_len` bytes long when it was captured. Bytes
    /// behind the length that the header states are a link's padding, and ignored.
    ///
    /// # Errors
    /// There is no whole header, or one that contradicts itself.
    pub fn decode(bytes: &'a [u8], wire_len: usize) -> Result<Self, DecodeError> {
        match bytes.first().map_or(0, |first| first >> 4) {
            4 => v4::decode(bytes, wire_len.max(bytes.len())),
            6 => v6::decode(bytes, wire_len.max(bytes.len())),
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

/// The bytes that a packet of `stated` bytes has of those captured, how long it really was, and how
/// that fits; `stated` 0 says nothing.
#[inline(always)]
fn extent(bytes: &[u8], wire_len: usize, stated: usize) -> (&[u8], usize, Length) {
    if stated == 0 {
        return (bytes, wire_len, Length::Offloaded);
    }
    let there = bytes.get(..stated).unwrap_or(bytes);
    let length = if stated > wire_len {
        Length::Overstated(stated - wire_len)
    } else if stated > bytes.len() {
        Length::Cut(stated - bytes.len())
    } else {
        Length::Whole
    };
    (there, stated.min(wire_len), length)
}

#[cfg(test)]
mod tests;
