//! One TCP segment as a capture shows it.

use std::net::{IpAddr, SocketAddr};

use super::segments::PassedPacket;
use crate::tcp::Flags;

/// A segment with what analysis needs of the headers around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen<'a> {
    /// When it passed, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Which packet of the capture it is, counted from 1.
    pub frame: u64,
    /// Where it passed: the number of the capture's interface, counted from 0 over all sections.
    pub interface: u32,
    /// What tells links of one interface apart: the addresses of a frame, or the interface in Linux's "cooked" header (in its first
    /// version whether the packet came in or went out). 0 where there is nothing.
    pub link: u32,
    /// Who sent it.
    pub source: SocketAddr,
    /// Whom it is for.
    pub destination: SocketAddr,
    /// IPv4's identification; `None` in IPv6.
    pub ip_id: Option<u16>,
    /// IPv4's DF flag; always set in IPv6.
    pub dont_fragment: bool,
    /// Hops that were left to it.
    pub ttl: u8,
    /// The two bits of explicit congestion notification (RFC 3168).
    pub ecn: u8,
    /// Length of the IP packet when it was captured, in bytes.
    pub ip_len: u32,
    /// Number of the first payload byte, or of the SYN.
    pub seq: u32,
    /// The next byte expected, where [`Flags::ACK`] is set.
    pub ack: u32,
    /// The window field: not scaled.
    pub window: u16,
    /// The control bits.
    pub flags: Flags,
    /// TCP's checksum as it stands.
    pub checksum: u16,
    /// Bytes of payload when it was captured, whatever the capture kept of them.
    pub payload_len: u32,
    /// The payload, as far as it was kept.
    pub payload: &'a [u8],
    /// Bytes of options when it was captured, whatever the capture kept of them.
    pub options_len: u8,
    /// TCP's options, as far as they were kept.
    pub options: &'a [u8],
}

impl Seen<'_> {
    /// The MSS assumed where no SYN was seen, in bytes: that of Ethernet.
    pub(super) const fn usual_mss(&self) -> i64 {
        match self.source.ip().to_canonical() {
            IpAddr::V4(_) => 1460,
            IpAddr::V6(_) => 1440,
        }
    }

    pub(super) const fn packet(&self) -> PassedPacket {
        PassedPacket { at: self.at_nanos, frame: self.frame }
    }

    /// Sequence numbers that it takes: payload, SYN and FIN.
    pub const fn seq_len(&self) -> u32 {
        let syn = self.flags.contains(Flags::SYN) as u32;
        let fin = self.flags.contains(Flags::FIN) as u32;
        self.payload_len.wrapping_add(syn).wrapping_add(fin)
    }

    /// Whether the capture kept only a part of the options.
    pub const fn options_are_cut(&self) -> bool {
        self.options.len() < self.options_len as usize
    }

    /// Source and destination addresses.
    pub const fn ends(&self) -> (IpAddr, IpAddr) {
        (self.source.ip(), self.destination.ip())
    }
}

/// How a segment passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passing {
    /// Fragments that it was put together from; 0 where it came in one piece.
    pub(super) fragments: u32,
    /// Whether it was stored behind later ones.
    pub(super) is_late: bool,
    /// Whether the clock was set back by little, an odd number of times, before it passed.
    pub(super) is_set: bool,
}
