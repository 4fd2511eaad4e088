//! CPU time per delivered data packet, ours against the installed ns-2, in one run on one core.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

use crate::root;

/// What is measured: the cellular path with ns-2's Reno.
struct Case {
    name: &'static str,
    e: f64,
    s: u32,
    t_s: u32,
    /// The ratio below which a change has broken something.
    floor: f64,
}

const CASES: [Case; 3] = [
    Case { name: "no errors", e: 0.0, s: 536, t_s: 2000, floor: 8.0 },
    Case { name: "1% of frames lost", e: 0.01, s: 536, t_s: 2000, floor: 8.0 },
    Case { name: "20%, start-up included", e: 0.2, s: 536, t_s: 500, floor: 8.0 },
];

/// Runs every case `repeat` times, ours and theirs in turn, and prints the medians.
///
/// # Errors
/// ns-2 is not installed, or a ratio is below its floor.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(write: bool, repeat: usize) -> Result<()> {
    if cfg!(debug_assertions) {
        return again_in_release(write, repeat);
    }
    let script = root().join("testdata/ns2/tcp.tcl");
    let mut table = String::from(
        "| case | data packets delivered | ns-2 µs | maxseg µs | ratio |\n|---|---|---|---|---|\n",
    );
    let mut faults = Vec::new();
    for case in &CASES {
        let scenario = case.scenario()?;
        let (mut ours, mut theirs, mut delivered) = (Vec::new(), Vec::new(), 0);
        for _ in 0..repeat.max(1) {
            let (cpu, packets) = measure_ours(&scenario)?;
            delivered = packets;
            ours.push(cpu / packets as f64);
            theirs.push(case.measure_ns2(&script.display().to_string())? / packets as f64);
        }
        let (ours, theirs) = (median(&mut ours), median(&mut theirs));
        let ratio = theirs / ours;
        let line = format!(
            "| {} (s={}, e={}%, {} s) | {delivered} | {:.3} | {:.4} | {ratio:.1} |",
            case.name,
            case.s,
            100.0 * case.e,
            case.t_s,
            1e6 * theirs,
            1e6 * ours
        );
        println!("{line}");
        let _ = writeln!(table, "{line}");
        if ratio < case.floor {
            faults.push(format!("{}: {ratio:.1} times ns-2 is below {}", case.name, case.floor));
        }
    }
    if write {
        write_page(&table, repeat)?;
    }
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("; ")) }
}

/// A benchmark of unoptimised code says nothing.
fn again_in_release(write: bool, repeat: usize) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"]);
    command.args(["--repeat", &repeat.to_string()]);
    if write {
        command.arg("--write");
    }
    let status = command.current_dir(root()).status().context("cannot run cargo")?;
    ensure!(status.success(), "the benchmark failed");
    Ok(())
}

impl Case {
    fn scenario(&self) -> Result<Scenario> {
        let text = fs::read_to_string(root().join("scenarios/cellular-mss.toml"))?;
        let mut draft = maxseg_core::scenario::Draft::parse("cellular-mss.toml", &text)?;
        for set in [
            format!("sender.mss={}", self.s),
            format!("hop.radio.errors.rate={}", self.e),
            format!("until.time={} s", self.t_s),
        ] {
            draft.set_argument(&set)?;
        }
        Ok(draft.scenario()?)
    }

    fn measure_ns2(&self, script: &str) -> Result<f64> {
        let before = cpu_of_children()?;
        let output = Command::new("ns")
            .args([
                script,
                &format!("s={}", self.s),
                &format!("e={}", self.e),
                &format!("T={}", self.t_s),
            ])
            .output()
            .context("ns-2 is not installed (apt-get install ns2)")?;
        ensure!(output.status.success(), "ns failed");
        Ok(cpu_of_children()? - before)
    }
}

/// CPU seconds of one run, and its delivered data packets. Short runs are repeated and divided.
fn measure_ours(scenario: &Scenario) -> Result<(f64, u64)> {
    let (mut runs, before) = (0_u32, cpu_of_self()?);
    loop {
        let outcome = Sim.run(scenario, &mut Unwatched)?;
        runs += 1;
        let spent = cpu_of_self()? - before;
        if spent > 0.05 {
            let mss = outcome.mss_used_bytes.unwrap_or(1).max(1);
            let delivered = outcome.payload_bytes.unwrap_or(0) / mss;
            return Ok((spent / f64::from(runs), delivered.max(1)));
        }
    }
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[cfg(unix)]
fn cpu(who: nix::sys::resource::UsageWho) -> Result<f64> {
    let usage = nix::sys::resource::getrusage(who)?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(unix)]
fn cpu_of_self() -> Result<f64> {
    cpu(nix::sys::resource::UsageWho::RUSAGE_SELF)
}

#[cfg(unix)]
fn cpu_of_children() -> Result<f64> {
    cpu(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)
}

#[cfg(not(unix))]
fn cpu_of_self() -> Result<f64> {
    bail!("CPU time is measured on Unix only")
}

#[cfg(not(unix))]
fn cpu_of_children() -> Result<f64> {
    bail!("CPU time is measured on Unix only")
}

fn write_page(table: &str, repeat: usize) -> Result<()> {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cpu = model.map_or("an unknown processor", |(_, model)| model);
    let page = format!(
        "# How fast the simulator is\n\nWritten by `cargo xtask bench --write` on {cpu}; medians of {repeat} runs, ours and ns-2's in turn, one core,\nCPU time per delivered data packet, everything included that a run costs.\n\n{table}\n\
         Absolute figures are this machine's; the ratios are what carries over. Where the time goes and what each\nchoice of structure costs is in `docs/decisions/0002-whole-path-admission.md`.\n"
    );
    fs::write(root().join("docs/performance.md"), page)?;
    Ok(())
}
