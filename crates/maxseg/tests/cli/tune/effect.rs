//! What came of a change: no verdict where there is too little to compare.

use std::io::Write as _;

use serde_json::Value;

use super::host::{Far, Host};

/// The effects that status tells of, which must end well.
fn effects(host: &Host) -> Vec<Value> {
    let (entries, code) = host.status(&["--effect"]);
    assert_eq!(code, 0, "{entries:?}");
    entries.into_iter().map(|entry| entry["effect"].clone()).collect()
}

fn assert_unknown(effect: &Value, why: &str) {
    assert_eq!(effect["verdict"], "unknown", "{effect}");
    assert!(effect["unknown_because"].as_str().unwrap().contains(why), "{effect}");
    for key in ["goodput_bytes_per_s", "rtt_s", "retransmitted_share"] {
        assert!(effect[key].is_null(), "{effect}");
    }
}

#[test]
fn too_few_connections_are_no_verdict() {
    let Some(far) = Far::new() else { return };
    let host = &far.host;
    let (stays, ends) = (far.connect(), far.connect());
    host.apply(&["route.10.20.2.0/24.mtu=1400", "route.10.20.2.0/24.initcwnd=20"], &[]);
    assert!(host.status(&[]).0.iter().all(|entry| entry["effect"].is_null()));
    drop(ends);
    let (mut client, mut server) = far.connect();
    client.write_all(b"x").unwrap();
    std::io::Read::read_exact(&mut server, &mut [0]).unwrap();
    let [mtu, initial_window] = &effects(host)[..] else { panic!("two changes") };
    assert_unknown(mtu, "0 of the connections there had data to send for 60 s before");
    let counts = ["connections", "too_short", "gone", "new"].map(|key| mtu[key].as_u64().unwrap());
    assert_eq!(counts, [0, 1, 1, 1], "{mtu}");
    assert_unknown(initial_window, "acts on new connections");
    let told = host.tune_ends(&["status", "--effect"], 0);
    assert!(told.contains("effect: unknown: 0 of the connections there"), "{told}");
    assert!(told.contains("not compared: 1 too short, 1 ended since, 1 opened since"), "{told}");
    drop(stays);
}

#[test]
fn status_does_without_what_was_kept() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.10.5.0.0/16.mtu=1300"], &[]);
    let kept = host.folder().join("tune-before-1.json");
    assert!(kept.exists());
    for spoil in ["{", ""] {
        std::fs::write(&kept, spoil).unwrap();
        assert_unknown(&effects(&host)[0], "was not kept, or cannot be read");
    }
    std::fs::remove_file(&kept).unwrap();
    assert_unknown(&effects(&host)[0], "was not kept, or cannot be read");
    host.tune_ends(&["undo"], 0);
    assert_unknown(&effects(&host)[0], "does not hold: undone");
}
