//! The program from outside: its contracts, its manners, its exit codes.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

mod advise;
mod advise_cases;
#[cfg(feature = "lab")]
mod advise_live;
#[cfg(target_os = "linux")]
mod advise_window;
mod check;
mod compare;
#[cfg(target_os = "linux")]
mod connections;
mod demo;
mod doctor;
mod explain;
mod explain_files;
#[cfg(feature = "lab")]
mod far_end;
mod files;
mod glossary;
mod json_stream;
#[cfg(target_os = "linux")]
mod kernel;
mod lab_import;
#[cfg(target_os = "linux")]
mod lab_iperf3;
#[cfg(target_os = "linux")]
mod lab_killed;
#[cfg(target_os = "linux")]
mod lab_run;
mod lab_up;
mod manners;
#[cfg(feature = "lab")]
mod measured;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(unix)]
mod outputs;
#[cfg(target_os = "linux")]
mod path;
#[cfg(target_os = "linux")]
mod path_tcp;
mod run;
mod run_folder;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod stacks;
#[cfg(target_os = "linux")]
mod top;
#[cfg(target_os = "linux")]
mod tune;
#[cfg(feature = "lab")]
mod tune_connection;
#[cfg(target_os = "linux")]
mod why;
mod widths;

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Two sizes, two error rates: small enough for every test.
const SMALL: [&str; 8] = [
    "run",
    "cellular-mss",
    "--axis",
    "sender.mss=536,600",
    "--axis",
    "hop.radio.errors.rate=0.01,0.05",
    "--set",
    "until.time=50 s",
];

fn maxseg(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
    command.args(arguments).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A text without its line breaks, however it was wrapped.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = maxseg(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn small(more: &[&str]) -> Vec<&'static str> {
    let leak = |text: &&str| -> &'static str { Box::leak((*text).to_owned().into_boxed_str()) };
    SMALL.iter().chain(more).map(leak).collect()
}
