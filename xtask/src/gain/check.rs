//! The command: makes runs, or takes what was kept, and publishes what the advice gained beside what was predicted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::limit::Limit;
use super::page::page;
use super::run::Run;
use super::score::{LEAST_INSIDE, LEAST_NUMBERS, MOST_ERROR, MOST_WIDTH, Scored, Tally};
use crate::draws::{Congestion, DrawOptions, Half, until_done};
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct GainArgs {
    /// How many runs of each limit with each congestion control
    #[arg(long, default_value_t = LEAST_RUNS)]
    pub runs: u64,
    /// Only this limit, which may be given several times; then no page is written
    #[arg(long, value_name = "NAME")]
    pub limit: Vec<Limit>,
    /// Which half, how many runs at once, and where they go.
    #[command(flatten)]
    pub draws: DrawOptions,
    /// Run nothing: take what an earlier call kept in this folder, explained anew
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "seed", "runs"])]
    pub from: Option<PathBuf>,
}

const FILE: &str = "docs/validation-gain.md";
/// So many runs of each limit and congestion control are asked for; fewer write no page.
const LEAST_RUNS: u64 = 5;

/// Runs or reads, scores, and writes the page.
///
/// # Errors
/// The lab cannot run here, or a file cannot be read or written; or a bar is missed, after the page is written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &GainArgs) -> Result<()> {
    let limits = if options.limit.is_empty() { Limit::ALL.to_vec() } else { options.limit.clone() };
    let (half, kept, runs) = if let Some(kept) = &options.from {
        let runs = read(kept)?;
        let first = runs.first().with_context(|| format!("{} holds no runs", kept.display()))?;
        (Half::of(first.seed), kept.clone(), runs)
    } else {
        let half = options.draws.half()?;
        let kept = options.draws.folder("gain", &half);
        let runs = make(options, &limits, half.seed, &kept)?;
        (half, kept, runs)
    };
    let valid: Vec<&Run> = runs.iter().filter(|run| run.invalid_because.is_empty()).collect();
    let scored: Vec<Scored<'_>> = valid.into_iter().map(Scored::of).collect();
    // The bars are for all limits and congestion controls in equal shares, five runs of each.
    let is_whole =
        runs.len() as u64 >= LEAST_RUNS * (Limit::ALL.len() * Congestion::ALL.len()) as u64;
    let file = if half.is_scored && is_whole { root().join(FILE) } else { kept.join("gain.md") };
    fs::write(&file, page(&half, &runs, &scored)).with_context(|| file.display().to_string())?;
    println!("wrote {}; {} runs scored of {}", file.display(), scored.len(), runs.len());
    let short = missed(&scored);
    ensure!(short.is_empty(), "missed: {}", short.join("; "));
    Ok(())
}

/// Every run that is kept, explained anew.
fn read(kept: &Path) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for limit in Limit::ALL {
        let Ok(entries) = fs::read_dir(kept.join(limit.word())) else { continue };
        let mut folders: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        folders.retain(|folder| folder.join("run.json").is_file());
        folders.sort();
        for folder in folders {
            runs.push(Run::read(&folder)?.explained_anew(&folder)?);
        }
    }
    Ok(runs)
}

fn make(options: &GainArgs, limits: &[Limit], seed: u64, kept: &Path) -> Result<Vec<Run>> {
    // Limits and algorithms in turn, so that an interrupted call leaves equal shares.
    let each = move |number| {
        limits.iter().flat_map(move |limit| Congestion::ALL.map(|it| (*limit, it, number)))
    };
    let wanted: Vec<(Limit, Congestion, u64)> = (0..options.runs).flat_map(each).collect();
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(Vec::new());
    let done = AtomicUsize::new(0);
    until_done(
        options.draws.jobs,
        || wanted.get(next.fetch_add(1, Ordering::Relaxed)).copied(),
        |(limit, congestion, number)| {
            let run = Run::make(kept, limit, congestion, seed, number)?;
            say_line(&run, done.fetch_add(1, Ordering::Relaxed) + 1);
            runs.lock().unwrap_or_else(PoisonError::into_inner).push(run);
            Ok(())
        },
    )?;
    let mut runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
    runs.sort_by_key(|run| (run.draw.limit, run.draw.congestion.word(), run.number));
    Ok(runs)
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn say_line(run: &Run, done: usize) {
    let advice = &run.advice;
    let mega = |bps: f64| bps / 1e6;
    let predicted = advice.gain.map_or_else(
        || advice.no_gain.clone().unwrap_or_default(),
        |gain| {
            let (low, high) = (mega(gain.low_bps), mega(gain.high_bps));
            let bound = if gain.is_bound { "at least " } else { "" };
            format!("{bound}{:.2} ({low:.2} to {high:.2})", mega(gain.expected_bps))
        },
    );
    let after = run.after.as_ref().map_or(0.0, |after| mega(after.goodput_bps));
    let lifted = run.lifted.as_ref().map_or(0.0, |lifted| mega(lifted.goodput_bps));
    let failed = run.after.as_ref().and_then(|after| after.failed.clone()).unwrap_or_default();
    println!(
        "{done}: {} {}: {}; {:.2} now, predicted {predicted}, {after:.2} after, {lifted:.2} lifted {failed} {}",
        run.draw.limit.word(),
        run.draw.words(),
        advice.limited_by,
        mega(advice.observed_bps),
        run.invalid_because.join(", ")
    );
}

/// The bars that are missed, in words; prints what there is.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn missed(scored: &[Scored<'_>]) -> Vec<String> {
    for limit in Limit::ALL {
        let tally = Tally::of(scored.iter().filter(|one| one.run.draw.limit == limit));
        println!("{}: {tally:?}", limit.word());
    }
    let tally = Tally::of(scored.iter());
    println!("all: {tally:?}");
    let mut short = Vec::new();
    if tally.share_of_numbers() < LEAST_NUMBERS {
        short.push(format!("a gain in {} of {}", tally.numbers, tally.gainable));
    }
    if tally.share_inside() < LEAST_INSIDE {
        short.push(format!("{} of {} inside", tally.inside, tally.promised));
    }
    if tally.median_half_width.is_none_or(|width| width > MOST_WIDTH) {
        short.push(format!("median half width {:?}", tally.median_half_width));
    }
    if tally.median_error.is_none_or(|error| error > MOST_ERROR) {
        short.push(format!("median error {:?}", tally.median_error));
    }
    if tally.false_promises > 0 {
        short.push(format!("{} false promises", tally.false_promises));
    }
    short
}
