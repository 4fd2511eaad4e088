//! Programs that the lab can use.

use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Check, State};
use crate::lab::iperf3;

/// Folders of system programs, which an ordinary user's `PATH` may lack.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// A program on `PATH`, or in the folders of system programs.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_others_are_not() {
        assert!(find_program("sh").is_some());
        assert_eq!(find_program("no-such-program-anywhere"), None);
        assert_eq!(find_program("."), None); // a folder is no program
    }
}
