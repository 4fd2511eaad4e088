//! Everything that CI runs, on a machine with rust and nothing else.

use std::process::Command;
use std::thread::{available_parallelism, spawn};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Error, Result, bail, ensure};
use maxseg_testkit::{SAMPLE, sample_seed};

use crate::bench::{self, instructions};
use crate::{check_licences, generate, is_installed, layers, root};

/// A program that some tests need: its name, and the Debian package that brings it.
const PEERS: [(&str, &str); 10] = [
    ("ns", "ns2"),
    ("tshark", "tshark"),
    ("tcptrace", "tcptrace"),
    ("valgrind", "valgrind"),
    ("iperf3", "iperf3"),
    ("chromium", "chromium"),
    ("ip", "iproute2"),
    ("nft", "nftables"),
    ("iptables-save", "iptables"),
    ("strace", "strace"),
];

/// Runs every check and test, as CI does (`CI=true`): peers are installed, every row of every table is checked, and
/// lints, documentation, the release build's demo and the bar of instructions follow. Without it, what a newcomer
/// waits for: the tests with whatever peers are there, and samples of the
/// large tables and of long lists of cases.
///
/// # Errors
/// The first that fails.
pub fn run() -> Result<()> {
    if is_ci() { everything() } else { sample() }
}

fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true")
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn everything() -> Result<()> {
    step("peers", || install_peers().and_then(|()| fetch_axe()))?;
    // Beside what compiles: it waits for the network and has one thread.
    let packages = spawn(fetch_python_packages);
    step("layers", layers::check)?;
    step("licences", check_licences::check)?;
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("lints", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    })?;
    // By the same program as before: what does not depend on the lab is checked already. Xtask itself asks for the lab.
    step("without the lab", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--exclude",
            "xtask",
            "--no-default-features",
            "--locked",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    packages.join().map_err(|_| Error::msg("fetching Python packages failed"))?;
    println!(
        "\nTests that are ignored take minutes each: `cargo test --workspace -- --ignored` runs them."
    );
    step("tests", || succeed(&mut tests()))?;
    step("documentation", || {
        let mut command = Command::new("cargo");
        command
            .args(["doc", "--workspace", "--no-deps", "--locked"])
            .env("RUSTDOCFLAGS", "-D warnings");
        succeed(&mut command)
    })?;
    step("generated files", || generate::run(true))?;
    step("the demo", || {
        demo(Command::new("cargo").args([
            "run",
            "--locked",
            "--release",
            "--package",
            "maxseg",
            "--",
        ]))
    })?;
    step("instructions", instructions)
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn sample() -> Result<()> {
    let seed = match sample_seed().map_err(Error::msg)? {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    println!(
        "a sample: of large tables and long lists of cases some, by {SAMPLE}={seed}; CI=true also checks the others, and runs lints, \
         documentation, the demo of the release build and the bar of instructions"
    );
    step("peers", || {
        name_missing_peers();
        Ok(())
    })?;
    step("layers", layers::check)?;
    step("licences", check_licences::check)?;
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("tests", || succeed(tests().env(SAMPLE, seed.to_string())))?;
    step("generated files", || generate::run(true))?;
    // Of the program that the tests have built, beside this one: `cargo run` would build its crates again, without the
    // features that the tests' dependencies ask for.
    step("the demo", || demo(&mut Command::new(std::env::current_exe()?.with_file_name("maxseg"))))
}

/// How many tests of a program run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// Tests that wait, for a path in real time or for a program, beside one on each core.
const WAITING_TESTS: usize = 4;

fn tests() -> Command {
    let mut tests = Command::new("cargo");
    tests.args(["test", "--workspace", "--locked", "--", "--nocapture"]);
    if std::env::var_os(THREADS).is_none() {
        let cores = available_parallelism().map_or(1, usize::from);
        tests.env(THREADS, (cores + WAITING_TESTS).to_string());
    }
    tests
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}");
    let begun = Instant::now();
    work().with_context(|| name.to_owned())?;
    println!("== {name}: done in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<()> {
    succeed(Command::new("cargo").args(arguments))
}

pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.current_dir(root()).status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}

/// README's first command, by this way to run the program.
fn demo(program: &mut Command) -> Result<()> {
    let page = root().join("target/maxseg-demo.html");
    succeed(program.args(["demo", "--report"]).arg(&page))?;
    ensure!(page.is_file(), "the demo left no report");
    Ok(())
}

/// The simulator's inner loop may not grow: instructions per packet are the same on every run.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn instructions() -> Result<()> {
    if !is_installed("valgrind") || !cfg!(target_arch = "x86_64") {
        println!("skipped: the bar is for x86-64, and valgrind counts");
        return Ok(());
    }
    for (what, each, most) in instructions::held(&bench::release_program()?)? {
        println!("{each:.0} instructions per data packet; at most {most:.0} may be: {what}");
        ensure!(each <= most, "a packet costs {each:.0} instructions: {what}");
    }
    Ok(())
}

