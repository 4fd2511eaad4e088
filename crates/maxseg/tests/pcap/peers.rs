//! Programs that others wrote read our captures: they find nothing wrong with them, and count what the
//! simulator counts.
//!
//! Who counts what as a retransmission, at the point where the data's sender stands:
//!
//! | | counts | differs from the simulator |
//! |---|---|---|
//! | simulator, `retransmitted_packets` | packets with payload of which any byte had been sent before | |
//! | tshark, `retransmission` + `out_of_order` | segments that begin below the highest number seen | a repeated SYN counts too: `tcp.len > 0` leaves it out. One that follows the highest number within a round trip, and is no fast retransmission, is called out of order; at its sender nothing is, so both are added. A segment of more than one byte that begins at the last byte seen would not count; none of ours does |
//! | tcptrace, `rexmt data pkts` and `bytes` | segments of which any byte had been seen | a repeated SYN counts too, as one byte: taken off here. Of a segment it counts the bytes that were seen, the simulator all; the same as long as segments are repeated as they were |
//!
//! Anywhere else on the path the counts are others: what was lost before is not seen there, and what
//! fills its gap is out of order.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::runs::{BUSY, Capture, captured};

/// Whether `program` can be run; says what is skipped if not.
#[expect(clippy::print_stdout, reason = "what cannot run here is said, with its reason")]
pub(super) fn installed(program: &str) -> bool {
    let there = Command::new(program).arg("-v").output().is_ok();
    if !there {
        println!("skipped: {program} is not installed (apt-get install {program})");
    }
    there
}

/// The packets of `file` that tshark finds to be as `filter` says, with every checksum looked at: of
/// each these fields, set apart by tabs.
pub(super) fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    for preference in ["ip", "tcp", "udp"] {
        command.args(["-o", &format!("{preference}.check_checksum:TRUE")]);
    }
    command.args(["-n", "-r"]).arg(file).args(["-Y", filter, "-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// The bulk flows: their number, who sends their data, and what came of them.
fn bulk_flows(capture: &Capture) -> Vec<(usize, &'static str, Value)> {
    let flows = match capture.outcome["flows"].as_array() {
        Some(flows) => flows.clone(),
        None => vec![capture.outcome.clone()],
    };
    // As in `BUSY`: the second flow is the one from the receiver.
    let point = |index: usize| if index == 1 { "receiver" } else { "sender" };
    let numbered = flows.into_iter().enumerate();
    numbered
        .filter(|(_, flow)| flow["retransmitted_packets"].is_u64())
        .map(|(index, flow)| (index, point(index), flow))
        .collect()
}

/// Losses of every kind: in bursts, of the SYN, in a full queue; NewReno, and ns-2's Reno, which goes
/// back to the first loss.
fn lossy() -> Vec<(&'static str, Capture)> {
    let time = ["--set", "until.time=30 s"];
    let run = |name, scenario, more: &[&str]| (name, captured(scenario, &[&time, more].concat()));
    let lost_syn = "hop.tunnel.errors={ model = \"list\", lost = [0, 20, 21, 22, 40] }";
    let burst = "hop.tunnel.errors={ model = \"gilbert-elliott\", per = \"packet\", rate = 0.05, burst = 4 }";
    let cell = ["--set", "sender.mss=1460", "--set", "hop.radio.errors.rate=0.02"];
    let both = |key: &str| [format!("sender.{key}=true"), format!("receiver.{key}=true")];
    let options = [both("sack"), both("timestamps")].concat();
    let options: Vec<&str> = options.iter().flat_map(|set| ["--set", set]).collect();
    let tahoe = ["--set", "sender.stack=ns2-tahoe", "--set", "receiver.stack=ns2-tahoe"];
    let sack = ["--set", "sender.stack=ns2-sack", "--set", "receiver.stack=ns2-sack"];
    vec![
        run("SACK and timestamps", BUSY, &options),
        run("ns-2's Tahoe", "cellular-mss", &[&cell[..], &tahoe].concat()),
        run("ns-2's Sack1", "cellular-mss", &[&cell[..], &sack].concat()),
        run("busy", BUSY, &[]),
        run("busy, IPv6", BUSY, &["--set", "ip=6"]),
        run("lost SYN", "slow-tunnel", &["--set", lost_syn]),
        run("bursts", "slow-tunnel", &["--set", burst]),
        run("queue", "slow-tunnel", &["--set", "hop.tunnel.queue=4 packets"]),
        run("small window", "slow-tunnel", &["--set", "receiver.window=1000 B", "--set", burst]),
        run("ns-2's Reno", "cellular-mss", &cell),
    ]
}

#[test]
fn tshark_finds_nothing_wrong() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for ip in ["4", "6"] {
        let capture = captured(BUSY, &["--set", &format!("ip={ip}")]);
        let file = folder.path().join("run.pcapng");
        capture.write(&file);
        let all = capture.packets().len();
        let seen = tshark(&file, "frame", &["frame.interface_name"]);
        assert_eq!(seen.len(), all);
        for point in capture.interfaces() {
            let here = seen.iter().filter(|name| **name == point).count();
            assert_eq!(here, capture.at(&point).len(), "{point}");
        }
        assert_eq!(tshark(&file, FAULTY, &["frame.number"]), NONE);
        if ip == "4" {
            let good = tshark(&file, "ip.checksum.status == 1", &["frame.number"]);
            assert_eq!(good.len(), all, "every header is checked");
        }
        // Where the payload is cut off tshark does not check: with it, every packet is.
        let whole = folder.path().join("whole.pcapng");
        let packets = capture.write_whole("sender", &whole);
        let good =
            ["tcp", "udp", "icmp", "icmpv6"].map(|layer| format!("{layer}.checksum.status == 1"));
        assert_eq!(tshark(&whole, &good.join(" || "), &["frame.number"]).len(), packets);
        assert_eq!(tshark(&whole, FAULTY, &["frame.number"]), NONE);
    }
}

/// What tshark calls malformed, and all else that it calls an error, such as a wrong checksum.
pub(super) const FAULTY: &str = "_ws.malformed || _ws.expert.severity == error";
pub(super) const NONE: [String; 0] = [];

#[test]
fn tshark_counts_the_retransmissions_that_the_simulator_counts() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.pcap");
    for (name, capture) in lossy() {
        for (index, point, flow) in bulk_flows(&capture) {
            capture.write_classic(point, &file);
            let data =
                format!("tcp.len > 0 && tcp.dstport == 9 && tcp.srcport == {}", 49_152 + index);
            let verdicts = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
            let packets = tshark(&file, &data, &verdicts);
            let repeated = packets.iter().filter(|verdicts| !verdicts.trim().is_empty());
            let theirs = [packets.len() as u64, repeated.count() as u64];
            let keys = ["data_packets", "retransmitted_packets"];
            let ours = keys.map(|key| flow[key].as_u64().unwrap());
            assert_eq!(theirs, ours, "{name}, flow {index}");
            assert!(ours[1] > 0, "{name}: nothing was lost");
        }
        if name == "lost SYN" {
            let repeated_syn = "tcp.flags.syn == 1 && tcp.analysis.retransmission";
            let found = tshark(&file, repeated_syn, &["frame.number"]);
            assert_eq!(found.len(), 1, "which the simulator does not count");
        }
    }
}

