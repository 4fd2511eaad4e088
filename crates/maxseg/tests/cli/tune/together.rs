//! Settings of several routes in one plan are what they are one after the other, the wider routes first.

use std::process::Command;

use super::super::{namespace::Namespace, stdout};
use super::host::{Far, Host};

/// The document that docs/tune.md prints, without the clamp: this host has no eth0.
fn printed_document() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tune.md"));
    let page = page.unwrap();
    let (_, behind) = page.split_once("```toml\n").unwrap();
    let (document, _) = behind.split_once("```").unwrap();
    let lines = document.lines().filter(|line| !line.starts_with("\"clamp."));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_printed_document_sets_what_it_says() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("modem.toml");
    std::fs::write(&file, printed_document()).unwrap();
    let file = file.to_str().unwrap();
    let script = host.tune_ends(&["apply", file, "--script"], 0);
    host.tune_ends(&["apply", file, "--yes"], 0);
    let route = host.shows("ip route show 10.0.0.0/8");
    assert!(route.contains("mtu 576") && route.contains("window 3216"), "{route}");
    let by_plan = host.kernel();
    // The metric of the wider route alone is taken off the one that has it from there.
    let status = host.status(&[]).0;
    let is_mtu = |one: &&serde_json::Value| one["tunable"] == "route.default.mtu";
    let id = status.iter().find(is_mtu).unwrap()["id"].to_string();
    host.tune_ends(&["undo", &id], 0);
    let route = host.shows("ip route show 10.0.0.0/8");
    assert!(!route.contains("mtu") && route.contains("window 3216"), "{route}");
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
    let output = host.command("sh").args(["-ec", &script]).output().unwrap();
    assert!(output.status.success(), "{script}");
    assert_eq!(host.kernel(), by_plan);
}

#[test]
fn one_plan_makes_the_routes_that_several_make() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let narrow = ["route.10.91.2.0/24.mtu=1400", "route.10.91.2.0/24.quickack=1"];
    let wide = ["route.10.0.0.0/8.initcwnd=30", "route.10.0.0.0/8.mtu=1300"];
    host.apply(&wide, &[]);
    host.apply(&narrow, &[]);
    let by_two = host.kernel();
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
    host.apply(&[narrow, wide].concat(), &[]);
    assert_eq!(host.kernel(), by_two);
    assert!(by_two.contains("mtu 1400 initcwnd 30"), "{by_two}");
    // The wider route goes; the narrower one has the rest from the default route then.
    host.tune_ends(&["undo", "5", "6"], 0);
    let route = host.shows("ip route show 10.91.2.0/24");
    assert!(route.contains("mtu 1400 initcwnd 12"), "{route}");
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
}

/// Connections to the peer that a plan of these settings says it reaches.
fn reached(host: &Namespace, assignments: &[&str]) -> Vec<u64> {
    let pid = host.0.id().to_string();
    let mut command = Command::new("nsenter");
    command.args(["-t", &pid, "-n", env!("CARGO_BIN_EXE_maxseg"), "tune", "apply", "--dry-run"]);
    command.arg("--json").env("SSH_CONNECTION", "");
    command.args(assignments.iter().flat_map(|assignment| ["--set", assignment]));
    let document: serde_json::Value =
        serde_json::from_str(&stdout(&command.output().unwrap())).unwrap();
    let steps = document["steps"].as_array().unwrap().iter();
    steps.map(|step| step["connections"].as_u64().unwrap()).collect()
}

#[test]
fn a_plan_counts_connections_by_the_routes_that_it_makes() {
    let Some(far) = Far::new() else { return };
    let _connections = [far.connect(), far.connect()];
    let host = &far.host.namespace;
    let narrow = "route.10.20.2.2.mtu=1400";
    assert_eq!(reached(host, &[narrow, "route.10.20.2.0/24.mtu=1300"]), [0, 2]);
    assert_eq!(
        reached(host, &[narrow, "route.10.20.2.0/24.quickack=1"]),
        [2, 2],
        "it has that as well"
    );
}