/// The Debian packages of peers that are not there.
fn missing_peers() -> Vec<&'static str> {
    let missing = PEERS.iter().filter(|(program, _)| !is_installed(program));
    missing.map(|(_, package)| *package).collect()
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn name_missing_peers() {
    match missing_peers().as_slice() {
        [] => println!("all there"),
        missing => println!("not installed, so what needs them is skipped: {}", missing.join(", ")),
    }
}

/// Installs the Debian packages of the peers that are not there as root, or names them where it cannot be.
fn install_peers() -> Result<()> {
    let missing = missing_peers();
    if missing.is_empty() || !is_root() || !is_installed("apt-get") {
        name_missing_peers();
        return Ok(());
    }
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    succeed(&mut update)?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&missing);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    succeed(&mut install)?;
    match PEERS.iter().find(|(program, _)| !is_installed(program)) {
        None => Ok(()),
        Some((program, package)) => bail!("{package} is installed, but there is no `{program}`"),
    }
}

/// The rules of accessibility that the tests of pages check, and where they look for them.
const AXE: &str = "axe-core@4.14.1";
const AXE_FOLDER: &str = "target/axe-core";

/// Fetches axe-core (MPL-2.0) for the tests of pages; where it cannot be had, they say so and check their own rules.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn fetch_axe() -> Result<()> {
    let folder = root().join(AXE_FOLDER);
    if folder.join("package/axe.min.js").is_file() {
        return Ok(());
    }
    std::fs::create_dir_all(&folder)?;
    let command = format!("npm pack --silent {AXE} && tar -xzf axe-core-*.tgz");
    let fetched = Command::new("sh").args(["-c", &command]).current_dir(&folder).status();
    if !fetched.is_ok_and(|status| status.success()) {
        println!("{AXE} cannot be fetched: the tests of pages check their own rules only");
    }
    Ok(())
}

/// The packages of docs/data-frames.md, in an environment of their own.
const PYTHON_FOLDER: &str = "target/python";
const PYTHON_PACKAGES: [&str; 4] = ["pandas", "pyarrow", "polars", "matplotlib"];

/// Fetches the packages with which docs/data-frames.md reads results; where they cannot be had, its test says that it is skipped.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn fetch_python_packages() {
    let folder = root().join(PYTHON_FOLDER);
    if folder.join("bin/pip").is_file() {
        return;
    }
    let succeeds = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let is_made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    let mut install = Command::new(folder.join("bin/pip"));
    install
        .args(["install", "--quiet", "--no-compile", "--disable-pip-version-check"])
        .args(PYTHON_PACKAGES);
    if !(is_made && succeeds(&mut install)) {
        println!("{} cannot be fetched: what needs them is skipped", PYTHON_PACKAGES.join(", "));
    }
}

#[cfg(unix)]
pub(crate) fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

#[cfg(not(unix))]
pub(crate) fn is_root() -> bool {
    false
}
