//! `maxseg explain` over several files that follow each other.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use maxseg_wire::capture_file::CaptureFile;
use serde_json::Value;

use super::{command, json, maxseg, stderr, stdout};

/// A capture as a file header of pcap, and its packets with their headers.
struct Plain {
    header: Vec<u8>,
    packets: Vec<Vec<u8>>,
}

/// Fields in the byte order of the file.
fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Plain {
    /// A labelled capture, also written to the folder as `whole.pcap`.
    fn of(folder: &Path) -> Self {
        let plain = Self::named("d_loss2pct_cubic.sender.pcap.gz");
        plain.part(folder, "whole.pcap", (0, END));
        plain
    }

    fn named(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let packed = root.join("testdata/captures").join(name);
        let mut file = CaptureFile::open(fs::File::open(packed).unwrap()).unwrap();
        let mut packets = Vec::new();
        let mut link_type = 0;
        while let Some(record) = file.next().unwrap() {
            link_type = u32::from(record.link_type);
            let at = record.at_nanos.unwrap();
            let [seconds, nanos] = [at / 1_000_000_000, at % 1_000_000_000];
            let length = record.data.len() as u64;
            let fields = [seconds, nanos, length, u64::from(record.original_len)];
            let header = words(&fields.map(|field| u32::try_from(field).unwrap()));
            packets.push([&header, record.data].concat());
        }
        // Nanoseconds, version 2.4.
        let header = words(&[0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 262_144, link_type]);
        Self { header, packets }
    }

    /// The second of its first packet.
    fn second(&self) -> u32 {
        u32::from_le_bytes(*self.packets[0].first_chunk().unwrap())
    }

    /// The same with its first packet in another second.
    fn moved_to(mut self, second: u32) -> Self {
        let by = second.wrapping_sub(self.second());
        for packet in &mut self.packets {
            let at = u32::from_le_bytes(*packet.first_chunk().unwrap()).wrapping_add(by);
            packet[..4].copy_from_slice(&at.to_le_bytes());
        }
        self
    }

    /// Some packets of it, counted from 0, as a file.
    fn part(&self, folder: &Path, name: &str, (from, to): (usize, usize)) -> String {
        let packets = &self.packets[from..to.min(self.packets.len())];
        let file = folder.join(name);
        fs::write(&file, [self.header.clone(), packets.concat()].concat()).unwrap();
        file.display().to_string()
    }
}

const END: usize = usize::MAX;

/// What is the same of one file and of all that it was cut to.
fn results(mut document: Value) -> Value {
    for key in ["file", "files"] {
        document[key] = Value::Null;
    }
    document
}

fn whole(folder: &Path) -> Value {
    results(json(&["explain", folder.join("whole.pcap").to_str().unwrap(), "--json"]))
}

#[test]
fn files_of_a_ring_are_one_capture_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let capture = Plain::of(folder);
    let of = |name, span| capture.part(folder, name, span);
    let (a, b, c) = (of("r3.pcap", (0, 700)), of("r1.pcap", (700, 701)), of("r2.pcap", (701, END)));
    let whole = whole(folder);
    for order in [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]] {
        let document = json(&["explain", order[0], order[1], order[2], "--json"]);
        let first: Vec<&Value> =
            document["files"].as_array().unwrap().iter().map(|file| &file["first_frame"]).collect();
        assert_eq!(first, [1, 701, 702]);
        assert_eq!(document["files"][0]["file"], a.as_str());
        assert_eq!(results(document), whole);
    }
    let two = of("two.pcap", (0, 701));
    let document = json(&["explain", &c, &two, "--json"]);
    assert_eq!(document["joined"], Value::Null);
    assert_eq!(results(document), whole);
    let text = stdout(&maxseg(&["explain", &a, &b, &c]));
    assert!(text.contains("\n      mergecap -a -w joined.pcapng "), "{text}");
    let page = folder.join("page.html");
    let page = page.to_str().unwrap();
    assert!(maxseg(&["explain", &a, &b, &c, "-q", "--report", page]).status.success());
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("filters are for joined.pcapng in Wireshark"));
}

