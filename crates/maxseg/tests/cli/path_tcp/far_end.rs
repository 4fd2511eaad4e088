//! A responder on B, and `maxseg path` on A: what only two ends can tell.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use maxseg_testkit::is_its_turn;
use serde_json::Value;

use super::super::{stderr, stdout, unwrapped};
use super::net::{LIAR, Liar, Net, TO};
use super::{findings, mtu, target};

const TOKEN: &str = "open sesame";
/// Runs that are as short as they may be.
pub(super) const SHORT: [&str; 6] =
    ["--far-end", "responder", "--token", TOKEN, "--duration", "3s"];

/// A responder, which ends with the test.
pub(super) struct Responder(Child);

impl Drop for Responder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts one on B, over both IP versions.
pub(super) fn responder(net: &Net) -> Responder {
    let mut line = Command::new("nsenter");
    line.args(["-t", &net.b.0.id().to_string(), "-n"]).arg(env!("CARGO_BIN_EXE_maxseg"));
    line.args(["responder", "--listen", "[::]", "--token", TOKEN]);
    let mut child = line.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("listening"), "{said}");
    Responder(child)
}

#[test]
fn what_vanishes_on_the_way_back_alone_is_told_first() {
    if !is_its_turn(1) {
        return;
    }
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    // A rule that would clamp comes too late: one before it accepts.
    let rules = [
        "iifname rb meta length > 1372 drop",
        "tcp flags syn accept",
        "tcp flags syn tcp option maxseg size set 1332",
    ];
    if !net.router_rules("forward", &rules) {
        return;
    }
    let _responder = responder(&net);
    let (report, code) = net.report(&[&[target(TO[0]).as_str()], &SHORT[..]].concat());
    assert_eq!((mtu(&report), code), ((1500, "tcp-dsack", "confirmed"), 3), "{report:#}");
    let path = &report["path_mtu"];
    assert_eq!(
        (&path["reverse_bytes"], &path["reverse_confidence"]),
        (&1372.into(), &"confirmed".into())
    );
    assert_eq!(
        (&path["reverse_vanishes_bytes"], &path["learnt_there_bytes"]),
        (&1500.into(), &Value::Null)
    );
    assert!(path["reverse_error_chance"].as_f64().unwrap() <= 1e-4, "{path:#}");
    assert_eq!(report["mss"]["received_bytes"], 1460);
    assert_eq!(findings(&report), ["black-hole"]);
    // Full segments of the download vanish: its timers are no load, and what it carries no rate of the path.
    let rows = report["under_load"].as_array().unwrap().iter();
    let loads: Vec<&str> = rows.filter_map(|row| row["load"].as_str()).collect();
    assert_eq!(loads, ["idle", "upload"], "{report:#}");
    let reverse = &report["bottleneck"]["reverse_bps"];
    assert!(reverse.as_f64().is_none_or(|rate| rate > 1e6), "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("waited for retransmission timers for"), "{notes}");
    let output = net.path(&[&[target(TO[0]).as_str()], &SHORT[..]].concat());
    let text = stdout(&output);
    let first = unwrapped(&text.lines().take(4).collect::<Vec<_>>().join("\n"));
    assert!(first.contains("On the way back packets of 1500 bytes vanish"), "{text}");
    assert!(first.contains("1372 bytes pass") && first.contains("MSS of 1460"), "{text}");
}

#[test]
fn a_far_end_with_a_small_mtu_of_its_own_is_no_black_hole() {
    if !is_its_turn(0) {
        return;
    }
    let Some(net) = Net::with_mtu(1300) else { return };
    net.b.must("ip link set vb mtu 1300");
    let _responder = responder(&net);
    let (report, code) = net.report(&[&[TO[0]], &SHORT[..]].concat());
    let path = &report["path_mtu"];
    assert_eq!((&path["forward_bytes"], code), (&1300.into(), 0), "{report:#}");
    assert_eq!(
        (&path["reverse_bytes"], &path["reverse_confidence"]),
        (&1300.into(), &"confirmed".into()),
        "{path:#}"
    );
    assert_eq!(path["reverse_vanishes_bytes"], Value::Null, "{path:#}");
}

#[test]
fn a_far_end_of_ipv6_measures_both_ways() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.router_rules("forward", &["tcp flags syn tcp option maxseg size set 1200"]) {
        return;
    }
    let _responder = responder(&net);
    let (report, code) = net.report(&[&[TO[1]], &SHORT[..]].concat());
    assert_eq!(code, 0, "{report:#}");
    for key in ["forward_bps", "reverse_bps"] {
        assert!(report["bottleneck"][key].as_f64().unwrap() > 1e6, "{key}: {report:#}");
    }
    let (path, mss) = (&report["path_mtu"], &report["mss"]);
    assert_eq!(
        (&path["reverse_bytes"], &path["reverse_confidence"]),
        (&1500.into(), &"confirmed".into())
    );
    assert_eq!((&mss["sent_bytes"], &mss["received_bytes"]), (&1440.into(), &1200.into()));
    assert_eq!(findings(&report), ["mss-clamped"], "{report:#}");
}

