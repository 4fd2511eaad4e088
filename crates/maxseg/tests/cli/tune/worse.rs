//! `--revert-if-worse`: what is compared, what is told, and that a plan is undone where connections do worse.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maxseg_core::tune::LEAST_SENDING_S;
use serde_json::Value;

use super::super::kernel::{runs, skipped, wait_until, wait_within};
use super::guard::guards;
use super::host::{Far, Host};

fn note(host: &Host) -> String {
    host.status(&[]).0[0]["note"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn what_new_connections_alone_feel_is_refused() {
    let Some(host) = Host::new() else { return };
    let told = host.refused(&["route.default.initcwnd=20"], &["--revert-if-worse"]);
    assert!(told.contains("nothing to compare: it acts on new connections"), "{told}");
    assert!(!host.journal().exists() || host.states().is_empty());
}

#[test]
fn status_tells_whether_anybody_compares() {
    let Some(host) = Host::new() else { return };
    let told = host.apply(&["route.default.mtu=1400"], &["--revert-if-worse"]);
    assert!(told.contains("0 connections are established: a comparison takes 10"), "{told}");
    assert!(note(&host).contains("undone where its connections do worse"), "{}", note(&host));
    let guard = guards(&host)[0];
    assert!(Command::new("kill").args(["-9", &guard.to_string()]).status().unwrap().success());
    wait_until("its guard ends", || !runs(guard));
    assert!(note(&host).contains("has ended: nobody compares them"), "{}", note(&host));
    host.tune_ends(&["undo"], 0);
    host.apply(&["route.default.mtu=1400"], &["--revert-if-worse", "--for", "1s"]);
    wait_until("it is undone at its time", || host.states() == ["undone"; 2]);
    let guard = *guards(&host).last().unwrap();
    wait_until("its guard ends", || !runs(guard));
}

/// Keeps a connection busy until it is told to stop.
fn send(mut stream: TcpStream, stop: &AtomicBool) {
    let bytes = vec![0; 1 << 16];
    while !stop.load(Ordering::Relaxed) && stream.write_all(&bytes).is_ok() {}
}

fn discard(mut stream: TcpStream) {
    let mut bytes = vec![0; 1 << 16];
    while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
}

/// How long each connection to the far host has had data to send, as its socket counts it, seconds.
fn sending_s(host: &Host) -> Vec<f64> {
    let mut list = host.command(env!("CARGO_BIN_EXE_maxseg"));
    let output = list.args(["connections", "--json", "--dst", "10.20.2.0/24"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let connections = document["connections"].as_array().unwrap();
    connections.iter().filter_map(|one| one["busy_s"].as_f64()).collect()
}

/// The link behind the router gets five times slower right after a change that nobody feels: the verdict says what differs, and not
/// why.
#[test]
#[ignore = "four minutes: a minute of sending before and since"]
fn a_plan_is_undone_where_connections_do_worse() {
    let Some(far) = Far::new() else { return };
    let limit = |rate: &str| {
        let add = format!("tc qdisc replace dev rb root tbf rate {rate} burst 20k latency 100ms");
        far.router.run(&add).status.success()
    };
    if !limit("50mbit") {
        return skipped("connections that do worse: this kernel has no tbf");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::new();
    for _ in 0..14 {
        let (client, server) = far.connect();
        let told = Arc::clone(&stop);
        threads.push(std::thread::spawn(move || send(client, &told)));
        threads.push(std::thread::spawn(move || discard(server)));
    }
    let host = &far.host;
    wait_within(Duration::from_secs(180), "a minute of sending of each connection", || {
        let sent = sending_s(host);
        sent.len() >= 14 && sent.iter().all(|seconds| *seconds > LEAST_SENDING_S)
    });
    host.apply(&["route.10.20.2.0/24.quickack=1"], &["--revert-if-worse"]);
    assert!(limit("10mbit"));
    wait_within(Duration::from_secs(200), "a verdict", || host.states() != ["set"]);
    stop.store(true, Ordering::Relaxed);
    let effect = host.tune_ends(&["status", "--effect"], 0);
    assert_eq!(host.states(), ["undone"], "{effect}");
    let note = note(host);
    assert!(note.contains("connections got worse: goodput -"), "{note}");
    assert!(!host.shows("ip route show 10.20.2.0/24").contains("quickack"));
    let journal = std::fs::read_to_string(host.journal()).unwrap();
    assert!(journal.contains("\"reason\":\"worse\"") && journal.contains("99% intervals"));
    for thread in threads {
        thread.join().unwrap();
    }
}
