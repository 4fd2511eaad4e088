use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use proptest::prelude::*;

use super::*;
use crate::ip::Packet;
use crate::link_type;
use crate::tcp::Segment;

fn record(link_type: u16, data: &[u8], original_len: usize) -> Record<'_> {
    let original_len = u32::try_from(original_len).unwrap();
    Record {
        number: 7,
        interface: 2,
        interfaces: 3,
        at_nanos: Some(5),
        original_len,
        link_type,
        data,
    }
}

fn whole(link_type: u16, data: &[u8]) -> Record<'_> {
    record(link_type, data, data.len())
}

/// What the strict decoders say of a packet.
fn strictly(ip: &[u8], wire_len: usize) -> Result<Seen<'_>, DecodeError> {
    let packet = Packet::decode(ip, wire_len)?;
    let ends = packet.ends();
    let segment = Segment::decode(packet.payload, packet.payload_len, ends)?;
    let outline = Outline::read(ip, wire_len)?;
    Ok(Seen {
        at_nanos: 5,
        frame: 7,
        interface: 2,
        link: 0,
        source: SocketAddr::new(ends.0, segment.header.source_port),
        destination: SocketAddr::new(ends.1, segment.header.destination_port),
        ip_id: outline.identification,
        dont_fragment: outline.dont_fragment,
        ttl: outline.ttl,
        ecn: outline.ecn,
        ip_len: outline.len,
        seq: segment.header.seq,
        ack: segment.header.ack,
        window: segment.header.window,
        flags: segment.header.flags,
        checksum: segment.header.checksum,
        payload_len: u32::try_from(segment.payload_len).unwrap(),
        payload: segment.payload,
        options_len: segment.header.header_words * 4 - 20,
        options: segment.options,
    })
}

fn ethernet(ip: &[u8]) -> Vec<u8> {
    let is_v6 = ip.first().is_some_and(|first| first >> 4 == 6);
    let ethertype: [u8; 2] = if is_v6 { [0x86, 0xdd] } else { [8, 0] };
    [&[0; 12][..], &ethertype, ip].concat()
}

