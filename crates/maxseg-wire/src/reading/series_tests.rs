//! Several files that follow each other are read as the one that they were cut from.

use std::io::Cursor;

use maxseg_core::units::Time;

use super::*;
use crate::capture_file::CaptureFile;
use crate::link_type;
use crate::pcapng::{Interface, Packet, Section, Writer};
use crate::synthetic::{DialogueLoad, Load};

const LOAD: Load = Load { connections: 5, rounds: 40, at_once: 3, rounds_a_turn: 2, ends: true };

/// pcap's file header, and that of a packet.
const HEADERS: (usize, usize) = (24, 16);

fn capture() -> Vec<u8> {
    let mut capture = Vec::new();
    LOAD.write(&mut capture).unwrap();
    capture
}

/// Where the packets of a file begin, and its end.
pub(super) fn begins(capture: &[u8]) -> Vec<usize> {
    let mut begins = vec![HEADERS.0];
    while let Some(length) =
        capture.get(begins[begins.len() - 1] + 8..).and_then(<[u8]>::first_chunk)
    {
        let length = u32::from_le_bytes(*length) as usize;
        begins.push(begins[begins.len() - 1] + HEADERS.1 + length);
    }
    begins
}

/// The packets from one to another, counted from 0, as a file.
pub(super) fn part(capture: &[u8], from: usize, to: usize) -> Vec<u8> {
    let begins = begins(capture);
    let to = to.min(begins.len() - 1);
    [&capture[..HEADERS.0], &capture[begins[from]..begins[to]]].concat()
}

pub(super) fn series(
    files: &[Vec<u8>],
    threads: usize,
) -> Result<(CaptureSummary, Vec<Evidence>), ReadingError> {
    let names: Vec<String> = (1..=files.len()).map(|n| format!("ring_{n}.pcap")).collect();
    let mut open = |place: usize| Ok(Cursor::new(files[place].clone()));
    let reading = read_series(&names, &mut open, &ReadOptions::default(), threads)?.unwrap();
    Ok((reading.summary, reading.connections.collect()))
}

pub(super) fn whole(capture: &[u8]) -> (CaptureSummary, Vec<Evidence>) {
    let reading = read(capture, &ReadOptions::default()).unwrap();
    (reading.summary, reading.connections.collect())
}

#[test]
fn files_that_follow_each_other_are_one_capture() {
    let capture = capture();
    let (single, evidence) = whole(&capture);
    let parts = [part(&capture, 0, 100), part(&capture, 100, 101), part(&capture, 101, usize::MAX)];
    for threads in [0, 2] {
        let (summary, connections) = series(&parts, threads).unwrap();
        assert!(connections == evidence, "{threads} threads");
        assert_eq!(summary.problems, []);
        assert_eq!(summary.file.interfaces, single.file.interfaces);
        let both = |file: &FileFacts| (file.packets, file.bytes, file.first, file.last);
        assert_eq!(both(&summary.file), both(&single.file));
        let places: Vec<(u64, u64)> =
            summary.file.parts.iter().map(|part| (part.before, part.packets)).collect();
        assert_eq!(places, [(0, 100), (100, 1), (101, LOAD.packets() - 101)]);
    }
    assert_eq!(single.file.parts, []);
}

#[test]
fn packets_that_passed_while_both_files_were_written_count_once() {
    let capture = capture();
    let (_, evidence) = whole(&capture);
    let parts = [part(&capture, 0, 200), part(&capture, 190, usize::MAX)];
    let (summary, connections) = series(&parts, 0).unwrap();
    assert_eq!(summary.problems.len(), 1);
    let problem = &summary.problems[0];
    assert_eq!((problem.kind.code(), problem.count), ("in-two-files", 10));
    assert_eq!(summary.file.packets, LOAD.packets());
    let acked = |all: &[Evidence]| -> Vec<(u64, u64)> {
        all.iter().map(|it| (it.forward.acked_bytes, it.forward.retransmitted_packets)).collect()
    };
    assert_eq!(acked(&connections), acked(&evidence));
}

/// Two captures at one place, for however long both ran: also one that ended before the other.
#[test]
fn captures_that_ran_at_once_count_once() {
    let capture = capture();
    let (_, evidence) = whole(&capture);
    for parts in [
        vec![part(&capture, 0, 500), part(&capture, 30, usize::MAX)],
        vec![part(&capture, 0, 500), part(&capture, 100, 200), part(&capture, 480, usize::MAX)],
        vec![capture.clone(), part(&capture, 10, usize::MAX)],
    ] {
        let (summary, connections) = series(&parts, 0).unwrap();
        assert_eq!(summary.file.packets, LOAD.packets());
        let codes: Vec<&str> = summary.problems.iter().map(|it| it.kind.code()).collect();
        assert_eq!(codes, ["in-two-files"]);
        let sent = |all: &[Evidence]| -> Vec<(u64, u64, Time)> {
            let all = all.iter().map(|it| (&it.forward, it.end));
            all.map(|(it, end)| (it.acked_bytes, it.retransmitted_packets, end)).collect()
        };
        assert_eq!(sent(&connections), sent(&evidence));
    }
}

