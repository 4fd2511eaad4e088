//! Super-packets, taken apart: what etherparse, by another hand, finds right must be right.

use std::net::IpAddr;
use std::rc::Rc;

use etherparse::{IpHeaders, NetHeaders, PacketBuilder, PacketHeaders, TcpHeader, TransportHeader};
use proptest::prelude::*;

use super::buffer::Pool;
use super::layout::{Layout, too_big_reporter};
use super::split::{Header, NEEDS_CSUM, payload};
use super::wire_packet::{Length, write_wire_packet};
use crate::sys::VNET_HEADER;

mod header_limiter;

const PORTS: (u16, u16) = (40_000, 5201);
const ID: u16 = 0xfffe;
const SEQUENCE: u32 = u32::MAX - 5000;

/// What the kernel hands over.
#[derive(Debug, Clone)]
struct Super {
    is_v6: bool,
    gso_size: u16,
    payload: Vec<u8>,
    /// FIN, PSH, CWR.
    flags: [bool; 3],
    timestamps: bool,
}

fn any_super() -> impl Strategy<Value = Super> {
    let sizes = prop_oneof![1..=20_u16, 400..=1500_u16, 8000..=9000_u16];
    (any::<bool>(), sizes, 1..=45_u16, any::<u16>(), any::<[bool; 3]>(), any::<bool>()).prop_map(
        |(is_v6, gso_size, packets, short, flags, timestamps)| {
            let most = (usize::from(gso_size) * usize::from(packets)).min(65_000);
            let len = (most - usize::from(short % gso_size)).max(1);
            let payload = (0..len).map(|at| u8::try_from(at * 7 % 251).unwrap_or(0)).collect();
            Super { is_v6, gso_size, payload, flags, timestamps }
        },
    )
}

/// Offload header, with the sum over the pseudo header where TCP's checksum will be.
fn offloaded(packet: &[u8], ip: u16, gso: (u8, u16)) -> Vec<u8> {
    let mut bytes = vec![NEEDS_CSUM, gso.0];
    for field in [0, gso.1, ip, 16] {
        bytes.extend(field.to_ne_bytes());
    }
    bytes.extend(packet);
    bytes
}

impl Super {
    fn bytes(&self) -> Vec<u8> {
        let builder = if self.is_v6 {
            PacketBuilder::ipv6([1; 16], [2; 16], 64)
        } else {
            let mut ip = etherparse::Ipv4Header::new(0, 64, 6.into(), [10, 0, 0, 1], [10, 0, 0, 2])
                .unwrap_or_default();
            ip.identification = ID;
            ip.dont_fragment = true;
            PacketBuilder::ip(IpHeaders::Ipv4(ip, etherparse::Ipv4Extensions::default()))
        };
        let mut tcp = TcpHeader::new(PORTS.0, PORTS.1, SEQUENCE, 1000);
        [tcp.fin, tcp.psh, tcp.cwr] = self.flags;
        (tcp.ack, tcp.ece) = (true, true);
        if self.timestamps {
            tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]).unwrap();
        }
        let mut packet = Vec::new();
        builder.tcp_header(tcp).write(&mut packet, &self.payload).unwrap();
        let ip = if self.is_v6 { 40 } else { 20 };
        // The pseudo header's sum is what the checksum lacks of that over the bytes alone.
        let at = usize::from(ip) + 16;
        packet[at..at + 2].fill(0);
        let addresses = if self.is_v6 { &packet[8..40] } else { &packet[12..20] };
        let length = u32::try_from(packet.len()).unwrap() - u32::from(ip);
        let words =
            addresses.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum = words.sum::<u32>() + length + 6;
        let sum = (sum & 0xffff) + (sum >> 16);
        let sum = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
        packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        let kind = if self.is_v6 { 4 } else { 1 };
        let is_super = self.payload.len() > usize::from(self.gso_size);
        offloaded(&packet, ip, if is_super { (kind, self.gso_size) } else { (0, 0) })
    }
}

/// A packet of the wire, whole.
fn on_the_wire(all: &[u8], layout: &Layout, index: u16, marked: bool) -> Vec<u8> {
    let mut out = vec![0; 65_535];
    let Length { kept, whole } = write_wire_packet(all, layout, index, marked, &mut out);
    assert_eq!(kept, whole);
    out.truncate(kept);
    out
}

