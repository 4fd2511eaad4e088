//! Lines, as they are printed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use maxseg_linux::observe::capture::Direction;
use maxseg_wire::bpf::Selection;
use maxseg_wire::icmp::Message;
use maxseg_wire::inet_diag::Prefix;
use maxseg_wire::ip::{Ipv4, Ipv6, protocol};
use maxseg_wire::options::{SackBlock, SackBlocks, TcpOption};
use maxseg_wire::tcp::{Flags, Tcp};
use maxseg_wire::udp::Udp;
use maxseg_wire::{Payload, link_type};

use super::{Manner, Monitor, TimeFormat, View};
use crate::printer::{ColorChoice, Printer};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const ENDS: (IpAddr, IpAddr) = (IpAddr::V4(A), IpAddr::V4(B));
const BACK: (IpAddr, IpAddr) = (IpAddr::V4(B), IpAddr::V4(A));
const PLAIN: Manner = Manner {
    json: false,
    time: TimeFormat::Relative,
    absolute_seq: false,
    hex: false,
    names_interface: false,
};

fn v4(ends: (IpAddr, IpAddr), protocol: u8, behind: &[u8]) -> Vec<u8> {
    let (IpAddr::V4(source), IpAddr::V4(destination)) = ends else { panic!("IPv4") };
    let header = Ipv4 {
        protocol,
        source,
        destination,
        dont_fragment: true,
        identification: 7,
        ..Ipv4::default()
    };
    let mut bytes = Vec::new();
    header.encode(&[], behind.len(), &mut bytes).unwrap();
    [&bytes, behind].concat()
}

fn tcp(to_b: bool, header: Tcp, options: &[TcpOption<'_>], payload: &[u8]) -> Vec<u8> {
    let (ends, source_port, destination_port) =
        if to_b { (ENDS, 5000, 443) } else { (BACK, 443, 5000) };
    let header = Tcp { source_port, destination_port, ..header };
    let mut bytes = Vec::new();
    header.encode(options, ends, Payload::Bytes(payload), &mut bytes).unwrap();
    v4(ends, protocol::TCP, &bytes)
}

/// A connection's beginning, with something lost.
fn connection() -> Vec<Vec<u8>> {
    let (ack, syn) = (Flags::ACK, Flags::SYN);
    let header = |flags, seq, ack, window| Tcp { flags, seq, ack, window, ..Tcp::default() };
    let offer = [
        TcpOption::Mss(1460),
        TcpOption::SackPermitted,
        TcpOption::Timestamps { value: 10, echo: 0 },
        TcpOption::NoOperation,
        TcpOption::WindowScale(7),
    ];
    let sack = SackBlocks::new(&[SackBlock { left: 1200, right: 1300 }]).unwrap();
    vec![
        tcp(true, header(syn, 999, 0, 64_240), &offer, &[]),
        tcp(false, header(syn | ack, 4999, 1000, 65_160), &offer[..1], &[]),
        tcp(true, header(ack | Flags::PSH, 1000, 5000, 502), &[], b"GET / HTTP/1.1\r\n"),
        tcp(false, header(ack, 5000, 1016, 509), &[TcpOption::Sack(sack)], &[]),
        tcp(true, header(ack | Flags::FIN, 1016, 5000, 502), &[], &[]),
    ]
}

fn view(bytes: &[u8]) -> View<'_> {
    View {
        at_nanos: None,
        interface: Some("eth0"),
        direction: Some(Direction::In),
        link_type: link_type::RAW,
        original_len: u32::try_from(bytes.len()).unwrap(),
        bytes,
        checksum_pending: false,
    }
}

fn shown(manner: Manner, verbose: u8, packets: &[Vec<u8>]) -> String {
    let mut monitor = Monitor::new(Printer::new(ColorChoice::Never, 0, verbose), manner);
    let mut out = String::new();
    for (n, packet) in (0..).zip(packets) {
        let at_nanos = Some(1_700_000_000_000_000_000 + n * 1_500_000);
        monitor.show(&View { at_nanos, ..view(packet) }, &mut out);
    }
    out
}

