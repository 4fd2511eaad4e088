//! The command: makes runs, or takes what was kept, explains their captures and publishes how often that is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::page::{Counted, page};
use super::run::{Point, Run, folder};
use super::score::{Accuracy, Half, score};
use super::{sample, say};
use crate::bench::{release_program, target};
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// How many runs of the lab
    #[arg(long, default_value_t = 240)]
    pub runs: u64,
    /// The number of the first of them
    #[arg(long, default_value_t = 0)]
    pub first: u64,
    /// Where their randomness begins
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many at once: more are quicker, and likelier to be invalid
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
    /// Keep captures and truth in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Run nothing: take what an earlier call kept in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "runs", "first", "seed"])]
    pub from: Option<PathBuf>,
    /// Only copy captures of the runs with these numbers, and their labels, to testdata/captures
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', requires = "from")]
    pub sample: Vec<u64>,
}

/// Runs or reads, explains, and writes the page.
///
/// # Errors
/// The lab cannot run here, or a file cannot be read or written; or fewer than nine in ten of the
/// scoring half are right.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &ExplainArgs) -> Result<()> {
    if let (Some(kept), false) = (&options.from, options.sample.is_empty()) {
        return sample::write(kept, &root().join("testdata/captures"), &options.sample);
    }
    let (runs, kept) = if let Some(kept) = &options.from {
        (read(kept)?, kept.clone())
    } else {
        let kept = options.keep.clone().unwrap_or_else(|| target().join("explain"));
        (make(options, &kept)?, kept)
    };
    let (command, counted) = (command(&runs), Counted::of(&runs));
    let scored = score(runs, &kept, say::of_capture)?;
    fs::write(root().join(FILE), page(&command, counted, &scored))?;
    println!("wrote {FILE}; {} runs, {counted:?}", scored.len());
    let mut short = Vec::new();
    for half in Half::ALL {
        for point in Point::ALL {
            let accuracy = Accuracy::of(&scored, half, point);
            let Accuracy { right, all } = accuracy;
            println!("{} half, at the {}: {right} of {all}", half.word(), point.word());
            if half == Half::Scoring && accuracy.share() < ASKED {
                short.push(format!("at the {} {right} of {all}", point.word()));
            }
        }
    }
    ensure!(
        short.is_empty(),
        "below {:.0}% of the scoring half: {}",
        100.0 * ASKED,
        short.join(", ")
    );
    Ok(())
}

const FILE: &str = "docs/validation-explain.md";
/// So often must `explain` be right, at each of the two points.
const ASKED: f64 = 0.9;

/// How to get the same page.
fn command(runs: &[Run]) -> String {
    let (seed, first) = runs.first().map_or((0, 0), |run| (run.seed, run.number));
    let count = runs.last().map_or(0, |run| run.number + 1 - first);
    let first = if first == 0 { String::new() } else { format!(" --first {first}") };
    format!("cargo xtask validate explain --runs {count}{first} --seed {seed}")
}

/// Every run that is kept in a folder, by number.
fn read(kept: &Path) -> Result<Vec<Run>> {
    let entries = fs::read_dir(kept).with_context(|| kept.display().to_string())?;
    let mut folders = entries
        .map(|entry| Ok(entry?.path()))
        .filter(|path| path.as_ref().map_or(true, |path| path.join("run.json").is_file()))
        .collect::<Result<Vec<PathBuf>>>()?;
    folders.sort();
    ensure!(!folders.is_empty(), "{} holds no runs", kept.display());
    folders.iter().map(|folder| Run::read(folder)).collect()
}

/// Makes all runs and says what each is.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn make(options: &ExplainArgs, kept: &Path) -> Result<Vec<Run>> {
    let program = release_program()?;
    let (next, done) = (AtomicU64::new(options.first), Mutex::new(Vec::new()));
    let one_after_the_other = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.first + options.runs {
                return Ok(());
            }
            let run = Run::make(&program, kept, options.seed, number)?;
            println!("{}", line(&run));
            done.lock().expect("no thread panics with it").push(run);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..options.jobs.max(1)).map(|_| scope.spawn(one_after_the_other)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut runs = done.into_inner().expect("no thread panics with it");
    runs.sort_by_key(|run| run.number);
    ensure!(folder(kept, options.first).is_dir(), "no run was asked for");
    Ok(runs)
}

fn line(run: &Run) -> String {
    let truth: Vec<&str> = run.truth.iter().map(|limit| limit.word()).collect();
    let validity = if run.invalid_because.is_empty() { "" } else { ", invalid" };
    format!("{:03} {:?}: {}{validity}", run.number, run.setup.aim, truth.join(" or "))
}
