//! A journal that cannot be used, and others at work: one clear error each, and nothing half done.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::chown;

use super::super::kernel::{NOBODY, skipped};
use super::host::Host;

const WANTED: [&str; 2] = ["route.default.mtu=1400", "sysctl.net.ipv4.tcp_sack=0"];

#[test]
fn two_at_once_are_told_of_each_other() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.default.initrwnd=20"], &[]);
    let journal = File::open(host.journal()).unwrap();
    journal.lock().unwrap();
    let told = host.refused(&WANTED, &[]);
    assert!(told.contains("another `maxseg tune` is at work"), "{told}");
    assert_eq!(host.states(), ["set"], "looking needs no lock");
    drop(journal);
    host.apply(&WANTED, &[]);
}

#[test]
fn a_line_that_was_cut_counts_for_nothing() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    host.apply(&WANTED, &[]);
    let whole = std::fs::read(host.journal()).unwrap();
    let mut journal = OpenOptions::new().append(true).open(host.journal()).unwrap();
    journal.write_all(&whole[..100]).unwrap();
    assert_eq!(host.states(), ["set", "set"]);
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
    let text = std::fs::read_to_string(host.journal()).unwrap();
    assert!(text.starts_with(std::str::from_utf8(&whole).unwrap()), "the cut line is gone");
    journal.write_all(b"no line\n").unwrap();
    let told = host.tune_ends(&["status"], 1);
    assert!(told.contains("is no line of the journal") && told.contains("hint: "), "{told}");
    host.refused(&WANTED, &[]);
}

/// Nothing is wrong with such a journal, and moving it away would lose what is to be undone.
#[test]
fn a_journal_of_a_later_version_is_told_as_such() {
    let Some(host) = Host::new() else { return };
    host.apply(&WANTED, &[]);
    let text = std::fs::read_to_string(host.journal()).unwrap();
    // An empty line at the end is an editor's.
    std::fs::write(host.journal(), format!("{text}\n")).unwrap();
    assert_eq!(host.states(), ["set", "set"]);
    let later = text.lines().last().unwrap().replace("\"v\":1", "\"v\":2,\"more\":[1]");
    std::fs::write(host.journal(), format!("{text}{}\n", later.replace("\"event\"", "\"what\"")))
        .unwrap();
    for arguments in [&["status"][..], &["undo", "--all"]] {
        let told = host.tune_ends(arguments, 1);
        assert!(told.contains("a later version of maxseg has written line"), "{told}");
        assert!(!told.contains("away"), "{told}");
    }
    std::fs::write(host.journal(), text).unwrap();
    host.tune_ends(&["undo", "--all"], 0);
}

/// open(2) of a named pipe waits for whoever writes to it, and reading one for its end.
#[test]
fn a_named_pipe_in_the_place_of_the_journal_is_told_and_not_waited_for() {
    let Some(host) = Host::new() else { return };
    std::fs::create_dir_all(host.journal().parent().unwrap()).unwrap();
    let made =
        std::process::Command::new("mkfifo").args(["-m", "600"]).arg(host.journal()).status();
    assert!(made.unwrap().success());
    for arguments in [&["status"][..], &["undo"]] {
        let told = host.tune_ends(arguments, 1);
        assert!(told.contains("it is a named pipe, not a regular file"), "{told}");
        assert!(told.contains("hint: "), "{told}");
    }
    host.refused(&WANTED, &[]);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let Some(host) = Host::new() else { return };
    let refused = |state: &str, why: &str| {
        let before = host.kernel();
        let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
        command.args(["tune", "apply", "--yes", "--set", WANTED[0]]).env("XDG_STATE_HOME", state);
        let output = command.output().unwrap();
        let told = super::super::stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(why) && told.contains("hint: "), "{told}");
        assert_eq!(host.kernel(), before);
    };
    refused("/proc/nowhere", "cannot create");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("maxseg")).unwrap();
    chown(folder.path().join("maxseg"), Some(NOBODY), Some(NOBODY)).unwrap();
    refused(folder.path().to_str().unwrap(), "belongs to somebody else");
}