#[test]
fn a_connection_reads_from_its_beginning() {
    let want = "\
0.000000 in  10.0.0.1:5000 > 10.0.0.2:443 SYN seq 0 win 64240 len 0 MSS=1460 SACKOK TS=10/0 WS=7
0.001500 in  10.0.0.2:443 > 10.0.0.1:5000 SYN ACK seq 0 ack 1 win 65160 len 0 MSS=1460
0.003000 in  10.0.0.1:5000 > 10.0.0.2:443 PSH ACK seq 1:17 ack 1 win 502 len 16
0.004500 in  10.0.0.2:443 > 10.0.0.1:5000 ACK seq 1 ack 17 win 509 len 0 SACKx1
0.006000 in  10.0.0.1:5000 > 10.0.0.2:443 FIN ACK seq 17 ack 1 win 502 len 0
";
    assert_eq!(shown(PLAIN, 0, &connection()), want);
}

#[test]
fn more_is_said_when_it_is_asked_for() {
    let manner = Manner { time: TimeFormat::Absolute, names_interface: true, ..PLAIN };
    let want = "\
22:13:20.000000 eth0 in  10.0.0.2:443 > 10.0.0.1:5000 ACK seq 1 ack 1 rawwin 509 len 0 SACK=185-285
    ttl 64 id 0x0007 DF tos 0x00 not-ECT length 52
";
    assert_eq!(shown(manner, 1, &connection()[3..4]).replace(" EOL", ""), want);
    let manner = Manner { absolute_seq: true, time: TimeFormat::Delta, ..PLAIN };
    let lines = shown(manner, 1, &connection());
    assert!(lines.contains("PSH ACK seq 1000:1016 ack 5000 win 502"), "{lines}");
    assert!(lines.contains("SACK=1200-1300"), "{lines}");
    assert!(lines.contains("0.001500 in  10.0.0.1:5000 > 10.0.0.2:443 FIN"), "{lines}");
    let hex = shown(Manner { hex: true, ..PLAIN }, 0, &connection()[2..3]);
    let row = hex.lines().nth(3).unwrap();
    // Between them stands the checksum, whatever it is.
    assert!(row.starts_with("    0x0020:  5018 01f6 "), "{hex}");
    assert!(
        row.contains(" 0000 4745 5420 2f20 4854  P...") && row.ends_with("..GET / HT"),
        "{hex}"
    );
}

#[test]
fn a_quoted_segment_has_the_numbers_of_its_connection() {
    let mut packets = connection()[..3].to_vec();
    let mut icmp = Vec::new();
    let back = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9)), IpAddr::V4(A));
    Message::TooBig { mtu: 1400 }.encode(back, Payload::Bytes(&packets[2][..28]), &mut icmp);
    packets.push(v4(back, protocol::ICMP, &icmp));
    let about = |manner| shown(manner, 0, &packets).lines().last().unwrap().to_owned();
    assert!(about(PLAIN).contains("443 TCP seq 1 length 56"), "{}", about(PLAIN));
    let absolute = about(Manner { absolute_seq: true, ..PLAIN });
    assert!(absolute.contains("443 TCP seq 1000 length 56"), "{absolute}");
}

