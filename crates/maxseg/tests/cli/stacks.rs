//! `maxseg stacks from-host`: a host's settings as a stack file, which runs accept.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{json, maxseg, stderr, stdout};

/// What the namespace is set to: sysctls, a route, an interface without TSO's help of a device.
const SETTINGS: &str = "\
    ip link set lo up && ip link add wan mtu 1400 type veth peer name far && ip link set wan up && \
    ip link set far up && ip address add 192.0.2.2/24 dev wan && \
    ip route add default via 192.0.2.1 dev wan initcwnd 24 rto_min 70ms congctl reno quickack 1 && \
    ip route add 198.51.100.0/24 via 192.0.2.1 dev wan advmss 900 && \
    cd /proc/sys/net/ipv4 && echo '4096 65536 1048576' > tcp_rmem && echo '4096 20000 500000' > tcp_wmem && \
    echo 0 > tcp_sack && echo 0 > tcp_slow_start_after_idle && echo 1 > tcp_mtu_probing && echo 1 > tcp_ecn && \
    echo 5 > tcp_reordering";

/// The lines of `stacks from-host`, without comments behind values, in a namespace set up so; `None` where this user
/// may not have one.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn in_a_namespace(more: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_maxseg");
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "sh", "-c", script]);
        command.stdin(Stdio::null()).output()
    };
    match unshare(SETTINGS) {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            println!("skipped: no namespace can be set up: {}", stderr(&output));
            return None;
        }
        Err(error) => {
            println!("skipped: unshare cannot be run: {error}");
            return None;
        }
    }
    let output = unshare(&format!("{SETTINGS} && {program} stacks from-host {more}")).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    Some(stdout(&output))
}

fn assert_has(text: &str, wanted: &[&str]) {
    let lines: Vec<&str> =
        text.lines().map(|line| line.split("  # ").next().unwrap_or_default().trim_end()).collect();
    for wanted in wanted {
        assert!(lines.contains(wanted), "{wanted}\n{text}");
    }
}

#[test]
fn a_namespace_gives_exactly_what_it_is_set_to() {
    let Some(text) = in_a_namespace("") else { return };
    assert_has(
        &text,
        &[
            "congestion = \"reno\"",
            "sack = false",
            "timestamps = true",
            "ecn = true",
            "mtu_probing = true",
            "mss = 1360",
            "initial_window = \"24 segments\"",
            "min = \"70 ms\"",
            "tcp_rmem = [4096, 65536, 1048576]",
            "tcp_wmem = [4096, 20000, 500000]",
            "tcp_slow_start_after_idle = false",
            "delayed_ack = false",
            "# net.ipv4.tcp_reordering = 5 (the simulator has 3)",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("host.toml"), &text).unwrap();
    // In a scenario the file is below the scenario's folder.
    let scenario = folder.path().join("path.toml");
    let path = "sender.stack = \"./host.toml\"\nsender.mss = 1000\nuntil.time = \"2 s\"\n\
                [[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n";
    fs::write(&scenario, path).unwrap();
    let run = json(&["run", scenario.to_str().unwrap(), "--engine", "sim", "--json"]);
    assert_eq!(run["rows"].as_array().map(Vec::len), Some(1), "{run}");
    let file = folder.path().join("host.toml");
    let both = json(&[
        "run",
        scenario.to_str().unwrap(),
        "--stack",
        file.to_str().unwrap(),
        "--axis",
        "sender.linux.tcp_frto=true,false",
        "--engine",
        "sim",
        "--json",
    ]);
    assert_eq!(both["rows"].as_array().map(Vec::len), Some(2), "{both}");
}

#[test]
fn the_route_to_an_address_is_that_routes() {
    let Some(text) = in_a_namespace("--to 198.51.100.7") else { return };
    assert_has(&text, &["mss = 1360", "route_advmss = 900"]);
    assert!(!text.contains("initial_window"), "{text}");
    assert!(text.contains("route to 198.51.100.7 by wan"), "{text}");
}

#[test]
fn this_host_gives_a_file_that_is_a_stack() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.toml");
    let file = file.to_str().unwrap();
    let output = maxseg(&["stacks", "from-host", "--out", file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = maxseg(&["check", "slow-tunnel", "--stack", file]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_stack_file_that_is_not_there_or_swept_is_told() {
    let output = maxseg(&["check", "slow-tunnel", "--stack", "./nowhere.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(
        text.contains("no stack file `nowhere.toml`") || text.contains("./nowhere.toml"),
        "{text}"
    );
    assert!(text.contains("maxseg stacks from-host --out"), "{text}");
    let output = maxseg(&["check", "slow-tunnel", "--axis", "sender.stack=rfc,./nowhere.toml"]);
    assert!(stderr(&output).contains("no stack file `./nowhere.toml`"), "{}", stderr(&output));
}

/// What the file sets is what the same keys set over its base.
#[test]
fn stack_files_are_points_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let host = folder.path().join("host.toml");
    fs::write(&host, "base = \"linux\"\ncongestion = \"reno\"\nmss = 1000\n").unwrap();
    let run = |options: &[&str]| {
        let common = ["run", "slow-tunnel", "--engine", "sim", "--json", "--set", "until.time=5 s"];
        let document = json(&[&common[..], options].concat());
        let rows = document["rows"].as_array().cloned().unwrap();
        let goodput = |row: &Value| row["outcome"]["goodput_bps"].as_f64().unwrap();
        (rows.iter().map(goodput).collect::<Vec<_>>(), rows)
    };
    let axis = format!("stack=linux,{}", host.display());
    let (swept, rows) = run(&["--axis", &axis]);
    let (linux, _) = run(&["--stack", "linux"]);
    let (of_file, _) = run(&["--stack", host.to_str().unwrap()]);
    assert_eq!(swept, [linux, of_file].concat());
    assert!((swept[0] - swept[1]).abs() > 1.0, "{swept:?}");
    assert_eq!(rows[1]["point"]["stack"], host.to_str().unwrap());
    // Below the scenario's folder, of one end alone.
    let scenario = folder.path().join("path.toml");
    let path = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n[until]\ntime = \"2 s\"\n\
                [sweep]\n\"sender.stack\" = [\"linux\", \"./host.toml\"]\n";
    fs::write(&scenario, path).unwrap();
    let document = json(&["run", scenario.to_str().unwrap(), "--engine", "sim", "--json"]);
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(2), "{document}");
    let twice = maxseg(&["run", "slow-tunnel", "--stack", "linux", "--axis", &axis]);
    assert_eq!(twice.status.code(), Some(1));
    assert!(stderr(&twice).contains("is about the same key"), "{}", stderr(&twice));
}
