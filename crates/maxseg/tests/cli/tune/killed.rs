//! Killed at every call that writes, by strace's injection (no seams in the product): afterwards `tune status` tells the truth, and
//! `tune undo --all` restores.

use std::os::unix::process::ExitStatusExt as _;

use maxseg_testkit::sampled;

use super::super::kernel::skipped;
use super::host::Host;

/// The calls by which anything is changed, on disk or in the kernel; strace counts those of each name for themselves.
const CALLS: [&str; 10] = [
    "write",
    "fdatasync",
    "fsync",
    "mkdir",
    "fallocate",
    "ftruncate",
    "rename,renameat,renameat2",
    "unlink,unlinkat",
    "clone,clone3,vfork",
    "sendto",
];

/// Of a sample, one name in so many.
const SAMPLED: u64 = 3;

/// Each with a line that shows whether it is there, and what it shows then.
const WANTED: [(&str, &str, &str); 5] = [
    ("route.10.5.0.0/16.mtu=1300", "ip route show 10.5.0.0/16", "mtu 1300"),
    ("route.10.7.0.0/16.advmss=1000", "ip route show 10.7.0.0/16", "advmss 1000"),
    ("route.10.7.0.0/16.mtu=1280", "ip route show 10.7.0.0/16", "mtu 1280"),
    ("interface.va.mtu=1450", "ip link show va", "mtu 1450"),
    ("sysctl.net.ipv4.tcp_rmem=4096 131072 3000000", "sysctl net.ipv4.tcp_rmem", "3000000"),
];

/// More calls than any of the commands makes.
const MOST: u32 = 400;

/// Runs the program until its call of this name with this number; its exit code, `None` where it was killed.
fn run_until(host: &Host, (name, number): (&str, u32), arguments: &[&str]) -> Option<i32> {
    let mut command = host.command("strace");
    // Not its children: the process that is to undo a plan outlives it.
    command.args(["-qq", "-o", "/dev/null", "-e"]);
    command.arg(format!("inject={name}:signal=KILL:when={number}"));
    command.arg(env!("CARGO_BIN_EXE_maxseg")).arg("tune").args(arguments);
    let status = command.output().unwrap().status;
    // strace ends as its child did.
    if status.signal() == Some(9) || status.code() == Some(137) { None } else { status.code() }
}

/// Which calls of `sendto` ask netlink to change something: strace names the types of messages.
fn changing(host: &Host, arguments: &[&str]) -> Vec<u32> {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut command = host.command("strace");
    command.args(["-qq", "-e", "trace=sendto", "-o"]).arg(trace.path());
    command.arg(env!("CARGO_BIN_EXE_maxseg")).arg("tune").args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", super::super::stderr(&output));
    let text = std::fs::read_to_string(trace.path()).unwrap();
    let changes = |line: &str| ["RTM_NEW", "RTM_DEL", "RTM_SET"].iter().any(|of| line.contains(of));
    let calls = text.lines().filter(|line| line.starts_with("sendto(")).zip(1..);
    calls.filter(|(line, _)| changes(line)).map(|(_, number)| number).collect()
}

/// That status says of each target what the kernel says.
fn assert_status_is_true(host: &Host, what: &str) {
    let (entries, code) = host.status(&[]);
    // What a plan that was cut off has left is told by the exit code.
    let is_cut_off = |entry: &serde_json::Value| {
        entry["state"] == "set"
            && entry["note"].as_str().is_some_and(|note| note.contains("plan was cut off"))
    };
    let expected = if entries.iter().any(is_cut_off) { 3 } else { 0 };
    assert_eq!(code, expected, "{what}: {entries:?}");
    for (assignment, line, shown) in WANTED {
        let (target, _) = assignment.split_once('=').unwrap();
        let is_there = host.shows(line).contains(shown);
        let states = entries.iter().filter(|entry| entry["tunable"] == target);
        let is_said = states.clone().any(|entry| entry["state"] == "set");
        assert_eq!(is_said, is_there, "{what}: {target}: {entries:?}");
        let others = states.filter(|entry| entry["state"] != "set");
        assert!(others.clone().all(|entry| entry["state"] == "undone"), "{what}: {entries:?}");
    }
}

/// A command that is killed.
struct Walk {
    name: &'static str,
    arguments: Vec<&'static str>,
    is_undo: bool,
}

