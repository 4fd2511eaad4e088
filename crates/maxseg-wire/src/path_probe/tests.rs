use std::net::{IpAddr, SocketAddr};

use etherparse::SlicedPacket;
use proptest::prelude::*;

use super::*;
use crate::icmp::{Message, quote};
use crate::ip::{Ipv4, Ipv6, Packet, protocol};
use crate::options::{SackBlock, SackBlocks, TcpOption};
use crate::tcp::{Flags, Segment, Tcp};
use crate::{Checksum, Payload};

fn ends(is_v6: bool) -> (SocketAddr, SocketAddr) {
    let (here, there) = if is_v6 {
        ("[2001:db8::1]:40000", "[2001:db8::2]:443")
    } else {
        ("192.0.2.1:40000", "192.0.2.2:443")
    };
    (here.parse().unwrap(), there.parse().unwrap())
}

fn old(is_v6: bool, timestamps: bool) -> OldSegment {
    OldSegment {
        ends: ends(is_v6),
        end: 7,
        ack: 99,
        window: 512,
        timestamps: timestamps.then_some((1000, 2000)),
        hop_limit: 64,
        flow_label: if is_v6 { 0xabcde } else { 0 },
        identification: 5,
    }
}

/// A packet of `behind` in an IP header.
fn within(source: IpAddr, destination: IpAddr, number: u8, behind: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let header = Ipv4 { protocol: number, source, destination, ..Ipv4::default() };
            header.encode(&[], behind.len(), &mut packet).unwrap();
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let header = Ipv6 { next_header: number, source, destination, ..Ipv6::default() };
            header.encode(behind.len(), &mut packet).unwrap();
        }
        _ => panic!("of two versions"),
    }
    packet.extend_from_slice(behind);
    packet
}

#[test]
fn a_packet_has_the_size_that_was_asked_for_and_names_its_bytes() {
    for (is_v6, timestamps) in [(false, false), (false, true), (true, false), (true, true)] {
        let segment = old(is_v6, timestamps);
        for size in [header_len(is_v6, timestamps) + 1, 552, 1280, 1500, 9216] {
            let packet = segment.packet(size).unwrap();
            assert_eq!(packet.len(), size);
            let decoded = Packet::decode(&packet, size).unwrap();
            let tcp =
                Segment::decode(decoded.payload, decoded.payload_len, decoded.ends()).unwrap();
            assert_eq!(tcp.checksum, Checksum::Good);
            assert_ne!(decoded.checksum, Checksum::Bad);
            let end = tcp.header.seq.wrapping_add(u32::try_from(tcp.payload_len).unwrap());
            assert_eq!((end, tcp.header.seq), (7, segment.begin(size)), "numbers wrap");
            assert!(SlicedPacket::from_ip(&packet).is_ok(), "another library reads it");
            if let crate::ip::Header::V4(header) = decoded.header {
                assert!(header.dont_fragment);
            }
        }
        assert!(segment.packet(header_len(is_v6, timestamps)).is_err(), "no payload, no answer");
        assert!(segment.packet(70_000).is_err());
    }
}

#[test]
fn what_the_far_end_answers_is_heard() {
    for is_v6 in [false, true] {
        let (here, there) = ends(is_v6);
        let block = SackBlock { left: 4_294_965_000, right: 7 };
        let options = [
            TcpOption::Mss(1460),
            TcpOption::SackPermitted,
            TcpOption::Timestamps { value: 3, echo: 4 },
            TcpOption::Sack(SackBlocks::new(&[block, SackBlock { left: 50, right: 60 }]).unwrap()),
        ];
        let answer = |ports: (u16, u16), flags| {
            let tcp = Tcp {
                source_port: ports.0,
                destination_port: ports.1,
                seq: 99,
                ack: 7,
                flags,
                ..Tcp::default()
            };
            let mut behind = Vec::new();
            let options = &options[..if flags == Flags::SYN { 2 } else { 4 }];
            tcp.encode(options, (there.ip(), here.ip()), Payload::Bytes(&[]), &mut behind).unwrap();
            within(there.ip(), here.ip(), protocol::TCP, &behind)
        };
        let packet = answer((443, 40_000), Flags::ACK);
        let Some(Heard::Theirs(heard)) = hear(&packet, here.ip(), there) else {
            panic!("{packet:?}")
        };
        assert_eq!((heard.first_sack, heard.timestamps), (Some(block), Some((3, 4))));
        assert_eq!((heard.mss, heard.sack_permitted), (Some(1460), true));
        assert_eq!((heard.tcp.ack, heard.payload_len), (7, 0));
        assert_eq!(hear(&answer((80, 40_000), Flags::ACK), here.ip(), there), None, "another port");
    }
}

#[test]
fn what_routers_say_names_the_packet() {
    for is_v6 in [false, true] {
        let (here, there) = ends(is_v6);
        let router: IpAddr =
            if is_v6 { "2001:db8:9::9".parse().unwrap() } else { "198.51.100.9".parse().unwrap() };
        let segment = old(is_v6, true);
        let probe = segment.packet(1500).unwrap();
        let said = |message: Message, about: &[u8]| {
            let mut behind = Vec::new();
            message.encode((router, here.ip()), Payload::Bytes(quote(about, router)), &mut behind);
            let number = if is_v6 { protocol::ICMPV6 } else { protocol::ICMP };
            hear(&within(router, here.ip(), number, &behind), here.ip(), there)
        };
        let quoted = Quote { port: 40_000, seq: segment.begin(1500), size: 1500 };
        let hop_limit = Message::Other { kind: if is_v6 { 3 } else { 11 }, code: 0, rest: [0; 4] };
        let closed = Message::Other { kind: if is_v6 { 1 } else { 3 }, code: 1, rest: [0; 4] };
        for (message, want) in [
            (Message::TooBig { mtu: 1400 }, RouterMessage::TooBig { mtu: 1400 }),
            (hop_limit, RouterMessage::HopLimit),
            (closed, RouterMessage::Unreachable(1)),
        ] {
            let want = Heard::Router { from: router, message: want, quote: quoted };
            assert_eq!(said(message, &probe), Some(want));
        }
        let other = OldSegment { ends: (there, here), ..segment }.packet(1500).unwrap();
        assert_eq!(said(hop_limit, &other), None, "a packet that this host has not sent");
        assert_eq!(said(Message::EchoReply { id: 1, seq: 1 }, &probe), None);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_heard_or_not(version in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()], mut bytes: Vec<u8>, is_v6: bool) {
        if let Some(first) = bytes.first_mut() {
            *first = version;
        }
        let (here, there) = ends(is_v6);
        let _ = hear(&bytes, here.ip(), there);
    }
}
