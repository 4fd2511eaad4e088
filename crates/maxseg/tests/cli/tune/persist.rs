//! What is written to last is what the system takes: `ifup`, `systemd-analyze verify`, and a program that root alone may change.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use super::super::kernel::{NOBODY, skipped};
use super::super::{stderr, stdout};
use super::host::Host;

#[test]
fn ifup_takes_the_file_of_interfaces() {
    let Some(host) = Host::new() else { return };
    let root = tempfile::tempdir().unwrap();
    let at = root.path().display().to_string();
    host.apply(&["interface.va.mtu=1400"], &["--why", "a tunnel behind it"]);
    host.tune_ends(&["persist", "--as", "ifupdown", "--root", &at, "--yes"], 0);
    let file = root.path().join("etc/network/interfaces.d/maxseg");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("# a tunnel behind it\niface va inet manual\n"), "{text}");
    host.tune_ends(&["undo", "1"], 0);
    assert!(host.shows("ip link show va").contains("mtu 1500"));
    if !host.namespace.run("ifup --version").status.success() {
        return skipped("ifup: ifupdown is not installed");
    }
    let state = root.path().join("ifstate");
    let line =
        format!("ifup --force --interfaces={} --state-dir={} va", file.display(), state.display());
    std::fs::create_dir(&state).unwrap();
    host.namespace.must(&line);
    assert!(host.shows("ip link show va").contains("mtu 1400"));
    host.namespace.must("ip link set va mtu 1500");
    host.tune_ends(&["undo", "--all"], 0);
    assert!(!file.exists());
}

/// A document that a unit applies, and the program in a folder of its own.
fn persist(host: &Host, folder: &Path, root: &str) -> std::process::Output {
    let document = folder.join("in.toml");
    std::fs::write(&document, "[settings]\n\"interface.lo.mtu\" = 9000\n").unwrap();
    let mut command = host.command(folder.join("maxseg").to_str().unwrap());
    command.args(["tune", "persist"]).arg(&document).args(["--as", "unit", "--root", root]);
    command.arg("--dry-run").output().unwrap()
}

/// A copy of the program that root alone may change, in this folder.
fn installed(folder: &Path) -> std::path::PathBuf {
    let at = folder.join("maxseg");
    let mut copy = std::process::Command::new("cp");
    assert!(copy.arg(env!("CARGO_BIN_EXE_maxseg")).arg(&at).status().unwrap().success());
    at
}

/// A document's settings may have reasons of their own, as those have that `tune export` writes.
#[test]
fn each_setting_keeps_its_reason() {
    let Some(host) = Host::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("in.toml");
    let text = "why = \"of all\"\n[settings]\n\"route.default.mtu\" = { value = 1400, why = \"a tunnel\" }\n\
                \"sysctl.net.ipv4.tcp_sack\" = 0\n";
    std::fs::write(&document, text).unwrap();
    let document = document.to_str().unwrap();
    let reasons = || {
        let why = |entry: serde_json::Value| entry["why"].as_str().unwrap_or("").to_owned();
        host.status(&[]).0.into_iter().map(why).collect::<Vec<_>>()
    };
    host.tune_ends(&["apply", "--yes", document], 0);
    assert_eq!(reasons(), ["a tunnel", "of all"]);
    let exported = host.tune_ends(&["export"], 0);
    assert!(
        exported.contains("\"route.default.mtu\" = { value = 1400, why = \"a tunnel\" }"),
        "{exported}"
    );
    std::fs::write(document, exported).unwrap();
    host.tune_ends(&["undo"], 0);
    host.tune_ends(&["apply", "--yes", document], 0);
    assert_eq!(reasons()[..2], ["a tunnel", "of all"]);
}

#[test]
fn a_unit_is_allowed_what_was_allowed_when_it_was_set() {
    let Some(host) = Host::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = installed(folder.path());
    let document = folder.path().join("in.toml");
    std::fs::write(&document, "[settings]\n\"route.default.mtu\" = 1400\n").unwrap();
    let persist = |arguments: &[&str]| {
        let mut command = host.command(program.to_str().unwrap());
        command.args(["tune", "persist", "--as", "unit", "--dry-run"]).args(arguments);
        let output = command.output().unwrap();
        (output.status.code(), format!("{}{}", stdout(&output), stderr(&output)))
    };
    let document = document.to_str().unwrap();
    let (code, told) = persist(&[document]);
    assert!(code == Some(0) && !told.contains("--i-am-router"), "{told}");
    host.namespace.must("sysctl -qw net.ipv4.ip_forward=1");
    let (code, told) = persist(&[document]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("the unit would fail at every start: this host forwards"), "{told}");
    let (code, told) = persist(&[document, "--i-am-router"]);
    assert!(code == Some(0) && told.contains("--yes --i-am-router\n"), "{told}");
    assert_eq!(persist(&[document, "--root", folder.path().to_str().unwrap()]).0, Some(0));
    host.apply(&["route.default.mtu=1400"], &["--i-am-router"]);
    let (code, told) = persist(&[]);
    assert!(code == Some(0) && told.contains("--yes --i-am-router\n"), "{told}");
    assert!(!told.contains("the unit makes a route"), "{told}");
    host.apply(&["route.10.7.0.0/16.initcwnd=20"], &[]);
    let (_, told) = persist(&[]);
    assert!(told.contains("the unit makes a route for route.10.7.0.0/16.initcwnd"), "{told}");
}