/// A packet that passes several interfaces may be captured at each, with one time: its copies are in one capture.
#[test]
fn copies_of_one_time_on_both_sides_of_a_seam_are_of_one_capture() {
    let capture = capture();
    let twice = part(&capture, 0, 101);
    let last = begins(&twice)[100];
    let parts = [
        twice.clone(),
        [&capture[..HEADERS.0], &twice[last..]].concat(),
        part(&capture, 101, usize::MAX),
    ];
    let (summary, _) = series(&parts, 0).unwrap();
    assert_eq!((summary.problems, summary.file.packets), (vec![], LOAD.packets() + 1));
}

#[test]
fn files_of_the_same_time_are_refused() {
    let mut other = Vec::new();
    DialogueLoad { connections: 5, turns: 20 }.write(&mut other).unwrap();
    let parts = [capture(), part(&other, 2, usize::MAX)];
    let Err(error) = series(&parts, 0) else { panic!("read") };
    let ReadingError::Overlap { names, .. } = &error else { panic!("{error}") };
    assert_eq!(names, &["ring_1.pcap", "ring_2.pcap"]);
    assert!(error.hint().unwrap().contains("mergecap -w all.pcapng ring_1.pcap ring_2.pcap"));
}

#[test]
fn a_file_that_is_cut_ends_alone_and_one_that_is_broken_is_named() {
    let capture = capture();
    let [first, mut second, third] =
        [part(&capture, 0, 100), part(&capture, 100, 200), part(&capture, 200, usize::MAX)];
    let cut = second[..second.len() - 3].to_vec();
    let (summary, _) = series(&[first.clone(), cut, third.clone()], 0).unwrap();
    assert_eq!(summary.fault(), None);
    let cuts: Vec<Option<&str>> = summary.cuts().map(|cut| cut.file.as_deref()).collect();
    assert_eq!(cuts, [Some("ring_2.pcap")]);
    assert_eq!(summary.file.packets, LOAD.packets() - 1);
    let begin = begins(&second)[50];
    second[begin + 8..begin + 12].fill(0xff);
    let (summary, _) = series(&[first, second, third], 0).unwrap();
    let fault = summary.fault().unwrap();
    assert_eq!((fault.file.as_deref(), fault.offset), (Some("ring_2.pcap"), Some(begin as u64)));
    assert_eq!(summary.file.packets, 150);
}

/// The packets of a capture of these interfaces, every second one of the last.
fn pcapng(capture: &[u8], interfaces: &[&str]) -> Vec<u8> {
    let mut out = Writer::new(Vec::new(), &Section::default()).unwrap();
    for name in interfaces {
        let (name, link_type) = (Some((*name).into()), link_type::ETHERNET);
        out.interface(&Interface { name, link_type, ..Interface::default() }).unwrap();
    }
    let mut file = CaptureFile::open(capture).unwrap();
    while let Some(record) = file.next().unwrap() {
        let interfaces = u64::try_from(interfaces.len()).unwrap();
        let interface = u32::try_from(record.number % interfaces).unwrap();
        let (at_nanos, original_len) = (record.at_nanos.unwrap(), record.original_len);
        let data = record.data.into();
        let packet = Packet { interface, at_nanos, original_len, data, ..Packet::default() };
        out.packet(&packet).unwrap();
    }
    out.finish().unwrap()
}

#[test]
fn an_interface_of_several_files_is_one() {
    let capture = capture();
    let [first, second] = [part(&capture, 0, 100), part(&capture, 100, usize::MAX)];
    let files = [pcapng(&first, &["eth0"]), pcapng(&second, &["eth1", "eth0"])];
    let (summary, _) = series(&files, 0).unwrap();
    let half = (LOAD.packets() - 100) / 2;
    let of: Vec<(&str, u64, u32)> = summary
        .file
        .interfaces
        .iter()
        .map(|one| (one.name.as_str(), one.packets, one.number_in_section))
        .collect();
    assert_eq!(of, [("eth0", LOAD.packets() - half, 0), ("eth1", half, 1)]);
    assert!(summary.file.has_other_interfaces());
}

/// dumpcap reads each of several interfaces a block at a time: a file may begin with what one received before the last began.
#[test]
fn files_of_several_interfaces_are_placed_by_the_latest_of_their_first_packets() {
    let capture = capture();
    let [first, late, on_time] =
        [part(&capture, 120, 200), part(&capture, 100, 120), part(&capture, 200, usize::MAX)];
    let second = [late, on_time[HEADERS.0..].to_vec()].concat();
    let names = ["eth0", "eth1"];
    let files = [pcapng(&first, &names), pcapng(&second, &names)];
    let [one, other] = [&files[0], &files[1]].map(|file| Beginning::of(file.as_slice()).unwrap());
    assert!(one < other);
    let (summary, _) = series(&files, 0).unwrap();
    assert_eq!(summary.file.packets, LOAD.packets() - 100);
    let codes: Vec<&str> = summary.problems.iter().map(|problem| problem.kind.code()).collect();
    assert_eq!(codes, ["time-goes-back"]);
}

