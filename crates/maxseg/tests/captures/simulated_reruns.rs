//! Scenarios that `explain` writes of simulated captures: runs of them have what was observed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const REQUESTS: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"1 MB\"\n\
                        [[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"300 B\"\nreply = \"300 kB\"\n\
                        pause = \"1 s\"\nthink = \"20 ms\"\ncount = 12\n[until]\ntime = \"60 s\"\n";

/// What was observed is told to a few per mille, and both runs are of the same simulator.
const CLOSE: f64 = 0.02;

#[test]
fn requests_are_run_again_as_they_were() {
    let explained = Explained::of(REQUESTS, "sender");
    let as_is = &explained.as_it_is;
    let again = run(&explained.observed(), &[]);
    assert_eq!(again["requests"], 12);
    same("request times", &as_is["request_mean_s"], &again["request_mean_s"]);

    let changed = explained.run_with("sender.linux.tcp_slow_start_after_idle=false");
    let gain = &explained.document["matters_most"]["gain"];
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
        let policed = format!(
            "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"200 kB\"\n\
             policer = {{ rate = \"10 Mbit/s\", burst = \"{burst_kb} kB\" }}\n[hop.reverse]\npolicer = false\n\
             [sender]\ncongestion = \"{congestion}\"\n[until]\nbytes = \"6 MB\"\ntime = \"60 s\"\n"
        );
        let explained = Explained::of(&policed, "receiver");
        let what = format!("{congestion}, a bucket of {burst_kb} kB");
        assert_eq!(explained.document["connections"][0]["loss"]["cause"], "policer", "{what}");
        let rate = quantity(&explained.hop()["policer"]["rate"], "Mbit/s") * 1e6;
        assert!(RATE_BPS.contains(&rate), "{what}: {rate}");
    }
}

/// 4% of the packets skip the delay; what overtakes nothing, for the last of a flight, is not seen to.
const REORDERED: &str = "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"100 kB\"\nreorder = \"4%\"\n\
                         [hop.reverse]\nreorder = \"0%\"\n[receiver]\nwindow = \"23168 B\"\n[until]\nbytes = \"4 MB\"\n";
const SHARE: std::ops::Range<f64> = 0.02..0.05;
const DELAY_MS: std::ops::Range<f64> = 14.5..15.5;

#[test]
fn packets_overtake_others_as_they_did() {
    for interface in ["sender", "receiver"] {
        let explained = Explained::of(REORDERED, interface);
        let hop = explained.hop();
        let share = quantity(&hop["reorder"], "%") / 100.0;
        assert!(SHARE.contains(&share), "{interface}: {share}");
        let delay_ms = quantity(&hop["delay"], "ms");
        assert!(DELAY_MS.contains(&delay_ms), "{interface}: {delay_ms} ms");

        let changed = explained.run_with("receiver.window=1 MB");
        let gain = &explained.document["matters_most"]["gain"];
        let measured = number(&changed["goodput_bps"]);
        assert!(measured >= number(&gain["low_bps"]), "{interface}: {measured}, promised: {gain}");
    }
}

/// Intervals are counted in steps of a few per cent.
const SAME_RATE: std::ops::Range<f64> = 0.95..1.05;

#[test]
fn the_link_of_the_acknowledgements_is_that_of_the_rerun() {
    for (rate_kbps, queue_kb) in [(100, 20), (100, 4), (40, 6)] {
        let narrow = format!(
            "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"500 kB\"\n\
             [hop.reverse]\nrate = \"{rate_kbps} kbit/s\"\nqueue = \"{queue_kb} kB\"\n[until]\nbytes = \"4 MB\"\n"
        );
        for interface in ["sender", "receiver"] {
            let hop = Explained::of(&narrow, interface).hop();
            let what = format!("{rate_kbps} kbit/s, {queue_kb} kB, at the {interface}");
            let found = quantity(&hop["reverse"]["rate"], "kbit/s");
            assert!(SAME_RATE.contains(&(found / f64::from(rate_kbps))), "{what}: {found}");
        }
    }
}

/// Random losses keep the window small; without them slow start overflows the queue, and NewReno repairs one segment in a round trip.
const WITHOUT_SACK: &str = "[[hop]]\nrate = \"55 Mbit/s\"\ndelay = \"12.5 ms\"\nqueue = \"430 kB\"\n\
                            errors = { model = \"uniform\", rate = \"0.6%\" }\n\
                            [sender]\ncongestion = \"reno\"\nsack = false\n[receiver]\nsack = false\n[until]\ntime = \"8 s\"\n";

#[test]
fn a_capture_from_the_middle_shows_that_sack_is_not_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (scenario, whole, middle) = (path("run.toml"), path("whole.pcapng"), path("middle.pcapng"));
    std::fs::write(&scenario, WITHOUT_SACK).unwrap();
    let as_it_is = run(&scenario, &["--pcap", whole.to_str().unwrap()]);
    std::fs::write(&middle, without_first(&std::fs::read(&whole).unwrap(), 2000)).unwrap();
    let observed = path("observed.toml");
    let to = ["--scenario", observed.to_str().unwrap()];
    let of_it = ["explain", middle.to_str().unwrap(), "--json", "--interface", "sender"];
    let document = maxseg(&[&of_it[..], &to].concat());
    assert_eq!(document["connections"][0]["forward"]["sack_permitted"], Value::Null);
    let text = std::fs::read_to_string(&observed).unwrap();
    assert!(text.contains("sack = false # low: duplicate ACKs carry no SACK blocks"), "{text}");
    let changed = run(&scenario, &["--set", "hop.0.errors.rate=0%"]);
    let measured = number(&changed["goodput_bps"]) / number(&as_it_is["goodput_bps"]);
    let gain = &document["matters_most"]["gain"];
    assert!(measured < 1.0 && gain.is_null(), "x{measured}, promised: {gain}");
}

