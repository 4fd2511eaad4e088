//! How fast the simulator is: CPU time per delivered data packet, ours against the installed ns-2 in one
//! run on one core; the whole grid of a shipped scenario; instructions; memory; and where they go.

mod cases;
pub mod explain;
mod grid;
pub mod instructions;
pub mod lab;
#[cfg(target_os = "linux")]
pub mod live;
mod measure;
mod page;
mod profile;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cases::Case;
use measure::Cost;

use crate::{is_installed, root};

/// A figure beside what the project has set itself.
struct Line {
    what: String,
    figures: Vec<String>,
    asked: String,
    /// Whether it is reached; `None` where nothing was asked.
    reached: Option<bool>,
    /// What is broken, if anything.
    fault: Option<String>,
}

/// Everything that one run of the benchmark found.
struct Measured {
    repeat: usize,
    cases: Vec<Line>,
    whole: Vec<Line>,
    profile: profile::Profile,
}

/// Runs every case `repeat` times, ours and theirs in turn, and prints the medians; then the rest.
///
/// # Errors
/// ns-2 is not installed, or a figure is beyond what says that something is broken.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(write: bool, repeat: usize) -> Result<()> {
    if cfg!(debug_assertions) {
        return again_in_release(write, repeat);
    }
    let repeat = repeat.max(1);
    let program = release_program()?;
    let mut whole = vec![grid::memory(&program)?];
    let (mut cases, mut clean) = (Vec::new(), Vec::new());
    println!("{}", page::CASES_HEAD);
    for (place, case) in cases::all()?.iter().enumerate() {
        let (line, micros) = measure(place, case, repeat)?;
        println!("{}", page::row(&line));
        cases.push(line);
        clean.extend(case.is_clean.then_some(micros));
    }
    whole.push(spread(&clean));
    println!("\n{}", page::WHOLE_HEAD);
    whole.extend(grid::measure(&program)?);
    if is_installed("valgrind") {
        whole.extend(instructions::lines(&program)?);
    } else {
        println!("valgrind is not installed, so instructions are not counted");
    }
    for line in &whole {
        println!("{}", page::row(line));
    }
    let faults: Vec<String> =
        cases.iter().chain(&whole).filter_map(|line| line.fault.clone()).collect();
    if write {
        let profile = profile::measure()?;
        page::write(&Measured { repeat, cases, whole, profile })?;
    }
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("; ")) }
}

/// Runs a case once and prints what it took: each run has a process of its own, as ns-2's have. Where the
/// system puts a process's stack and heap can make all its runs slower.
///
/// # Errors
/// There is no such case.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn once(case: usize) -> Result<()> {
    let cases = cases::all()?;
    let Cost { cpu_s, delivered } =
        measure::here(&cases.get(case).context("no such case")?.scenario)?;
    println!("{cpu_s} {delivered}");
    Ok(())
}

/// Runs a program and prints the most memory that it took, in MiB: in a process of its own, because the
/// system keeps only the largest of all children.
///
/// # Errors
/// It fails.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn peak_memory(command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().context("no program")?;
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{} failed", program.display());
    println!("{:.1}", measure::peak_memory_of_children()?);
    Ok(())
}

/// How much the cost of a packet depends on the window: a heap or a scan would show here.
fn spread(micros: &[f64]) -> Line {
    let (least, most) =
        micros.iter().fold((f64::MAX, 0.0_f64), |(least, most), x| (least.min(*x), most.max(*x)));
    let around = 100.0 * (most - least) / (most + least);
    Line {
        what: "clean 1 Gbit/s: cost of a packet at all windows, ± %".to_owned(),
        figures: vec![format!("{around:.1}")],
        asked: "5".to_owned(),
        reached: Some(around <= 5.0),
        fault: None,
    }
}

/// The row of a case, and what a packet costs us in microseconds.
fn measure(place: usize, case: &Case, repeat: usize) -> Result<(Line, f64)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..repeat {
        ours.push(measure::ours(place)?);
        theirs.push(measure::ns2(&case.ns2)?);
    }
    let packets = |costs: &[Cost]| costs.first().map_or(0, |cost| cost.delivered);
    let (our_packets, their_packets) = (packets(&ours), packets(&theirs));
    let run = 1e6 * measure::median(&ours, |cost| cost.cpu_s);
    let a_packet = |costs: &[Cost]| 1e6 * measure::median(costs, Cost::per_packet);
    let (ours, theirs) = (a_packet(&ours), a_packet(&theirs));
    let ratio = theirs / ours;
    let bar = case.bar;
    let asked = [
        bar.ratio.map(|least| (format!("{least:.0} ×"), ratio >= least)),
        bar.micros.map(|most| (format!("{most} µs"), ours <= most)),
        bar.run_micros.map(|most| (format!("{most} µs a run: {run:.1}"), run <= most)),
    ];
    let asked: Vec<(String, bool)> = asked.into_iter().flatten().collect();
    let line = Line {
        what: case.name.clone(),
        figures: vec![
            their_packets.to_string(),
            our_packets.to_string(),
            format!("{theirs:.3}"),
            format!("{ours:.4}"),
            format!("{ratio:.1}"),
        ],
        asked: asked.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", "),
        reached: (!asked.is_empty()).then(|| asked.iter().all(|(_, reached)| *reached)),
        fault: (ratio < bar.floor)
            .then(|| format!("{}: {ratio:.1} times ns-2 is below {}", case.name, bar.floor)),
    };
    Ok((line, ours))
}

/// The shipped program, as a user builds it.
///
/// # Errors
/// It does not build.
pub fn release_program() -> Result<PathBuf> {
    cargo(&["build", "--quiet", "--release", "--package", "maxseg"])?;
    Ok(target().join("release/maxseg"))
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A benchmark of unoptimised code says nothing.
fn again_in_release(write: bool, repeat: usize) -> Result<()> {
    let repeat = repeat.to_string();
    let mut arguments =
        vec!["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "--repeat"];
    arguments.push(&repeat);
    if write {
        arguments.push("--write");
    }
    cargo(&arguments)
}

fn cargo(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    let status =
        command.args(arguments).current_dir(root()).status().context("cannot run cargo")?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}
