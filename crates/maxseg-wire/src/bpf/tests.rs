use std::net::IpAddr;

use proptest::prelude::*;
use proptest::sample::select;

use super::compile::{HARDWARE_TYPE, INTERFACE_INDEX, OUTGOING, PACKET_TYPE};
use super::*;
use crate::inet_diag::Prefix;
use crate::ip::{self, Ipv4, Ipv6, protocol};

mod machine;

use machine::{Arrival, run};

const ETHERNET: u16 = 1;
const LOOPBACK: u16 = 772;
const NONE: u16 = 0xfffe;
const GRE: u16 = 778;
const LINKS: [(u16, Link); 4] = [
    (ETHERNET, Link::Ethernet),
    (LOOPBACK, Link::Loopback),
    (NONE, Link::RawIp),
    (GRE, Link::Skipped),
];
/// Bytes before the IP header of a packet of GRE.
const GRE_HEADER: usize = 28;
const SNAP_LEN: u32 = 96;

fn program(selection: &Selection) -> Vec<Instruction> {
    compile(selection, &LINKS, &[], SNAP_LEN).unwrap()
}

const ARRIVAL: Arrival<'static> =
    Arrival { hardware: NONE, interface: 1, kind: 0, network: GRE_HEADER, bytes: &[] };

fn kept(selection: &Selection, hardware: u16, bytes: &[u8]) -> u32 {
    run(&program(selection), &Arrival { hardware, bytes, ..ARRIVAL })
}

/// Few enough to meet often.
const V4: [&str; 3] = ["10.0.0.1", "10.0.0.2", "192.0.2.7"];
const V6: [&str; 3] = ["fd00::1", "fd00::2", "fd00::1:0:1"];
const PORTS: [u16; 3] = [80, 443, 8080];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// What an IP packet carries, with the number of it in either version.
fn transport() -> impl Strategy<Value = (u8, u8, Vec<u8>)> {
    let ports = (select(&PORTS), select(&PORTS), proptest::collection::vec(any::<u8>(), 16..30));
    let with_ports = ports.prop_map(|(from, to, rest): (u16, u16, Vec<u8>)| {
        [&from.to_be_bytes(), &to.to_be_bytes(), &rest[..]].concat()
    });
    let number = select(vec![
        (protocol::TCP, protocol::TCP),
        (protocol::UDP, protocol::UDP),
        (protocol::ICMP, protocol::ICMPV6),
        (47, 47),
    ]);
    (number, with_ports).prop_map(|((v4, v6), bytes)| (v4, v6, bytes))
}

/// An IP packet about `transport`, perhaps a fragment, perhaps with options or extension headers.
fn packet_of(
    transport: impl Strategy<Value = (u8, u8, Vec<u8>)>,
) -> impl Strategy<Value = Vec<u8>> {
    let place =
        prop_oneof![4 => Just((0_u16, false)), 1 => Just((0, true)), 1 => Just((185, false))];
    let extensions = proptest::collection::vec(select(vec![0_u8, 60, 51]), 0..3);
    (any::<bool>(), 0..3_usize, 0..3_usize, place, extensions, 0..5_usize, transport).prop_map(
        |(is_v4, from, to, (offset, more), extensions, words, (number_v4, number_v6, payload))| {
            if is_v4 {
                v4([V4[from], V4[to]], number_v4, (offset, more), words, &payload)
            } else {
                v6([V6[from], V6[to]], number_v6, (offset, more), &extensions, &payload)
            }
        },
    )
}

fn v4(
    ends: [&str; 2],
    protocol: u8,
    (fragment_offset, more_fragments): (u16, bool),
    option_words: usize,
    payload: &[u8],
) -> Vec<u8> {
    let [source, destination] = ends.map(|end| end.parse().unwrap());
    let header =
        Ipv4 { more_fragments, fragment_offset, protocol, source, destination, ..Ipv4::default() };
    let mut bytes = Vec::new();
    header.encode(&vec![1; option_words * 4], payload.len(), &mut bytes).unwrap();
    [&bytes, payload].concat()
}

fn v6(
    ends: [&str; 2],
    protocol: u8,
    (offset, more): (u16, bool),
    extensions: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let [source, destination] = ends.map(|end| end.parse().unwrap());
    // From the innermost outwards.
    let mut next = protocol;
    let mut behind = payload.to_vec();
    if more || offset > 0 {
        let mut header = Vec::new();
        ip::Ipv6Fragment { next_header: next, offset, more, identification: 7 }.encode(&mut header);
        behind = [header, behind].concat();
        next = ip::Ipv6Fragment::NUMBER;
    }
    for kind in extensions {
        // Both are 16 bytes long: in units of 8 beyond the first, in units of 4 beyond the second.
        let units = if *kind == 51 { 2 } else { 1 };
        behind = [&[next, units][..], &[0; 14], &behind].concat();
        next = *kind;
    }
    let mut bytes = Vec::new();
    let header = Ipv6 { next_header: next, source, destination, ..Ipv6::default() };
    header.encode(behind.len(), &mut bytes).unwrap();
    [bytes, behind].concat()
}

