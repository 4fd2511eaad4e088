//! Headers between a payload and the packet that carries it.

use std::net::IpAddr;

use super::IpPacket;
use crate::units::{Bytes, Mtu};

/// Bytes of the TCP header without options (RFC 9293 §3.1).
pub const TCP_HEADER: Bytes = Bytes::new(20);
/// Bytes of the timestamps option, padded (RFC 7323 appendix A).
pub const TCP_TIMESTAMPS: Bytes = Bytes::new(12);
/// Bytes of one SACK block in a TCP header (RFC 2018 §3); the option takes 4 more, padding included.
pub const TCP_SACK_BLOCK: Bytes = Bytes::new(8);
/// Bytes of the UDP header (RFC 768).
pub const UDP_HEADER: Bytes = Bytes::new(8);
/// Bytes of the ICMP header of echoes and of notices (RFC 792, RFC 4443).
pub const ICMP_ECHO_HEADER: Bytes = Bytes::new(8);

/// Which Internet Protocol carries the packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4: 20-byte header, 32-bit addresses.
    #[default]
    V4,
    /// IPv6: 40-byte header.
    V6,
}

impl IpVersion {
    /// 4 or 6.
    pub const fn number(self) -> u8 {
        match self {
            Self::V4 => 4,
            Self::V6 => 6,
        }
    }
}

impl From<IpAddr> for IpVersion {
    /// That of packets to the address.
    fn from(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

/// Bytes of the IP header without options.
pub const fn ip_header(version: IpVersion) -> Bytes {
    match version {
        IpVersion::V4 => Bytes::new(20),
        IpVersion::V6 => Bytes::new(40),
    }
}

/// Most bytes of a packet that was too large for a hop which the hop's notice quotes: in IPv4 a header
/// without options and 8 bytes (RFC 792), in IPv6 what fits the smallest MTU (RFC 4443 §2.4 (c)).
pub const fn largest_quote(version: IpVersion) -> Bytes {
    match version {
        IpVersion::V4 => Bytes::new(ip_header(version).get() + 8),
        IpVersion::V6 => {
            Bytes::new(Mtu::IPV6_MIN as u64 - ip_header(version).get() - ICMP_ECHO_HEADER.get())
        }
    }
}

/// What stands before the payload of every segment of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers {
    /// Which IP.
    pub ip: IpVersion,
    /// Options of every segment, padded: 0 to 40 bytes.
    pub tcp_options: Bytes,
}

impl Headers {
    /// IP and TCP headers without options.
    pub const fn plain(ip: IpVersion) -> Self {
        Self { ip, tcp_options: Bytes::ZERO }
    }

    /// Bytes of them.
    pub fn bytes(self) -> Bytes {
        ip_header(self.ip) + TCP_HEADER + self.tcp_options
    }

    /// The same as the number that sizes of segments are counted in: at most 100.
    pub fn octets(self) -> u32 {
        u32::try_from(self.bytes().get()).unwrap_or(u32::MAX)
    }

    /// A segment with this payload, in the middle of a connection, as a packet.
    pub fn packet(self, payload: Bytes) -> IpPacket {
        let length = self.bytes() + payload;
        if self.ip == IpVersion::V4 && self.tcp_options == Bytes::ZERO {
            IpPacket::compressible(length)
        } else {
            IpPacket::from(length)
        }
    }
}
