//! Killed at every call that writes, by strace's injection (no seams in the product): afterwards `tune status` tells the truth, and
//! `tune undo --all` restores.

use std::os::unix::process::ExitStatusExt as _;

use super::super::kernel::skipped;
use super::host::Host;

/// The calls by which anything is changed, on disk or in the kernel.
const CALLS: &str = "write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync,fallocate,ftruncate,mkdir,\
                     rename,renameat,renameat2,unlink,setsockopt,clone,clone3,vfork,execve,kill";

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

/// Runs the program until its call number `call`; whether it was killed.
fn killed_at(host: &Host, call: u32, arguments: &[&str]) -> bool {
    let mut command = host.command("strace");
    // Not its children: the process that is to undo a plan outlives it.
    command.args(["-qq", "-o", "/dev/null", "-e"]);
    command.arg(format!("inject={CALLS}:signal=KILL:when={call}"));
    command.arg(env!("CARGO_BIN_EXE_maxseg")).arg("tune").args(arguments);
    let status = command.output().unwrap().status;
    // strace ends as its child did.
    status.signal() == Some(9) || status.code() == Some(137)
}

/// That status says of each target what the kernel says.
fn assert_status_is_true(host: &Host, what: &str) {
    let (entries, code) = host.status(&[]);
    assert_eq!(code, 0, "{what}: {entries:?}");
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

/// How a command that is killed begins and ends.
struct Walk<'w> {
    name: &'w str,
    arguments: Vec<&'w str>,
    is_undo: bool,
}

/// Kills it at every call from the first on, by steps of `stride`, until one run is unharmed; how many were killed.
fn walk(host: &Host, walk: &Walk<'_>, stride: u32) -> u32 {
    let before = host.kernel();
    let mut killed = 0;
    for call in (1..MOST).step_by(stride as usize) {
        let what = format!("{} killed at call {call}", walk.name);
        let _ = std::fs::remove_dir_all(host.folder());
        if walk.is_undo {
            host.apply(&WANTED.map(|(assignment, ..)| assignment), &[]);
        }
        let was_killed = killed_at(host, call, &walk.arguments);
        assert_status_is_true(host, &what);
        host.tune_ends(&["undo", "--all"], 0);
        assert_eq!(host.kernel(), before, "{what}");
        assert!(host.states().iter().all(|state| state == "undone"), "{what}");
        if !was_killed {
            return killed;
        }
        killed += 1;
    }
    panic!("{}: never unharmed", walk.name);
}

fn walks() -> [Walk<'static>; 3] {
    let sets = || WANTED.iter().flat_map(|(assignment, ..)| ["--set", assignment]);
    let apply = || ["apply", "--yes", "-q"].into_iter().chain(sets());
    [
        Walk { name: "apply", arguments: apply().collect(), is_undo: false },
        Walk {
            name: "apply --confirm",
            arguments: apply().chain(["--confirm", "1h"]).collect(),
            is_undo: false,
        },
        Walk { name: "undo", arguments: vec!["undo", "--all"], is_undo: true },
    ]
}

fn walk_all(stride: u32) {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("strace -V").status.success() {
        skipped("kill -9 at every write: strace is not installed");
        return;
    }
    for of in walks() {
        let killed = walk(&host, &of, stride);
        #[expect(clippy::print_stderr, reason = "how much was tested is said")]
        {
            eprintln!("{}: killed at {killed} calls, one in {stride}", of.name);
        }
        // An undo makes some twenty such calls, an apply twice as many.
        assert!(killed >= 15 / stride, "{}: {killed}", of.name);
    }
}

#[test]
fn killed_at_some_writes() {
    walk_all(5);
}

#[test]
#[ignore = "a minute: every write; the test above has one in five"]
fn killed_at_every_write() {
    walk_all(1);
}
