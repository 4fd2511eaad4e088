//! What TCPRS and tcptrace say of the captures is read whole: every file, every row.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "the contract is to print how much was checked")]

use std::collections::BTreeMap;

use maxseg_testkit::captures::{Capture, captures, tcprs, tcptrace};
use maxseg_wire::flow::Decoded;
use maxseg_wire::reading::PacketReader;
use serde_json::Value;

/// Times in seconds and microseconds, kept in floating point: half a microsecond.
const SAME_TIME_S: f64 = 0.5e-6;

#[test]
fn every_label_of_tcprs_is_a_segment_of_its_capture() {
    let mut rows = 0;
    for capture in captures() {
        let Some(labels) = tcprs::labels(&capture.path) else { continue };
        assert!(!labels.is_empty(), "{}", capture.name);
        let segments = segments(&capture);
        for label in &labels {
            let is_label = |segment: &&Segment| {
                let near = (segment.at_s - label.at_s).abs() < SAME_TIME_S;
                near && (segment.from, segment.to, segment.seq) == (label.from, label.to, label.seq)
            };
            assert!(segments.iter().any(|one| is_label(&one)), "{}: {label:?}", capture.name);
        }
        let mut causes = BTreeMap::<_, usize>::new();
        for label in &labels {
            *causes.entry(label.cause).or_default() += 1;
        }
        println!("{}: {} labels, {causes:?}", capture.name, labels.len());
        rows += labels.len();
    }
    println!("checked {rows} labels");
    assert!(rows > 0 || !has_folder("tcprs-labels"), "there are labels, and none was checked");
}

#[test]
fn every_row_of_tcptrace_is_two_directions() {
    let (mut files, mut rows) = (0, 0);
    for capture in captures() {
        let directions = tcptrace::directions(&capture.path);
        let is_said_to_be_read = |truth: &Value| truth["tcptrace"] == "ok";
        let wanted = capture.truth.as_ref().is_some_and(is_said_to_be_read);
        assert_eq!(directions.is_some(), wanted, "{}", capture.name);
        let Some(directions) = directions else { continue };
        assert!(!directions.is_empty(), "{}", capture.name);
        for pair in directions.chunks(2) {
            let [forth, back] = pair else { panic!("{}: half a connection", capture.name) };
            assert_eq!(
                (forth.from, forth.to, forth.connection),
                (back.to, back.from, back.connection)
            );
        }
        for direction in &directions {
            assert!(direction.retransmitted_packets <= direction.data_packets, "{direction:?}");
            assert!(direction.data_packets <= direction.packets, "{direction:?}");
        }
        files += 1;
        rows += directions.len();
    }
    println!("checked {rows} directions in {files} files");
    assert!(rows > 0 || !has_folder("truth"), "there are rows of tcptrace, and none was checked");
}

#[test]
fn a_broken_row_is_told() {
    assert_eq!(tcprs::parse("#fields\tts\tseq\n1.5\t7\n"), Err("1.5\t7"));
    assert_eq!(tcptrace::parse("conn_#,host_a,\n1,::1\n"), Err("1,::1"));
}

/// Whether a folder of captures has data of this name.
fn has_folder(name: &str) -> bool {
    let has = |capture: &Capture| capture.path.parent().is_some_and(|at| at.join(name).is_dir());
    captures().iter().any(has)
}

struct Segment {
    at_s: f64,
    from: std::net::SocketAddr,
    to: std::net::SocketAddr,
    seq: u32,
}

fn segments(capture: &Capture) -> Vec<Segment> {
    let mut packets = PacketReader::open(capture.open(), None).unwrap();
    let mut segments = Vec::new();
    let end = packets.for_each(|_, packet| {
        if let Decoded::Tcp(seen) = packet.what {
            segments.push(Segment {
                at_s: seen.at_nanos as f64 / 1e9,
                from: seen.source,
                to: seen.destination,
                seq: seen.seq,
            });
        }
    });
    end.unwrap();
    segments
}
