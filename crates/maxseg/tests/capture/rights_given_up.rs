//! Which rights it has: one to begin with, none while it runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use nix::sched::{CloneFlags, setns};

use super::watch::{Watch, datagrams, own_network};

/// Somebody who is nobody else.
const NOBODY: u32 = 65_534;

/// Whether this process is root of the machine, and can become others.
fn is_real_root() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap();
    let is_whole = map.split_whitespace().collect::<Vec<_>>() == ["0", "0", "4294967295"];
    nix::unistd::Uid::effective().is_root() && is_whole
}

/// The program where everybody can run it.
fn for_everybody() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = folder.path().join("maxseg");
    fs::copy(env!("CARGO_BIN_EXE_maxseg"), &program).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    (folder, program)
}

#[test]
fn nothing_is_left_of_its_rights_while_it_captures() {
    if !own_network() {
        return;
    }
    let watch = Watch::begin(&["-i", "lo", "--promiscuous"]);
    let tasks = fs::read_dir(format!("/proc/{}/task", watch.id())).unwrap();
    for task in tasks {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let value = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key)).unwrap();
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
            assert_eq!(value(set), "0000000000000000", "{set} {status}");
        }
        assert_eq!(value("NoNewPrivs:"), "1");
        if is_real_root() {
            assert_eq!(value("Uid:"), NOBODY.to_string());
        }
    }
    datagrams("127.0.0.1:9", 1, 10);
    assert!(watch.interrupt().stdout.contains("UDP len 10"), "and it still sees");
}

#[test]
fn without_the_right_it_says_how_to_get_it() {
    if !is_real_root() {
        println!("skipped: this user cannot become another one");
        return;
    }
    let (_folder, program) = for_everybody();
    let mut command = Command::new(program);
    command.args(["capture", "-i", "lo"]).uid(NOBODY).gid(NOBODY).current_dir("/");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: this user may not look at packets"), "{said}");
    assert!(said.contains("hint: sudo setcap cap_net_raw=ep $(command -v maxseg)"), "{said}");
}

#[test]
fn an_ordinary_user_sees_what_is_in_a_namespace_of_its_own() {
    if !is_real_root() {
        println!("skipped: this user has done so in the other tests, or cannot");
        return;
    }
    let (_folder, program) = for_everybody();
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net"]).uid(NOBODY).gid(NOBODY);
        command.current_dir("/");
        command
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: an ordinary user gets no user namespace here");
        return;
    }
    let mut command = unshare();
    let script = "ip link set lo up && exec \"$0\" capture -i lo --count 1";
    command.args(["sh", "-c", script]).arg(&program);
    let watch = Watch::of(command);
    let namespace = fs::File::open(format!("/proc/{}/ns/net", watch.id())).unwrap();
    setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
    datagrams("127.0.0.1:9", 1, 10);
    let end = watch.wait();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stdout.contains("UDP len 10"), "{}", end.stdout);
}
