//! Captures of request flows: connections with data both ways, as tshark reads them.

use maxseg_testkit::sampled;

use super::peers::{FAULTY, NONE, installed, tshark};
use super::runs::{Capture, captured};

/// Of the sample, one run in so many: tshark starts a dozen times for each.
const SAMPLED: u64 = 3;

const PATH: &str = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\n";
const LOSSY: &str = "errors = { model = \"uniform\", rate = 0.05 }\n[hop.reverse]\nerrors = { model = \"uniform\", rate = 0.05 }\n";
const OPTIONS: &str = "sack = true\ntimestamps = true\necn = true\nmss = 600\n";

/// A run of requests of two segments and replies of many.
fn run(path: &str, keys: &str, settings: &str, more: &[&str]) -> Capture {
    let flow = "[[flow]]\nkind = \"request\"\nrequest = \"2 kB\"\nreply = \"30 kB\"\ncount = 40\n";
    let hosts = format!("[sender]\n{settings}[receiver]\n{settings}window = \"200 kB\"\n");
    captured(&format!("{path}{flow}{keys}{hosts}"), more)
}

#[test]
fn what_is_whole_looks_whole() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.pcapng");
    let kinds = [
        "",
        "connection = \"new\"\n",
        "from = \"receiver\"\npause = \"500 ms\"\nthink = \"50 ms\"\n",
    ];
    let settings = ["", OPTIONS, "window_scale = \"off\"\n"];
    let runs = kinds.into_iter().flat_map(|keys| settings.map(|settings| (keys, settings)));
    for (keys, settings) in sampled("runs", runs.collect(), SAMPLED) {
        let capture = run(PATH, keys, settings, &[]);
        for point in capture.interfaces() {
            capture.write_whole(&point, &file);
            assert_eq!(tshark(&file, FAULTY, &["frame.number"]), NONE, "{keys}{settings}");
            // Nothing lost, repeated, out of order or acknowledged twice. A window may be full.
            let flags = "tcp.analysis.flags && !tcp.analysis.window_full";
            assert_eq!(tshark(&file, flags, &["_ws.col.info"]), NONE, "{keys}{settings}");
        }
        let opened = tshark(&file, "tcp.flags.syn == 1 && tcp.flags.ack == 0", &["tcp.srcport"]);
        let connections = if keys.contains("new") { 40 } else { 1 };
        assert_eq!(opened.len(), connections, "{keys}");
        assert_eq!(capture.outcome["requests"], 40);
    }
}

/// Every number that one end sends the other acknowledges, and both begin at their SYN's.
#[test]
fn numbers_count_both_ways() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.pcapng");
    run(PATH, "", "", &[]).write_whole("sender", &file);
    let last = |filter: &str, field: &str| -> u64 {
        let options = ["frame.number", field];
        let all = tshark(&file, filter, &options);
        let number = all.last().unwrap().split('\t').nth(1).unwrap().to_owned();
        number.parse().unwrap()
    };
    // Numbers are relative to the SYN's: payload begins at 1. The run is over before the last reply is
    // acknowledged whole.
    let acknowledged = last("tcp.dstport == 7", "tcp.ack");
    assert!((39 * 30_000..=40 * 30_000 + 1).contains(&acknowledged), "{acknowledged}");
    assert_eq!(last("tcp.srcport == 7", "tcp.ack"), 1 + 40 * 2000);
    assert_eq!(last("tcp.srcport == 7 && tcp.len > 0", "tcp.nxtseq"), 1 + 40 * 30_000);
}

#[test]
fn tshark_counts_the_retransmissions_of_both_ends() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.pcap");
    let path = format!("{PATH}{LOSSY}");
    for keys in ["", "connection = \"new\"\n", "from = \"receiver\"\n"] {
        for settings in ["", OPTIONS] {
            let capture = run(&path, keys, settings, &["--set", "until.time=1 h"]);
            let mut theirs = [0, 0];
            for (point, address) in [("sender", "10.0.0.1"), ("receiver", "10.0.0.2")] {
                capture.write_classic(point, &file);
                let data = format!("tcp.len > 0 && ip.src == {address}");
                let verdicts = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
                let packets = tshark(&file, &data, &verdicts);
                theirs[0] += packets.len() as u64;
                theirs[1] +=
                    packets.iter().filter(|verdicts| !verdicts.trim().is_empty()).count() as u64;
            }
            let keys_of_ours = ["data_packets", "retransmitted_packets"];
            let ours = keys_of_ours.map(|key| capture.outcome[key].as_u64().unwrap());
            assert_eq!(theirs, ours, "{keys}{settings}");
            assert!(ours[1] > 10, "nothing was lost");
        }
    }
}
