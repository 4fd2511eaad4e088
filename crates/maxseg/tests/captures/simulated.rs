//! Simulated captures: what is lost, sent again, needless and double there is known exactly.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Each ends when everything is acknowledged, so that nothing is on its way in the end.
const RUNS: [(&str, &str); 6] = [
    ("random losses", "errors = { model = \"uniform\", rate = \"2%\" }"),
    ("a short queue", "queue = \"6 packets\""),
    ("segments that overtake", "reorder = \"1%\"\njitter = \"15 ms\""),
    ("segments that come twice", "duplicate = \"1%\""),
    (
        "frames lost in bursts",
        "frame = 128\nerrors = { model = \"gilbert-elliott\", per = \"frame\", rate = 0.01, burst = 8 }",
    ),
    (
        "all of it",
        "queue = \"12 packets\"\nreorder = \"0.5%\"\njitter = \"10 ms\"\nduplicate = \"0.5%\"\nerrors = { model = \"uniform\", rate = \"1%\" }",
    ),
];

#[test]
fn counts_are_the_simulators() {
    let folder = tempfile::tempdir().unwrap();
    let mut needless = 0;
    for (name, link) in RUNS {
        for stack in ["sack = true\ntimestamps = true", "sack = false\ntimestamps = false"] {
            let scenario = folder.path().join("run.toml");
            let capture = folder.path().join("run.pcapng");
            let text = format!(
                "[[hop]]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n{link}\n[sender]\nstack = \"rfc\"\n{stack}\n\
                 [until]\nbytes = \"3 MB\"\ntime = \"600 s\"\n"
            );
            std::fs::write(&scenario, text).unwrap();
            let outcome = run(&scenario, &capture);
            let (sender, receiver) = (forward(&capture, "sender"), forward(&capture, "receiver"));
            let what = format!("{name}, {}", stack.replace('\n', ", "));
            same(&what, &outcome, &sender, &receiver, link.contains("duplicate"));
            needless += outcome["spurious_retransmissions"].as_u64().unwrap();
        }
    }
    assert!(needless > 0, "no run had a needless retransmission");
    println!(
        "checked {} simulated runs; {needless} needless retransmissions in them",
        2 * RUNS.len()
    );
}

/// Held together: what the simulator knows, and what captures at both ends show.
fn same(what: &str, outcome: &Value, sender: &Value, receiver: &Value, link_doubles: bool) {
    let count = |from: &Value, name: &str| from[name].as_u64().unwrap_or_else(|| panic!("{name}"));
    for (known, shown) in [
        ("data_packets", "data_packets"),
        ("retransmitted_packets", "retransmitted_packets"),
        ("retransmitted_bytes", "retransmitted_bytes"),
    ] {
        assert_eq!(count(outcome, known), count(sender, shown), "{what}: {known}");
    }
    let doubled = count(receiver, "payload_bytes") - count(receiver, "unique_bytes");
    assert_eq!(count(outcome, "duplicate_bytes"), doubled, "{what}: duplicate_bytes");
    let known = count(outcome, "spurious_retransmissions");
    // A retransmission that the link doubles arrives twice for nothing; in a capture the second is a copy of
    // the first, with the same identification.
    let shown = count(receiver, "spurious_retransmissions");
    let copies = count(receiver, "capture_duplicates");
    if link_doubles {
        let least_most = shown..=shown + copies;
        assert!(least_most.contains(&known), "{what}: spurious {known}, shown {shown}");
    } else {
        assert_eq!((known, copies), (shown, 0), "{what}: spurious, copies");
    }
    let lost = outcome["segment_loss"].as_f64().unwrap() * count(outcome, "data_packets") as f64;
    let arrived = count(receiver, "data_packets") - count(receiver, "capture_duplicates");
    let missing = count(sender, "data_packets") - arrived;
    assert!((lost - missing as f64).abs() < 0.5, "{what}: lost {lost}, missing {missing}");
}

fn run(scenario: &Path, capture: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["run", "--engine", "sim", "--json", "-q", "--pcap"])
        .args([capture, scenario])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["rows"][0]["outcome"].clone()
}

fn forward(capture: &Path, interface: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["explain", "--json", "-q", "--interface", interface])
        .arg(capture)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["connections"][0]["forward"].clone()
}
