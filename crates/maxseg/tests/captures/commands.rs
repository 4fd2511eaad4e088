//! Every command of Linux that `maxseg explain` gives, pasted into a network namespace of its own: a command that looks
//! changes nothing, one that changes lowers no maximum and drops no route, and a second time it does nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use maxseg_testkit::captures::captures;
use maxseg_testkit::sampled;
use serde_json::Value;

use super::explain;

/// Of the sample, one command in so many: each is pasted in four namespaces.
const SAMPLED: u64 = 4;

/// A namespace whose routes have attributes to lose, with limits above and below what is wanted.
const SETUP: &str = "
ip link set lo up
ip address add 192.0.2.1/24 dev lo
ip route add default dev lo metric 7 mtu 1450 initcwnd 4 congctl reno
ip -6 route add default dev lo metric 7 mtu 1450
sysctl -q -w net.ipv4.tcp_rmem='5000 100000 RECEIVE' net.ipv4.tcp_wmem='5000 20000 SEND'
sysctl -q -w net.ipv4.tcp_timestamps=STAMPS net.ipv4.tcp_recovery=RECOVERY net.ipv4.tcp_sack=SACK
";

/// Limits below and above what is wanted, and options off and on beyond 1.
const SMALL: [(&str, &str); 5] =
    [("RECEIVE", "150000"), ("SEND", "30000"), ("STAMPS", "0"), ("RECOVERY", "0"), ("SACK", "0")];
const LARGE: [(&str, &str); 5] = [
    ("RECEIVE", "2000000000"),
    ("SEND", "2000000000"),
    ("STAMPS", "2"),
    ("RECOVERY", "5"),
    ("SACK", "1"),
];

const SHOW: &str = "
echo ==state
sysctl $(cd /proc/sys; echo net/ipv4/tcp_* net/core/[rw]mem_* net/core/default_qdisc) 2>/dev/null | grep -vE 'tcp_mem|orphans|fastopen_key|ehash|child_ehash|available_c|allowed_c'
ip route | sed 's/^/route /'
ip -6 route | sed 's/^/route6 /'
";

/// `unshare` for a network namespace of an ordinary user or of root.
fn namespace() -> Option<[&'static str; 2]> {
    [["-r", "-n"], ["-n", "--"]].into_iter().find(|way| {
        let probe = Command::new("unshare").args(way).args(["ip", "link"]).output();
        probe.is_ok_and(|output| output.status.success())
    })
}

fn run(way: [&str; 2], shell: &str, script: &str) -> Output {
    Command::new("unshare").args(way).args([shell, "-c", script]).output().unwrap()
}

