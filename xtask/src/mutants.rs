//! Do the tests hold? `cargo mutants` on a sample of the core's mutants, each built and tested alone.
//!
//! A mutant is a change to one expression (`<` for `<=`, a function that returns 0); one that no test notices
//! survives, and is a gap in the tests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use maxseg_core::rng::Stream;
use serde::Deserialize;

use crate::root;
use crate::test::succeed;

/// The folders of the core that are sampled, in equal parts.
const FOLDERS: [&str; 4] = ["link", "tcp/sender", "errors", "diagnose"];

/// What to sample, and where to leave what came of it.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// How many mutants, in equal parts of every folder
    #[arg(long, default_value_t = 150)]
    sample: usize,
    /// Another seed draws other mutants
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder below crates/maxseg-core/src; may be repeated [default: link, tcp/sender, errors, diagnose]
    #[arg(long = "folder")]
    folders: Vec<String>,
    /// Print the sample and test nothing
    #[arg(long)]
    list: bool,
    /// Change this working copy in place, which saves a build; nobody may edit it meanwhile
    #[arg(long)]
    in_place: bool,
    /// The folder for mutants.out
    #[arg(long, default_value = "target")]
    output: PathBuf,
}

/// A mutant as `cargo mutants --list --json` names it: `FILE:LINE:COLUMN: WHAT`.
#[derive(Debug, Deserialize)]
struct Mutant {
    name: String,
    file: String,
}

impl Mutant {
    /// Its name without its line and column: what it is drawn by, so that edits elsewhere in the file leave the
    /// sample as it is.
    fn key(&self) -> String {
        let place = self.name.strip_prefix(&self.file).unwrap_or(&self.name);
        let what = place.splitn(4, ':').nth(3).unwrap_or(place);
        format!("{}:{what}", self.file)
    }
}

/// Draws the sample and tests it with the core's own tests; a mutant whose tests do not end counts as caught.
///
/// # Errors
/// `cargo-mutants` is missing or fails; mutants survive.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &Options) -> Result<()> {
    let folders: Vec<&str> = match options.folders.as_slice() {
        [] => FOLDERS.to_vec(),
        folders => folders.iter().map(String::as_str).collect(),
    };
    let mut names = Vec::new();
    for (index, folder) in folders.iter().enumerate() {
        let mutants = mutants_of(folder)?;
        let part =
            options.sample / folders.len() + usize::from(index < options.sample % folders.len());
        println!("{folder}: {part} of {} mutants, seed {}", mutants.len(), options.seed);
        names.extend(sample(mutants, part, options.seed));
    }
    if options.list {
        names.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let mut command = Command::new("cargo");
    command.args(["mutants", "--no-config", "--package", "maxseg-core", "--profile", "mutants"]);
    command.args(["--no-shuffle", "--colors", "never", "--output"]).arg(&options.output);
    if options.in_place {
        command.arg("--in-place");
    }
    for name in &names {
        command.arg("--re").arg(format!("^{}$", escaped(name)));
    }
    succeed(&mut command)
}

/// Every mutant of a folder of the core.
fn mutants_of(folder: &str) -> Result<Vec<Mutant>> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--no-config", "--list", "--json", "--package", "maxseg-core"]);
    command.arg("--file").arg(format!("crates/maxseg-core/src/{folder}/**"));
    let output = command.current_dir(root()).output().context("cargo")?;
    ensure!(
        output.status.success(),
        "`cargo mutants` failed (`cargo install --locked cargo-mutants` installs it): {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mutants: Vec<Mutant> = serde_json::from_slice(&output.stdout)?;
    ensure!(!mutants.is_empty(), "there are no mutants in {folder}");
    Ok(mutants)
}

/// The names of `part` mutants: those whose hashes under `seed` are least.
fn sample(mutants: Vec<Mutant>, part: usize, seed: u64) -> Vec<String> {
    // Mutants of one function can have the same key: their order tells them apart.
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut drawn: Vec<(u64, String)> = mutants
        .into_iter()
        .map(|mutant| {
            let key = mutant.key();
            let position = seen.entry(key.clone()).or_default();
            let hash = Stream::named(seed, &key).at(*position);
            *position += 1;
            (hash, mutant.name)
        })
        .collect();
    drawn.sort();
    drawn.truncate(part);
    drawn.into_iter().map(|(_, name)| name).collect()
}

/// A regular expression that matches `text` alone.
fn escaped(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _/:,'\"<>=!%;@".contains(c);
    text.chars().fold(String::new(), |mut regex, c| {
        if !is_plain(c) {
            regex.push('\\');
        }
        regex.push(c);
        regex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(line: u32, what: &str) -> Mutant {
        Mutant { name: format!("link/red.rs:{line}:9: {what}"), file: "link/red.rs".to_owned() }
    }

    #[test]
    fn a_sample_depends_on_the_seed_and_not_on_lines() {
        let names = |shift: u32, seed: u64| -> Vec<String> {
            let mutants = (0..40).map(|n| mutant(n + shift, &format!("replace + with - in f{n}")));
            let sample = sample(mutants.collect(), 10, seed);
            sample.into_iter().map(|name| name.splitn(4, ':').nth(3).unwrap().to_owned()).collect()
        };
        assert_eq!(names(0, 1).len(), 10);
        assert_eq!(names(0, 1), names(7, 1));
        assert_ne!(names(0, 1), names(0, 2));
    }

    #[test]
    fn a_name_is_matched_as_it_is() {
        assert_eq!(escaped("a.rs:1:2: replace || with (b)"), r"a\.rs:1:2: replace \|\| with \(b\)");
    }
}
