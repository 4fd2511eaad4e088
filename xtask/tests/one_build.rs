//! `cargo xtask test` builds `xtask` first, and then the tests: with other features of a dependency, every crate
//! above it would be built twice, which is minutes on a small machine.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::process::Command;

/// Every package that is built, with its features.
fn packages(of: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} [{f}]"])
        .args(of)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn xtask_and_the_tests_share_every_crate() {
    let tests = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let own = packages(&["--package", "xtask", "--edges", "normal,build"]);
    assert!(own.len() > 50, "{own:?}");
    let twice: Vec<&String> = own.difference(&tests).collect();
    assert!(
        twice.is_empty(),
        "built twice, as the tests ask for more features of them: {twice:#?}; name these in xtask/Cargo.toml"
    );
}

/// The check without the lab comes behind lints and tests: what the screens of a terminal ask of other crates is asked for all the same.
#[test]
fn the_check_without_the_lab_builds_no_other_projects_crate_again() {
    let tests = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let without = packages(&[
        "--workspace",
        "--exclude",
        "xtask",
        "--no-default-features",
        "--edges",
        "normal,build",
    ]);
    assert!(without.len() > 50, "{without:?}");
    let again: Vec<&String> = without
        .difference(&tests)
        .filter(|name| !["maxseg", "xtask"].iter().any(|own| name.starts_with(own)))
        .collect();
    assert!(again.is_empty(), "built again: {again:#?}; name these in xtask/Cargo.toml");
}