fn setup(of: [(&str, &str); 5]) -> String {
    of.iter().fold(SETUP.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// Limits with their numbers, and routes: what [`SHOW`] printed for the `n`th time.
fn state(output: &Output, n: usize) -> (BTreeMap<String, Vec<String>>, BTreeSet<String>) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let part = text.split("==state").nth(n + 1).unwrap_or_else(|| panic!("{text}{output:?}"));
    // What another command printed between two states is above the line that marks one.
    let lines = || part.lines();
    let limits = lines().filter_map(|line| line.split_once(" = ")).map(|(key, values)| {
        (key.to_owned(), values.split_whitespace().map(str::to_owned).collect())
    });
    let routes = lines().filter(|line| line.starts_with("route")).map(str::to_owned);
    (limits.collect(), routes.collect())
}

/// What a command made worse or changed beyond what it names.
fn faults(way: [&str; 2], shell: &str, command: &Value, of: [(&str, &str); 5]) -> Vec<String> {
    let line = command["line"].as_str().unwrap();
    let is_look = command["kind"] == "look";
    let script = format!(
        "{}{SHOW}{{ {line}; }} >/dev/null 2>&1 </dev/null{SHOW}{{ {line}; }} >/dev/null 2>&1 </dev/null{SHOW}",
        setup(of)
    );
    let output = run(way, shell, &script);
    let [before, after, again] = [0, 1, 2].map(|n| state(&output, n));
    let mut faults = Vec::new();
    if is_look && before != after {
        faults.push("it is to look, and changes something".to_owned());
    }
    if after != again {
        faults.push("a second time it changes something".to_owned());
    }
    if !before.1.is_subset(&after.1) {
        faults.push(format!("a route changed: {:?}, then {:?}", before.1, after.1));
    }
    for (key, old) in &before.0 {
        let new = &after.0[key];
        if old == new {
            continue;
        }
        if !line.contains(key.as_str()) {
            faults.push(format!("{key} changed, which is not named"));
        }
        // One remedy raises the middle number, and says so.
        let raises_second = line.contains("\"$b\" -ge");
        // Only one on-off option is switched off, and the remedy says so.
        let is_switch = key.ends_with("tcp_slow_start_after_idle");
        for (place, (old, new)) in old.iter().zip(new).enumerate() {
            let (old, new): (i64, i64) = (old.parse().unwrap(), new.parse().unwrap());
            if new < old && !is_switch
                || old != new && place + 1 < before.0[key].len() && !raises_second
            {
                faults.push(format!("number {} of {key} was {old}, is {new}", place + 1));
            }
        }
    }
    faults.into_iter().map(|fault| format!("{line} ({shell}): {fault}")).collect()
}

/// The commands of the captures, each once.
fn commands() -> Vec<Value> {
    let situations =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures/situations");
    let entries = std::fs::read_dir(situations).unwrap().map(|entry| entry.unwrap().path());
    let situations = entries.filter(|path| !path.to_string_lossy().ends_with(".json"));
    let files = captures().into_iter().map(|capture| capture.path).chain(situations);
    let mut commands: BTreeMap<String, Value> = BTreeMap::new();
    for file in files {
        let Some(document) = explain(&file) else { continue };
        for command in document["matters_most"]["commands"].as_array().into_iter().flatten() {
            let line = command["line"].as_str().unwrap();
            if command["system"] == "linux" {
                commands.insert(line.to_owned(), command.clone());
            }
        }
    }
    commands.into_values().collect()
}

#[test]
fn every_command_may_be_pasted_as_it_stands() {
    let Some(way) = namespace() else {
        println!("SKIPPED: no `unshare` and `ip` that make a network namespace");
        return;
    };
    // What waits, or asks other hosts, changes nothing here and takes long.
    let is_quick = |command: &&Value| {
        let line = command["line"].as_str().unwrap();
        !["ping ", "iostat", "tcpdump", "top "].iter().any(|slow| line.contains(slow))
    };
    let commands = commands();
    let quick: Vec<&Value> = commands.iter().filter(is_quick).collect();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for command in sampled("commands", quick, SAMPLED) {
        for shell in ["sh", "bash"] {
            for limits in [SMALL, LARGE] {
                wrong.extend(faults(way, shell, command, limits));
                checked += 1;
            }
        }
    }
    println!("ran {checked} times one of {} commands", commands.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let changes = commands.iter().filter(|command| command["kind"] == "change").count();
    assert!(changes >= 4, "there is little to check: {commands:?}");
}

#[test]
fn a_limit_that_is_too_small_is_raised_and_a_large_one_stays() {
    let Some(way) = namespace() else {
        println!("SKIPPED: no `unshare` and `ip` that make a network namespace");
        return;
    };
    let commands = commands();
    let is_of = |command: &&Value| {
        command["line"]
            .as_str()
            .unwrap()
            .contains("net.ipv4.tcp_rmem | { read -r a b c && if [ \"$c\"")
    };
    let line = commands.iter().find(is_of).unwrap()["line"].as_str().unwrap();
    let (_, behind) = line.split_once("-ge ").unwrap();
    let least: u64 = behind.split_once(' ').unwrap().0.parse().unwrap();
    for shell in ["sh", "bash"] {
        for (of, before) in [(SMALL, 150_000), (LARGE, 2_000_000_000)] {
            let script = format!("{}{line} >/dev/null || exit 9\n{SHOW}", setup(of));
            let output = run(way, shell, &script);
            assert!(output.status.success(), "{line}: {output:?}");
            let (limits, _) = state(&output, 0);
            let numbers = limits["net.ipv4.tcp_rmem"].join(" ");
            let wanted = format!("5000 100000 {}", least.max(before));
            assert_eq!(numbers, wanted, "{shell}: {line}");
        }
    }
}
