//! Puts the commit into `maxseg --version`, where there is one.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/refs/heads");
    let commit = Command::new("git").args(["rev-parse", "--short=10", "HEAD"]).output();
    let commit = commit
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "no commit".to_owned(), |text| text.trim().to_owned());
    println!("cargo:rustc-env=MAXSEG_COMMIT={commit}");
}
