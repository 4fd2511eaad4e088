//! Programs that the lab and others can use.

use std::process::Command;

use super::{Check, State};
use crate::iperf3;
use crate::sys::find_program;

pub(super) fn check() -> [Check; 3] {
    let ping = "`maxseg lab exec HOST -- ping …`; ping flows do not use it";
    let tshark = "reads the files of --pcap; not used by the lab";
    [iperf3(), installed("ping", ping, "iputils-ping"), installed("tshark", tshark, "tshark")]
}

/// Whether a program is installed; if not, the Debian package that has it.
pub(super) fn installed(name: &'static str, purpose: &'static str, package: &str) -> Check {
    match find_program(name) {
        Some(file) => Check::new(name, purpose, file.display().to_string()),
        None => Check::new(name, purpose, "not installed")
            .state(State::Missing)
            .mend([format!("sudo apt install {package}")]),
    }
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
