use proptest::prelude::*;

use super::*;
use crate::capture_file::CaptureFile;
use crate::flow::FlowOptions;
use crate::link_type;
use crate::pcapng::{Interface, Packet, Section, Writer};
use crate::synthetic::Load;

const LOAD: Load = Load { connections: 3, rounds: 4, at_once: 2, rounds_a_turn: 1, ends: true };
/// Where pcap's file header states the link type, in either byte order.
const LINK_TYPE: std::ops::Range<usize> = 20..24;
const FILE_HEADER: usize = 24;

fn capture() -> Vec<u8> {
    let mut capture = Vec::new();
    LOAD.write(&mut capture).unwrap();
    capture
}

fn summary(capture: &[u8], options: &ReadOptions<'_>) -> (CaptureSummary, usize) {
    let reading = read(capture, options).unwrap();
    (reading.summary, reading.connections.count())
}

#[test]
fn a_capture_without_problems() {
    let (summary, connections) = summary(&capture(), &ReadOptions::default());
    assert_eq!((summary.file.packets, connections), (LOAD.packets(), 3));
    assert_eq!((summary.problems.as_slice(), summary.fault()), ([].as_slice(), None));
    let names: Vec<String> =
        summary.file.interfaces.iter().map(InterfaceFacts::link_name).collect();
    assert_eq!(names, ["Ethernet"]);
    assert_eq!(summary.file.interfaces[0].packets, LOAD.packets());
    assert_eq!(summary.file.encapsulation_names(), [""; 0], "plain Ethernet is not named");
    assert!(summary.file.first < summary.file.last);
}

#[test]
fn packets_before_a_cut_count() {
    let whole = capture();
    let (summary, connections) = summary(&whole[..whole.len() - 1], &ReadOptions::default());
    assert_eq!((summary.file.packets, connections), (LOAD.packets() - 1, 3));
    assert_eq!(summary.fault(), None);
    let cut = summary.cut().unwrap();
    assert_eq!((cut.kind.code(), cut.count), ("truncated", 1));
    assert!(cut.offset.is_some_and(|at| at > FILE_HEADER as u64 && at < whole.len() as u64));
}

#[test]
fn a_cut_within_the_first_packet_is_a_fault() {
    let (summary, _) = summary(&capture()[..FILE_HEADER + 20], &ReadOptions::default());
    assert_eq!(summary.fault().map(|fault| fault.kind.code()), Some("truncated"));
    assert_eq!(summary.cut(), None);
}

#[test]
fn a_link_type_that_is_not_known_is_a_fault_where_no_packet_has_another() {
    let mut unknown = capture();
    unknown[LINK_TYPE].copy_from_slice(&147_u32.to_le_bytes());
    let (summary, connections) = summary(&unknown, &ReadOptions::default());
    assert_eq!(connections, 0);
    let fault = summary.fault().unwrap();
    assert_eq!(fault.kind, ProblemKind::LinkType { number: 147, frame: 1 });
    assert_eq!(fault.count, LOAD.packets());
    assert_eq!(link_type::name(147), None);
}

#[test]
fn a_recording_of_sockets_is_no_capture_and_has_its_reader_named() {
    let mut recording = capture();
    recording[LINK_TYPE].copy_from_slice(&u32::from(link_type::NETLINK).to_le_bytes());
    let (summary, _) = summary(&recording, &ReadOptions::default());
    let hint = summary.fault().unwrap().kind.hint().unwrap();
    assert!(hint.contains("maxseg top --open FILE"), "{hint}");
}

#[test]
fn an_interface_that_is_not_there_is_refused_with_those_that_are() {
    let options = ReadOptions { interface: Some("eth7"), ..ReadOptions::default() };
    let error = read(capture().as_slice(), &options).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "the capture has no interface `eth7`");
    assert_eq!(error.hint().unwrap(), "it has: 0");
    let by_number = ReadOptions { interface: Some("0"), ..ReadOptions::default() };
    assert_eq!(summary(&capture(), &by_number).1, 3);
}

#[test]
fn connections_beyond_the_limit_are_counted() {
    let flows = FlowOptions { most_connections: 1, ..FlowOptions::default() };
    let options = ReadOptions { flows, ..ReadOptions::default() };
    let (summary, connections) = summary(&capture(), &options);
    assert_eq!((connections, summary.untracked_connections), (1, 2));
    let codes: Vec<&str> = summary.problems.iter().map(|problem| problem.kind.code()).collect();
    assert_eq!(codes, ["untracked-packets"]);
}