#[test]
fn routers_and_neighbours_are_understood() {
    let segment = &connection()[2];
    let mut icmp = Vec::new();
    let back = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9)), IpAddr::V4(A));
    Message::TooBig { mtu: 1400 }.encode(back, Payload::Bytes(&segment[..28]), &mut icmp);
    let too_big = v4(back, protocol::ICMP, &icmp);
    let mut datagram = Vec::new();
    let header = Udp { source_port: 53, destination_port: 9, ..Udp::default() };
    header.encode(ENDS, Payload::Bytes(b"12345"), &mut datagram).unwrap();
    let udp = v4(ENDS, protocol::UDP, &datagram);
    let mut later = v4(ENDS, protocol::UDP, b"01234567");
    later[7] = 185; // where it begins, in units of 8 bytes
    let cut = udp[..12].to_vec();
    let want = "\
0.000000 in  192.0.2.9 > 10.0.0.1 ICMP fragmentation needed, MTU 1400 (about 10.0.0.1:5000 > 10.0.0.2:443 TCP seq 1000 length 56)
0.001500 in  10.0.0.1:53 > 10.0.0.2:9 UDP len 5
0.003000 in  10.0.0.1 > 10.0.0.2 UDP length 8 fragment 0x0007 1480:1488
0.004500 in  broken: IP: 12 of 20 bytes are present
";
    assert_eq!(shown(PLAIN, 0, &[too_big, udp, later, cut]), want);
    let frame = [
        &[0xff; 6][..],
        &[2; 6],
        &[0x81, 0, 0, 5, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
        &[2; 6],
        &A.octets(),
        &[0; 6],
        &B.octets(),
    ]
    .concat();
    let mut monitor = Monitor::new(Printer::silent(), PLAIN);
    let mut out = String::new();
    let direction = Some(Direction::Broadcast);
    let arp = View { link_type: link_type::ETHERNET, direction, ..view(&frame) };
    monitor.show(&arp, &mut out);
    assert_eq!(out, "no-time broadcast VLAN 5 ARP who-has 10.0.0.2 tell 10.0.0.1\n");
    let asks =
        |host| Selection { hosts: vec![Prefix::host(IpAddr::V4(host))], ..Selection::default() };
    assert!(monitor.show_selected(&arp, &asks(B), &mut out));
    assert!(!monitor.show_selected(&arp, &asks(Ipv4Addr::LOCALHOST), &mut out));
}

