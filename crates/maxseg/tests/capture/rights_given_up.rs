//! Which rights it has: one to begin with, none while it runs.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use maxseg_testkit as testkit;
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
    let program = testkit::for_everybody(env!("CARGO_BIN_EXE_maxseg"), folder.path()).unwrap();
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
    assert!(said.starts_with("error: this user may not capture packets"), "{said}");
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

/// A capture of one packet into `file`, as if an ordinary user had called it by sudo.
fn by_sudo(file: &Path) -> Command {
    let mut command = Command::new("env");
    command.arg(format!("SUDO_UID={NOBODY}")).arg(format!("SUDO_GID={NOBODY}"));
    command.arg(env!("CARGO_BIN_EXE_maxseg")).args(["capture", "-i", "lo", "--count", "1", "-w"]);
    command.arg(file);
    command
}

/// A folder that everybody may write to.
fn of_everybody() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

#[test]
fn a_file_is_opened_as_who_called_sudo() {
    if !is_real_root() || !own_network() {
        println!("skipped: this user cannot become another one");
        return;
    }
    let folder = of_everybody();
    let file = folder.path().join("new.pcapng");
    let watch = Watch::of(by_sudo(&file));
    datagrams("127.0.0.1:9", 1, 10);
    let end = watch.wait();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let made = fs::metadata(&file).unwrap();
    assert_eq!((made.uid(), made.gid()), (NOBODY, NOBODY));
}

#[test]
fn a_link_leads_to_no_file_that_who_called_sudo_may_not_write() {
    if !is_real_root() || !own_network() {
        println!("skipped: this user cannot become another one");
        return;
    }
    let folder = of_everybody();
    let (roots, link) = (folder.path().join("root's"), folder.path().join("link"));
    fs::write(&roots, "root's own").unwrap();
    symlink(&roots, &link).unwrap();
    let output = by_sudo(&link).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(&format!("error: cannot write {}: ", link.display())), "{said}");
    assert!(
        said.contains("hint: it is opened by the user who called sudo (user 65534, "),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&roots).unwrap(), "root's own");
}

#[test]
fn a_user_that_cannot_be_changed_is_told() {
    if !is_real_root() || !own_network() {
        println!("skipped: this user has one namespace already");
        return;
    }
    // Root is the only user there.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "sh", "-c"]);
    command.arg("ip link set lo up && exec \"$0\" capture -i lo --duration '10 ms'");
    command.arg(env!("CARGO_BIN_EXE_maxseg"));
    let end = Watch::of(command).wait();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.contains("the user could not be changed"), "{}", end.stderr);
    assert!(end.stderr.contains("it is user 0, group 0"), "{}", end.stderr);
}

/// A pcap file of so many packets of 1000 bytes (draft-ietf-opsawg-pcap).
fn pcap(packets: usize) -> Vec<u8> {
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let header = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 1]);
    let packet = [words(&[0, 0, 1000, 1000]), vec![2; 1000]].concat();
    [header, packet.repeat(packets)].concat()
}

#[test]
fn a_right_of_the_programs_file_is_for_looking_at_packets_alone() {
    if !is_real_root() || !own_network() {
        println!("skipped: this user cannot give a file a capability");
        return;
    }
    let (_folder, program) = for_everybody();
    let set = Command::new("setcap").arg("cap_net_raw=ep").arg(&program).status();
    if !set.is_ok_and(|status| status.success()) {
        println!("skipped: setcap is not installed, or this file system has no capabilities");
        return;
    }
    // It waits for what it reads.
    let mut command = Command::new(&program);
    command.args(["explain", "-"]).uid(NOBODY).gid(NOBODY).current_dir("/");
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    // More than a pipe holds: once all is written, it has begun to read, and gives up its rights before that.
    child.stdin.as_mut().unwrap().write_all(&pcap(200)).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("CapPrm:")).unwrap();
    let permitted = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
    assert_eq!(permitted, 0);
    child.kill().unwrap();
    child.wait().unwrap();
}
