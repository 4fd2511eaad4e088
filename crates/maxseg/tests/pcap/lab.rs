//! `maxseg run --engine lab --pcap`: the wire's packets, as this program's own account, tshark and the kernel
//! count them.

use std::path::Path;
use std::process::{Command, Stdio};

use maxseg_testkit::is_its_turn;
use maxseg_wire::ip::{Header, protocol};
use maxseg_wire::pcapng::Direction::{Inbound, Outbound};
use serde_json::Value;

use super::peers::{FAULTY, NONE, installed, tshark};
use super::runs::{Capture, captured, maxseg, stderr};

/// 1 MiB over two hops, of which the second damages one packet in a hundred.
const LOSSY: &str = r#"
sender.mss = 1448
hop = [
    { name = "lan", rate = "100 Mbit/s", delay = "1 ms" },
    { name = "radio", rate = "20 Mbit/s", delay = "4 ms", errors = { model = "uniform", per = "packet", rate = 0.01 } },
]
flow = [{ kind = "bulk" }]
until = { bytes = "1 MiB", time = "20 s" }
"#;
/// Ethernet's, which both hops have.
const MTU: u32 = 1500;
/// Bytes that are kept of a packet.
const SNAP_LEN: usize = 128;

/// A run in the lab, with its capture in `file`; `None`, said aloud, where this machine has no lab.
#[expect(clippy::print_stdout, reason = "what cannot run here is said, with its reason")]
fn lab(scenario: &str, arguments: &[&str], file: &Path) -> Option<Capture> {
    let text = file.with_extension("toml");
    std::fs::write(&text, scenario).unwrap();
    let begin = ["run", text.to_str().unwrap(), "--engine", "lab", "--json", "--pcap"];
    let output = maxseg(&[&begin[..], &[file.to_str().unwrap()], arguments].concat());
    // A run on a busy machine may prove nothing of its times; its packets are what they are.
    let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) else {
        let error = stderr(&output);
        assert!(error.contains("a lab needs"), "{error}");
        println!("skipped: {error}");
        return None;
    };
    let mut capture = Capture::read(std::fs::read(file).unwrap());
    capture.outcome = document["rows"][0]["outcome"].clone();
    Some(capture)
}

/// What a link of the run's proof counted.
fn counted(capture: &Capture, link: &str, what: &str) -> u64 {
    let links = capture.outcome["lab"]["links"].as_array().unwrap();
    let link = links.iter().find(|candidate| candidate["link"] == link).unwrap();
    link[what].as_u64().unwrap()
}

/// How many packets a point has that go out, that come in, and that are seen no further.
fn seen(capture: &Capture, point: &str) -> [u64; 3] {
    let packets = capture.at(point);
    let count = |way| packets.iter().filter(|packet| packet.direction == Some(way)).count() as u64;
    let lost = packets.iter().filter(|packet| packet.comment.is_some()).count() as u64;
    [count(Outbound), count(Inbound), lost]
}