/// An ICMP message of either version with something that it may quote.
fn quoting() -> impl Strategy<Value = (u8, u8, Vec<u8>)> {
    let kinds = select(vec![0_u8, 1, 2, 3, 4, 8, 11, 12, 128, 129, 135]);
    (kinds, packet_of(transport())).prop_map(|(kind, quoted)| {
        let message = [&[kind, 4, 0, 0, 0, 0, 5, 120][..], &quoted].concat();
        (protocol::ICMP, protocol::ICMPV6, message)
    })
}

fn packet() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![2 => packet_of(transport()), 1 => packet_of(quoting())]
}

fn selection() -> impl Strategy<Value = Selection> {
    let host = (select([V4, V6].concat()), any::<bool>(), 0..=128_u8).prop_map(
        |(text, is_whole, length)| {
            let whole = Prefix::host(address(text));
            Prefix {
                length: if is_whole { whole.length } else { length.min(whole.length) },
                ..whole
            }
        },
    );
    let protocols = select(vec![Protocol::Tcp, Protocol::Udp, Protocol::Icmp]);
    (
        proptest::collection::vec(host, 0..4),
        proptest::collection::vec(select(&PORTS), 0..3),
        proptest::collection::vec(protocols, 0..3),
    )
        .prop_map(|(hosts, ports, protocols)| Selection { hosts, ports, protocols })
}

/// The packet as an interface of each kind has it, with its hardware type.
fn framed(packet: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let ether_type: [u8; 2] = if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] };
    let tags: [&[u8]; 3] = [&[], &[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 6, 0x81, 0, 0, 5]];
    let ethernet = |tags: &[u8]| [&[2; 12], tags, &ether_type, packet].concat();
    let mut all = vec![(NONE, packet.to_vec()), (LOOPBACK, ethernet(tags[0]))];
    all.extend(tags.map(|tags| (ETHERNET, ethernet(tags))));
    all.push((GRE, [&[3; GRE_HEADER], packet].concat()));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_program_keeps_what_the_selection_says(selection in selection(), packet in packet()) {
        let decoded = ip::Packet::decode(&packet, packet.len()).unwrap();
        let want = if selection.passes(&decoded) { SNAP_LEN } else { 0 };
        for (hardware, bytes) in framed(&packet) {
            prop_assert_eq!(kept(&selection, hardware, &bytes), want, "{:?}", bytes);
        }
    }

    /// The machine stops at whatever a program may not do.
    #[test]
    fn whatever_comes_is_kept_or_not(
        selection in selection(),
        hardware in select(vec![ETHERNET, LOOPBACK, NONE, GRE, 32]),
        bytes: Vec<u8>,
    ) {
        let kept = kept(&selection, hardware, &bytes);
        prop_assert!(kept == 0 || kept == SNAP_LEN);
    }

    /// Long lists want long jumps.
    #[test]
    fn every_entry_of_a_long_list_counts(count in 1..140_u16, at in 0..140_u16, hosts in 0..90_u16) {
        let ports: Vec<u16> = (1000..1000 + count).collect();
        let numbered = |n: u16| IpAddr::from([10, 1, n.to_be_bytes()[0], n.to_be_bytes()[1]]);
        let selection = Selection { ports, hosts: (0..hosts).map(|n| Prefix::host(numbered(n))).collect(), ..Selection::default() };
        let host = numbered(at.min(hosts.saturating_sub(1))).to_string();
        let payload = [(1000 + at).to_be_bytes(), [0, 9]].concat();
        let packet = v4([&host, "10.0.0.1"], protocol::UDP, (0, false), 0, &payload);
        let want = if at < count { SNAP_LEN } else { 0 };
        prop_assert_eq!(kept(&selection, NONE, &packet), want);
    }
}