/// TCP in IPv4 with any bits in its header and behind it.
fn tcp_in_v4(tcp: &[u8], total_length: u16) -> Vec<u8> {
    let mut ip =
        vec![0x45, 3, 0, 0, 0, 9, 0x40, 0, 61, protocol::TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip[2..4].copy_from_slice(&total_length.to_be_bytes());
    [&ip[..], tcp].concat()
}

#[test]
fn lengths_are_those_of_the_packet_not_of_the_capture() {
    let tcp = {
        let mut tcp = vec![0; 32];
        tcp[12] = 0x80;
        tcp
    };
    let ip = tcp_in_v4(&tcp, 1500);
    // What, bytes kept, bytes there were, total length: payload, options kept.
    let cases = [
        ("whole header, cut payload", 52, 1500, 1500, Some((1448, 12))),
        ("cut in the options", 45, 1500, 1500, Some((1448, 5))),
        ("cut in the header", 39, 1500, 1500, None),
        ("segmentation offload", 52, 70_000, 0, Some((69_948, 12))),
        ("padding behind the packet", 52, 60, 52, Some((0, 12))),
        ("longer than it was", 52, 1400, 1500, Some((1348, 12))),
        ("shorter than TCP's header", 52, 52, 48, None),
    ];
    for (what, kept, original_len, total_length, want) in cases {
        let mut ip = ip.clone();
        ip[2..4].copy_from_slice(&u16::to_be_bytes(total_length));
        let frame = ethernet(&ip[..kept]);
        let mut decoder = Decoder::default();
        let found =
            match decoder.decode(&record(link_type::ETHERNET, &frame, original_len + 14)).what {
                Decoded::Tcp(seen) => Some((seen.payload_len, seen.options.len())),
                Decoded::Undecodable(_) => None,
                other @ (Decoded::Fragment(_)
                | Decoded::TooBig(_)
                | Decoded::Unreachable(_)
                | Decoded::Udp(_)
                | Decoded::Other(_)) => {
                    panic!("{what}: {other:?}")
                }
            };
        assert_eq!(found, want, "{what}");
    }
    let mut bogus = ip;
    bogus[32] = 0x40;
    let mut decoder = Decoder::default();
    let Decoded::Undecodable(why) = decoder.decode(&whole(link_type::RAW, &bogus)).what else {
        panic!()
    };
    assert_eq!(why.to_string(), "TCP: invalid length 16; the minimum is 20");
}

#[test]
fn a_record_without_a_time_has_that_of_the_one_before() {
    let ip = tcp_in_v4(&[0x50; 20], 40);
    let mut decoder = Decoder::default();
    let timed = whole(link_type::RAW, &ip);
    decoder.decode(&timed);
    let Decoded::Tcp(seen) = decoder.decode(&Record { at_nanos: None, ..timed }).what else {
        panic!()
    };
    assert_eq!(seen.at_nanos, 5);
}

#[test]
fn a_hop_that_says_too_big_names_the_segment() {
    let quoted = tcp_in_v4(&[0x12, 0x34, 0, 80, 0, 0, 0, 42], 1500);
    let message = [&[3, 4, 0, 0, 0, 0, 0x05, 0x78][..], &quoted].concat();
    let mut ip =
        vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol::ICMP, 0, 0, 192, 0, 2, 9, 10, 0, 0, 1];
    ip[3] = u8::try_from(20 + message.len()).unwrap();
    ip.extend(message);
    let mut decoder = Decoder::default();
    let Decoded::TooBig(too_big) = decoder.decode(&whole(link_type::RAW, &ip)).what else {
        panic!()
    };
    let quoted = QuotedSegment {
        protocol: protocol::TCP,
        source: ([10, 0, 0, 1], 0x1234).into(),
        destination: ([10, 0, 0, 2], 80).into(),
        word: 42,
        ip_len: 1500,
    };
    let want = TooBig {
        at_nanos: 5,
        frame: 7,
        interface: 2,
        from: [192, 0, 2, 9].into(),
        to: [10, 0, 0, 1].into(),
        mtu: 1400,
        quoted: Some(quoted),
    };
    assert_eq!(too_big, want);
}

#[test]
fn a_firewall_that_says_prohibited_names_the_segment() {
    let quoted = tcp_in_v4(&[0x12, 0x34, 0, 80, 0, 0, 0, 42], 40);
    let message = [&[3, 13, 0, 0, 0, 0, 0, 0][..], &quoted].concat();
    let mut ip =
        vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol::ICMP, 0, 0, 192, 0, 2, 9, 10, 0, 0, 1];
    ip[3] = u8::try_from(20 + message.len()).unwrap();
    ip.extend(message);
    let mut decoder = Decoder::default();
    let Decoded::Unreachable(event) = decoder.decode(&whole(link_type::RAW, &ip)).what else {
        panic!()
    };
    assert_eq!(event.quoted, (([10, 0, 0, 1], 0x1234).into(), ([10, 0, 0, 2], 80).into()));
    assert_eq!(event.code.to_string(), "ICMP type 3, code 13");
    assert_eq!(event.code.meaning(), "administratively prohibited");
}

/// What a capture keeps too little of is cut, and not malformed.
#[test]
fn a_segment_without_all_of_its_header_is_cut() {
    let ip = tcp_in_v4(&[0x12, 0x34, 0, 80, 0, 0, 0, 42, 0, 0, 0, 7, 0x50, 0x10], 40);
    let mut decoder = Decoder::default();
    let record = Record { original_len: 40, ..whole(link_type::RAW, &ip) };
    let Decoded::Undecodable(why) = decoder.decode(&record).what else { panic!() };
    assert_eq!(why, Undecodable::Short);
}

