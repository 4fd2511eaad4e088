use std::net::IpAddr;

use proptest::prelude::*;

use super::*;
use crate::Payload;
use crate::ip::{Ipv4, Ipv6, protocol};
use crate::tcp::Tcp;
use crate::udp::Udp;

fn ends() -> (IpAddr, IpAddr) {
    ([10, 0, 0, 1].into(), [10, 0, 0, 2].into())
}

/// An IPv4 packet with this in it.
fn v4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4 {
        protocol,
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        ..Ipv4::default()
    };
    let mut out = Vec::new();
    header.encode(&[], payload.len(), &mut out).unwrap();
    out.extend_from_slice(payload);
    out
}

fn v6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Ipv6 { next_header, ..Ipv6::default() }.encode(payload.len(), &mut out).unwrap();
    out.extend_from_slice(payload);
    out
}

/// The packet that all encapsulations carry.
fn inner() -> Vec<u8> {
    let mut segment = Vec::new();
    let header = Tcp { source_port: 1000, destination_port: 80, seq: 7, ..Tcp::default() };
    header.encode(&[], ends(), Payload::Bytes(b"hello"), &mut segment).unwrap();
    v4(protocol::TCP, &segment)
}

fn udp(destination_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Udp { source_port: 50_000, destination_port, ..Udp::default() };
    header.encode(ends(), Payload::Bytes(payload), &mut out).unwrap();
    out.extend_from_slice(if out.len() == 8 { payload } else { &[] });
    v4(protocol::UDP, &out)
}

fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&[0x22; 12][..], &ethertype.to_be_bytes(), payload].concat()
}

fn join(head: &[u8], rest: &[u8]) -> Vec<u8> {
    [head, rest].concat()
}

/// A frame, its link type, and the headers that must be found.
type Case = (u16, Vec<u8>, &'static str);

fn links(ip: &[u8]) -> Vec<Case> {
    use crate::link_type as link;
    let tag = |next: u16| join(&[0, 5], &next.to_be_bytes());
    let ppp_session = |ppp: &[u8]| {
        let length = u16::try_from(ppp.len()).unwrap().to_be_bytes();
        [&[0x11, 0, 0, 9][..], &length, ppp].concat()
    };
    let ppp = join(&[0, 0x21], ip);
    let snap = join(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], ip);
    let tagged = [tag(0x8100), tag(0x0800), ip.to_vec()].concat();
    let label = |last: u8| [0, 1, last, 64];
    let pseudowire = ethernet(0x0800, ip);
    vec![
        (link::RAW, ip.to_vec(), ""),
        (link::RAW_BSD, ip.to_vec(), ""),
        (link::RAW_OPENBSD, ip.to_vec(), ""),
        (link::IPV4, ip.to_vec(), ""),
        (link::ETHERNET, ethernet(0x0800, ip), "Ethernet"),
        (link::ETHERNET, ethernet(0x88a8, &tagged), "Ethernet, VLAN, VLAN"),
        (link::ETHERNET, ethernet(0x9100, &tagged), "Ethernet, VLAN, VLAN"),
        (link::ETHERNET, ethernet(0x8864, &ppp_session(&ppp)), "Ethernet, PPPoE, PPP"),
        (link::ETHERNET, ethernet(100, &snap), "Ethernet, LLC"),
        (link::ETHERNET, ethernet(100, &join(&[6, 6, 3], ip)), "Ethernet, LLC"),
        (link::ETHERNET, ethernet(0x8847, &join(&label(1), ip)), "Ethernet, MPLS"),
        (
            link::ETHERNET,
            ethernet(0x8848, &[&label(0)[..], &label(1), ip].concat()),
            "Ethernet, MPLS, MPLS",
        ),
        (
            link::ETHERNET,
            ethernet(0x8847, &[&label(1)[..], &[0, 0, 0, 1], &pseudowire].concat()),
            "Ethernet, MPLS, pseudowire, Ethernet",
        ),
        (
            link::ETHERNET,
            ethernet(0x8847, &join(&label(1), &pseudowire)),
            "Ethernet, MPLS, Ethernet",
        ),
        (link::FDDI, [&[0x50; 13][..], &snap].concat(), "FDDI, LLC"),
        (link::PPP, ppp.clone(), "PPP"),
        (link::PPP, join(&[0xff, 3], &ppp), "PPP"),
        (link::PPP_HDLC, join(&[0xff, 3, 0x21], ip), "PPP"),
        (link::PPP_HDLC, join(&[0x0f, 0, 8, 0], ip), "Cisco HDLC"),
        (link::CISCO_HDLC, join(&[0x8f, 0, 8, 0], ip), "Cisco HDLC"),
        (link::PPP_ETHER, ppp_session(&ppp), "PPPoE, PPP"),
        (link::LINUX_SLL, [&[0; 14][..], &[8, 0], ip].concat(), "Linux cooked"),
        (link::LINUX_SLL, [&[0; 14][..], &[0, 4], &snap].concat(), "Linux cooked, LLC"),
        (link::LINUX_SLL2, [&[8, 0][..], &[0; 18], ip].concat(), "Linux cooked"),
        (link::NULL, join(&[2, 0, 0, 0], ip), "loopback"),
        (link::NULL, join(&[0, 0, 0, 2], ip), "loopback"),
        (link::LOOP, join(&[0, 0, 0, 30], ip), "loopback"),
    ]
}

