//! The command: makes runs of the lab, or takes what was kept, simulates them and publishes both.

use std::fs;
use std::path::{Path as File, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::bars::Bar;
use super::compare::{Compared, Quantity};
use super::page::page;
use super::path::Path;
use super::run::LabRun;
use crate::draws::{DrawOptions, Half, until_done};
use crate::parallel::in_parallel;
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    /// How many paths there are, of which a half is run; with fewer no page is written to docs
    #[arg(long, default_value_t = PATHS)]
    pub paths: u64,
    /// Which half, how many runs at once, and where they go.
    #[command(flatten)]
    pub draws: DrawOptions,
    /// Run nothing in the lab: take what an earlier call kept in this folder, and simulate it anew
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "seed", "paths", "tuning"])]
    pub from: Option<PathBuf>,
}

const FILE: &str = "docs/validation-lab.md";
/// Paths in both halves.
const PATHS: u64 = 60;

/// Runs or reads, compares, and writes the page.
///
/// # Errors
/// The lab cannot run here, or a file cannot be read or written; or something that is asked is missed, after the page is
/// written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &LabArgs) -> Result<()> {
    let (half, kept, runs) = if let Some(kept) = &options.from {
        let runs = LabRun::all(kept)?;
        let first = runs.first().with_context(|| format!("{} has no runs", kept.display()))?;
        (Half::of(first.seed), kept.clone(), runs)
    } else {
        let half = options.draws.half()?;
        let kept = options.draws.folder("lab", &half);
        let runs = make(options, &half, &kept)?;
        (half, kept, runs)
    };
    let by_path: Vec<&[LabRun]> = runs.chunk_by(|a, b| a.path.number == b.path.number).collect();
    let by_path: Vec<&&[LabRun]> = by_path.iter().collect();
    let compared = in_parallel(&by_path, |runs| Compared::of(runs))?;
    let compared: Vec<Compared> = compared.into_iter().flatten().collect();
    compared.iter().for_each(say);
    let is_whole = by_path.len() as u64 == PATHS / 2;
    let file = if half.is_scored && is_whole { root().join(FILE) } else { kept.join("lab.md") };
    fs::write(&file, page(&half, &runs, &compared)).with_context(|| file.display().to_string())?;
    println!("wrote {}; {} paths compared of {}", file.display(), compared.len(), by_path.len());
    let bars = Bar::of(&compared);
    let missed: Vec<&str> = bars.iter().filter(|bar| !bar.holds()).map(|bar| bar.what).collect();
    ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}

/// The paths of a half: even numbers serve to find missing rules, odd ones are scored.
fn drawn(half: &Half, paths: u64) -> Vec<Path> {
    let first = u64::from(half.is_scored);
    (0..paths / 2).map(|position| Path::draw(half.seed, 2 * position + first)).collect()
}

/// Makes all runs of all paths, several at once.
fn make(options: &LabArgs, half: &Half, kept: &File) -> Result<Vec<LabRun>> {
    let program = options.draws.program()?;
    let paths = drawn(half, options.paths);
    let mut work: Vec<(&Path, u64)> =
        paths.iter().flat_map(|path| (0..path.runs()).map(move |run| (path, run))).collect();
    // Those that take longest come last: a call that is interrupted leaves most of them.
    work.sort_by(|a, b| a.0.time_s().total_cmp(&b.0.time_s()));
    let (begun, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let next = || work.get(begun.fetch_add(1, Ordering::Relaxed));
    until_done(options.draws.jobs, next, |(path, number)| {
        let run = LabRun::make(&program, kept, (half.seed, path, *number))?;
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        made.push(run);
        say_made(&made, work.len());
        Ok(())
    })?;
    let mut runs = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    runs.sort_by_key(|run| (run.path.number, run.run));
    Ok(runs)
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn say_made(made: &[LabRun], of: usize) {
    let Some(run) = made.last() else { return };
    let why = run.invalid_because.join("; ");
    let word = if why.is_empty() { "valid".to_owned() } else { format!("invalid: {why}") };
    let (path, number) = (run.path.number, run.run + 1);
    println!("{} of {of}: path {path}, run {number}, attempt {}: {word}", made.len(), run.attempts);
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn say(one: &Compared) {
    let words: Vec<String> = Quantity::ALL
        .into_iter()
        .filter_map(|of| Some(format!("{} {:+.1}%", of.word(), 100.0 * one.apart(of)?)))
        .collect();
    let beyond = if one.beyond().is_empty() { "" } else { " BEYOND" };
    let rule = one.rule.map_or(String::new(), |rule| format!(" ({})", rule.name));
    println!("path {}: {}{beyond}{rule}", one.path.number, words.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_no_path_in_common() {
        let numbers =
            |half: Half| -> Vec<u64> { drawn(&half, 60).iter().map(|path| path.number).collect() };
        let (tuning, scored) =
            (numbers(Half::asked(true, None, "HEAD").unwrap()), numbers(Half::of(12)));
        assert_eq!((tuning.len(), scored.len()), (30, 30));
        assert!(tuning.iter().all(|number| number % 2 == 0));
        assert!(scored.iter().all(|number| number % 2 == 1));
    }

    /// What the page says of the time that it takes.
    #[test]
    fn a_half_takes_half_an_hour_at_most() {
        for seed in 1..8 {
            let half = Half { seed, is_scored: true, commit: None };
            let seconds: f64 =
                drawn(&half, 60).iter().map(|path| path.runs() as f64 * path.time_s()).sum();
            assert!(seconds / 2.0 <= 30.0 * 60.0, "seed {seed}: {seconds:.0} s");
        }
    }
}