#[test]
fn a_unit_does_not_run_what_another_user_may_change() {
    let Some(host) = Host::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = installed(folder.path());
    let output = persist(&host, folder.path(), "/");
    assert!(output.status.success(), "{}", stderr(&output));
    chown(&at, Some(NOBODY), None).unwrap();
    let output = persist(&host, folder.path(), "/");
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("can be changed by others") && told.contains("hint: install"), "{told}");
    chown(&at, Some(0), None).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(persist(&host, folder.path(), "/").status.code(), Some(1), "its folder");
    let output = persist(&host, folder.path(), folder.path().to_str().unwrap());
    assert!(output.status.success() && stderr(&output).contains("warning: "), "an image");
}

#[test]
fn what_is_to_end_is_not_made_to_last() {
    let Some(host) = Host::new() else { return };
    let root = tempfile::tempdir().unwrap();
    let at = root.path().display().to_string();
    let persist = ["persist", "--root", &at, "--yes"];
    host.apply(&["sysctl.net.ipv4.tcp_ecn=1"], &["--for", "1h"]);
    let told = host.tune_ends(&persist, 1);
    assert!(told.contains("left out: sysctl.net.ipv4.tcp_ecn: it ends by itself"), "{told}");
    host.apply(&["sysctl.net.ipv4.tcp_sack=0"], &["--confirm", "1h"]);
    host.apply(&["sysctl.net.ipv4.tcp_mtu_probing=1"], &[]);
    let told = host.tune_ends(&persist, 0);
    assert!(told.contains("tcp_sack: it ends by itself unless it is confirmed"), "{told}");
    let file = root.path().join("etc/sysctl.d/90-maxseg.conf");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("tcp_mtu_probing = 1"), "{text}");
    assert!(!text.contains("tcp_ecn") && !text.contains("tcp_sack"), "{text}");
    host.tune_ends(&["confirm"], 0);
    host.tune_ends(&persist, 0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("tcp_sack = 0"));
    // The last plan was cut off before it was whole.
    host.apply(&["sysctl.net.ipv4.tcp_frto=0"], &[]);
    let journal = std::fs::read_to_string(host.journal()).unwrap();
    let cut: Vec<&str> = journal.lines().collect();
    let cut = cut[..cut.len() - 1].join("\n") + "\n";
    std::fs::write(host.journal(), cut).unwrap();
    let told = host.tune_ends(&persist, 0);
    assert!(told.contains("tcp_frto: its plan was cut off"), "{told}");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("tcp_frto"));
}

/// Files are those of the machine, not of a network namespace.
#[test]
fn files_are_seen_in_every_namespace_and_undone_by_their_numbers_there() {
    let (Some(host), Some(other)) = (Host::new(), Host::new()) else { return };
    let root = tempfile::tempdir().unwrap();
    let at = root.path().display().to_string();
    host.apply(&["sysctl.net.ipv4.tcp_mtu_probing=1"], &[]);
    host.tune_ends(&["persist", "--root", &at, "--yes"], 0);
    let elsewhere = |arguments: &[&str]| {
        let mut command = other.command(env!("CARGO_BIN_EXE_maxseg"));
        command.env("XDG_STATE_HOME", host.folder().parent().unwrap());
        let output = command.arg("tune").args(arguments).output().unwrap();
        (output.status.code(), format!("{}{}", stdout(&output), stderr(&output)))
    };
    let (code, told) = elsewhere(&["status"]);
    assert!(code == Some(0) && told.contains("90-maxseg.conf  set"), "{told}");
    let (_, told) = elsewhere(&["undo", "--all", "--yes"]);
    assert!(told.contains("files of `tune persist` stay; undo: maxseg tune undo 2"), "{told}");
    let file = root.path().join("etc/sysctl.d/90-maxseg.conf");
    assert!(file.exists());
    std::fs::write(&file, "net.ipv4.tcp_mtu_probing = 0\n").unwrap();
    let (code, told) = elsewhere(&["status"]);
    assert!(code == Some(3) && told.contains("drifted"), "{told}");
    assert_eq!(elsewhere(&["undo", "2", "--yes", "--force"]).0, Some(0));
    assert!(!file.exists());
}

#[test]
fn a_file_of_what_is_set_no_more_is_told_of_and_removed() {
    let Some(host) = Host::new() else { return };
    let root = tempfile::tempdir().unwrap();
    let at = root.path().display().to_string();
    host.apply(&["sysctl.net.ipv4.tcp_mtu_probing=1"], &[]);
    host.tune_ends(&["persist", "--root", &at, "--yes"], 0);
    let sysctls = root.path().join("etc/sysctl.d/90-maxseg.conf");
    let told = host.tune_ends(&["undo", "1"], 0);
    let again = "90-maxseg.conf sets sysctl.net.ipv4.tcp_mtu_probing again when the machine starts";
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(again) && told.contains("undo: maxseg tune undo 2"), "{told}");
    host.apply(&["interface.va.mtu=1400"], &[]);
    let told = host.tune_ends(&["persist", "--as", "ifupdown", "--root", &at, "--yes"], 0);
    assert!(told.contains("is removed: it keeps what is set no more"), "{told}");
    assert!(!sysctls.exists() && root.path().join("etc/network/interfaces.d/maxseg").exists());
    host.tune_ends(&["undo"], 0);
    assert!(sysctls.exists(), "as it was before");
}
