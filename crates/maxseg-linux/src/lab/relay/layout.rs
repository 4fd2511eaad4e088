//! Headers and segments of a super-packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use maxseg_core::framing::IpPacket;
use maxseg_core::path::LinkSpec;
use maxseg_core::units::Bytes;

use crate::sys::VNET_HEADER;

/// `virtio_net_hdr.gso_type` (`linux/virtio_net.h`), without its ECN bit.
const GSO_TCP_V4: u8 = 1;
const GSO_TCP_V6: u8 = 4;
const GSO_ECN: u8 = 0x80;

const SHORTEST_IP: u16 = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: u32 = 8;
const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;

/// Headers and segments of a super-packet that a TUN interface handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab) struct Layout {
    /// Whether it is IPv6.
    pub(super) is_v6: bool,
    /// Bytes of the IP header.
    pub(in crate::lab) ip: u16,
    /// Bytes of IP and TCP header together; of other protocols, of the IP header alone.
    pub(in crate::lab) headers: u16,
    /// Bytes after the headers.
    pub(super) payload: u32,
    /// Payload of each packet on the wire but the last, in bytes.
    pub(super) segment: u16,
    /// Packets on the wire.
    pub(in crate::lab) count: u16,
    /// Whether they are ECN-capable (ECT, RFC 3168 §5).
    pub(super) ect: bool,
    /// Protocol of the payload.
    protocol: u8,
    /// TCP flags of the last packet.
    pub(super) flags: u8,
    /// Source and destination port of TCP and UDP; for an ICMP echo its identifier, twice. Zeros in a fragment that is
    /// not the first, until [`super::meter::Meter::find_flow`].
    pub(in crate::lab) ports: (u16, u16),
    /// Of a fragment of an IPv4 packet.
    pub(super) fragment: Option<Fragment>,
}

/// A fragment of an IPv4 packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragment {
    /// The packet's identification (RFC 791 §3.1).
    pub(super) id: u16,
    /// Whether it is the first.
    pub(super) is_first: bool,
}

impl Layout {
    /// The layout of the packet after the TUN interface's header; `None` if it is not an IP packet.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..VNET_HEADER)?;
        let packet = bytes.get(VNET_HEADER..)?;
        let gso = header[1] & !GSO_ECN;
        let is_v6 = match packet.first()? >> 4 {
            4 => false,
            6 => true,
            _ => return None,
        };
        let (ip, protocol, traffic_class) = if is_v6 {
            let class = packet.first()? << 4 | packet.get(1)? >> 4;
            (40_u16, *packet.get(6)?, class)
        } else {
            (u16::from(packet.first()? & 0x0f) * 4, *packet.get(9)?, *packet.get(1)?)
        };
        if ip < SHORTEST_IP {
            return None;
        }
        let transport = packet.get(usize::from(ip)..)?;
        // Only the first fragment has the header of the protocol that it carries.
        let fragment = if is_v6 { None } else { fragment_of(packet) };
        let is_first = fragment.is_none_or(|fragment| fragment.is_first);
        let is_tcp =
            protocol == TCP && is_first && transport.get(12).is_some_and(|offset| offset >> 4 >= 5);
        let own = if is_tcp { u16::from(transport[12] >> 4) * 4 } else { 0 };
        let headers = ip + own;
        let payload = packet.len().checked_sub(usize::from(headers))?;
        let is_super = is_tcp && matches!(gso, GSO_TCP_V4 | GSO_TCP_V6);
        let gso_size = u16::from_ne_bytes([header[4], header[5]]);
        let segment = if is_super && gso_size > 0 {
            gso_size
        } else {
            u16::try_from(payload).unwrap_or(u16::MAX)
        };
        let count = if is_super { payload.div_ceil(usize::from(segment.max(1))).max(1) } else { 1 };
        let port = |at: usize| {
            let bytes = transport.get(at..at + 2).filter(|_| is_first);
            bytes.map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        Some(Self {
            is_v6,
            ip,
            headers,
            payload: u32::try_from(payload).ok()?,
            segment,
            count: u16::try_from(count).ok()?,
            ect: traffic_class & 0b11 != 0,
            protocol,
            flags: if is_tcp { transport[13] } else { 0 },
            ports: match protocol {
                // The identifier of an echo (RFC 792, RFC 4443 §4.1).
                ICMP | ICMP_V6 => (port(4), port(4)),
                TCP | UDP => (port(0), port(2)),
                _ => (0, 0),
            },
            fragment,
        })
    }

    pub(in crate::lab) fn is_tcp(&self) -> bool {
        self.protocol == TCP && self.headers > self.ip
    }