#[test]
fn a_full_disk_is_found_before_anything_is_changed() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    let script = format!(
        "mount -t tmpfs -o size=64k none {at}; mkdir -m 700 {at}/maxseg; \
         head -c 60000 /dev/zero > {at}/much; export XDG_STATE_HOME={at}; \
         exec {} tune apply --yes --set {} --set {}",
        env!("CARGO_BIN_EXE_maxseg"),
        WANTED[0],
        WANTED[1]
    );
    let output = host.command("unshare").args(["--mount", "sh", "-ec", &script]).output().unwrap();
    let told = super::super::stderr(&output);
    assert!(told.contains("cannot write") && told.contains("free space"), "{told}");
    assert_eq!((output.status.code(), host.kernel()), (Some(1), before));
}

#[test]
fn an_ordinary_user_is_told_and_changes_nothing() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("setpriv --version").status.success() {
        skipped("an ordinary user: there is no setpriv");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    for assignment in WANTED {
        let before = host.kernel();
        let mut command = host.command("setpriv");
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
        // The test's own build may be where nobody may look.
        let program = folder.path().join("maxseg-program");
        // By another process: what one has open for writing, a child that another test starts meanwhile keeps open.
        let mut copy = std::process::Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_maxseg")).arg(&program);
        assert!(copy.status().unwrap().success());
        command.arg(&program).args(["tune", "apply", "--yes", "--set", assignment]);
        command.env("XDG_STATE_HOME", folder.path()).current_dir("/");
        let output = command.output().unwrap();
        let told = super::super::stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("this user may not change") && told.contains("sudo"), "{told}");
        assert_eq!(host.kernel(), before);
    }
}

#[test]
fn another_program_that_writes_meanwhile_leaves_nothing_half_done() {
    let Some(host) = Host::new() else { return };
    let mut flip = host.command("sh");
    flip.args(["-c", "while sysctl -qw net.ipv4.tcp_sack=0 net.ipv4.tcp_sack=1; do :; done"]);
    let mut flip = flip.spawn().unwrap();
    for _ in 0..5 {
        let output = host.tune(&["apply", "--yes", "--set", WANTED[1], "--set", WANTED[0]]);
        let told = super::super::stderr(&output);
        let has_mtu = host.shows("ip route show default").contains("mtu 1400");
        match output.status.code() {
            // It had the value already, or has it for a moment.
            Some(0) => assert!(has_mtu, "{told}"),
            Some(1) => assert!(!has_mtu && told.contains("another program"), "{told}"),
            other => panic!("{other:?}: {told}"),
        }
        host.tune(&["undo", "--all", "--force"]);
        assert!(!host.shows("ip route show default").contains("mtu"), "{told}");
    }
    flip.kill().unwrap();
    flip.wait().unwrap();
}

#[test]
fn what_is_done_is_told_where_the_output_is_full() {
    let Some(host) = Host::new() else { return };
    let run = |arguments: &[&str]| {
        let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.arg("tune").args(arguments).stdout(full).output().unwrap();
        (output.status.code(), super::super::stderr(&output))
    };
    let (code, told) = run(&["apply", "--set", "sysctl.net.ipv4.tcp_sack=0", "--yes", "--json"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("plan 1 is applied; undo: maxseg tune undo 1"), "{told}");
    let (code, told) = run(&["undo"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("sysctl.net.ipv4.tcp_sack: 0 -> 1"), "{told}");
}

#[test]
fn a_folder_that_became_read_only_keeps_nothing_from_being_undone() {
    let Some(host) = Host::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    let tune = format!("{} tune", env!("CARGO_BIN_EXE_maxseg"));
    let script = format!(
        "mount -t tmpfs none {at}; export XDG_STATE_HOME={at}; \
         {tune} apply --yes --set sysctl.net.ipv4.tcp_sack=0 && mount -o remount,ro {at} && {tune} undo && \
         sysctl -n net.ipv4.tcp_sack; {tune} status; {tune} undo; {tune} apply --yes --set sysctl.net.ipv4.tcp_sack=0"
    );
    let output = host.command("unshare").args(["-m", "sh", "-c", &script]).output().unwrap();
    let told = format!("{}{}", super::super::stdout(&output), super::super::stderr(&output));
    assert!(told.contains("sysctl.net.ipv4.tcp_sack: 0 -> 1\n1\n"), "{told}");
    assert!(told.contains("sysctl.net.ipv4.tcp_sack: is 1 already"), "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("tune.jsonl cannot be written: `tune status` calls"), "{told}");
    assert!(words.contains("1: the value before is there again: "), "{told}");
    assert!(!words.contains("another program has changed it"), "{told}");
    assert!(words.contains("nothing was changed; name a folder that can be written"), "{told}");
}
