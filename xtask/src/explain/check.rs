//! The command: makes runs, or takes what was kept, explains their captures and publishes how often that is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::{Run, folder};
use crate::bench::{release_program, target};

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct Options {
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
}

/// Runs or reads.
///
/// # Errors
/// The lab cannot run here, or a file cannot be read or written.
pub fn run(options: &Options) -> Result<()> {
    let (runs, kept) = match &options.from {
        Some(kept) => (read(kept)?, kept.clone()),
        None => {
            let kept = options.keep.clone().unwrap_or_else(|| target().join("explain"));
            (make(options, &kept)?, kept)
        }
    };
    let _ = (runs, kept);
    Ok(())
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
fn make(options: &Options, kept: &Path) -> Result<Vec<Run>> {
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