proptest! {
    /// The short way says what the long way says, and what the strict decoders say.
    #[test]
    fn any_segment_is_what_the_strict_decoders_say(
        tcp in proptest::collection::vec(any::<u8>(), 0..80),
        total_length in prop_oneof![Just(0_u16), 30..120_u16],
        missing in 0..50_usize, more in 0..200_usize, v6: bool,
    ) {
        let mut ip = if v6 {
            let [high, low] = total_length.saturating_sub(40).to_be_bytes();
            [&[0x60, 0x10, 0, 0, high, low, protocol::TCP, 9][..], &[0x20; 32], &tcp].concat()
        } else {
            tcp_in_v4(&tcp, total_length)
        };
        let wire_len = ip.len() + more;
        ip.truncate(ip.len() - missing.min(tcp.len()));
        let frame = ethernet(&ip);
        let mut decoders = [Decoder::default(), Decoder::default()];
        let [short, long] = &mut decoders;
        let short = short.decode(&record(link_type::ETHERNET, &frame, wire_len + 14)).what;
        let long = long.decode(&record(link_type::RAW, &ip, wire_len)).what;
        prop_assert_eq!(short, long);
        match strictly(&ip, wire_len) {
            Ok(seen) => prop_assert_eq!(short, Decoded::Tcp(seen)),
            Err(why) => {
                let is_cut = short == Decoded::Undecodable(Undecodable::Short)
                    && matches!(why, DecodeError::Short { .. });
                prop_assert!(is_cut || short == Decoded::Undecodable(Undecodable::Broken(why)));
            }
        }
    }

    #[test]
    fn another_library_agrees(
        ports: (u16, u16), seq: u32, ack: u32, window: u16, ttl: u8,
        v6: bool, vlan: bool, payload in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let ether = PacketBuilder::ethernet2([1; 6], [2; 6]);
        let tcp = |builder: etherparse::PacketBuilderStep<etherparse::IpHeaders>| {
            let mut bytes = Vec::new();
            builder.tcp(ports.0, ports.1, seq, window).ack(ack).psh().write(&mut bytes, &payload).unwrap();
            bytes
        };
        let frame = match (vlan, v6) {
            (false, false) => tcp(ether.ipv4([10, 0, 0, 1], [10, 0, 0, 2], ttl)),
            (false, true) => tcp(ether.ipv6([3; 16], [4; 16], ttl)),
            (true, false) => tcp(ether.single_vlan(9.try_into().unwrap()).ipv4([10, 0, 0, 1], [10, 0, 0, 2], ttl)),
            (true, true) => tcp(ether.single_vlan(9.try_into().unwrap()).ipv6([3; 16], [4; 16], ttl)),
        };
        let theirs = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = theirs.transport else { panic!() };
        let ends: (IpAddr, IpAddr) = match theirs.net.unwrap() {
            NetSlice::Ipv4(ip) => (ip.header().source_addr().into(), ip.header().destination_addr().into()),
            NetSlice::Ipv6(ip) => (ip.header().source_addr().into(), ip.header().destination_addr().into()),
            NetSlice::Arp(_) => panic!(),
        };
        let mut decoder = Decoder::default();
        let DecodedPacket { what: Decoded::Tcp(seen), overhead, .. } = decoder.decode(&whole(link_type::ETHERNET, &frame)) else { panic!() };
        prop_assert_eq!(seen.ends(), ends);
        prop_assert_eq!((seen.source.port(), seen.destination.port()), (tcp.source_port(), tcp.destination_port()));
        prop_assert_eq!((seen.seq, seen.ack, seen.window), (tcp.sequence_number(), tcp.acknowledgment_number(), tcp.window_size()));
        prop_assert_eq!((seen.payload, seen.checksum), (tcp.payload(), tcp.checksum()));
        prop_assert_eq!(seen.flags, Flags::ACK | Flags::PSH);
        prop_assert_eq!((seen.payload_len as usize, seen.ttl), (payload.len(), ttl));
        prop_assert_eq!(overhead, if vlan { 18 } else { 14 });
    }

    #[test]
    fn any_records_are_decoded(frames: Vec<(u8, Vec<u8>, u32)>) {
        let mut decoder = Decoder::default();
        for (link_type, data, original_len) in &frames {
            let record = record(u16::from(*link_type), data, *original_len as usize);
            decoder.decode(&record);
        }
    }
}
