//! `maxseg doctor`: on any machine it tells the truth in its exit code and leaves nothing behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

use maxseg_testkit::for_everybody;
use serde_json::Value;

use super::{maxseg, stderr, stdout};

#[test]
fn one_document_and_an_exit_code_that_agrees_with_it() {
    let output = maxseg(&["doctor", "--json"]);
    assert_agrees(&output);
}

#[test]
fn the_text_fits_a_terminal_and_says_what_the_document_says() {
    let output = maxseg(&["doctor", "-v"]);
    let text = stdout(&output);
    // A command holds this program's path in one case, which may be as long as it likes.
    let own = |line: &&str| line.contains(env!("CARGO_BIN_EXE_maxseg"));
    for line in text.lines().filter(|line| !own(line)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let verdict = if output.status.success() { "can run here" } else { "cannot run here" };
    assert!(text.contains(verdict), "{text}");
    let document: Value = serde_json::from_slice(&maxseg(&["doctor", "--json"]).stdout).unwrap();
    for check in document["checks"].as_array().unwrap() {
        assert!(text.contains(check["name"].as_str().unwrap()), "{check}");
    }
}

#[test]
fn nothing_is_left_behind() {
    let interfaces = || -> BTreeSet<_> {
        fs::read_dir("/sys/class/net").unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = interfaces();
    maxseg(&["doctor"]);
    assert_eq!(interfaces(), before);
}

/// Needs root, to become somebody else; others have done it as themselves in the tests above.
#[test]
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn an_ordinary_user_gets_an_answer_too() {
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = for_everybody(env!("CARGO_BIN_EXE_maxseg"), folder.path()).unwrap();
    let mut command = Command::new(&program);
    command.args(["doctor", "--json"]).stdin(Stdio::null()).uid(NOBODY).gid(NOBODY);
    match command.output() {
        Ok(output) => assert_agrees(&output),
        Err(error) => println!("skipped: this user cannot become another one ({error})"),
    }
}

/// A program whose file has capabilities is not dumpable, and may not write its own `uid_map` then.
#[test]
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn the_capability_for_packets_leaves_the_lab_as_it_is() {
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = for_everybody(env!("CARGO_BIN_EXE_maxseg"), folder.path()).unwrap();
    let namespaces = || {
        let mut command = Command::new(&program);
        command.args(["doctor", "--json"]).stdin(Stdio::null()).uid(NOBODY).gid(NOBODY);
        let output = command.output().ok()?;
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut checks = document["checks"].as_array().unwrap().iter();
        checks.find(|check| check["name"] == "namespaces").cloned()
    };
    let Some(before) = namespaces() else {
        return println!("skipped: this user cannot become another one");
    };
    let set = Command::new("setcap").arg("cap_net_raw=ep").arg(&program).status();
    if !set.is_ok_and(|status| status.success()) {
        return println!(
            "skipped: setcap is not installed, or this file system has no capabilities"
        );
    }
    assert_eq!(namespaces(), Some(before));
}

fn assert_agrees(output: &Output) {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema_version"], 1);
    let checks = document["checks"].as_array().unwrap();
    let lacks = |check: &Value| check["required"] == true && check["state"] == "missing";
    let able = !checks.iter().any(lacks);
    assert_eq!(document["able"], able);
    assert_eq!(output.status.code(), Some(i32::from(!able)), "{}", stderr(output));
    assert_eq!(stderr(output).is_empty(), able);
    for check in checks {
        let state = check["state"].as_str().unwrap();
        assert!(["ok", "limited", "missing"].contains(&state), "{check}");
        assert!(check["mend"].is_array() && check["values"].is_object(), "{check}");
    }
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in ["kernel", "namespaces", "tun", "tun-offload", "congestion", "qdiscs", "iperf3"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in ["path", "sysctls", "routes", "state", "ip"] {
        assert!(names.contains(&name), "{names:?}");
    }
}
