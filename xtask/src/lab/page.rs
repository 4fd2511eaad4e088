//! docs/validation-lab.md: every path, the simulator beside the kernel.

use std::fmt::Write as _;

use super::bars::Bar;
use super::compare::{Compared, Quantity};
use super::figures::Figures;
use super::ranges;
use super::run::LabRun;
use super::valid;
use super::words::parameters;
use crate::draws::{Application, Half};

const INTRODUCTION: &str = "\
The simulator's `stack = \"linux\"` is Linux 6.12 by its sources. Here it runs beside the TCP of this machine's kernel in the lab: \
the same scenario, the same seeds, the same links' code, the same packet numbers lost by chance. Both hosts' congestion control is \
set per socket; SACK, timestamps and window scaling are on, as the kernel has them. Receive and send buffers are the kernel's \
(`tcp_rmem`, `tcp_wmem`) in both, and each grows by its own rules. The lab's program goes before all others of the machine (`SCHED_FIFO`) where \
the user may.

**Compared** are means over the runs of a path: three with random losses, BBR or three flows, in which seeds decide, and of short \
transfers, else one. Goodput is payload over time; the round trip is the sender's smoothed one, every 20 ms; shares of three flows \
are sorted in each run. A path is beyond tolerance by its own numbers; then the simulator runs it again without one of the kernel's \
rules at a time, and the rule is named if it is the only one without which all numbers are within: there this kernel does \
otherwise, or acts upon something that the simulator has not. One edge of a rule is looked for as well. Else the reason is not known.";

/// The page of these runs, and of the paths that are compared.
pub(super) fn page(half: &Half, runs: &[LabRun], compared: &[Compared]) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows the version is whose build it is.
    let kernel = release.trim().split('-').next().unwrap_or_default();
    let mut text = "# The simulator's Linux against this kernel\n\n".to_owned();
    let _ = write!(
        text,
        "Written by `cargo xtask validate lab` on {cpu}, {cores} cores, Linux {}. The seed is {}; `--seed {}` draws the same \
         paths again, `--from DIR` compares runs that are kept, and `--tuning` draws the half that serves to find missing \
         rules, whose seed is another.\n\n{INTRODUCTION}\n\n{}\n\n{}\n\n",
        kernel,
        half.drawn(),
        half.seed,
        ranges::in_words(),
        valid::RULES
    );
    bars(&mut text, runs, compared);
    beyond(&mut text, compared);
    invalid(&mut text, runs);
    few_losses(&mut text, compared);
    every(&mut text, compared);
    text
}

fn bars(text: &mut String, runs: &[LabRun], compared: &[Compared]) {
    text.push_str(
        "## What is asked\n\n| | paths | median difference | asked | within | tolerance | asked | |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for bar in Bar::of(compared) {
        let median = |of: fn(&(f64, f64)) -> f64| {
            bar.median.as_ref().map_or_else(|| "–".to_owned(), |both| percent(of(both)))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {:.0}% | {} |",
            bar.what,
            bar.paths,
            median(|both| both.0),
            median(|both| both.1),
            bar.within.0,
            bar.tolerance,
            100.0 * bar.within.1,
            if bar.holds() { "reached" } else { "**missed**" }
        );
    }
    let mut drawn: Vec<u64> = runs.iter().map(|run| run.path.number).collect();
    drawn.dedup();
    let partial = compared.iter().filter(|one| (0.05..=0.85).contains(&one.line_share())).count();
    let _ = writeln!(
        text,
        "\n{} of {} paths are compared; in {partial} of them the kernel's goodput is between 5% and 85% of the line.\n",
        compared.len(),
        drawn.len()
    );
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Paths beyond a tolerance, and why as far as that is known.
fn beyond(text: &mut String, compared: &[Compared]) {
    text.push_str(
        "## Beyond tolerance\n\n| path | parameters | what | rule of the kernel |\n|---|---|---|---|\n",
    );
    let mut count = 0;
    for one in compared {
        let beyond = one.beyond();
        if beyond.is_empty() {
            continue;
        }
        count += 1;
        let what: Vec<String> = beyond
            .into_iter()
            .map(|quantity| format!("{} {}", quantity.word(), apart(one, quantity)))
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            one.path.number,
            parameters(&one.path),
            what.join(", "),
            one.reason()
        );
    }
    if count == 0 {
        text.push_str("\nNone.\n");
    }
    text.push('\n');
}

/// With its sign; shares in points.
fn apart(one: &Compared, quantity: Quantity) -> String {
    let unit = if quantity == Quantity::Shares { " points" } else { "%" };
    let format = |apart: f64| format!("{:+.1}{unit}", 100.0 * apart);
    one.apart(quantity).map_or_else(|| "–".to_owned(), format)
}