#[test]
fn standard_input_is_one_of_them_and_what_has_no_packet_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let capture = Plain::of(folder);
    let of = |name, span| capture.part(folder, name, span);
    let (a, b) = (of("a.pcap", (0, 700)), of("b.pcap", (700, END)));
    let nothing = of("nothing.pcap", (0, 0));
    let empty = folder.join("empty.pcap");
    fs::write(&empty, "").unwrap();
    let mut child = command(&["explain", &b, &nothing, "-", empty.to_str().unwrap(), "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(&a).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let note = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(note.contains("nothing.pcap and") && note.contains("hold no packet"), "{note}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packets: Vec<&Value> =
        document["files"].as_array().unwrap().iter().map(|file| &file["packets"]).collect();
    assert_eq!(packets[..], [700, 1219, 0, 0]);
    assert_eq!(results(document), whole(folder));
}

/// A file of a ring that is not there: what passed then was not lost, not in flight, and its time has no limit. The file behind the hole
/// comes through a pipe, and is longer than what is read at once.
#[test]
fn a_missing_file_of_a_ring_is_told_and_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let capture = Plain::named("d_rwnd.sender.pcap.gz");
    let of = |name, span| capture.part(folder, name, span);
    let (a, c) = (of("ring_1.pcap", (0, 700)), of("ring_3.pcap", (1000, END)));
    let all = of("all.pcap", (0, END));
    assert!(fs::metadata(&c).unwrap().len() > 1 << 17);
    let whole = json(&["explain", &all, "--json"]);
    let read = |files: &[&str]| {
        let mut child = command(&[&["explain", "--json"], files].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&fs::read(&c).unwrap()).unwrap_or_default();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        (serde_json::from_slice::<Value>(&output.stdout).unwrap(), said)
    };
    let (document, said) = read(&[&a, &c]);
    assert!(said.contains("files are missing between") && said.contains("ring_3.pcap"), "{said}");
    assert!(!said.contains("by their names"), "told once: {said}");
    assert_eq!(document["problems"][0]["code"], "missing-files");
    let (one, truth) = (&document["connections"][0], &whole["connections"][0]);
    let count = |it: &Value, key: &str| it["forward"][key].as_u64().unwrap();
    for key in ["retransmitted_packets", "in_flight_max_bytes", "timeouts"] {
        assert_eq!(count(one, key), count(truth, key), "{key}");
    }
    assert!(count(one, "unseen_bytes") > 100_000);
    assert_eq!(one["limited_by"], truth["limited_by"]);
    let codes: Vec<&Value> =
        one["quality"]["reasons"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert!(codes.contains(&&"missing-files".into()), "{codes:?}");
    let (by_pipe, _) = read(&[&a, "-"]);
    assert_eq!(by_pipe["files"][1]["file"], "-");
    assert_eq!(by_pipe["connections"], document["connections"]);
}

/// Two captures overlap where the second was begun before the first was ended.
#[test]
fn what_two_files_hold_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let capture = Plain::of(folder);
    let of = |name, span| capture.part(folder, name, span);
    let (a, b) = (of("a.pcap", (0, 710)), of("b.pcap", (694, END)));
    let long = of("long.pcap", (20, END));
    for (second, shared) in [(&b, 16), (&long, 690)] {
        let document = json(&["explain", &a, second, "--json"]);
        let problem = &document["problems"][0];
        assert_eq!((&problem["code"], &problem["count"]), (&"in-two-files".into(), &shared.into()));
        let truth = whole(folder);
        let (it, truth) = (&document["connections"][0], &truth["connections"][0]);
        assert_eq!(it["forward"], truth["forward"]);
        assert_eq!(it["limited_by"], truth["limited_by"]);
    }
}

#[test]
fn what_does_not_go_together_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let capture = Plain::of(folder);
    let of = |name, span| capture.part(folder, name, span);
    let (a, b, c) = (of("a.pcap", (0, 700)), of("b.pcap", (700, 900)), of("c.pcap", (900, END)));
    let other_place = Plain::named("d_rwnd.receiver.pcap.gz").moved_to(capture.second());
    let same_time = other_place.part(folder, "same.pcap", (10, END));
    let broken = |name, packet: usize| {
        let mut bytes = fs::read(&b).unwrap();
        let before: usize = capture.packets[700..700 + packet].iter().map(Vec::len).sum();
        let length = capture.header.len() + before + 8;
        bytes[length..length + 4].fill(0xff);
        let file = folder.join(name);
        fs::write(&file, &bytes).unwrap();
        file.display().to_string()
    };
    let (first, later) = (broken("first.pcap", 0), broken("later.pcap", 20));
    let text = folder.join("text.pcap");
    fs::write(&text, "no capture\n").unwrap();
    let text = text.to_str().unwrap();
    for (files, code, said) in [
        ([a.as_str(), &b, &a], 2, "is given twice"),
        ([a.as_str(), &b, &same_time], 1, "are of the same time"),
        ([a.as_str(), &b, text], 1, "text.pcap is a text file"),
        ([a.as_str(), &first, &c], 1, "first.pcap is at fault at byte 24"),
        ([a.as_str(), &later, &c], 1, "later.pcap | maxseg explain"),
        ([a.as_str(), "no-such.pcap", &c], 1, "there is no file no-such.pcap"),
    ] {
        let output = maxseg(&["explain", files[0], files[1], files[2], "--json"]);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{files:?}: {error}");
        assert!(error.contains(said) && error.contains("hint:"), "{files:?}: {error}");
        assert_eq!(stdout(&output), "", "{files:?}");
    }
}

/// Of two captures the times and the packets tell whether they are of two places or follow each other.
#[test]
fn two_captures_are_of_two_places_or_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let capture = Plain::of(folder);
    let whole = folder.join("whole.pcap").display().to_string();
    let other = Plain::named("d_rwnd.receiver.pcap.gz").moved_to(capture.second());
    let other = other.part(folder, "other.pcap", (0, END));
    let refused = maxseg(&["explain", &whole, &other]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("share no connection"), "{}", stderr(&refused));
    // A day later by a clock that is wrong.
    let receiver = Plain::named("d_loss2pct_cubic.receiver.pcap.gz");
    let later = receiver.moved_to(capture.second() + 86_400).part(folder, "r.pcap", (0, END));
    let document = json(&["explain", &later, &whole, "--json"]);
    assert_eq!(document["connections"][0]["joined"]["directions"][0]["lost_packets"], 21);
    assert_eq!(document["files"], Value::Null);
    let other = Plain::named("d_rwnd.receiver.pcap.gz").moved_to(capture.second() + 60);
    let other = other.part(folder, "other.pcap", (0, END));
    let output = maxseg(&["explain", &other, &whole, "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["connections"].as_array().unwrap().len(), 2);
    let note = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(note.contains("other.pcap follow each other: they are read as one capture"), "{note}");
}