#[test]
fn a_router_advertises_the_mtu_of_its_link() {
    let from = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
    let ends = (from, Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1));
    // RFC 4861 §4.2: lifetime, two timers; the options source link-layer address and MTU.
    let source_link = [1, 1, 2, 2, 2, 2, 2, 2];
    let mtu = [5, 1, 0, 0, 0, 0, 0x05, 0x78];
    let message = |options: &[u8]| {
        let icmp = [&[134, 0, 0, 0, 64, 0, 0, 0][..], &[0; 8], options].concat();
        let mut bytes = Vec::new();
        let (source, destination) = ends;
        let header = Ipv6 { next_header: protocol::ICMPV6, source, destination, ..Ipv6::default() };
        header.encode(icmp.len(), &mut bytes).unwrap();
        [bytes, icmp].concat()
    };
    let says = |options: &[u8]| {
        let line = shown(PLAIN, 0, &[message(options)]);
        line.trim_end().split_once(" router advertisement").unwrap().1.to_owned()
    };
    assert_eq!(says(&[source_link, mtu].concat()), ", MTU 1400 length 32");
    for options in [&source_link[..], &mtu[..7], &[1, 0, 5, 1, 0, 0, 0, 0], &[]] {
        assert_eq!(says(options), format!(" length {}", 16 + options.len()), "{options:?}");
    }
    let json = shown(Manner { json: true, ..PLAIN }, 0, &[message(&mtu)]);
    assert!(json.contains(r#""message":"router advertisement","mtu_bytes":1400"#), "{json}");
}

#[test]
fn what_the_snap_length_cut_is_not_broken() {
    let packet = connection().remove(2);
    let framed = [&[2; 12][..], &[8, 0], &packet].concat();
    let kept = |len: usize| {
        let original_len = u32::try_from(framed.len()).unwrap();
        let mut monitor = Monitor::new(Printer::silent(), PLAIN);
        let mut out = String::new();
        let link_type = link_type::ETHERNET;
        monitor.show(&View { link_type, original_len, ..view(&framed[..len]) }, &mut out);
        out.trim_start_matches("no-time in ").trim_start().trim_end().to_owned()
    };
    assert_eq!(kept(13), "[13 bytes captured, fewer than its headers]");
    assert_eq!(kept(14), "[14 bytes captured, fewer than its headers]");
    assert_eq!(kept(30), "[30 bytes captured, fewer than its headers]");
    assert_eq!(kept(40), "10.0.0.1 > 10.0.0.2 TCP [6 of 20 bytes of its header captured]");
    assert!(kept(framed.len()).ends_with("len 16"));
}

#[test]
fn a_name_from_a_file_keeps_to_its_line() {
    let mut monitor = Monitor::new(Printer::silent(), Manner { names_interface: true, ..PLAIN });
    let mut out = String::new();
    let packet = connection().remove(0);
    monitor.show(&View { interface: Some("silly\n\x1b[2J"), ..view(&packet) }, &mut out);
    assert!(out.starts_with("no-time silly\\n\\u{1b}[2J in") && out.lines().count() == 1, "{out}");
}

#[test]
fn json_says_what_lines_say() {
    let lines = shown(Manner { json: true, ..PLAIN }, 0, &connection());
    let packets: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(packets.len(), 5);
    let first = &packets[0];
    assert_eq!(first["type"], "packet");
    assert_eq!(first["time_ns"], 1_700_000_000_000_000_000_u64);
    assert_eq!(first["source_port"], 5000);
    assert_eq!(first["tcp"]["options"][0]["mss_bytes"], 1460);
    assert_eq!(first["tcp"]["flags"], serde_json::json!(["SYN"]));
    assert_eq!(packets[2]["tcp"]["seq_relative"], 1);
    let acks = [0, 1].map(|at: usize| packets[at]["tcp"]["ack_relative"].as_u64());
    assert_eq!(acks, [None, Some(1)], "a SYN acknowledges nothing");
    assert_eq!(packets[2]["tcp"]["payload_bytes"], 16);
    assert_eq!(packets[3]["tcp"]["options"][0]["sack_blocks"], serde_json::json!([[1200, 1300]]));
    assert_eq!(packets[3]["ip"]["dont_fragment"], true);
    assert!(packets[0].get("udp").is_none());
}

#[test]
fn ipv6_is_shown_with_its_ports() {
    let ends = (Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
    let mut datagram = Vec::new();
    let header = Udp { source_port: 53, destination_port: 9, ..Udp::default() };
    let both = (IpAddr::V6(ends.0), IpAddr::V6(ends.1));
    header.encode(both, Payload::Bytes(b"12345"), &mut datagram).unwrap();
    let mut bytes = Vec::new();
    let header =
        Ipv6 { next_header: protocol::UDP, source: ends.0, destination: ends.1, ..Ipv6::default() };
    header.encode(datagram.len(), &mut bytes).unwrap();
    let want = "0.000000 in  [::1]:53 > [::1]:9 UDP len 5\n    \
                hops 64 flow 0x00000 class 0x00 not-ECT length 13\n";
    assert_eq!(shown(PLAIN, 1, &[[bytes, datagram].concat()]), want);
}

#[test]
fn a_checksum_that_is_left_to_the_network_card_is_neither_good_nor_bad() {
    let mut packet = connection().remove(2);
    // Of TCP's header, behind 20 bytes of IP's.
    packet[20 + 16] ^= 0xff;
    let of = |checksum_pending| {
        let mut monitor =
            Monitor::new(Printer::new(ColorChoice::Never, 0, 0), Manner { json: true, ..PLAIN });
        let mut line = String::new();
        monitor.show(&View { checksum_pending, ..view(&packet) }, &mut line);
        let shown: serde_json::Value = serde_json::from_str(&line).unwrap();
        shown["tcp"]["checksum"].as_str().unwrap().to_owned()
    };
    assert_eq!((of(false).as_str(), of(true).as_str()), ("bad", "unknown"));
}
