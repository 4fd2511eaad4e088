//! What both captures of a transfer hold, as files.

use std::net::{IpAddr, Ipv4Addr};

use maxseg_wire::Payload;
use maxseg_wire::ip::{Ipv4, protocol};
use maxseg_wire::options::TcpOption;
use maxseg_wire::tcp::{Flags, Tcp};

use super::{BEGIN, Clock, Packet, Run};

impl Run<'_> {
    pub(super) fn captures(&self) -> (Vec<u8>, Vec<u8>) {
        let mut packets: [Vec<(Packet, u32)>; 2] = [Vec::new(), Vec::new()];
        for (packet, _, is_missed) in self.sent.iter().filter(|it| !it.2) {
            debug_assert!(!is_missed);
            packets[usize::from(!packet.from_client)].push((*packet, packet.len));
        }
        for (packet, ..) in self.arrived.iter().filter(|it| !it.3) {
            packets[usize::from(packet.from_client)].push((*packet, packet.len));
        }
        for list in &mut packets {
            list.sort_unstable();
        }
        if self.options.offload {
            // What is sent at once leaves the host as one; what arrives in order is joined.
            packets = packets.map(|list| merged(&list));
        }
        let [sender, receiver] = packets;
        let last = self.last_time() as f64;
        let covered = receiver.into_iter().filter(|(packet, _)| {
            let share = packet.at as f64 / last;
            share >= self.options.receiver_from && share <= self.options.receiver_until
        });
        (self.file(sender.into_iter(), false), self.file(covered, true))
    }

    fn file(&self, packets: impl Iterator<Item = (Packet, u32)>, at_receiver: bool) -> Vec<u8> {
        let nanoseconds = !at_receiver && self.options.nanoseconds;
        let magic: u32 = if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let mut file = magic.to_le_bytes().to_vec();
        file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(self.options.snap_len.to_le_bytes());
        file.extend(101_u32.to_le_bytes());
        for (packet, len) in packets {
            let mut at = packet.at;
            if at_receiver {
                let Clock { offset, skew } = self.options.clock;
                #[expect(clippy::cast_possible_truncation, reason = "a short time")]
                let drift = (at as f64 * skew) as i64;
                #[expect(clippy::cast_possible_truncation, reason = "a short time")]
                let step = if at > self.end / 2 { (self.options.step_s * 1e9) as i64 } else { 0 };
                at += offset + drift + step;
            }
            self.record(&mut file, BEGIN + at, &packet, len, at_receiver, nanoseconds);
        }
        file
    }

    fn record(
        &self,
        file: &mut Vec<u8>,
        at: i64,
        packet: &Packet,
        len: u32,
        at_receiver: bool,
        nanoseconds: bool,
    ) {
        let seed = u16::try_from(self.options.seed % 1000).unwrap();
        let client = if at_receiver && self.options.translated {
            (Ipv4Addr::new(198, 51, 100, 7), 1024 + seed)
        } else {
            (Ipv4Addr::new(10, 0, 0, 1), 40_000 + seed)
        };
        let server = (Ipv4Addr::new(192, 0, 2, 2), 443);
        let (from, to) = if packet.from_client { (client, server) } else { (server, client) };
        let has_arrived = packet.from_client == at_receiver;
        let is_syn = packet.flags & Flags::SYN.bits() != 0;
        let mss = match self.options.clamp {
            Some(clamped) if has_arrived && packet.from_client => clamped,
            _ => 1460,
        };
        let stamps = TcpOption::Timestamps { value: packet.stamp, echo: 1 };
        let mut list = Vec::new();
        if is_syn {
            list.extend([TcpOption::Mss(mss), TcpOption::WindowScale(7)]);
        } else if self.options.timestamps {
            list.extend([TcpOption::NoOperation; 2]);
        }
        if self.options.timestamps {
            list.push(stamps);
        }
        let salt = u32::from(seed).wrapping_mul(1_000_003);
        let added = if at_receiver { self.options.renumbered } else { 0 };
        let (own, acked) = if packet.from_client { (added, 0) } else { (0, added) };
        let tcp = Tcp {
            source_port: from.1,
            destination_port: to.1,
            seq: packet.seq.wrapping_add(salt).wrapping_add(own),
            ack: if packet.flags & Flags::ACK.bits() == 0 {
                0
            } else {
                packet.ack.wrapping_add(salt).wrapping_add(acked)
            },
            flags: Flags::from_bits(packet.flags),
            window: 5000,
            ..Tcp::default()
        };
        let ip = Ipv4 {
            identification: packet.id,
            dont_fragment: true,
            ttl: if has_arrived { 61 } else { 64 },
            ecn: if has_arrived && packet.ce { 3 } else { 2 },
            protocol: protocol::TCP,
            source: from.0,
            destination: to.0,
            ..Ipv4::default()
        };
        let ends = (IpAddr::V4(from.0), IpAddr::V4(to.0));
        let mut segment = Vec::new();
        tcp.encode(&list, ends, Payload::Zeros(len as usize), &mut segment).unwrap();
        let mut bytes = Vec::new();
        let whole = segment.len() + len as usize;
        ip.encode(&[], whole, &mut bytes).unwrap();
        bytes.extend(segment);
        bytes.resize(bytes.len() + len as usize, 0);
        let original = u32::try_from(bytes.len()).unwrap();
        bytes.truncate(self.options.snap_len as usize);
        let part = if nanoseconds { 1 } else { 1000 };
        let numbers =
            [at / 1_000_000_000, at % 1_000_000_000 / part].map(|n| u32::try_from(n).unwrap());
        let captured = u32::try_from(bytes.len()).unwrap();
        for number in numbers.into_iter().chain([captured, original]) {
            file.extend(number.to_le_bytes());
        }
        file.extend(bytes);
    }
}

/// Packets with neighbouring payload and equal timestamps as one.
fn merged(list: &[(Packet, u32)]) -> Vec<(Packet, u32)> {
    let mut out: Vec<(Packet, u32)> = Vec::new();
    for (packet, len) in list {
        if let Some((last, last_len)) = out.last_mut()
            && last.from_client == packet.from_client
            && *last_len > 0
            && *len > 0
            && last.stamp == packet.stamp
            && packet.seq == last.seq.wrapping_add(*last_len)
            && packet.at - last.at < 100_000
        {
            *last_len += len;
            continue;
        }
        out.push((*packet, *len));
    }
    out
}