#[test]
fn every_interface_has_the_packets_that_its_link_counted() {
    let folder = tempfile::tempdir().unwrap();
    // A foreseeable link decides a packet's fate at once, CoDel's later: both ways to a record.
    for discipline in ["tail-drop", "codel"] {
        let set =
            format!(r#"hop.radio.queue={{ limit = "100 packets", discipline = "{discipline}" }}"#);
        let Some(capture) = lab(LOSSY, &["--set", &set], &folder.path().join("run.pcapng")) else {
            return;
        };
        assert_eq!(capture.interfaces(), ["sender", "r1.lan", "r1.radio", "receiver"]);
        assert_eq!(capture.outcome["lab"]["capture_drops"], 0);
        let out = |point| seen(&capture, point)[0];
        for (point, link) in [
            ("sender", "hop.lan"),
            ("r1.lan", "hop.lan.reverse"),
            ("r1.radio", "hop.radio"),
            ("receiver", "hop.radio.reverse"),
        ] {
            assert_eq!(out(point), counted(&capture, link, "packets"), "{discipline}: {point}");
            let lost: u64 = ["damaged", "refused", "policed", "early"]
                .iter()
                .map(|why| counted(&capture, link, why))
                .sum();
            assert_eq!(seen(&capture, point)[2], lost, "{discipline}: {point}");
        }
        assert!(counted(&capture, "hop.radio", "damaged") > 0, "nothing was lost");
        let arrived: u64 = capture.interfaces().iter().map(|point| seen(&capture, point)[1]).sum();
        assert_eq!(arrived, capture.outcome["lab"]["lateness"]["packets"], "{discipline}");
        let packets = capture.packets();
        assert!(packets.is_sorted_by_key(|packet| packet.at_nanos), "{discipline}");
        for packet in packets {
            assert!(packet.original_len <= MTU, "a super-packet");
            assert_eq!(packet.data.len(), SNAP_LEN.min(packet.original_len as usize));
            let comment = packet.comment.as_deref();
            assert!(
                comment
                    .is_none_or(|words| words == "damaged on this link" || discipline == "codel")
            );
        }
    }
}

/// 5000 datagrams in a second, and time for the last to arrive; some packets are damaged, in bursts.
const DATAGRAMS: &str = r#"
seed = 7
hop = [
    { name = "radio", rate = "100 Mbit/s", delay = "2 ms", queue = "100000 packets", frame = 128, errors = { model = "gilbert-elliott", per = "frame", rate = 0.01, burst = 20 } },
]
flow = [{ kind = "cbr", size = 472, rate = "18.88 Mbit/s", stop = "1 s" }]
until = { time = "2 s" }
"#;

/// The numbers, in their order before the link, of the datagrams that it damages; and how many there are.
fn damaged(capture: &Capture, before_the_link: &str) -> (Vec<usize>, usize) {
    let mut packets = capture.at(before_the_link);
    packets.retain(|packet| {
        let ip = maxseg_wire::ip::Packet::decode(&packet.data, packet.original_len as usize);
        ip.unwrap().protocol == protocol::UDP
    });
    let is_damaged =
        |place: &usize| packets[*place].comment.as_deref() == Some("damaged on this link");
    ((0..packets.len()).filter(is_damaged).collect(), packets.len())
}

#[test]
fn the_packets_of_the_same_numbers_die_as_in_the_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let Some(real) = lab(DATAGRAMS, &[], &folder.path().join("run.pcapng")) else { return };
    // The simulator tells of a damaged packet at the hop's own point.
    let (simulated, sent) = damaged(&captured(DATAGRAMS, &[]), "radio");
    assert_eq!(damaged(&real, "sender"), (simulated.clone(), sent));
    assert!(sent == 5000 && simulated.len() > 20, "{simulated:?} of {sent}");
}

#[test]
fn a_router_passes_on_what_came_with_one_hop_less() {
    let folder = tempfile::tempdir().unwrap();
    let Some(capture) = lab(LOSSY, &[], &folder.path().join("run.pcapng")) else { return };
    let passing = |point, way| {
        let packets =
            capture.at(point).into_iter().filter(move |packet| packet.direction == Some(way));
        let packets = packets.map(|packet| {
            let ip = maxseg_wire::ip::Packet::decode(&packet.data, packet.original_len as usize)
                .unwrap();
            let Header::V4(header) = ip.header else { panic!("IPv4") };
            (header.identification, header.ttl, ip.payload.to_vec(), packet.at_nanos)
        });
        packets.collect::<Vec<_>>()
    };
    let (came, went) = (passing("r1.lan", Inbound), passing("r1.radio", Outbound));
    assert!(went.len() > 500 && went.len() <= came.len());
    // In order, whole, and never before it came.
    for (came, went) in came.iter().zip(&went) {
        assert_eq!((came.0, came.1 - 1, &came.2), (went.0, went.1, &went.2));
        assert!(came.3 <= went.3);
    }
}