/// Kills it at every call of each name, of the many questions to netlink at one in `stride`; how many times it was killed.
fn walk(walk: &Walk, stride: u32) {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("strace -V").status.success() {
        skipped("kill -9 at every write: strace is not installed");
        return;
    }
    let before = host.kernel();
    for name in sampled("calls that write", CALLS.to_vec(), SAMPLED) {
        let step = if name == "sendto" { stride } else { 1 };
        let mut numbers: Vec<u32> = (1..MOST).step_by(step as usize).collect();
        if name == "sendto" {
            let _ = std::fs::remove_dir_all(host.folder());
            if walk.is_undo {
                host.apply(&WANTED.map(|(assignment, ..)| assignment), &[]);
            }
            let changing = changing(&host, &walk.arguments);
            // Four of the targets are of netlink.
            assert!(changing.len() >= 4, "{}: {changing:?}", walk.name);
            host.tune_ends(&["undo", "--all"], 0);
            numbers.extend(changing);
            numbers.sort_unstable();
            numbers.dedup();
        }
        let mut killed = 0_usize;
        for number in numbers {
            let what = format!("{} killed at {name} {number}", walk.name);
            let _ = std::fs::remove_dir_all(host.folder());
            if walk.is_undo {
                host.apply(&WANTED.map(|(assignment, ..)| assignment), &[]);
            }
            let ended = run_until(&host, (name, number), &walk.arguments);
            assert_status_is_true(&host, &what);
            if ended.is_some() {
                let wanted = if walk.is_undo { "undone" } else { "set" };
                let states = host.states();
                assert_eq!(
                    (ended, states),
                    (Some(0), vec![wanted.to_owned(); WANTED.len()]),
                    "{what}"
                );
            }
            host.tune_ends(&["undo", "--all"], 0);
            assert_eq!(host.kernel(), before, "{what}");
            assert!(host.states().iter().all(|state| state == "undone"), "{what}");
            if ended.is_some() {
                break;
            }
            killed += 1;
        }
        #[expect(clippy::print_stderr, reason = "how much was tested is said")]
        {
            eprintln!("{}: killed at {killed} calls of {name}, one in {step}", walk.name);
        }
        // Each step has two lines, and each is synced.
        assert!(name != "fdatasync" || killed >= 2 * WANTED.len(), "{}: {killed}", walk.name);
    }
}

fn sets() -> impl Iterator<Item = &'static str> {
    ["apply", "--yes", "-q"]
        .into_iter()
        .chain(WANTED.iter().flat_map(|(assignment, ..)| ["--set", *assignment]))
}

fn apply() -> Walk {
    Walk { name: "apply", arguments: sets().collect(), is_undo: false }
}

fn apply_with_guard() -> Walk {
    let arguments = sets().chain(["--confirm", "1h"]).collect();
    Walk { name: "apply --confirm", arguments, is_undo: false }
}

fn undo() -> Walk {
    Walk { name: "undo", arguments: vec!["undo", "--all"], is_undo: true }
}

/// Of the questions to netlink, most of which come before anything is changed.
const STRIDE: u32 = 7;

#[test]
fn killed_in_apply() {
    walk(&apply(), STRIDE);
}

#[test]
fn killed_in_apply_with_guard() {
    walk(&apply_with_guard(), STRIDE);
}

#[test]
fn killed_in_undo() {
    walk(&undo(), STRIDE);
}

#[test]
#[ignore = "a minute: every call; the tests above have every change, and one question to netlink in seven"]
fn killed_at_every_call() {
    for of in [apply(), apply_with_guard(), undo()] {
        walk(&of, 1);
    }
}

/// Files are written beside their place and renamed: nothing of that is left.
#[test]
fn killed_in_persist() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("strace -V").status.success() {
        return skipped("kill -9 in persist: strace is not installed");
    }
    let root = tempfile::tempdir().unwrap();
    let at = root.path().to_str().unwrap();
    let folder = root.path().join("etc/sysctl.d");
    std::fs::create_dir_all(&folder).unwrap();
    let document = root.path().join("in.toml");
    std::fs::write(&document, "[settings]\n\"sysctl.net.ipv4.tcp_mtu_probing\" = 1\n").unwrap();
    let arguments = ["persist", document.to_str().unwrap(), "--root", at, "--yes", "-q"];
    for name in ["rename,renameat,renameat2", "unlink,unlinkat", "write", "fsync", "fdatasync"] {
        for number in 1..MOST {
            let ended = run_until(&host, (name, number), &arguments);
            let what = format!("persist killed at {name} {number}");
            host.status(&[]);
            host.tune_ends(&["undo", "--all"], 0);
            let left: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
            assert!(left.is_empty(), "{what}: {left:?}");
            if ended.is_some() {
                assert_eq!(ended, Some(0), "{what}");
                break;
            }
        }
    }
}