#[test]
fn arrivals_at_the_far_end_show_up_a_forged_message() {
    if !is_its_turn(2) {
        return;
    }
    let Some(net) = Net::with_mtu(1500) else { return };
    let rules = ["udp dport 33434-33534 drop", "icmp type echo-request drop"];
    if !net.b_rules("input", &rules) {
        return;
    }
    let _liar = Liar::new(&net, 552);
    let _responder = responder(&net);
    let Some((report, _)) = net.report_to_nobody(&[TO[0]]) else { return };
    assert_eq!((mtu(&report).0, mtu(&report).2), (552, "icmp-only"), "{report:#}");
    let (report, code) = net.report_to_nobody(&[&[TO[0]], &SHORT[..]].concat()).unwrap();
    assert_eq!((mtu(&report), code), ((1500, "far-end", "confirmed"), 3), "{report:#}");
    assert_eq!(findings(&report)[0], "wrong-message");
    assert!(report["findings"][0]["text"].as_str().unwrap().contains(&LIAR.to_string()));
}

#[test]
fn a_buffer_that_no_kernel_grants_leaves_out_what_needs_it() {
    if !is_its_turn(0) {
        return;
    }
    let Some(net) = Net::with_mtu(1500) else { return };
    let mut line = Command::new("nsenter");
    line.args(["-t", &net.b.0.id().to_string(), "-n", "iperf3", "-s", "--forceflush"]);
    let Ok(mut child) = line.stdout(Stdio::piped()).spawn() else {
        return super::super::kernel::skipped("a buffer of iperf3: nsenter (util-linux)");
    };
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let server = Responder(child);
    let mut text = String::new();
    while !text.contains("listening") {
        if said.read_line(&mut text).unwrap() == 0 {
            return super::super::kernel::skipped("a buffer of iperf3: iperf3");
        }
    }
    // Its log is read to the end, else the server stops when the pipe is full.
    let log = std::thread::spawn(move || said.lines().count());
    // The most that iperf3 asks for; hosts' net.core.rmem_max and wmem_max are smaller.
    let asked = ["--far-end", "iperf3", "--rfc6349", "--duration", "3s", "--buffer", "512 MiB"];
    let (report, code) = net.report(&[&[TO[0]], &asked[..]].concat());
    assert_eq!(code, 0, "{report:#}");
    let syn = [&report["syn_as_received"], &report["mss"]["received_bytes"]];
    assert_eq!(syn, [&Value::Null; 2], "its server does not tell");
    let notes = report["notes"].to_string();
    assert!(notes.contains("does not grant a buffer of 536870912 bytes"), "{notes}");
    assert!(notes.contains("net.core.rmem_max"), "what helps: {notes}");
    let directions = report["rfc6349"]["directions"].as_array().unwrap();
    assert_eq!(directions.len(), 2, "{report:#}");
    for direction in directions {
        assert_eq!(direction["runs"], Value::Array(Vec::new()));
        assert_eq!(direction["interpretation"], Value::Null, "nothing to interpret");
        assert!(direction["sweep"].as_array().unwrap().iter().all(|step| step["run"].is_object()));
    }
    drop(server);
    log.join().unwrap();
}

#[test]
fn a_far_end_that_refuses_leaves_the_rest_of_the_report() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    let _responder = responder(&net);
    let wrong = ["--far-end", "responder", "--token", "open barley"];
    let output = net.path(&[&[target(TO[0]).as_str()], &wrong[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("path MTU: 1300 bytes (confirmed"), "{}", stdout(&output));
    assert!(stderr(&output).contains("the token is another one"), "{}", stderr(&output));
    let (report, code) = net.report(&[&[TO[0]], &wrong[..]].concat());
    assert!(report["far_end_error"].as_str().unwrap().contains("token") && code == 1, "{report:#}");
    assert_eq!(mtu(&report).0, 1300);
    let quiet = net.path(&[&[TO[0], "--quiet-probes"], &wrong[..]].concat());
    assert_eq!(quiet.status.code(), Some(2), "bulk data may teach the kernel");
}
