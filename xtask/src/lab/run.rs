//! Runs of the lab, kept in a folder.

use std::fs;
use std::path::{Path as File, PathBuf};

use anyhow::{Context, Result};
use maxseg_core::outcome::Outcome;
use serde::{Deserialize, Serialize};

use super::path::Path;
use super::valid::doubts;
use crate::draws::{ATTEMPTS, run_in_lab};

/// One run of a path, as a file of its folder holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LabRun {
    /// Where the randomness of its path's draw begins.
    pub(super) seed: u64,
    /// What was run.
    pub(super) path: Path,
    /// Its file.
    pub(super) scenario: String,
    /// Which of the path's runs, from 0.
    pub(super) run: u64,
    /// How often it was tried.
    pub(super) attempts: u32,
    /// Why it proves nothing; judged anew when it is read.
    #[serde(default)]
    pub(super) invalid_because: Vec<String>,
    /// All that the lab tells.
    pub(super) outcome: Outcome,
}

fn folder(kept: &File, path: &Path) -> PathBuf {
    kept.join(format!("{:02}", path.number))
}

impl LabRun {
    /// Runs it with `program` and keeps it; what is kept of the same scenario is read. Where the machine could not keep
    /// up, it is tried again.
    ///
    /// # Errors
    /// The lab cannot run here, or a file cannot be written.
    pub(super) fn make(
        program: &File,
        kept: &File,
        (seed, path, run): (u64, &Path, u64),
    ) -> Result<Self> {
        let folder = folder(kept, path);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let file = folder.join(format!("{run}.json"));
        let scenario = path.to_toml(path.seed + run, "");
        let known = Self::read(&file).ok().filter(|known| known.scenario == scenario);
        let mut attempts = known.as_ref().map_or(0, |known| known.attempts);
        if let Some(known) = known
            && (known.invalid_because.is_empty() || attempts >= ATTEMPTS)
        {
            return Ok(known);
        }
        let written = folder.join(format!("{run}.toml"));
        let made = loop {
            attempts += 1;
            let outcome = run_in_lab(program, &written, &scenario, None)?;
            let invalid_because = doubts(path, &outcome);
            if invalid_because.is_empty() || attempts >= ATTEMPTS {
                let path = path.clone();
                break Self { seed, path, scenario, run, attempts, invalid_because, outcome };
            }
        };
        fs::write(&file, serde_json::to_string_pretty(&made)?)?;
        Ok(made)
    }

    fn read(file: &File) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let mut run: Self =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        run.invalid_because = doubts(&run.path, &run.outcome);
        Ok(run)
    }

    /// All that are kept in a folder, by path and run.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn all(kept: &File) -> Result<Vec<Self>> {
        let mut runs = Vec::new();
        for folder in entries(kept)? {
            for file in entries(&folder).unwrap_or_default() {
                if file.extension().is_some_and(|ending| ending == "json") {
                    runs.push(Self::read(&file)?);
                }
            }
        }
        runs.sort_by_key(|run| (run.path.number, run.run));
        Ok(runs)
    }

    /// Packets that its links lost.
    pub(super) fn lost(&self) -> u64 {
        let links = self.outcome.lab.as_deref().map_or(&[][..], |lab| &lab.links);
        links.iter().map(|link| link.damaged + link.refused).sum()
    }
}

fn entries(folder: &File) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}