#[test]
fn tshark_finds_whole_packets_with_good_checksums_and_the_kernels_retransmissions() {
    if !is_its_turn(1) || !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for ip in ["4", "6"] {
        let file = folder.path().join("run.pcapng");
        let Some(capture) = lab(LOSSY, &["--set", &format!("ip={ip}")], &file) else { return };
        let here = tshark(&file, "frame", &["frame.interface_name"]);
        for point in capture.interfaces() {
            let count = here.iter().filter(|name| **name == point).count();
            assert_eq!(count, capture.at(&point).len(), "{point}");
        }
        assert_eq!(tshark(&file, FAULTY, &["frame.number"]), NONE);
        // What a bulk flow sends is zeros: with what was not kept put back, every checksum is looked at.
        for point in ["sender", "r1.radio", "receiver"] {
            let whole = folder.path().join("whole.pcapng");
            let packets = capture.write_whole(point, &whole);
            let tcp = tshark(&whole, "tcp", &["frame.number"]).len();
            let good = tshark(&whole, "tcp.checksum.status == 1", &["frame.number"]);
            assert_eq!(good.len(), tcp, "IPv{ip}, {point}");
            assert!(tcp > 1000 && packets - tcp < 10, "IPv{ip}, {point}: {tcp} of {packets}");
            assert_eq!(tshark(&whole, FAULTY, &["frame.number"]), NONE);
        }
        let at_sender = folder.path().join("sender.pcap");
        capture.write_classic("sender", &at_sender);
        // What was acknowledged before it was sent again is none of tshark's other retransmissions.
        let again = "tcp.len > 0 && (tcp.analysis.retransmission || tcp.analysis.out_of_order \
                     || tcp.analysis.spurious_retransmission)";
        let theirs = tshark(&at_sender, again, &["frame.number"]).len();
        // Exactly: every packet that the kernel says it sent again is on the wire, and none other.
        assert_eq!(theirs, capture.outcome["retransmitted_packets"], "IPv{ip}");
        assert!(theirs > 0);
    }
}

#[test]
fn a_run_that_is_cut_short_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.pcapng");
    let text = folder.path().join("run.toml");
    std::fs::write(&text, LOSSY.replace("1 MiB", "1 GiB")).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["run", text.to_str().unwrap(), "--engine", "lab", "--pcap", file.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have no name yet: its process has it open.
    let descriptors = format!("/proc/{}/fd", run.id());
    let is_begun = || {
        let open = std::fs::read_dir(&descriptors).into_iter().flatten().flatten();
        open.map(|entry| entry.path()).any(|entry| {
            let is_capture = std::fs::read_link(&entry)
                .is_ok_and(|it| it.starts_with(folder.path()) && it != text);
            is_capture && entry.metadata().is_ok_and(|about| about.len() > 0)
        })
    };
    while run.try_wait().unwrap().is_none() {
        // The writer's first megabyte: the run is well on its way.
        if is_begun() {
            let kill = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
            assert!(kill.unwrap().success());
            break;
        }
        std::thread::yield_now();
    }
    let output = run.wait_with_output().unwrap();
    let error = stderr(&output);
    assert!(output.status.code() == Some(130) || error.contains("a lab needs"), "{error}");
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(left.collect::<Vec<_>>(), [text], "half a capture was left");
}

#[test]
fn one_file_takes_one_engines_packets() {
    let refused = |engines: &[&str]| {
        let output = maxseg(&[&["run", "slow-tunnel", "--pcap", "never.pcapng"], engines].concat());
        assert!(!output.status.success());
        stderr(&output)
    };
    let error = refused(&["--engine", "sim,lab"]);
    assert!(error.contains("not the simulator's and the lab's"), "{error}");
    assert!(error.contains("--engine lab"), "{error}");
    assert!(refused(&["--engine", "model"]).contains("formulas have no packets"));
}
