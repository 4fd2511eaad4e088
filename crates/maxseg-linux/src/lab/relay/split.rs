//! Packets of a super-packet, as a smaller super-packet or as single packets.

use maxseg_wire::Sum;
use maxseg_wire::ip::protocol;

use super::layout::Layout;
use crate::sys::VNET_HEADER;

/// FIN and PSH belong to the last packet of a super-packet, CWR to the first
/// (Linux: `net/ipv4/tcp_offload.c`, `tcp_gso_segment`).
const FIN_PSH: u8 = 0x01 | 0x08;
const CWR: u8 = 0x80;
/// `linux/virtio_net.h`: the checksum is to be completed.
pub(super) const NEEDS_CSUM: u8 = 1;
/// ECN field of the traffic class: congestion experienced (RFC 3168 §5).
const CE: u8 = 0b11;
const TCP_CHECKSUM: u16 = 16;

/// The longest header: the TUN interface's, IPv4 or IPv6, TCP.
const LONGEST: usize = VNET_HEADER + 60 + 60;

/// A header for packets `first` to `last` of a super-packet.
#[derive(Debug)]
pub(super) struct Header {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Header {
    /// The header for these packets, CE-marked if `marked`; [`payload`] gives their payload.
    ///
    /// `whole` is a super-packet with this layout.
    pub(super) fn new(whole: &[u8], layout: &Layout, first: u16, last: u16, marked: bool) -> Self {
        let len = VNET_HEADER + usize::from(layout.headers);
        let mut header = Self { bytes: [0; LONGEST], len };
        header.bytes[..len].copy_from_slice(&whole[..len]);
        if layout.count > 1 {
            header.cut(layout, first, last);
        }
        if marked {
            header.mark(layout);
        }
        header
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn cut(&mut self, layout: &Layout, first: u16, last: u16) {
        let payload = u32::try_from(payload(layout, first, last).len()).unwrap_or(0);
        let is_single = first == last;
        if is_single {
            self.bytes[1] = 0;
            self.bytes[4..6].fill(0);
        }
        let (ip, packet) = (usize::from(layout.ip), &mut self.bytes[VNET_HEADER..]);
        let transport = u32::from(layout.headers - layout.ip) + payload;
        if layout.is_v6 {
            packet[4..6].copy_from_slice(&low(transport).to_be_bytes());
        } else {
            let total = low(u32::from(layout.ip) + transport);
            packet[2..4].copy_from_slice(&total.to_be_bytes());
            let id = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(first);
            packet[4..6].copy_from_slice(&id.to_be_bytes());
            complete_ip_checksum(&mut packet[..ip]);
        }
        let pseudo = pseudo_header_sum(&packet[..ip], layout.is_v6, transport);
        let tcp = &mut packet[ip..];
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let sequence = sequence.wrapping_add(u32::from(first) * u32::from(layout.segment));
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        if last + 1 < layout.count {
            tcp[13] &= !FIN_PSH;
        }
        if first > 0 {
            tcp[13] &= !CWR;
        }
        // The sum over the pseudo-header, not complemented: the receiving kernel adds the rest.
        tcp[16..18].copy_from_slice(&pseudo.to_be_bytes());
        self.bytes[0] = NEEDS_CSUM;
        self.bytes[2..4].copy_from_slice(&layout.headers.to_ne_bytes());
        self.bytes[6..8].copy_from_slice(&layout.ip.to_ne_bytes());
        self.bytes[8..10].copy_from_slice(&TCP_CHECKSUM.to_ne_bytes());
    }

    /// Sets CE (congestion experienced).
    fn mark(&mut self, layout: &Layout) {
        let packet = &mut self.bytes[VNET_HEADER..];
        if layout.is_v6 {
            packet[1] |= CE << 4;
        } else {
            packet[1] |= CE;
            complete_ip_checksum(&mut packet[..usize::from(layout.ip)]);
        }
    }
}

/// The range of the payload of packets `first` to `last` in the super-packet's bytes.
pub(super) fn payload(layout: &Layout, first: u16, last: u16) -> std::ops::Range<usize> {
    let start = VNET_HEADER + usize::from(layout.headers);
    let segment = usize::from(layout.segment);
    let all = layout.payload as usize;
    start + (usize::from(first) * segment).min(all)
        ..start + ((usize::from(last) + 1) * segment).min(all)
}

fn low(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(0) // 0 in a BIG TCP packet (RFC 2675)
}

fn complete_ip_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let checksum = Sum::default().add_bytes(header).checksum();
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// RFC 9293 §3.1, RFC 8200 §8.1: addresses, protocol and length.
fn pseudo_header_sum(ip: &[u8], is_v6: bool, transport: u32) -> u16 {
    let addresses = if is_v6 { &ip[8..40] } else { &ip[12..20] };
    Sum::default()
        .add_bytes(addresses)
        .add_number(transport)
        .add_number(protocol::TCP.into())
        .folded()
}
