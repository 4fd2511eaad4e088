//! Scenarios that `explain` writes of simulated captures: runs of them have what was observed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const REQUESTS: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"1 MB\"\n\
                        [[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"300 B\"\nreply = \"300 kB\"\n\
                        pause = \"1 s\"\nthink = \"20 ms\"\ncount = 12\n[until]\ntime = \"60 s\"\n";

/// What was observed is told to a few per mille, and both runs are of the same simulator.
const CLOSE: f64 = 0.02;

#[test]
fn requests_are_run_again_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let [asked, capture, observed] =
        ["asked.toml", "asked.pcapng", "observed.toml"].map(|name| folder.path().join(name));
    std::fs::write(&asked, REQUESTS).unwrap();
    let as_is = run(&asked, &["--pcap", capture.to_str().unwrap()]);
    let document = maxseg(&[
        "explain",
        capture.to_str().unwrap(),
        "--json",
        "--interface",
        "sender",
        "--scenario",
        observed.to_str().unwrap(),
    ]);
    let text = std::fs::read_to_string(&observed).unwrap();
    assert!(!text.contains("miss what was observed"), "{text}");
    let again = run(&observed, &[]);
    assert_eq!(again["requests"], 12);
    same("request times", &as_is["request_mean_s"], &again["request_mean_s"]);

    let change = ["--set", "sender.linux.tcp_slow_start_after_idle=false"];
    let changed = run(&asked, &change);
    let gain = &document["matters_most"]["gain"];
    let promised = &gain["engines"][0];
    same("request times as it is", &as_is["request_mean_s"], &promised["baseline_request_s"]);
    same("request times after it", &changed["request_mean_s"], &promised["then_request_s"]);
    let measured = number(&changed["goodput_bps"]) / number(&as_is["goodput_bps"])
        * number(&gain["observed_bps"]);
    assert!(measured >= number(&gain["low_bps"]), "{measured} bit/s, promised: {gain}");
}

/// What passes between losses is told a little low where a window grows slowly.
const RATE_BPS: std::ops::Range<f64> = 8e6..10.5e6;

#[test]
fn a_policer_is_one_whose_bucket_has_what_was_observed() {
    for (congestion, burst_kb) in [("reno", 30), ("reno", 60), ("cubic", 60), ("cubic", 120)] {
        let folder = tempfile::tempdir().unwrap();
        let files = ["policed.toml", "policed.pcapng", "observed.toml"];
        let files = files.map(|name| folder.path().join(name));
        let [policed, capture, observed] = files.each_ref().map(|path| path.to_str().unwrap());
        let text = format!(
            "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"200 kB\"\n\
             policer = {{ rate = \"10 Mbit/s\", burst = \"{burst_kb} kB\" }}\n[hop.reverse]\npolicer = false\n\
             [sender]\ncongestion = \"{congestion}\"\n[until]\nbytes = \"6 MB\"\ntime = \"60 s\"\n"
        );
        std::fs::write(policed, text).unwrap();
        maxseg(&["run", policed, "--engine", "sim", "--json", "--pcap", capture]);
        let document = maxseg(&[
            "explain",
            capture,
            "--json",
            "--interface",
            "receiver",
            "--scenario",
            observed,
        ]);
        let what = format!("{congestion}, a bucket of {burst_kb} kB");
        assert_eq!(document["connections"][0]["loss"]["cause"], "policer", "{what}");
        let scenario = std::fs::read_to_string(observed).unwrap();
        assert!(!scenario.contains("miss what was observed"), "{what}:\n{scenario}");
        let scenario: toml::Table = scenario.parse().unwrap();
        let rate = scenario["hop"][0]["policer"]["rate"].as_str().unwrap();
        let megabits: f64 = rate.strip_suffix(" Mbit/s").unwrap().parse().unwrap();
        assert!(RATE_BPS.contains(&(megabits * 1e6)), "{what}: {rate}");
    }
}

fn same(what: &str, expected: &Value, found: &Value) {
    let (expected, found) = (number(expected), number(found));
    assert!((found / expected - 1.0).abs() < CLOSE, "{what}: {expected} s, found {found} s");
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn run(scenario: &Path, options: &[&str]) -> Value {
    let file = scenario.to_str().unwrap();
    let common = ["run", file, "--engine", "sim", "--json"];
    maxseg(&[&common[..], options].concat())["rows"][0]["outcome"].clone()
}

fn maxseg(arguments: &[&str]) -> Value {
    let program = env!("CARGO_BIN_EXE_maxseg");
    let output = Command::new(program).args(arguments).arg("-q").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
