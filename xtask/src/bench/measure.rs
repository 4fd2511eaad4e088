//! CPU time of runs, ours and ns-2's.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

use super::cases::{Ns2Run, Script};
use crate::root;

/// What a run took, and what it did for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) cpu_s: f64,
    /// Data packets whose payload was acknowledged: each simulator's own, for their draws differ.
    pub(super) delivered: u64,
}

impl Cost {
    /// CPU seconds for each packet.
    pub(super) fn per_packet(&self) -> f64 {
        self.cpu_s / self.delivered.max(1) as f64
    }
}

/// The median of what `of` says of each.
pub(super) fn median(costs: &[Cost], of: fn(&Cost) -> f64) -> f64 {
    median_of(&costs.iter().map(of).collect::<Vec<_>>())
}

/// The median.
pub(super) fn median_of(numbers: &[f64]) -> f64 {
    let mut each = numbers.to_vec();
    each.sort_by(f64::total_cmp);
    each[each.len() / 2]
}

/// One run of ours, in a process of its own.
pub(super) fn ours(case: usize) -> Result<Cost> {
    let output =
        Command::new(std::env::current_exe()?).args(["bench-once", &case.to_string()]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    let (cpu_s, delivered) = printed.trim().split_once(' ').context("two numbers")?;
    Ok(Cost { cpu_s: cpu_s.parse()?, delivered: delivered.parse()? })
}

/// One run in this process. Short runs are repeated until they take as long as one of ns-2, and divided.
pub(super) fn here(scenario: &Scenario) -> Result<Cost> {
    let (mut runs, before) = (0_u32, cpu_of_self()?);
    loop {
        let outcome = Sim.run(scenario, &mut Unwatched)?;
        runs += 1;
        let spent = cpu_of_self()? - before;
        if spent > 0.3 {
            let mss = outcome.mss_used_bytes.unwrap_or(1).max(1);
            let delivered = outcome.payload_bytes.unwrap_or(0) / mss;
            return Ok(Cost { cpu_s: spent / f64::from(runs), delivered });
        }
    }
}

/// CPU seconds of a command that succeeds.
pub(super) fn cpu_of(command: &mut Command) -> Result<f64> {
    let before = cpu_of_children()?;
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(cpu_of_children()? - before)
}

/// One run of ns-2, its start included, as everybody pays it.
pub(super) fn ns2(run: &Ns2Run) -> Result<Cost> {
    let script = root().join(match run.script {
        Script::Cellular { .. } => "testdata/ns2/tcp.tcl",
        Script::Flows => "xtask/src/bench/flows.tcl",
    });
    let before = cpu_of_children()?;
    let output = Command::new("ns")
        .arg(script)
        .args(&run.arguments)
        .output()
        .context("ns-2 is not installed (apt-get install ns2)")?;
    ensure!(output.status.success(), "ns failed: {}", String::from_utf8_lossy(&output.stderr));
    let cpu_s = cpu_of_children()? - before;
    let printed = String::from_utf8_lossy(&output.stdout);
    let delivered = match run.script {
        // The script computes goodput from acknowledged segments, to two decimals.
        Script::Cellular { s, t_s } => {
            column(&printed, "goodput_bps")? * f64::from(t_s) / 8.0 / f64::from(s)
        }
        Script::Flows => printed.trim().parse().with_context(|| format!("ns printed {printed}"))?,
    };
    Ok(Cost { cpu_s, delivered: whole(delivered) })
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

#[cfg(unix)]
fn usage(who: nix::sys::resource::UsageWho) -> Result<(f64, i64)> {
    let usage = nix::sys::resource::getrusage(who)?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok((seconds(usage.user_time()) + seconds(usage.system_time()), usage.max_rss()))
}

#[cfg(unix)]
fn cpu_of_self() -> Result<f64> {
    Ok(usage(nix::sys::resource::UsageWho::RUSAGE_SELF)?.0)
}

/// CPU seconds of every child that has ended.
#[cfg(unix)]
pub(super) fn cpu_of_children() -> Result<f64> {
    Ok(usage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?.0)
}

/// The largest memory of any child that has ended, in MiB.
#[cfg(unix)]
pub(super) fn peak_memory_of_children() -> Result<f64> {
    Ok(usage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?.1 as f64 / 1024.0)
}

#[cfg(not(unix))]
fn cpu_of_self() -> Result<f64> {
    anyhow::bail!("CPU time is measured on Unix only")
}

#[cfg(not(unix))]
pub(super) fn cpu_of_children() -> Result<f64> {
    anyhow::bail!("CPU time is measured on Unix only")
}

#[cfg(not(unix))]
pub(super) fn peak_memory_of_children() -> Result<f64> {
    anyhow::bail!("memory is measured on Unix only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_divided_by_its_own_packets() {
        let cost = |cpu_s, delivered| Cost { cpu_s, delivered };
        let costs = [cost(3.0, 10), cost(1.0, 10), cost(4.0, 20)];
        assert!((median(&costs, Cost::per_packet) - 0.2).abs() < 1e-12);
        assert!((median(&costs, |cost| cost.cpu_s) - 3.0).abs() < 1e-12);
        assert!((cost(1.0, 0).per_packet() - 1.0).abs() < 1e-12, "nothing is not divided by");
        let printed = "tcp,s,goodput_bps,retransmits\nReno,536,1590000.25,7\n";
        assert!((column(printed, "goodput_bps").unwrap() - 1_590_000.25).abs() < 1e-9);
        assert!(column(printed, "delay").is_err() && column("", "goodput_bps").is_err());
    }
}
