//! The command.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use clap::Args;
use maxseg_core::advise::Goal;

use super::draw::{Drawn, Kind};
use super::kept::kept;
use super::page::page;
use super::proof::Proof;
use super::results::Results;
use super::score::{Beside, Scored};
use crate::draws::{DrawOptions, until_done};
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct AdviseArgs {
    /// Paths that are compared with a sweep
    #[arg(long, default_value_t = 40)]
    pub paths: u64,
    /// Paths that are compared with leaving them alone
    #[arg(long, default_value_t = 200)]
    pub beside: u64,
    /// Paths that the lab runs too
    #[arg(long, default_value_t = 8)]
    pub lab: u64,
    /// Only paths of this kind, such as framed, for which nothing is written to the documents
    #[arg(long)]
    pub only: Option<String>,
    /// Which half, how many at once, and where they go.
    #[command(flatten)]
    pub draws: DrawOptions,
}

const FILE: &str = "docs/validation-advise.md";

/// Draws, runs, scores, and writes the page.
///
/// # Errors
/// A path cannot be run, or a file cannot be written; or a bar is missed, after the page is written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &AdviseArgs) -> Result<()> {
    let half = options.draws.half()?;
    let folder = options.draws.folder("advise", &half);
    fs::create_dir_all(&folder)?;
    let jobs = options.draws.jobs;
    let numbers = |count: u64| -> Vec<u64> {
        let is_wanted = |number: &u64| {
            options.only.as_ref().is_none_or(|only| Kind::of(*number).word() == only)
        };
        (0..count).filter(is_wanted).collect()
    };
    let scored = each(jobs, &numbers(options.paths), |number| {
        let drawn = Drawn::draw("sweep", half.seed, number);
        let scored = kept(&folder, "sweep", &drawn, || Scored::of(drawn.clone()))?;
        println!(
            "{number:>3} {}: goodput {:.1}%, round trip x{:.2}{}",
            scored.drawn.words,
            100.0 * scored.rate.value,
            scored.ping.value,
            if scored.misses().is_empty() {
                String::new()
            } else {
                format!("  MISSED: {}", scored.misses().join("; "))
            }
        );
        Ok(scored)
    })?;
    let beside = each(jobs, &numbers(options.beside), |number| {
        let goal = [Goal::Throughput, Goal::Latency, Goal::Balanced]
            [usize::try_from(number % 3).unwrap_or(0)];
        let drawn = Drawn::draw("beside", half.seed, number);
        let beside = kept(&folder, "beside", &drawn, || Beside::of(drawn.clone(), goal))?;
        if beside.is_worse() {
            println!(
                "{number:>3} {}: worse, {:.3} by {}: {}",
                beside.drawn.words,
                beside.ratio,
                beside.judged_by.word(),
                beside.words
            );
        }
        Ok(beside)
    })?;
    let mut proofs = Vec::new();
    if options.lab > 0 {
        let program: PathBuf = options.draws.program()?;
        for scored in scored.iter().take(usize::try_from(options.lab)?) {
            let work = || Proof::of(scored, &program, &folder);
            let proof = kept(&folder, "lab", &scored.drawn, work)?;
            println!("{} in the lab: {:?} {}", proof.name, proof.rates, proof.why);
            proofs.push(proof);
        }
    }
    let results = Results { scored, beside, proofs };
    let is_whole = options.paths >= 40 && options.beside >= 200 && options.only.is_none();
    let file =
        if half.is_scored && is_whole { root().join(FILE) } else { folder.join("advise.md") };
    fs::write(&file, page(&half, &results)).with_context(|| file.display().to_string())?;
    let misses = results.misses();
    println!("wrote {}; {} missed", file.display(), misses.len());
    ensure!(misses.is_empty(), "missed: {}", misses.join("; "));
    Ok(())
}

/// Does `work` for each number, results in the order of the numbers.
fn each<T: Send>(
    jobs: usize,
    numbers: &[u64],
    work: impl Fn(u64) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(u64, T)>> = Mutex::new(Vec::new());
    until_done(
        jobs,
        || numbers.get(next.fetch_add(1, Ordering::Relaxed)).copied(),
        |number| {
            let result = work(number).with_context(|| format!("path {number}"))?;
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
            Ok(())
        },
    )?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