/// Paths that are not compared, by name: none is replaced.
fn invalid(text: &mut String, runs: &[LabRun]) {
    let mut lines = Vec::new();
    for run in runs.iter().filter(|run| !run.invalid_because.is_empty()) {
        lines.push(format!(
            "| {} | {} | {} | {} |\n",
            run.path.number,
            parameters(&run.path),
            run.run + 1,
            run.invalid_because.join("; ")
        ));
    }
    text.push_str("## Invalid three times\n\n");
    if lines.is_empty() {
        text.push_str("None.\n\n");
        return;
    }
    text.push_str("| path | parameters | run | why |\n|---|---|---|---|\n");
    text.extend(lines);
    text.push('\n');
}

/// A run is no longer than it is.
fn few_losses(text: &mut String, compared: &[Compared]) {
    let lossy: Vec<&Compared> = compared.iter().filter(|one| one.is_lossy()).collect();
    let few: Vec<String> = lossy
        .iter()
        .filter(|one| one.lost < ranges::LOSSES)
        .map(|one| format!("{} ({:.0})", one.path.number, one.lost))
        .collect();
    let _ = writeln!(
        text,
        "## Losses\n\nOf {} paths with random losses {} lost fewer than {} packets in the mean run, for no run lasts more than \
         {:.0} s: {}.\n",
        lossy.len(),
        few.len(),
        ranges::LOSSES,
        ranges::LOSSY_SECONDS.end,
        if few.is_empty() { "none".to_owned() } else { few.join(", ") }
    );
}

fn every(text: &mut String, compared: &[Compared]) {
    text.push_str(
        "## Every path\n\nGoodput in Mbit/s, round trips in ms; the simulator's, the kernel's, and the difference.\n\n\
         | path | drawn for | parameters | runs, s | goodput | kernel's | | of the line | round trip | kernel's | | \
         retransmitted | kernel's | | shares | kernel's | |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for one in compared {
        let (sim, lab) = (Figures::mean(&one.sim), Figures::mean(&one.lab));
        let cell = |quantity: Quantity| {
            let apart = apart(one, quantity);
            if one.is_within(quantity) == Some(false) { format!("**{apart}**") } else { apart }
        };
        let time = match one.path.load {
            Application::Bytes(_) => "–".to_owned(),
            Application::Bulk | Application::Requests { .. } => format!("{:.0}", one.path.seconds),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {}, {time} | {:.3} | {:.3} | {} | {:.0}% | {:.1} | {:.1} | {} | {:.0} | {:.0} | {} | {} | {} | {} |",
            one.path.number,
            one.path.kind.word(),
            parameters(&one.path),
            one.lab.len(),
            sim.goodput_bps / 1e6,
            lab.goodput_bps / 1e6,
            cell(Quantity::Goodput),
            100.0 * one.line_share(),
            1e3 * sim.round_trip_s,
            1e3 * lab.round_trip_s,
            cell(Quantity::RoundTrip),
            sim.retransmitted,
            lab.retransmitted,
            cell(Quantity::Retransmissions),
            shares(&sim),
            shares(&lab),
            cell(Quantity::Shares),
        );
    }
}

fn shares(figures: &Figures) -> String {
    let shares: Vec<String> =
        figures.shares.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
    if shares.is_empty() { "–".to_owned() } else { shares.join(" ") }
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::{LabProof, Outcome};

    use super::super::compare::tests::compared;
    use super::*;

    #[test]
    fn the_page_names_what_is_beyond_and_what_is_invalid() {
        let compared = [compared(&[5e6], &[5.05e6], false), compared(&[2e6; 3], &[3e6; 3], true)];
        let proof = LabProof { invalid_because: vec!["late".to_owned()], ..LabProof::default() };
        let run = LabRun {
            seed: 7,
            path: compared[0].path.clone(),
            scenario: String::new(),
            run: 0,
            attempts: 3,
            invalid_because: proof.invalid_because.clone(),
            outcome: Outcome { lab: Some(Box::new(proof)), ..Outcome::default() },
        };
        let page = page(&Half::of(7), &[run], &compared);
        assert!(
            page.contains("| goodput, loss-free | 1 | 1.0% | 3.0% | 1 | 8% | 90% | reached |"),
            "{page}"
        );
        let (_, beyond) = page.split_once("## Beyond tolerance").unwrap();
        let (beyond, _) = beyond.split_once("## Invalid").unwrap();
        assert!(beyond.contains("goodput +50.0% | not known |"), "{page}");
        assert_eq!(beyond.matches("Mbit/s").count(), 1);
        assert!(page.contains("| 1 | late |") && page.contains("2 of 1 paths are compared"));
    }
}