#[test]
fn the_selection_is_what_its_documentation_says() {
    let tcp = |from: u16, to: u16| [&from.to_be_bytes()[..], &to.to_be_bytes(), &[0; 16]].concat();
    let whole = (0, false);
    let between = |ends, protocol, payload: &[u8]| v4(ends, protocol, whole, 0, payload);
    let ours = between(["10.0.0.1", "10.0.0.2"], protocol::TCP, &tcp(80, 5000));
    let too_big = |quoted: &[u8]| {
        let message = [&[3, 4, 0, 0, 0, 0, 5, 120][..], quoted].concat();
        between(["192.0.2.7", "10.0.0.1"], protocol::ICMP, &message)
    };
    let later = v4(["10.0.0.1", "10.0.0.2"], protocol::UDP, (185, false), 0, &tcp(1, 2));
    let host =
        |text| Selection { hosts: vec![Prefix::host(address(text))], ..Selection::default() };
    let prefix = |text, length| Selection {
        hosts: vec![Prefix { address: address(text), length }],
        ..Selection::default()
    };
    let port = |port| Selection { ports: vec![port], ..Selection::default() };
    let only = |protocol| Selection { protocols: vec![protocol], ..Selection::default() };
    let cases = [
        (Selection::default(), &ours, true),
        (host("10.0.0.2"), &ours, true),
        (host("10.0.0.3"), &ours, false),
        (prefix("10.0.0.7", 29), &ours, true),
        (prefix("10.0.0.7", 30), &ours, false),
        (prefix("255.255.255.255", 0), &ours, true),
        (prefix("::", 0), &ours, false),
        (host("fd00::1"), &ours, false),
        (port(80), &ours, true),
        (port(81), &ours, false),
        (only(Protocol::Udp), &ours, false),
        (Selection { protocols: vec![Protocol::Udp], ..port(80) }, &ours, false),
        // A router's word about the connection, and about another one.
        (host("10.0.0.2"), &too_big(&ours), true),
        (Selection { ports: vec![80], ..host("10.0.0.2") }, &too_big(&ours), true),
        (port(81), &too_big(&ours), false),
        (only(Protocol::Tcp), &too_big(&ours), true),
        (only(Protocol::Icmp), &too_big(&ours), true),
        (only(Protocol::Udp), &too_big(&ours), false),
        (host("10.0.0.9"), &too_big(&ours), false),
        // What is quoted is no whole header: it ends within, or has a length of none.
        (only(Protocol::Tcp), &too_big(&ours[..19]), false),
        (only(Protocol::Tcp), &too_big(&[&[0x44], &ours[1..]].concat()), false),
        // A later fragment has no ports.
        (port(80), &later, true),
        (Selection { ports: vec![80], ..host("10.0.0.9") }, &later, false),
        (Selection { protocols: vec![Protocol::Tcp], ..port(80) }, &later, false),
    ];
    for (selection, packet, passes) in cases {
        let decoded = ip::Packet::decode(packet, packet.len()).unwrap();
        assert_eq!(selection.passes(&decoded), passes, "{selection:?} of {packet:?}");
        assert_eq!(kept(&selection, NONE, packet) > 0, passes, "{selection:?} of {packet:?}");
    }
    let impossible = Selection { protocols: vec![Protocol::Icmp], ..port(80) };
    assert!(impossible.is_nothing() && !port(80).is_nothing());
}

#[test]
fn neighbours_are_asked_for_by_host_alone() {
    let mut arp = vec![2_u8; 12];
    arp.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    arp.extend([&[2; 6][..], &[10, 0, 0, 1], &[0; 6], &[10, 0, 0, 2]].concat());
    let host =
        |text| Selection { hosts: vec![Prefix::host(address(text))], ..Selection::default() };
    let cases = [
        (Selection::default(), true),
        (host("10.0.0.1"), true),
        (host("10.0.0.2"), true),
        (host("10.0.0.3"), false),
        (
            Selection {
                hosts: vec![Prefix { address: address("10.0.0.9"), length: 28 }],
                ..Selection::default()
            },
            true,
        ),
        (Selection { ports: vec![80], ..host("10.0.0.1") }, false),
        (Selection { protocols: vec![Protocol::Icmp], ..host("10.0.0.1") }, false),
    ];
    for (selection, passes) in cases {
        assert_eq!(kept(&selection, ETHERNET, &arp) > 0, passes, "{selection:?}");
    }
}

#[test]
fn a_loopback_shows_each_packet_once_and_an_unknown_link_shows_none() {
    let program = program(&Selection::default());
    let kept =
        |hardware, kind| run(&program, &Arrival { hardware, kind, bytes: &[0; 60], ..ARRIVAL });
    assert_eq!([0, OUTGOING].map(|kind| kept(LOOPBACK, kind)), [SNAP_LEN, 0]);
    assert_eq!([0, OUTGOING].map(|kind| kept(ETHERNET, kind)), [SNAP_LEN; 2]);
    assert_eq!(kept(32, 0), 0);
    assert_eq!(kept(GRE, 0), 0, "neither of IPv4 nor of IPv6");
    assert_eq!(HARDWARE_TYPE.wrapping_sub(PACKET_TYPE), 24);
}

#[test]
fn of_several_interfaces_no_other_is_kept() {
    let on = |indexes: &[u32], interface, selection: &Selection| {
        let program = compile(selection, &LINKS, indexes, SNAP_LEN).unwrap();
        let packet = v4([V4[0], V4[1]], protocol::UDP, (0, false), 0, &[0, 80, 0, 9, 0, 8, 0, 0]);
        run(&program, &Arrival { interface, bytes: &packet, ..ARRIVAL }) > 0
    };
    let all = Selection::default();
    let some = Selection { ports: vec![80], ..Selection::default() };
    for selection in [&all, &some] {
        assert_eq!(
            [2, 3, 4].map(|interface| on(&[2, 4], interface, selection)),
            [true, false, true]
        );
        assert!(on(&[], 3, selection));
    }
    assert!(!on(&[2, 4], 2, &Selection { ports: vec![81], ..Selection::default() }));
    assert_eq!(HARDWARE_TYPE.wrapping_sub(INTERFACE_INDEX), 20);
}

#[test]
fn too_many_hosts_are_refused() {
    let hosts = (0..4000_u32).map(|n| Prefix::host(IpAddr::V4(n.into()))).collect();
    let error = compile(&Selection { hosts, ..Selection::default() }, &LINKS, &[], 1).unwrap_err();
    assert!(error.0 > MOST_INSTRUCTIONS, "{error}");
}
