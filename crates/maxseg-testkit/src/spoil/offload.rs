//! Receive or segmentation offload: segments of a flow that follow each other in one packet.

use super::packets::Packet;
use super::tcp::{Tcp, put_u16};

/// The longest IP packet, in bytes, and the headers that it leaves room for.
const MOST: usize = 65_535;
const HEADERS: usize = 60;
/// Segments further apart than this are not joined, in nanoseconds.
const APART: u64 = 1_000_000;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// A packet under construction.
struct Joined {
    packet: Packet,
    tcp: Tcp,
    /// Payload of its first and last segment, and of all.
    size: usize,
    last: usize,
    total: usize,
}

impl Joined {
    /// Whether `next` continues it: in order, no later than a millisecond, no larger than the first.
    fn takes(&self, next: &Packet, tcp: &Tcp) -> bool {
        let expected = self.tcp.seq.wrapping_add(u32::try_from(self.total).unwrap_or(0));
        tcp.payload > 0
            && tcp.payload <= self.size
            && self.last == self.size
            && tcp.seq == expected
            && tcp.ack == self.tcp.ack
            && tcp.header == self.tcp.header
            && tcp.flags & !PSH == ACK
            && self.tcp.has_flow_of(&self.packet.data, tcp, &next.data)
            && self.total + tcp.payload + tcp.header + HEADERS <= MOST
            && next.at_nanos.saturating_sub(self.packet.at_nanos) < APART
    }

    fn join(&mut self, next: &Packet, tcp: &Tcp) {
        self.total += tcp.payload;
        self.last = tcp.payload;
        let is_whole = self.packet.data.len() == self.packet.wire_len as usize
            && next.data.len() == next.wire_len as usize;
        let data = &mut self.packet.data;
        data[self.tcp.start + 13] |= tcp.flags & PSH;
        let transport = self.tcp.header + self.total;
        if self.tcp.is_v6 {
            put_u16(data, self.tcp.ip + 4, short(transport));
        } else {
            put_u16(data, self.tcp.ip + 2, short(self.tcp.start - self.tcp.ip + transport));
            put_u16(data, self.tcp.ip + 10, 0);
        }
        put_u16(data, self.tcp.start + 16, 0);
        let payload = tcp.start + tcp.header;
        if is_whole && let Some(bytes) = next.data.get(payload..payload + tcp.payload) {
            data.extend_from_slice(bytes);
        }
        self.packet.wire_len += u32::try_from(tcp.payload).unwrap_or(0);
    }
}

fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// The packets with in-order segments joined up to 64 KB, checksums 0.
pub(super) fn joined(packets: &[Packet], link_type: u16) -> Vec<Packet> {
    let mut list = Vec::with_capacity(packets.len());
    let mut open: Option<Joined> = None;
    for packet in packets {
        let tcp = Tcp::of(&packet.data, link_type);
        if let (Some(joined), Some(tcp)) = (&mut open, &tcp)
            && joined.takes(packet, tcp)
        {
            joined.join(packet, tcp);
            if tcp.flags & PSH != 0 {
                list.extend(open.take().map(|joined| joined.packet));
            }
            continue;
        }
        list.extend(open.take().map(|joined| joined.packet));
        match tcp {
            Some(tcp) if tcp.payload > 0 && tcp.flags == ACK => {
                let size = tcp.payload;
                open = Some(Joined { packet: packet.clone(), tcp, size, last: size, total: size });
            }
            _ => list.push(packet.clone()),
        }
    }
    list.extend(open.map(|joined| joined.packet));
    list
}
