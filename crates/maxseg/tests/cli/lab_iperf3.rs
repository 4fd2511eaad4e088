//! `maxseg run --engine lab --traffic iperf3`: the iperf3 that is installed sends, if one is.

use std::process::Command;

use super::kernel::{can_have_a_lab, skipped};
use super::{command, json, stderr};

/// Two seconds over a link that any machine carries.
const PATH: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"2 ms\"\n\
                    [sender]\nmss = 9000\ntimestamps = true\n[receiver]\ntimestamps = true\n\
                    [until]\ntime = \"2 s\"\n";

/// Whether iperf3 can be run; says so if not.
pub(super) fn is_iperf3_installed() -> bool {
    let there = Command::new("iperf3").arg("--version").output().is_ok();
    if !there {
        skipped("for want of iperf3 (apt-get install iperf3)");
    }
    there
}

#[test]
fn iperf3_sends_what_fits_and_its_report_is_the_outcome() {
    if !can_have_a_lab() || !is_iperf3_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.toml");
    std::fs::write(&file, PATH).unwrap();
    let run = ["run", file.to_str().unwrap(), "--engine", "lab", "--traffic", "iperf3"];
    // The machine of a test is not quiet; nothing here depends on its times.
    let more = ["--mtu", "9000", "--allow-invalid", "--json"];
    let document = json(&[&run[..], &more].concat());
    let outcome = &document["rows"][0]["outcome"];
    let goodput = outcome["goodput_bps"].as_f64().unwrap();
    assert!(goodput > 0.0 && goodput < 50e6, "{goodput}");
    let flow = &outcome["lab"]["flows"][0];
    assert_eq!(flow["mss_asked"], 9000);
    // 9000 less the headers' 40, less the 12 of timestamps in every segment.
    assert_eq!(flow["mss_effective"], 8948, "{flow}");
    let reason = flow["mss_reason"].as_str().unwrap();
    assert!(reason.contains("9000 less 40") && reason.contains("timestamps take 12"), "{reason}");
}

#[test]
fn where_there_is_no_iperf3_it_is_said_with_what_installs_it() {
    if !can_have_a_lab() {
        return;
    }
    let empty = tempfile::tempdir().unwrap();
    let run = ["run", "slow-tunnel", "--engine", "lab", "--traffic", "iperf3"];
    let output = command(&run).env("PATH", empty.path()).output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("iperf3 cannot be run"), "{told}");
    assert!(told.contains("hint: sudo apt install iperf3"), "{told}");
}
