//! `maxseg run --engine lab --traffic iperf3`: the iperf3 that is installed sends, if one is.

use std::process::Output;

use super::kernel::{can_have_a_lab, is_installed, wait_until};
use super::{command, json, stderr};

/// Two seconds over a link that any machine carries.
const PATH: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"2 ms\"\n\
                    [sender]\nmss = 9000\ntimestamps = true\n[receiver]\ntimestamps = true\n\
                    [until]\ntime = \"2 s\"\n";

#[test]
fn iperf3_sends_what_fits_and_its_report_is_the_outcome() {
    if !can_have_a_lab() || !is_installed("iperf3", "iperf3") {
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

/// Its report comes behind the time limit: what it waits for is none of the other flow's time.
#[test]
fn times_count_from_the_start_of_the_run_and_other_flows_end_at_its_limit() {
    if !can_have_a_lab() || !is_installed("iperf3", "iperf3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late.toml");
    let path = "[[hop]]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n\
                [[flow]]\nkind = \"bulk\"\nstart = \"1 s\"\n\
                [[flow]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nsize = 500\n\
                [until]\ntime = \"2 s\"\n";
    std::fs::write(&file, path).unwrap();
    let run = ["run", file.to_str().unwrap(), "--engine", "lab", "--traffic", "iperf3"];
    let document = json(&[&run[..], &["--allow-invalid", "--json"]].concat());
    let outcome = &document["rows"][0]["outcome"];
    let number = |flow: usize, key: &str| outcome["flows"][flow][key].as_f64().unwrap();
    assert!(number(0, "elapsed_s") >= 2.0, "{outcome}");
    let goodput = number(0, "payload_bytes") * 8.0 / number(0, "elapsed_s");
    assert!((number(0, "goodput_bps") / goodput - 1.0).abs() < 1e-9, "{outcome}");
    assert!((2.0..number(0, "elapsed_s")).contains(&number(1, "elapsed_s")), "{outcome}");
    let reasons = outcome["lab"]["invalid_because"].to_string();
    assert!(!reasons.contains("500 of"), "it sent all of its 500 datagrams: {reasons}");
}

#[test]
fn a_transfer_of_bytes_that_iperf3_ends_is_said_to_be_none() {
    if !can_have_a_lab() || !is_installed("iperf3", "iperf3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bytes.toml");
    // So slow a link that much of it waits when the last byte is written.
    let path = "[[hop]]\nrate = \"4 Mbit/s\"\ndelay = \"20 ms\"\n[until]\nbytes = \"500 kB\"\n";
    std::fs::write(&file, path).unwrap();
    let run = ["run", file.to_str().unwrap(), "--engine", "lab", "--traffic", "iperf3"];
    let document = json(&[&run[..], &["--allow-invalid", "--json"]].concat());
    let caveats = document["rows"][0]["caveats"].to_string();
    assert!(caveats.contains("iperf3-bytes"), "{caveats}");
    assert!(caveats.contains("bytes received, when iperf3 had written the last"), "{caveats}");
    assert!(!caveats.contains("86400"), "not the default of until.time: {caveats}");
}

/// A route's `advmss` bounds nothing that its host sends, and a route's `window` lasts for one segment.
#[test]
fn a_persistent_lab_holds_segment_size_and_window_of_any_program() {
    if !can_have_a_lab() || !is_installed("iperf3", "iperf3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.toml");
    std::fs::write(&file, PATH.replace("mss = 9000", "mss = 500")).unwrap();
    let name = format!("iperf3-{}", std::process::id());
    let lab = |arguments: &[&str]| -> Output {
        let arguments = [&["lab"], arguments].concat();
        command(&arguments).env("MAXSEG_LAB", &name).output().unwrap()
    };
    let up = lab(&["up", file.to_str().unwrap(), "--set", "receiver.window=20 kB"]);
    assert!(up.status.success(), "{}", stderr(&up));
    assert!(lab(&["exec", "receiver", "--", "iperf3", "-s", "-1", "-D"]).status.success());
    let mut client = None;
    // Until the server listens the client is refused.
    wait_until("iperf3's server listens", || {
        let transfer = ["iperf3", "-c", "receiver", "-n", "2M", "-i", "0.1", "-J"];
        let output = lab(&[&["exec", "sender", "--"], &transfer[..]].concat());
        client = Some(output.stdout).filter(|_| output.status.success());
        client.is_some()
    });
    assert!(lab(&["down"]).status.success());
    let report: serde_json::Value = serde_json::from_slice(&client.unwrap()).unwrap();
    // 500 less the 12 of timestamps.
    assert_eq!(report["start"]["tcp_mss_default"], 488, "{report}");
    let intervals = report["intervals"].as_array().unwrap();
    let windows: Vec<u64> =
        intervals.iter().filter_map(|it| it["streams"][0]["snd_wnd"].as_u64()).collect();
    // iperf3 tells the window from 3.10 on.
    assert!(windows.iter().all(|window| *window <= 20_000), "{windows:?}");
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