fn tunnels(ip: &[u8]) -> Vec<Case> {
    use crate::link_type::RAW;
    let frame = ethernet(0x0800, ip);
    let gre = |head: &[u8], carried: &[u8]| v4(protocol::GRE, &join(head, carried));
    let vxlan = join(&[8, 0, 0, 0, 0, 0, 9, 0], &frame);
    let geneve = |words: u8, ethertype: u16, carried: &[u8]| {
        let [t0, t1] = ethertype.to_be_bytes();
        let options = vec![0; usize::from(words) * 4];
        udp(6081, &[&[words, 0, t0, t1, 0, 0, 9, 0][..], &options, carried].concat())
    };
    vec![
        (RAW, v4(protocol::IPV4, ip), "IP in IP"),
        (RAW, v6(protocol::IPV4, ip), "IP in IP"),
        (RAW, v4(protocol::IPV4, &v6(protocol::IPV4, ip)), "IP in IP, IP in IP"),
        (RAW, gre(&[0, 0, 8, 0], ip), "GRE"),
        (RAW, gre(&[0xb0, 0, 8, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], ip), "GRE"),
        (RAW, gre(&[0, 0, 0x65, 0x58], &frame), "GRE, Ethernet"),
        (
            RAW,
            gre(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1], &frame),
            "GRE, ERSPAN, Ethernet",
        ),
        (RAW, gre(&[0, 0, 0x88, 0xbe], &frame), "GRE, ERSPAN, Ethernet"),
        (
            RAW,
            gre(&[0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0x21], ip),
            "GRE, PPP",
        ),
        (RAW, v4(protocol::MPLS, &join(&[0, 1, 1, 64], ip)), "MPLS"),
        (RAW, udp(4789, &vxlan), "VXLAN, Ethernet"),
        (RAW, udp(8472, &vxlan), "VXLAN, Ethernet"),
        (RAW, udp(4790, &join(&[0xc, 0, 0, 1, 0, 0, 9, 0], ip)), "VXLAN"),
        (RAW, geneve(0, 0x6558, &frame), "Geneve, Ethernet"),
        (RAW, geneve(3, 0x0800, ip), "Geneve"),
        (RAW, udp(2152, &join(&[0x30, 0xff, 0, 9, 0, 0, 0, 1], ip)), "GTP-U"),
        // A sequence number, and an extension header of four bytes.
        (
            RAW,
            udp(2152, &join(&[0x36, 0xff, 0, 9, 0, 0, 0, 1, 0, 7, 0, 0x85, 1, 1, 1, 0], ip)),
            "GTP-U",
        ),
    ]
}

fn cases() -> Vec<Case> {
    let ip = inner();
    let mut cases = links(&ip);
    cases.extend(tunnels(&ip));
    cases
}

#[test]
fn the_innermost_packet_is_found() {
    let ip = inner();
    for (link_type, frame, headers) in cases() {
        let length = u32::try_from(frame.len()).unwrap();
        let inner = decapsulate(link_type, &frame, length).unwrap();
        assert_eq!(inner.encapsulation.to_string(), headers, "{link_type}");
        assert_eq!(inner.bytes, ip, "{link_type} {headers}");
        assert_eq!(inner.overhead as usize, frame.len() - ip.len(), "{headers}");
        assert_eq!((inner.ip.len as usize, inner.wire_len), (ip.len(), inner.ip.len));
        let has_tunnel = inner.encapsulation.iter().any(Encapsulation::is_tunnel);
        assert_eq!(has_tunnel, !headers.is_empty() && tunnel_begins(headers));
    }
}

