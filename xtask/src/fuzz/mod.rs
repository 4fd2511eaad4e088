//! Looking for bytes that break a decoder, on stable Rust: mutations of a corpus, in an order that a seed
//! fixes. `docs/fuzzing.md` says how fuzzers that watch branches go further.

mod mutate;
mod watchdog;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use maxseg_wire::fuzz::{self, Target};

pub use mutate::Mutator;
use watchdog::Watchdog;

use crate::root;

/// Every target: decoders, and what reads documents.
pub fn targets() -> impl Iterator<Item = &'static Target> + Clone {
    #[cfg(feature = "lab")]
    let of_documents = maxseg_workbench::fuzz::TARGETS;
    #[cfg(not(feature = "lab"))]
    let of_documents: &[Target] = &[];
    fuzz::TARGETS.iter().chain(of_documents)
}

/// The corpus of a target, in the order of its files' names.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn corpus(target: &Target) -> Result<Vec<Vec<u8>>> {
    let folder = folder().join("corpus").join(target.name);
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    ensure!(!files.is_empty(), "{} is empty", folder.display());
    let read = |file: &PathBuf| fs::read(file).with_context(|| file.display().to_string());
    files.iter().map(read).collect()
}

/// Where the corpora, and the programs for cargo-fuzz, are.
pub fn folder() -> PathBuf {
    root().join("fuzz")
}

/// A run that takes longer, three times one after the other, is a finding: decoders take microseconds, but
/// other programs may keep the processor from them.
const TOO_LONG: Duration = Duration::from_secs(2);

/// A run that takes longer may never end.
const HANGS: Duration = Duration::from_secs(20);

/// Runs one target, or all of them, so many seconds each. An input on which one hangs is written down, and the
/// program ends there.
///
/// # Errors
/// There is no such target, or an input broke one; the input is written down.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(name: Option<&str>, seconds: u64, seed: u64) -> Result<()> {
    let chosen: Vec<&'static Target> =
        targets().filter(|target| name.is_none_or(|name| name == target.name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = targets().map(|target| target.name).collect();
        bail!("no target is called {}; there are {}", name.unwrap_or(""), names.join(", "));
    }
    for target in chosen {
        let inputs = fuzz(target, Duration::from_secs(seconds), seed)?;
        println!("{}: {inputs} inputs, nothing found", target.name);
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "the last words of a program that hangs")]
fn fuzz(target: &'static Target, time: Duration, seed: u64) -> Result<u64> {
    let corpus = corpus(target)?;
    let mut mutator = Mutator::new(seed, target.name, &corpus);
    let watchdog = Watchdog::begin(HANGS, |input| {
        // Nothing but the end of the program stops it.
        match keep(target, "hangs", input) {
            Ok(found) | Err(found) => eprintln!("error: {found:#}"),
        }
        std::process::exit(1);
    });
    let begun = Instant::now();
    let mut inputs = 0;
    for input in corpus.clone() {
        attempt(target, input, &watchdog)?;
    }
    while begun.elapsed() < time {
        attempt(target, mutator.next_input(), &watchdog)?;
        inputs += 1;
    }
    Ok(inputs)
}

fn attempt(target: &Target, input: Vec<u8>, watchdog: &Watchdog) -> Result<()> {
    let input = Arc::new(input);
    let run = || {
        let _watched = watchdog.watch(&input);
        panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err()
    };
    let is_slow = || {
        let begun = Instant::now();
        run();
        begun.elapsed() > TOO_LONG
    };
    let begun = Instant::now();
    let fault = if run() {
        "panics"
    } else if begun.elapsed() > TOO_LONG && is_slow() && is_slow() {
        "takes too long"
    } else {
        return Ok(());
    };
    Err(keep(target, fault, &input)?)
}

/// Writes down an input that breaks a target; what it does, as the error that it is.
fn keep(target: &Target, fault: &str, input: &[u8]) -> Result<Error> {
    let found = folder().join("artifacts").join(target.name);
    fs::create_dir_all(&found)?;
    let file = found.join(format!("{:016x}", mutate::digest(input)));
    fs::write(&file, input)?;
    let shown = file.strip_prefix(root()).unwrap_or(Path::new(&file)).display().to_string();
    Ok(anyhow!("{} {fault} on {shown} ({} bytes)", target.name, input.len()))
}
