//! Do the tests hold? `cargo mutants` on a sample of the core's mutants, each built and tested alone.
//!
//! A mutant is a change to one expression (`<` for `<=`, a function that returns 0); one that no test notices
//! survives, and is a gap in the tests.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use maxseg_core::rng::Stream;
use serde::{Deserialize, Serialize};

use crate::root;
use crate::test::succeed;

/// The folders of the core that are sampled, in equal parts.
const FOLDERS: [&str; 4] = ["link", "tcp/sender", "errors", "diagnose"];

/// What to sample.
#[derive(Debug, clap::Args)]
pub struct MutantsArgs {
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
    /// A file that takes each fate as soon as it is known; mutants that it holds are not tested again
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// A mutant as `cargo mutants --list --json` describes it.
#[derive(Debug, Deserialize)]
struct Mutant {
    /// `FILE:LINE:COLUMN: WHAT`.
    name: String,
    file: String,
    /// The change, under two lines of heading that name no file.
    diff: String,
    /// Which of the mutants with the same [`Mutant::key`] it is.
    #[serde(skip)]
    position: u64,
}

impl Mutant {
    /// Its name without its line and column: what it is drawn by, so that edits elsewhere in the file leave the
    /// sample as it is.
    fn key(&self) -> String {
        let place = self.name.strip_prefix(&self.file).unwrap_or(&self.name);
        let what = place.splitn(4, ':').nth(3).unwrap_or(place);
        format!("{}:{what}", self.file)
    }

    /// What tells it from every other, wherever its line is.
    fn identity(&self) -> String {
        format!("{} #{}", self.key(), self.position)
    }

    /// The tests that are nearest to its file, and so most likely to kill it: to build them alone is quick.
    fn nearest_tests(&self) -> &'static [&'static str] {
        if self.file.contains("/tcp/") {
            &["--test", "tcp_scripts"]
        } else if self.file.contains("/diagnose/") {
            &["--test", "findings", "--test", "limits"]
        } else if self.file.contains("/link/") {
            &["--lib", "link::"]
        } else if self.file.contains("/errors/") {
            &["--lib", "errors::"]
        } else {
            &["--lib"]
        }
    }

    /// The change as `git apply` takes it.
    fn patch(&self) -> String {
        let hunks: String = self.diff.split_inclusive('\n').skip(2).collect();
        format!("--- a/{0}\n+++ b/{0}\n{hunks}", self.file)
    }
}

/// What the tests made of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    /// A test failed.
    Killed,
    /// A test did not end within [`LONGEST`]: the mutant loops.
    TimedOut,
    /// It does not compile, so it is no mutant.
    Unviable,
    /// No test noticed.
    Survived,
}

/// Seconds after which a test run is given up; the core's tests take some ten.
const LONGEST: &str = "120";

/// Draws the sample and tests each of it, in a working tree of its own, with the core's own tests.
///
/// # Errors
/// `cargo-mutants` is missing, the tests fail without any change, or more than a tenth of the mutants survive.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &MutantsArgs) -> Result<()> {
    let folders: Vec<&str> = match options.folders.as_slice() {
        [] => FOLDERS.to_vec(),
        folders => folders.iter().map(String::as_str).collect(),
    };
    let mut drawn = Vec::new();
    for (index, folder) in folders.iter().enumerate() {
        let mutants = mutants_of(folder)?;
        let part =
            options.sample / folders.len() + usize::from(index < options.sample % folders.len());
        println!("{folder}: {part} of {} mutants, seed {}", mutants.len(), options.seed);
        drawn.extend(sample(mutants, part, options.seed));
    }
    if options.list {
        for mutant in &drawn {
            println!("{}", mutant.name);
        }
        return Ok(());
    }
    let mut results = Results::open(options.results.as_deref())?;
    let tree = Tree::new()?;
    ensure!(tree.fate_by(&[])? == Fate::Survived, "the core's tests fail without any change");
    let mut fates = Vec::new();
    for mutant in &drawn {
        let fate = match results.known.get(&mutant.identity()) {
            Some(fate) => *fate,
            None => tree.fate_of(mutant)?,
        };
        println!("{fate:?}: {}", mutant.name);
        results.add(mutant, fate)?;
        fates.push(fate);
    }
    let count = |wanted: Fate| fates.iter().filter(|fate| **fate == wanted).count();
    let (survived, viable) = (count(Fate::Survived), fates.len() - count(Fate::Unviable));
    println!("{survived} of {viable} mutants survive, {} time out", count(Fate::TimedOut));
    ensure!(survived * 10 <= viable, "{survived} of {viable} mutants survive, more than a tenth");
    Ok(())
}

