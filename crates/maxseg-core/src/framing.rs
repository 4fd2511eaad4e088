//! What a packet costs on the wire: every header counted once, for every engine and decoder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// How a link wraps an IP packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Nothing but the IP packet: a link whose own headers are of no interest.
    #[default]
    Ip,
    /// Ethernet with everything that takes time: preamble and start 8, header 14, FCS 4, gap 12,
    /// and padding to the 64-byte minimum (IEEE 802.3).
    Ethernet,
    /// PPP in HDLC-like framing: 8 bytes (RFC 1662, as counted in RFC 6349 table 3.3.1).
    Ppp,
    /// PPP over Ethernet: 8 more bytes inside an Ethernet frame (RFC 2516).
    Pppoe,
}

impl Framing {
    /// Bytes that an IP packet of `ip_len` bytes takes on the wire.
    pub fn on_wire(self, ip_len: Bytes) -> Bytes {
        let ip = ip_len.get();
        Bytes::new(match self {
            Self::Ip => ip,
            Self::Ethernet => ethernet(ip),
            Self::Ppp => ip + 8,
            Self::Pppoe => ethernet(ip + 8),
        })
    }
}

/// Header 14 and FCS 4, at least 64 together with the payload; then preamble 8 and gap 12.
fn ethernet(payload: u64) -> u64 {
    (payload + 18).max(64) + 20
}

/// Bytes of the IP header without options.
pub const fn ip_header(version: IpVersion) -> Bytes {
    match version {
        IpVersion::V4 => Bytes::new(20),
        IpVersion::V6 => Bytes::new(40),
    }
}

/// Bytes of the TCP header without options (RFC 9293 §3.1).
pub const TCP_HEADER: Bytes = Bytes::new(20);
/// Bytes that the timestamps option takes in a TCP header, padded (RFC 7323 appendix A).
pub const TIMESTAMPS_OPTION: u32 = 12;
/// Bytes of one SACK block in a TCP header (RFC 2018 §3); the option takes 4 more, padding included.
pub const SACK_BLOCK: u32 = 8;
/// Bytes of the UDP header (RFC 768).
pub const UDP_HEADER: Bytes = Bytes::new(8);
/// Bytes of the ICMP echo header (RFC 792).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_bytes_count_every_header_once() {
        let cases = [
            (Framing::Ip, 1500, 1500),
            (Framing::Ethernet, 1500, 1538),
            (Framing::Ethernet, 40, 84), // padded to the minimum frame
            (Framing::Ppp, 1500, 1508),
            (Framing::Pppoe, 1492, 1538),
            (Framing::Pppoe, 41, 87),
        ];
        for (framing, ip, wire) in cases {
            assert_eq!(framing.on_wire(Bytes::new(ip)), Bytes::new(wire), "{framing:?} {ip}");
        }
    }
}