/// Its TCP header and payload, if every length and checksum is right; its identification; its ECN bits.
fn checked(packet: &[u8]) -> (TcpHeader, Vec<u8>, Option<u16>, u8) {
    let headers = PacketHeaders::from_ip_slice(packet).unwrap();
    let Some(TransportHeader::Tcp(tcp)) = headers.transport else { panic!("no TCP") };
    let payload = headers.payload.slice();
    match headers.net {
        Some(NetHeaders::Ipv4(ip, _)) => {
            assert_eq!(usize::from(ip.total_len), packet.len());
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, payload).unwrap());
            (tcp, payload.to_vec(), Some(ip.identification), ip.ecn.value())
        }
        Some(NetHeaders::Ipv6(ip, _)) => {
            assert_eq!(usize::from(ip.payload_length) + 40, packet.len());
            assert_eq!(tcp.checksum, tcp.calc_checksum_ipv6(&ip, payload).unwrap());
            (tcp, payload.to_vec(), None, ip.traffic_class & 3)
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_super_packet_is_its_packets(packet in any_super()) {
        let bytes = packet.bytes();
        let layout = Layout::of(&bytes).unwrap();
        let size = usize::from(packet.gso_size);
        prop_assert_eq!(usize::from(layout.count), packet.payload.len().div_ceil(size));
        prop_assert_eq!(layout.ports, PORTS);
        let mut payload = Vec::new();
        let [fin, psh, cwr] = packet.flags;
        for index in 0..layout.count {
            let one = on_the_wire(&bytes, &layout, index, false);
            prop_assert_eq!(one.len(), layout.length_of(index) as usize);
            let (tcp, mut part, id, ecn) = checked(&one);
            let (first, last) = (index == 0, index + 1 == layout.count);
            prop_assert_eq!(tcp.sequence_number, SEQUENCE.wrapping_add(u32::try_from(payload.len()).unwrap()));
            prop_assert_eq!([tcp.fin, tcp.psh, tcp.cwr], [fin && last, psh && last, cwr && first]);
            prop_assert!(tcp.ack && tcp.ece, "all other flags are everybody's");
            prop_assert_eq!(tcp.options.len(), if packet.timestamps { 12 } else { 0 });
            prop_assert!(last && !part.is_empty() || part.len() == size);
            prop_assert_eq!(id.is_none_or(|id| id == ID.wrapping_add(index)), true);
            prop_assert_eq!(ecn, 0);
            payload.append(&mut part);
        }
        prop_assert_eq!(payload, packet.payload);
    }

    #[test]
    fn a_part_of_a_super_packet_is_a_super_packet(packet in any_super(), cuts: (u16, u16)) {
        let bytes = packet.bytes();
        let layout = Layout::of(&bytes).unwrap();
        let first = cuts.0 % layout.count;
        let last = first + cuts.1 % (layout.count - first);
        let header = Header::new(&bytes, &layout, first, last, false);
        let part = [header.bytes(), &bytes[payload(&layout, first, last)]].concat();
        let part_layout = Layout::of(&part).unwrap();
        prop_assert_eq!(part_layout.count, last - first + 1);
        for index in 0..part_layout.count {
            prop_assert_eq!(
                on_the_wire(&part, &part_layout, index, false),
                on_the_wire(&bytes, &layout, first + index, false)
            );
        }
    }

    #[test]
    fn a_mark_changes_nothing_else(packet in any_super(), index: u16) {
        let bytes = packet.bytes();
        let layout = Layout::of(&bytes).unwrap();
        let index = index % layout.count;
        let (plain, part, id, _) = checked(&on_the_wire(&bytes, &layout, index, false));
        let marked = checked(&on_the_wire(&bytes, &layout, index, true));
        prop_assert_eq!(marked, (plain, part, id, 0b11));
    }

    #[test]
    fn what_is_kept_is_the_beginning(packet in any_super(), index: u16, room in 0..200_usize) {
        let bytes = packet.bytes();
        let layout = Layout::of(&bytes).unwrap();
        let index = index % layout.count;
        let whole = on_the_wire(&bytes, &layout, index, false);
        let mut out = vec![0; room];
        let length = write_wire_packet(&bytes, &layout, index, false, &mut out);
        prop_assert_eq!(length, Length { kept: room.min(whole.len()), whole: whole.len() });
        // A checksum that is cut in two stays unfinished.
        let field = usize::from(layout.ip) + 16;
        let sure = if room == field + 1 { field } else { length.kept };
        prop_assert_eq!(&out[..sure], &whole[..sure]);
    }

    #[test]
    fn any_bytes_have_a_layout_that_fits_or_none(mut bytes in prop::collection::vec(any::<u8>(), 0..200), head: u8) {
        if let Some(first) = bytes.get_mut(VNET_HEADER) {
            *first = [0x45, 0x4f, 0x60, head][usize::from(head % 4)];
        }
        if let Some(layout) = Layout::of(&bytes) {
            let payload: u32 = (0..layout.count).map(|index| layout.payload_of(index)).sum();
            prop_assert_eq!(VNET_HEADER + usize::from(layout.headers) + payload as usize, bytes.len());
            too_big_reporter(&bytes, &layout);
            for index in 0..layout.count {
                on_the_wire(&bytes, &layout, index, head & 1 == 0);
            }
        }
    }

    #[test]
    fn buffers_give_back_what_they_were_given(lengths in prop::collection::vec(0..65_545_usize, 1..20)) {
        let bytes = Super { is_v6: false, gso_size: 1, payload: vec![1], flags: [false; 3], timestamps: false }.bytes();
        let layout = Layout::of(&bytes).unwrap();
        let pool = Pool::new();
        let mut scratch = pool.largest();
        let mut kept = Vec::new();
        for (round, len) in lengths.iter().enumerate() {
            let filling = u8::try_from(round).unwrap();
            scratch[..*len].fill(filling);
            kept.push((Rc::new(pool.keep(&mut scratch, *len, layout)), filling));
            prop_assert!(scratch.len() >= 65_545, "there is room for whatever comes next");
            if round % 3 == 2 {
                kept.remove(0);
            }
        }
        for (packet, filling) in kept {
            prop_assert!(packet.bytes().iter().all(|byte| *byte == filling));
        }
    }
}