fn tunnel_begins(headers: &str) -> bool {
    ["IP in IP", "GRE", "VXLAN", "Geneve", "GTP-U"].iter().any(|name| headers.starts_with(name))
}

#[test]
fn a_cut_packet_has_its_true_length() {
    for (link_type, frame, headers) in cases() {
        let length = u32::try_from(frame.len()).unwrap();
        let kept = &frame[..frame.len() - 5]; // all headers
        let packet = decapsulate(link_type, kept, length).unwrap();
        assert_eq!(packet.ip.len as usize, inner().len(), "{headers}");
        assert_eq!(packet.ip.payload.len() + 5, packet.ip.payload_len as usize);
        // However short it is cut, no packet is invented.
        for kept in 0..frame.len() {
            if let Ok(inner) = decapsulate(link_type, &frame[..kept], length) {
                assert!(inner.ip.len <= length, "{headers}");
            }
        }
    }
}

#[test]
fn what_is_no_tunnel_stays_what_it_is() {
    let other_port = udp(53, b"a question");
    let not_vxlan = udp(4789, b"not at all");
    let arp_in_vxlan = udp(4789, &join(&[8, 0, 0, 0, 0, 0, 9, 0], &ethernet(0x0806, &[0; 28])));
    for outer in [other_port, not_vxlan, arp_in_vxlan] {
        let length = u32::try_from(outer.len()).unwrap();
        let inner = decapsulate(link_type::RAW, &outer, length).unwrap();
        assert_eq!((inner.ip.protocol, inner.bytes), (protocol::UDP, &outer[..]));
        assert_eq!((inner.overhead, inner.encapsulation), (0, EncapPath::default()));
    }
}

#[test]
fn what_is_not_ip_is_told() {
    use crate::link_type as link;
    let why =
        |link_type, frame: &[u8]| decapsulate(link_type, frame, 1000).unwrap_err().to_string();
    assert_eq!(why(link::ETHERNET, &ethernet(0x0806, &[0; 28])), "protocol 0x0806 is not IP");
    assert_eq!(why(link::ETHERNET, &[0; 13]), "it ends within its headers");
    assert_eq!(why(link::ETHERNET, &ethernet(0x0800, &[])), "it ends within its headers");
    assert_eq!(why(link::RAW, &[0x45; 19]), "it ends within its headers");
    assert_eq!(why(127, &[0; 100]), "link type 127 is not known");
    assert_eq!(why(link::RAW, &[0x55]), "IP version 5 is neither 4 nor 6");
    let tags = [0, 1, 0x81, 0].repeat(40);
    assert_eq!(why(link::ETHERNET, &ethernet(0x8100, &tags)), "more than 16 headers lie below IP");
    // As deep as one goes into a tunnel of tunnels; the one reached then is the packet.
    let nested = (0..40).fold(inner(), |ip, _| v4(protocol::IPV4, &ip));
    let inner = decapsulate(link::RAW, &nested, u32::try_from(nested.len()).unwrap()).unwrap();
    assert_eq!(inner.encapsulation.iter().count(), 16);
}

proptest! {
    #[test]
    fn any_bytes_are_peeled_or_not(link_type in 0..300_u16, bytes: Vec<u8>, length: u32) {
        if let Ok(inner) = decapsulate(link_type, &bytes, length) {
            prop_assert!(inner.ip.payload.len() <= inner.ip.payload_len as usize);
            prop_assert!(inner.ip.payload_len <= inner.ip.len);
        }
    }

    #[test]
    fn damaged_frames_are_peeled_or_not(case in 0..60_usize, changes: Vec<(u8, u8)>) {
        let cases = cases();
        let (link_type, mut frame, _) = cases[case % cases.len()].clone();
        for (at, byte) in changes {
            let at = usize::from(at) % frame.len();
            frame[at] = byte;
        }
        let _ = decapsulate(link_type, &frame, u32::try_from(frame.len()).unwrap());
    }
}
