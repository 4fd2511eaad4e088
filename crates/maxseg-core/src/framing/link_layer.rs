//! What a link adds to a packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::IpPacket;
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
    /// The same with a VLAN tag of 4 bytes, padded before it is tagged (IEEE 802.1Q).
    EthernetVlan,
    /// PPP in HDLC-like framing: 8 bytes (RFC 1662, as counted in RFC 6349 table 3.3.1).
    Ppp,
    /// PPP's protocol field alone: 2 bytes (RFC 1661 §2). Point-to-point links of ns-3 count so.
    PppProtocol,
    /// PPP over Ethernet: 8 more bytes inside an Ethernet frame (RFC 2516).
    Pppoe,
    /// PPP over an asynchronous serial line: 8 bytes more, and 10 bits for each of them (a start bit,
    /// 8 data bits, no parity, a stop bit). Bytes that PPP escapes are not counted.
    Serial,
    /// The same with Van Jacobson's header compression (RFC 1144): the 40 bytes of IPv4 and TCP
    /// headers take 5, checksum included. They take 3 to 16, mostly 3 to 6, by how much the headers
    /// change; 5 stands for all. Segments that open a connection stay as they are, and so do IPv6 and
    /// what is not TCP. That a receiver cannot read what follows a lost packet is not modelled.
    SerialVj,
    /// ATM cells of 53 bytes, 48 of them payload: the packet with AAL5's trailer of 8 fills whole cells
    /// (RFC 2684 §6, VC multiplexing).
    AtmAal5,
    /// The same with the 8-byte LLC/SNAP header (RFC 2684 §5).
    AtmAal5Llc,
}

/// PPP as RFC 6349 counts it: 4 of HDLC and PPP, 2 of FCS, 2 flags.
const PPP: u64 = 8;
/// Of these, what says which protocol follows.
const PPP_PROTOCOL: u64 = 2;
/// Preamble and start of frame 8, gap between frames 12.
const AROUND_A_FRAME: u64 = 20;
/// IPv4 and TCP without options, and what they take when compressed.
const VJ: (u64, u64) = (40, 5);

impl Framing {
    /// Bytes that a packet takes on the wire.
    pub fn on_wire(self, packet: impl Into<IpPacket>) -> Bytes {
        let packet = packet.into();
        let ip = packet.length().get();
        Bytes::new(match self {
            Self::Ip => ip,
            Self::Ethernet => frame(ip) + AROUND_A_FRAME,
            Self::EthernetVlan => frame(ip) + 4 + AROUND_A_FRAME,
            Self::Pppoe => frame(ip + 8) + AROUND_A_FRAME,
            Self::SerialVj if packet.is_compressible() => ip.saturating_sub(VJ.0) + VJ.1 + PPP,
            Self::Ppp | Self::Serial | Self::SerialVj => ip + PPP,
            Self::PppProtocol => ip + PPP_PROTOCOL,
            Self::AtmAal5 => cells(ip),
            Self::AtmAal5Llc => cells(ip + 8),
        })
    }

    /// Bits on the wire for each byte on it: 10 on an asynchronous serial line, else 8.
    pub const fn bits_per_byte(self) -> u64 {
        match self {
            Self::Serial | Self::SerialVj => 10,
            Self::Ip
            | Self::Ethernet
            | Self::EthernetVlan
            | Self::Ppp
            | Self::PppProtocol
            | Self::Pppoe
            | Self::AtmAal5
            | Self::AtmAal5Llc => 8,
        }
    }
}

/// Bytes of the Ethernet frame itself, preamble and gap not counted: what a frame holds in memory and
/// what a capture with FCS shows, never what a link's time goes by.
pub fn ethernet_frame(packet: impl Into<IpPacket>) -> Bytes {
    Bytes::new(frame(packet.into().length().get()))
}

/// Header 14 and FCS 4, at least 64 together with the payload.
fn frame(payload: u64) -> u64 {
    (payload + 18).max(64)
}

/// Whole cells for a payload and AAL5's trailer.
fn cells(payload: u64) -> u64 {
    53 * (payload + 8).div_ceil(48)
}
