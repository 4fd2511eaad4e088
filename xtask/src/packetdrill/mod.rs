//! packetdrill's scripts against the simulator's Linux: each says what a kernel does, packet by packet.
//!
//! The scripts are GPL and stay where they are: `MAXSEG_PACKETDRILL` names the folder, and this reads them there.

mod calls;
mod code;
mod compare;
mod host;
mod info;
mod known;
mod page;
mod pattern;
mod play;
mod read;
mod script;
mod settings;
mod verdict;

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::root;

pub use known::known;
pub use verdict::{NotRun, Verdict};

/// A script and what came of it.
#[derive(Debug)]
pub struct Judged {
    /// Its path in the folder.
    pub path: String,
    /// What it is about: the folder below `tcp` that it lies in.
    pub subject: String,
    /// What came of it.
    pub verdict: Verdict,
}

/// How many scripts passed, failed and were not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All that they ask for was met.
    pub passed: usize,
    /// Something was not.
    pub failed: usize,
    /// There is a reason not to play them.
    pub not_run: usize,
}

impl Tally {
    const fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.not_run += other.not_run;
    }
}

const FILE: &str = "docs/validation-packetdrill.md";

/// Plays every script below `MAXSEG_PACKETDRILL`, prints the scoreboard and writes its page.
///
/// # Errors
/// The folder holds no script, one cannot be read, or the page cannot be written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run() -> Result<()> {
    let Some(folder) = std::env::var_os("MAXSEG_PACKETDRILL") else {
        println!("skipped: MAXSEG_PACKETDRILL names no folder with packetdrill's scripts");
        return Ok(());
    };
    let judged = judge_all(Path::new(&folder))?;
    ensure!(!judged.is_empty(), "{} holds no script", folder.display());
    for script in &judged {
        if let Verdict::Failed(line, what) = &script.verdict {
            println!("{}:{line}: {what}", script.path);
        }
    }
    println!("{}", page::scoreboard(&judged));
    std::fs::write(root().join(FILE), page::page(&judged)).context(FILE)?;
    println!("wrote {FILE}");
    Ok(())
}

/// Judges the text of a script.
pub fn judge(text: &str) -> Verdict {
    match read::read(text) {
        Ok(script) => play::play(&script),
        Err(error) => Verdict::NotRun(NotRun::Rule(format!("{error:#}"))),
    }
}

/// Judges every script below a folder, in the order of their paths.
///
/// # Errors
/// One cannot be read.
pub fn judge_all(folder: &Path) -> Result<Vec<Judged>> {
    let mut paths = Vec::new();
    find(folder, &mut paths)?;
    paths.sort();
    let judged = paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path)?;
        let path = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        // Of the whole repository, or of its folder of scripts.
        let path =
            path.rsplit_once("gtests/net/").map_or(path.as_str(), |(_, below)| below).to_owned();
        let subject = subject_of(&path).to_owned();
        let verdict = match NotRun::of_subject(&subject) {
            Some(reason) => Verdict::NotRun(reason),
            None => judge(&text),
        };
        Ok(Judged { path, subject, verdict })
    });
    judged.collect()
}

/// The folder below `tcp`, or else the first.
fn subject_of(path: &str) -> &str {
    let below = path.split_once("tcp/").map_or(path, |(_, below)| below);
    below.split('/').next().unwrap_or_default()
}

fn find(folder: &Path, paths: &mut Vec<std::path::PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            paths.push(path);
        }
    }
    Ok(())
}