/// What tcptrace says of one connection.
struct Traced<'a>(&'a str);

impl<'a> Traced<'a> {
    /// The connection that was opened from `port`.
    fn of(text: &'a str, port: usize) -> Self {
        Self(text.split_once(&format!(":{port}\n")).unwrap_or_else(|| panic!("{text}")).1)
    }

    /// The first number behind `what`: each line has its opener's counts first.
    fn count(&self, what: &str) -> u64 {
        let (_, rest) = self.0.split_once(what).unwrap_or_else(|| panic!("no {what}"));
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    }
}

#[test]
fn tcptrace_counts_the_retransmissions_that_the_simulator_counts() {
    if !installed("tcptrace") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.pcap");
    for (name, capture) in lossy() {
        for (index, point, flow) in bulk_flows(&capture) {
            capture.write_classic(point, &file);
            let output = Command::new("tcptrace").args(["-l", "-n"]).arg(&file).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            let connection = Traced::of(&text, 49_152 + index);
            let repeated_syns = connection.count("SYN/FIN pkts sent:") - 1;
            let theirs = [
                connection.count("actual data pkts:"),
                connection.count("rexmt data pkts:") - repeated_syns,
                connection.count("rexmt data bytes:") - repeated_syns,
            ];
            let keys = ["data_packets", "retransmitted_packets", "retransmitted_bytes"];
            let ours = keys.map(|key| flow[key].as_u64().unwrap());
            assert_eq!(theirs, ours, "{name}, flow {index}");
            let late = connection.count("outoforder pkts:");
            assert_eq!(late, 0, "{name}: nothing overtakes at its sender");
        }
    }
}