/// The fates that are known, by [`Mutant::identity`], and the file that keeps them: a JSON object a line.
struct Results {
    known: BTreeMap<String, Fate>,
    file: Option<File>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Outcome {
    mutant: String,
    fate: Fate,
}

impl Results {
    fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { known: BTreeMap::new(), file: None }) };
        let mut file = File::options().create(true).read(true).append(true).open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let outcomes = text.lines().map(serde_json::from_str::<Outcome>);
        let known = outcomes.map(|outcome| outcome.map(|o| (o.mutant, o.fate)));
        let known = known.collect::<Result<_, _>>().with_context(|| path.display().to_string())?;
        Ok(Self { known, file: Some(file) })
    }

    fn add(&mut self, mutant: &Mutant, fate: Fate) -> Result<()> {
        let outcome = Outcome { mutant: mutant.identity(), fate };
        let line = serde_json::to_string(&outcome)?;
        if self.known.insert(outcome.mutant, fate).is_none()
            && let Some(file) = &mut self.file
        {
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

/// A working tree at the present commit, which is removed in the end.
struct Tree {
    path: PathBuf,
}

impl Tree {
    fn new() -> Result<Self> {
        let path = root().join("target/mutants-tree");
        if path.exists() {
            fs::remove_dir_all(&path).context("what a stopped run left")?;
        }
        let mut add = Command::new("git");
        add.args(["worktree", "add", "--force", "--quiet", "--detach"]).arg(&path);
        succeed(&mut add)?;
        Ok(Self { path })
    }

    fn git(&self, arguments: &[&str], input: &str) -> Result<()> {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(&self.path).stdin(Stdio::piped());
        let mut child = git.spawn().context("git")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        ensure!(child.wait()?.success(), "{git:?} failed");
        Ok(())
    }

    /// What the core's tests make of a mutant: first those nearest to it, then all.
    fn fate_of(&self, mutant: &Mutant) -> Result<Fate> {
        self.git(&["apply", "-"], &mutant.patch())?;
        let fate = match self.fate_by(mutant.nearest_tests())? {
            Fate::Survived => self.fate_by(&[])?,
            fate @ (Fate::Killed | Fate::TimedOut | Fate::Unviable) => fate,
        };
        self.git(&["checkout", "--quiet", "--", &mutant.file], "")?;
        // Cases that proptest keeps for the next run.
        self.git(&["clean", "--force", "-d", "--quiet"], "")?;
        Ok(fate)
    }

    fn fate_by(&self, tests: &[&str]) -> Result<Fate> {
        const TIMED_OUT: i32 = 124; // of `timeout`
        let cargo = ["cargo", "test", "--locked", "--quiet", "--package", "maxseg-core"];
        let run = |program: &str, arguments: &[&str], last: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).args(["--profile", "mutants"]).args(tests).args(last);
            command.current_dir(&self.path).env("CARGO_TARGET_DIR", root().join("target"));
            // A change may leave something unused.
            command.env("RUSTFLAGS", "--cap-lints=allow");
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("cargo")
        };
        if !run("cargo", &cargo[1..], &["--no-run"])?.success() {
            return Ok(Fate::Unviable);
        }
        let limited: Vec<&str> = std::iter::once(LONGEST).chain(cargo).collect();
        let status = run("timeout", &limited, &[])?;
        Ok(match status.code() {
            Some(0) => Fate::Survived,
            Some(TIMED_OUT) => Fate::TimedOut,
            Some(_) | None => Fate::Killed,
        })
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let mut remove = Command::new("git");
        remove.args(["worktree", "remove", "--force"]).arg(&self.path);
        // What is left is removed by the next run's `--force`.
        let _ = remove.current_dir(root()).status();
    }
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

/// `part` mutants: those whose hashes under `seed` are least.
fn sample(mutants: Vec<Mutant>, part: usize, seed: u64) -> Vec<Mutant> {
    // Mutants of one function can have the same key: their order tells them apart.
    let mut same_key: BTreeMap<String, u64> = BTreeMap::new();
    let mut drawn: Vec<(u64, Mutant)> = mutants
        .into_iter()
        .map(|mutant| {
            let key = mutant.key();
            let next = same_key.entry(key.clone()).or_default();
            let position = *next;
            *next += 1;
            (Stream::named(seed, &key).at(position), Mutant { position, ..mutant })
        })
        .collect();
    drawn.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    drawn.truncate(part);
    drawn.into_iter().map(|(_, mutant)| mutant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(line: u32, what: &str) -> Mutant {
        Mutant {
            name: format!("link/red.rs:{line}:9: {what}"),
            file: "link/red.rs".to_owned(),
            diff: "--- link/red.rs\n+++ replace\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            position: 0,
        }
    }

    #[test]
    fn a_sample_depends_on_the_seed_and_not_on_lines() {
        let names = |shift: u32, seed: u64| -> Vec<String> {
            let mutants = (0..40).map(|n| mutant(n + shift, &format!("replace + with - in f{n}")));
            let sample = sample(mutants.collect(), 10, seed);
            sample.iter().map(Mutant::key).collect()
        };
        assert_eq!(names(0, 1).len(), 10);
        assert_eq!(names(0, 1), names(7, 1));
        assert_ne!(names(0, 1), names(0, 2));
    }

    #[test]
    fn results_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let mut results = Results::open(Some(&path)).unwrap();
        results.add(&mutant(3, "a"), Fate::Killed).unwrap();
        results.add(&mutant(4, "a"), Fate::Killed).unwrap();
        results.add(&mutant(5, "b"), Fate::Survived).unwrap();
        let again = Results::open(Some(&path)).unwrap().known;
        assert_eq!(again, results.known);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    }

    #[test]
    fn a_patch_names_its_file() {
        let patch = mutant(1, "replace + with -").patch();
        assert_eq!(patch, "--- a/link/red.rs\n+++ b/link/red.rs\n@@ -1 +1 @@\n-a\n+b\n");
    }
}