#[test]
fn a_buffer_is_used_again() {
    let pool = Pool::new();
    let mut scratch = pool.largest();
    let packet = Super {
        is_v6: true,
        gso_size: 1000,
        payload: vec![0; 500],
        flags: [false; 3],
        timestamps: true,
    };
    let layout = Layout::of(&packet.bytes()).unwrap();
    for len in [100, 10_000, 60_000] {
        let first = pool.keep(&mut scratch, len, layout);
        let place = first.bytes().as_ptr();
        drop(first);
        // A large one is not copied: its buffer and the scratch one change places.
        let mut others = [scratch.as_ptr(), place];
        let second = pool.keep(&mut scratch, len, layout);
        assert!(others.contains(&second.bytes().as_ptr()), "{len}");
        others[0] = second.bytes().as_ptr();
        if len < 20_000 {
            assert_eq!(others[0], place, "{len}");
        }
    }
}

/// A packet that no card needs to complete.
fn complete(packet: &[u8]) -> Vec<u8> {
    [&[0; VNET_HEADER][..], packet].concat()
}

#[test]
fn datagrams_and_echoes_belong_to_flows_by_port_and_identifier() {
    let ends = || PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let mut udp = Vec::new();
    ends().udp(PORTS.0, PORTS.1).write(&mut udp, &[7; 100]).unwrap();
    let layout = Layout::of(&complete(&udp)).unwrap();
    assert_eq!((layout.count, layout.ports, layout.data_bytes()), (1, PORTS, 100));
    assert_eq!(on_the_wire(&complete(&udp), &layout, 0, false), udp);

    let mut echo = Vec::new();
    ends().icmpv4_echo_request(5203, 1).write(&mut echo, &[0; 56]).unwrap();
    let layout = Layout::of(&complete(&echo)).unwrap();
    assert_eq!((layout.ports, layout.data_bytes(), layout.is_tcp()), ((5203, 5203), 0, false));

    // A later fragment has no ports, whatever its bytes are.
    udp[6..8].copy_from_slice(&[0x20, 5]);
    let layout = Layout::of(&complete(&udp)).unwrap();
    assert_eq!(layout.ports, (0, 0));
}

#[test]
fn a_datagram_whose_checksum_is_left_to_the_card_is_completed() {
    let mut udp = Vec::new();
    let ends = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    ends.udp(PORTS.0, PORTS.1).write(&mut udp, &[7; 101]).unwrap();
    // 10.0.0.1, 10.0.0.2, UDP, length.
    assert_eq!(completed(&udp, 6, 0x0a00 + 1 + 0x0a00 + 2 + 17 + 109), udp);
}