#[test]
fn times_that_go_back_are_counted() {
    let mut capture = capture();
    capture[FILE_HEADER..FILE_HEADER + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let (summary, _) = summary(&capture, &ReadOptions::default());
    let [problem] = summary.problems.as_slice() else { panic!("{:?}", summary.problems) };
    assert_eq!((problem.kind.code(), problem.count), ("time-goes-back", LOAD.packets() - 1));
}

proptest! {
    /// Whatever the bytes and wherever they stand, reading ends with connections and a summary.
    #[test]
    fn broken_captures_are_read_as_far_as_they_go(
        places in proptest::collection::vec((FILE_HEADER..2000_usize, any::<u8>()), 1..30),
        end in 0..3000_usize,
    ) {
        let mut broken = capture();
        for (place, byte) in places {
            broken[place] = byte;
        }
        broken.truncate(FILE_HEADER.max(end));
        let options = ReadOptions { tshark: true, ..ReadOptions::default() };
        let (summary, connections) = summary(&broken, &options);
        prop_assert!(connections as u64 <= summary.file.packets);
    }
}

/// dumpcap reads an interface a block at a time: what the other received meanwhile stands behind it.
#[test]
fn blocks_of_two_interfaces_come_to_the_same_as_packets_in_order() {
    let load = Load { connections: 1, rounds: 100_000, at_once: 1, rounds_a_turn: 1, ends: true };
    let mut plain = Vec::new();
    load.write(&mut plain).unwrap();
    let mut packets = Vec::new();
    let mut file = CaptureFile::open(plain.as_slice()).unwrap();
    while let Some(record) = file.next().unwrap() {
        // The server answers from port 80, behind the addresses of Ethernet and IP.
        let interface = u32::from(record.data[34..36] == 80_u16.to_be_bytes());
        packets.push((record.at_nanos.unwrap(), interface, record.data.to_vec()));
    }
    let told = |packets: &[(u64, u32, Vec<u8>)]| {
        let mut file = Writer::new(Vec::new(), &Section::default()).unwrap();
        let card = Interface { link_type: link_type::ETHERNET, ..Interface::default() };
        for _ in 0..2 {
            file.interface(&card).unwrap();
        }
        for (at_nanos, interface, data) in packets {
            let original_len = u32::try_from(data.len()).unwrap();
            let (at_nanos, data) = (*at_nanos, data.as_slice().into());
            let interface = *interface;
            file.packet(&Packet { interface, at_nanos, original_len, data, ..Packet::default() })
                .unwrap();
        }
        let written = file.finish().unwrap();
        let reading = read(written.as_slice(), &ReadOptions::default()).unwrap();
        let one = reading.connections.last().unwrap();
        let sent = one.forward;
        assert_eq!((one.capture.clock_steps, one.capture.is_merged), (0, false));
        (sent.goodput_bps, sent.acked_bytes, sent.retransmitted_packets, sent.unseen_bytes)
    };
    let in_order = told(&packets);
    assert!(packets.iter().any(|(_, interface, _)| *interface == 1));
    packets.sort_by_key(|(at, interface, _)| (at / 230_000_000, *interface));
    assert_eq!(told(&packets), in_order);
}

/// By these numbers a connection is known again where its addresses are others.
#[test]
fn the_first_numbers_of_both_ends_are_told() {
    let mut capture = Vec::new();
    Load { connections: 1, rounds: 4, at_once: 1, rounds_a_turn: 1, ends: true }
        .write(&mut capture)
        .unwrap();
    let reading = read(capture.as_slice(), &ReadOptions::default()).unwrap();
    let numbers: Vec<_> = reading.connections.map(|it| it.capture.numbers).collect();
    assert_eq!(numbers, [Some((1001, 5001))]);
}

/// Round trips and order are those of before, and that the clock was set is told.
#[test]
fn a_clock_that_is_set_back_by_little_changes_nothing_else() {
    let load = Load { connections: 3, rounds: 1500, at_once: 3, rounds_a_turn: 1, ends: true };
    let mut capture = Vec::new();
    load.write(&mut capture).unwrap();
    let told = |capture: &[u8]| {
        let all = read(capture, &ReadOptions::default()).unwrap().connections;
        let of = |it: Evidence| {
            let (data, facts) = (it.forward, it.capture);
            let counts = (data.rtt_min_s, data.in_flight_max_bytes, data.retransmitted_packets);
            (counts, facts.clock_steps, facts.late_packets)
        };
        all.map(of).collect::<Vec<_>>()
    };
    let before = told(&capture);
    // Microseconds of each packet of the second half: none of them is the first of a second.
    let begins = series_tests::begins(&capture);
    for begin in &begins[begins.len() / 2..begins.len() - 1] {
        let place = begin + 4..begin + 8;
        let micros = u32::from_le_bytes(capture[place.clone()].try_into().unwrap());
        capture[place].copy_from_slice(&micros.checked_sub(2000).unwrap().to_le_bytes());
    }
    let after = told(&capture);
    let counts = |all: &[(_, u64, u64)]| all.iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(counts(&after), counts(&before));
    assert!(after.iter().all(|(_, steps, late)| (*steps, *late) == (1, 0)), "{after:?}");
}
