//! Simulated captures behind a policer: the scenario that `explain` writes has what was observed, though no capture shows its bucket.

use std::process::Command;

use serde_json::Value;

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

fn maxseg(arguments: &[&str]) -> Value {
    let program = env!("CARGO_BIN_EXE_maxseg");
    let output = Command::new(program).args(arguments).arg("-q").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