/// The packet on the wire whose checksum, `field` bytes into the transport header, is left to the card.
fn completed(packet: &[u8], field: u16, pseudo: u16) -> Vec<u8> {
    let mut bytes = complete(packet);
    bytes[0] = NEEDS_CSUM;
    bytes[6..8].copy_from_slice(&20_u16.to_ne_bytes());
    bytes[8..10].copy_from_slice(&field.to_ne_bytes());
    let at = VNET_HEADER + 20 + usize::from(field);
    bytes[at..at + 2].copy_from_slice(&pseudo.to_be_bytes());
    on_the_wire(&bytes, &Layout::of(&bytes).unwrap(), 0, false)
}

#[test]
fn a_checksum_of_zero_stays_zero_in_tcp_alone() {
    let ends = || PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    // What the checksum of the packet with a zero word was, as that word, makes it zero.
    let zeroed = |build: &dyn Fn(u16) -> Vec<u8>, field: usize| {
        let packet = build(0);
        let at = 20 + field;
        build(u16::from_be_bytes([packet[at], packet[at + 1]]))
    };
    let tcp = |word: u16| {
        let mut packet = Vec::new();
        let builder = ends().tcp(PORTS.0, PORTS.1, SEQUENCE, 1000);
        builder.write(&mut packet, &word.to_be_bytes()).unwrap();
        packet
    };
    let udp = |word: u16| {
        let mut packet = Vec::new();
        ends().udp(PORTS.0, PORTS.1).write(&mut packet, &word.to_be_bytes()).unwrap();
        packet
    };
    let addresses = 0x0a00 + 1 + 0x0a00 + 2;
    let of_tcp = completed(&zeroed(&tcp, 16), 16, addresses + 6 + 22);
    assert_eq!(of_tcp[36..38], [0, 0]);
    let of_udp = completed(&zeroed(&udp, 6), 6, addresses + 17 + 10);
    assert_eq!(of_udp[26..28], [0xff, 0xff]);
}

#[test]
fn news_of_too_large_packets_is_recognized() {
    use etherparse::icmpv4::DestUnreachableHeader;
    use etherparse::{Icmpv4Type, Icmpv6Type};
    let told = |packet: &[u8]| {
        let bytes = complete(packet);
        too_big_reporter(&bytes, &Layout::of(&bytes).unwrap())
    };
    let v4 = |header| {
        let mut packet = Vec::new();
        let kind = Icmpv4Type::DestinationUnreachable(header);
        let ends = PacketBuilder::ipv4([10, 77, 0, 2], [10, 77, 0, 1], 64);
        ends.icmpv4(kind).write(&mut packet, &[0; 28]).unwrap();
        packet
    };
    let fragmentation_needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: 576 };
    assert_eq!(told(&v4(fragmentation_needed)), Some(IpAddr::from([10, 77, 0, 2])));
    assert_eq!(told(&v4(DestUnreachableHeader::Port)), None);
    let mut packet = Vec::new();
    let ends = PacketBuilder::ipv6([9; 16], [8; 16], 64);
    ends.icmpv6(Icmpv6Type::PacketTooBig { mtu: 1280 }).write(&mut packet, &[0; 48]).unwrap();
    assert_eq!(told(&packet), Some(IpAddr::from([9; 16])));
}

#[test]
fn a_super_packet_as_one_takes_the_wire_as_its_packets_do() {
    use maxseg_core::framing::Framing;
    use maxseg_core::path::LinkSpec;
    use maxseg_core::units::{BitsPerSec, Mtu, Time};
    let mut packet = Vec::new();
    let ends = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    // 44 segments of 1448 and one of 1000, timestamps left aside.
    let tcp = ends.tcp(PORTS.0, PORTS.1, SEQUENCE, 1000);
    tcp.write(&mut packet, &vec![0; 44 * 1448 + 1000]).unwrap();
    let bytes = offloaded(&packet, 20, (1, 1448));
    let layout = Layout::of(&bytes).unwrap();
    assert_eq!(layout.count, 45);
    for (framing, want) in [
        (Framing::Ip, 44 * 1488 + 1040),
        (Framing::Ethernet, 44 * (1488 + 38) + 1040 + 38),
        // 32 cells for 1488 and a trailer of 8, and 22 for 1040.
        (Framing::AtmAal5, 53 * (44 * 32 + 22)),
    ] {
        let plain = LinkSpec::plain(BitsPerSec::new(1_000_000).unwrap(), Time::ZERO);
        let link = LinkSpec { framing, ..plain };
        let as_one = LinkSpec { mtu: Mtu::LARGEST, ..link.clone() };
        let taken = as_one.wire_bytes(layout.shape_of_all(&link, &as_one)).get();
        assert_eq!(taken, want, "{framing:?}");
    }
}