#[test]
fn a_file_is_placed_by_its_first_packet() {
    let capture = capture();
    let begin = |from| Beginning::of(part(&capture, from, usize::MAX).as_slice()).unwrap();
    assert!(begin(0) < begin(100) && begin(100) < Beginning::NoPacket);
    for none in [&[][..], &capture[..10], &capture[..HEADERS.0], &capture[..HEADERS.0 + 20]] {
        assert_eq!(Beginning::of(none).unwrap(), Beginning::NoPacket);
    }
    assert!(Beginning::of(&b"no capture, but text"[..]).is_err());
    let follows = |from, to| begin(from).follows(part(&capture, 0, to).as_slice()).unwrap();
    assert!(follows(100, 100) && follows(190, 200));
    assert!(!follows(10, usize::MAX));
}

/// A packet passes the interfaces of one host at about one time: two files of such a capture may hold it once each.
#[test]
fn packets_of_one_time_are_not_of_two_places_where_files_follow_each_other() {
    let capture = capture();
    let joined = |do_follow| {
        let mut open = |_| Ok(Cursor::new(capture.clone()));
        let Err(error) = read_pair(&mut open, do_follow, &ReadOptions::default()) else {
            panic!("joined");
        };
        error.to_string()
    };
    assert!(joined(true).contains("share no connection"), "{}", joined(true));
    assert!(joined(false).contains("a copy of the other"), "{}", joined(false));
}

/// The files of a capture of which the packets from one to another are in none.
fn without(capture: &[u8], from: usize, to: usize) -> [Vec<u8>; 2] {
    [part(capture, 0, from), part(capture, to, usize::MAX)]
}

/// What passed while no file was written was neither lost nor in flight, whoever follows the connections.
#[test]
fn missing_files_are_no_losses() {
    let few = Load { connections: 3, ..LOAD };
    let many = Load { connections: 300, rounds: 20, at_once: 300, rounds_a_turn: 3, ends: true };
    for load in [few, many] {
        let mut capture = Vec::new();
        load.write(&mut capture).unwrap();
        let (_, all) = whole(&capture);
        let third = begins(&capture).len() / 3;
        let files = without(&capture, third, 2 * third);
        let (summary, connections) = series(&files, 0).unwrap();
        let codes: Vec<_> = summary.problems.iter().map(|problem| problem.kind.code()).collect();
        assert_eq!(codes, ["missing-files"]);
        let hole = summary.file.holes[0];
        let of_file = (summary.file.parts[1].first, hole.before);
        assert_eq!(of_file, (Some(hole.to), 1));
        let missing = |it: &Evidence| it.forward.unseen_bytes + it.reverse.unseen_bytes;
        assert!(hole.bytes > 0 && hole.bytes <= connections.iter().map(missing).sum());
        for one in &connections {
            let same = |other: &&Evidence| (other.client, other.server) == (one.client, one.server);
            let truth = all.iter().find(same).unwrap();
            for (part, whole) in [(&one.forward, &truth.forward), (&one.reverse, &truth.reverse)] {
                assert!(part.in_flight_max_bytes <= whole.in_flight_max_bytes);
                assert_eq!((part.retransmitted_packets, part.timeouts, part.outage), (0, 0, None));
                assert_eq!((part.beyond_window, part.out_of_order_packets), (0, 0));
                assert_eq!(part.lost_by_capture(), 0);
            }
            assert!(!one.marks.capture_lost);
        }
        let (_, in_threads) = series(&files, 2).unwrap();
        assert!(in_threads == connections);
    }
}

/// A capture of one direction has no acknowledgements: what is missing on neither side of a seam but between shows.
#[test]
fn missing_files_show_in_one_direction_as_well() {
    let capture = capture();
    let (begins, ports) = (begins(&capture), HEADERS.1 + 14 + 20);
    let from_client = |range: std::ops::Range<usize>| -> Vec<u8> {
        let packets = range.map(|place| &capture[begins[place]..begins[place + 1]]);
        let own = packets.filter(|packet| packet[ports..ports + 2] > packet[ports + 2..ports + 4]);
        [&capture[..HEADERS.0], &own.flatten().copied().collect::<Vec<_>>()].concat()
    };
    let count = begins.len() - 1;
    let codes = |files: &[Vec<u8>]| -> Vec<&str> {
        let (summary, _) = series(files, 0).unwrap();
        summary.problems.iter().map(|problem| problem.kind.code()).collect()
    };
    assert_eq!(codes(&[from_client(0..200), from_client(200..count)]), [""; 0]);
    assert_eq!(codes(&[from_client(0..200), from_client(300..count)]), ["missing-files"]);
}