/// A pcapng file without its first packets.
fn without_first(bytes: &[u8], packets: usize) -> Vec<u8> {
    const ENHANCED_PACKET: [u8; 4] = [6, 0, 0, 0];
    let (mut rest, mut left, mut seen) = (bytes, Vec::new(), 0);
    while let Some((head, _)) = rest.split_first_chunk::<8>() {
        let length = u32::from_le_bytes(head[4..].try_into().unwrap());
        let (block, behind) = rest.split_at(usize::try_from(length).unwrap());
        let is_packet = head[..4] == ENHANCED_PACKET;
        seen += usize::from(is_packet);
        if !is_packet || seen > packets {
            left.extend_from_slice(block);
        }
        rest = behind;
    }
    left
}

/// A scenario's run, captured, and what `explain` says of it.
struct Explained {
    folder: TempDir,
    /// The outcome of the run.
    as_it_is: Value,
    document: Value,
}

impl Explained {
    /// Captured there. Runs of the scenario that is written of it miss nothing that was observed.
    fn of(scenario: &str, interface: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let capture = folder.path().join("run.pcapng");
        let mut explained = Self { folder, as_it_is: Value::Null, document: Value::Null };
        std::fs::write(explained.file(), scenario).unwrap();
        let capture = capture.to_str().unwrap();
        explained.as_it_is = run(&explained.file(), &["--pcap", capture]);
        let observed = explained.observed();
        let to = ["--scenario", observed.to_str().unwrap()];
        let common = ["explain", capture, "--json", "--interface", interface];
        explained.document = maxseg(&[&common[..], &to].concat());
        let text = std::fs::read_to_string(observed).unwrap();
        assert!(
            !text.contains("miss what was observed"),
            "{scenario}, at the {interface}:\n{text}"
        );
        explained
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("scenario.toml")
    }

    /// The scenario that is written.
    fn observed(&self) -> PathBuf {
        self.folder.path().join("observed.toml")
    }

    /// Its hop.
    fn hop(&self) -> toml::Value {
        let text = std::fs::read_to_string(self.observed()).unwrap();
        text.parse::<toml::Table>().unwrap()["hop"][0].clone()
    }

    /// The outcome with one setting changed.
    fn run_with(&self, setting: &str) -> Value {
        run(&self.file(), &["--set", setting])
    }
}

/// A number with this unit.
fn quantity(text: &toml::Value, unit: &str) -> f64 {
    let number = text.as_str().and_then(|text| text.strip_suffix(unit));
    number
        .and_then(|it| it.trim().parse().ok())
        .unwrap_or_else(|| panic!("{text} is not in {unit}"))
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
