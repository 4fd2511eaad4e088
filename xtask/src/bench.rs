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

/// What a run took, and what it did for it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    cpu_s: f64,
    /// Data packets whose payload was acknowledged: each simulator's own, for their draws differ.
    delivered: u64,
}

impl Cost {
    fn per_packet(self) -> f64 {
        self.cpu_s / self.delivered.max(1) as f64
    }
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
        "| case | delivered by ns-2 | by maxseg | ns-2 µs | maxseg µs | ratio |\n|---|---|---|---|---|---|\n",
    );
    let mut faults = Vec::new();
    for case in &CASES {
        let scenario = case.scenario()?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..repeat.max(1) {
            ours.push(measure_ours(&scenario)?);
            theirs.push(case.measure_ns2(&script.display().to_string())?);
        }
        let packets = |costs: &[Cost]| costs.first().map_or(0, |cost| cost.delivered);
        let (our_packets, their_packets) = (packets(&ours), packets(&theirs));
        let (ours, theirs) = (median(&ours), median(&theirs));
        let ratio = theirs / ours;
        let line = format!(
            "| {} (s={}, e={}%, {} s) | {their_packets} | {our_packets} | {:.3} | {:.4} | {ratio:.1} |",
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

    /// One run of ns-2, its start included, as everybody pays it.
    fn measure_ns2(&self, script: &str) -> Result<Cost> {
        let before = cpu_of_children()?;
        let output = Command::new("ns")
            .args([
                script,
                &format!("s={}", self.s),
                &format!("e={}", self.e),
                &format!("T={}", self.t_s),
                "head=1",
            ])
            .output()
            .context("ns-2 is not installed (apt-get install ns2)")?;
        ensure!(output.status.success(), "ns failed");
        let cpu_s = cpu_of_children()? - before;
        let goodput = column(&String::from_utf8_lossy(&output.stdout), "goodput_bps")?;
        // The script computes it from acknowledged segments, to two decimals.
        let delivered = goodput * f64::from(self.t_s) / 8.0 / f64::from(self.s);
        Ok(Cost { cpu_s, delivered: whole(delivered) })
    }
}

/// The value in a column of what ns-2 prints: a header and a row.
fn column(text: &str, name: &str) -> Result<f64> {
    let mut lines = text.lines().map(|line| line.split(','));
    let (mut header, mut row) =
        (lines.next().context("no header")?, lines.next().context("no row")?);
    let place = header.position(|column| column == name).with_context(|| format!("no {name}"))?;
    row.nth(place).and_then(|value| value.parse().ok()).with_context(|| format!("{name} in {text}"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of packets, far below 2^64"
)]
fn whole(count: f64) -> u64 {
    count.round() as u64
}

/// One run of ours. Short runs are repeated and divided.
fn measure_ours(scenario: &Scenario) -> Result<Cost> {
    let (mut runs, before) = (0_u32, cpu_of_self()?);
    loop {
        let outcome = Sim.run(scenario, &mut Unwatched)?;
        runs += 1;
        let spent = cpu_of_self()? - before;
        if spent > 0.05 {
            let mss = outcome.mss_used_bytes.unwrap_or(1).max(1);
            let delivered = outcome.payload_bytes.unwrap_or(0) / mss;
            return Ok(Cost { cpu_s: spent / f64::from(runs), delivered });
        }
    }
}

/// The median of the costs per packet.
fn median(costs: &[Cost]) -> f64 {
    let mut each: Vec<f64> = costs.iter().map(|cost| cost.per_packet()).collect();
    each.sort_by(f64::total_cmp);
    each[each.len() / 2]
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
    fs::write(root().join("docs/performance.md"), page(table, repeat))?;
    Ok(())
}

fn page(table: &str, repeat: usize) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "# How fast the simulator is\n\n\
         Written by\n\n```\ncargo xtask bench --write --repeat {repeat}\n```\n\n\
         on {cpu} ({system} {architecture}). CPU time for each data packet that was delivered, by each simulator's\n\
         own count; medians of {repeat} runs, ours and ns-2's in turn, on one core, everything included that a run\n\
         costs. The ratio is ns-2's time over ours.\n\n{table}\n\
         Absolute figures are this machine's; the ratios are what carries over. Where the time goes and what each\n\
         choice of structure costs is in `docs/decisions/0002-whole-path-admission.md`.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_divided_by_its_own_packets() {
        let cost = |cpu_s, delivered| Cost { cpu_s, delivered };
        let costs = [cost(3.0, 10), cost(1.0, 10), cost(4.0, 20)];
        assert!((median(&costs) - 0.2).abs() < 1e-12);
        assert!((cost(1.0, 0).per_packet() - 1.0).abs() < 1e-12, "nothing is not divided by");
        let printed = "tcp,s,goodput_bps,retransmits\nReno,536,1590000.25,7\n";
        assert!((column(printed, "goodput_bps").unwrap() - 1_590_000.25).abs() < 1e-9);
        assert!(column(printed, "delay").is_err() && column("", "goodput_bps").is_err());
    }

    #[test]
    fn the_page_says_how_it_was_made() {
        let page = page("| a table |\n", 7);
        for wanted in
            ["cargo xtask bench --write --repeat 7", "| a table |", std::env::consts::ARCH]
        {
            assert!(page.contains(wanted), "{page}");
        }
    }
}
