//! What a packet costs on the wire: every header counted once, for every engine and decoder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Mtu};

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

/// The IPv4 packets as which one of `ip_len` bytes passes a link of `mtu` (RFC 791 §3.2): offset and
/// bytes of payload of each. All but the last carry the largest multiple of 8 that fits; where not even
/// 8 bytes fit, a fragment carries 8 all the same.
pub fn fragments(ip_len: Bytes, mtu: Mtu, header: Bytes) -> impl Iterator<Item = (u64, u64)> {
    let payload = ip_len.saturating_sub(header).get();
    let room = mtu.bytes().saturating_sub(header).get();
    let cut = (room / 8 * 8).max(8);
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let from = next?;
        let left = payload - from;
        let carried = if left <= room { left } else { cut.min(left) };
        next = (carried < left).then_some(from + carried);
        Some((from, carried))
    })
}

/// Bytes of the TCP header without options (RFC 9293 §3.1).
pub const TCP_HEADER: Bytes = Bytes::new(20);
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

    #[test]
    fn fragments_carry_multiples_of_eight() {
        // Total length, MTU, fragments with their own total lengths.
        let cases: [(u64, u64, &[u64]); 5] = [
            (1500, 1500, &[1500]),
            (1500, 1006, &[1004, 516]),
            (1500, 576, &[572, 572, 396]),
            (1500, 508, &[508, 508, 508, 36]),
            (1501, 1500, &[1500, 21]),
        ];
        for (total, mtu, want) in cases {
            let mtu = Mtu::new(mtu).unwrap();
            let pieces: Vec<(u64, u64)> =
                fragments(Bytes::new(total), mtu, Bytes::new(20)).collect();
            let lengths: Vec<u64> = pieces.iter().map(|(_, carried)| carried + 20).collect();
            assert_eq!(lengths, want, "{total} over {mtu}");
            assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0));
        }
    }
}