    pub(in crate::lab) fn is_syn(&self) -> bool {
        self.flags & SYN != 0
    }

    /// Whether it is a fragment without its packet's first bytes.
    pub(super) fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|fragment| !fragment.is_first)
    }

    /// Whether it carries payload of TCP or UDP.
    pub(in crate::lab) fn carries_data(&self) -> bool {
        self.data_bytes() > 0
    }

    /// Payload of TCP or UDP, in bytes.
    pub(in crate::lab) fn data_bytes(&self) -> u64 {
        match self.protocol {
            TCP => u64::from(self.payload),
            UDP if self.is_later_fragment() => u64::from(self.payload),
            UDP => u64::from(self.payload.saturating_sub(UDP_HEADER)),
            _ => 0,
        }
    }

    /// Length of one of its IP packets, in bytes.
    pub(in crate::lab) fn length_of(&self, index: u16) -> u32 {
        u32::from(self.headers) + self.payload_of(index)
    }

    /// Payload of one of its packets, in bytes.
    pub(in crate::lab) fn payload_of(&self, index: u16) -> u32 {
        let from = u32::from(index) * u32::from(self.segment);
        (self.payload - from.min(self.payload)).min(u32::from(self.segment))
    }

    /// One of its packets as a link sees it.
    pub(in crate::lab) fn shape_of(&self, index: u16) -> IpPacket {
        let length = u32::from(self.headers) + self.payload_of(index);
        // Van Jacobson's compression needs headers without options, of an established connection (RFC 1144 §3.2.2).
        let is_plain = self.is_tcp() && !self.is_v6 && self.headers == 40;
        if is_plain && self.flags & (SYN | RST) == 0 {
            return IpPacket::compressible(Bytes::new(u64::from(length)));
        }
        IpPacket::from(length)
    }

    /// The whole super-packet as one packet on the link `as_one`, of a length that takes as much of the wire there as
    /// its packets take together on `link`.
    pub(super) fn shape_of_all(&self, link: &LinkSpec, as_one: &LinkSpec) -> IpPacket {
        /// Framing in cells or frames takes a step or two to meet.
        const MOST_STEPS: u32 = 4;
        let (full, last) = (u64::from(self.count - 1), self.count - 1);
        let of_all = |of_one: &dyn Fn(u16) -> u64| full * of_one(0) + of_one(last);
        let wanted = of_all(&|index| link.wire_bytes(self.shape_of(index)).get());
        let mut length = of_all(&|index| u64::from(self.length_of(index)));
        for _ in 0..MOST_STEPS {
            let taken = as_one.wire_bytes(Bytes::new(length)).get();
            if taken == wanted {
                break;
            }
            length = (length + wanted).saturating_sub(taken);
        }
        IpPacket::from(Bytes::new(length))
    }
}

/// The fragment that an IPv4 packet is, if it is one.
fn fragment_of(packet: &[u8]) -> Option<Fragment> {
    /// More fragments (RFC 791 §3.1).
    const MORE: u16 = 0x2000;
    let word = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    let (id, field) = (word(4)?, word(6)?);
    let offset = field & 0x1fff;
    let is_fragment = offset > 0 || field & MORE != 0;
    is_fragment.then_some(Fragment { id, is_first: offset == 0 })
}

/// What the fragments of one IPv4 packet have in common: identification, protocol and addresses (RFC 791 §2.3).
pub(super) fn fragments_key(bytes: &[u8]) -> Option<[u8; 11]> {
    let packet = bytes.get(VNET_HEADER..)?;
    let mut key = [0; 11];
    key[..2].copy_from_slice(packet.get(4..6)?);
    key[2] = *packet.get(9)?;
    key[3..].copy_from_slice(packet.get(12..20)?);
    Some(key)
}

/// The source of an ICMP message about a packet that was too large ("fragmentation needed", RFC 1191; "packet too
/// big", RFC 4443 §3.2); `None` for any other packet.
pub(super) fn too_big_reporter(bytes: &[u8], layout: &Layout) -> Option<IpAddr> {
    let packet = bytes.get(VNET_HEADER..)?;
    let message = packet.get(usize::from(layout.ip)..)?;
    let is_too_big = match layout.protocol {
        ICMP => !layout.is_v6 && message.first() == Some(&3) && message.get(1) == Some(&4),
        ICMP_V6 => layout.is_v6 && message.first() == Some(&2),
        _ => false,
    };
    if !is_too_big {
        return None;
    }
    if layout.is_v6 {
        let address: [u8; 16] = packet.get(8..24)?.try_into().ok()?;
        return Some(Ipv6Addr::from(address).into());
    }
    let address: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
    Some(Ipv4Addr::from(address).into())
}
