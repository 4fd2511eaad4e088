//! Programs that the lab can use.

use std::process::Command;

use super::{Check, State};
use crate::lab::iperf3;
use crate::sys::find_program;

pub(super) fn check() -> [Check; 3] {
    let there = |name, purpose| {
        let check = Check::new(name, purpose, "");
        match find_program(name) {
            Some(file) => Check { found: file.display().to_string(), ..check },
            None => Check { found: "not installed".to_owned(), ..check }.state(State::Missing),
        }
    };
    let with = |check: Check, package: &str| match check.state {
        State::Missing => check.mend([format!("sudo apt install {package}")]),
        State::Ok | State::Limited => check,
    };
    [
        iperf3(),
        with(
            there("ping", "`maxseg lab exec HOST -- ping …`; ping flows do not use it"),
            "iputils-ping",
        ),
        with(there("tshark", "reads the files of --pcap; not used by the lab"), "tshark"),
    ]
}

fn iperf3() -> Check {
    let check = Check::new("iperf3", "`--traffic iperf3`; other traffic does not use it", "");
    let Some(program) = find_program("iperf3") else {
        return Check { found: "not installed".to_owned(), ..check }
            .state(State::Missing)
            .mend(["sudo apt install iperf3"]);
    };
    match iperf3::version_of(&mut Command::new(&program)) {
        Ok(version) => Check { found: format!("{version}, {}", program.display()), ..check }
            .value("version", version.to_string()),
        Err(error) => Check { found: format!("{}: {error}", program.display()), ..check }
            .state(State::Missing)
            .mend(["sudo apt install iperf3"]),
    }
}
