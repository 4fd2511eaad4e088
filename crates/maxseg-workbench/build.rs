//! Puts the commit into `maxseg --version`, where there is one: not in a source tarball.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit = if is_own_repository() { git(&["rev-parse", "--short=10", "HEAD"]) } else { None };
    if commit.is_some() {
        watch_head();
    }
    println!("cargo:rustc-env=MAXSEG_COMMIT={}", commit.as_deref().unwrap_or("no commit"));
}

/// Whether git's repository is this one, and not one into which a tarball was unpacked.
fn is_own_repository() -> bool {
    let root = Path::new("../..").canonicalize().ok();
    let top =
        git(&["rev-parse", "--show-toplevel"]).and_then(|top| Path::new(&top).canonicalize().ok());
    root.is_some() && root == top
}

/// Has cargo look again when the commit changes. A file that is not there must not be named: cargo
/// would take it for changed every time. In a worktree HEAD and branches lie in different folders,
/// which is why git is asked.
fn watch_head() {
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    for file in names.filter_map(|name| git(&["rev-parse", "--git-path", name])) {
        if Path::new(&file).exists() {
            println!("cargo:rerun-if-changed={file}");
        }
    }
}

/// What git prints; `None` where it fails, or is not installed.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
