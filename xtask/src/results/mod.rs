//! A guard on results: fingerprints of what the simulator and the formulas give for the scenarios in
//! `testdata/results-guard`, which together hold every key and word of the scenario file.
//!
//! A change that alters any outcome is red until `RESULTS_VERSION` is raised, so that rows stored before it are
//! not taken for fresh ones.

pub mod coverage;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail, ensure};
use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::rng::Stream;
use maxseg_core::scenario::{RESULTS_VERSION, Scenario};
use maxseg_core::sim::Sim;

use crate::parallel::in_parallel;
use crate::root;

/// The scenarios, and beside them their fingerprints.
const FOLDER: &str = "testdata/results-guard";

/// The fingerprints, relative to the repository's root.
pub const FILE: &str = "testdata/results-guard/fingerprints.txt";

const HEAD: &str = "\
# A hash of the outcome of each scenario in this folder, by simulator and formulas.
# After a change of results: raise RESULTS_VERSION (crates/maxseg-core/src/scenario/mod.rs), then `cargo xtask gen`.
";

/// One scenario of the guard.
#[derive(Debug)]
pub struct Guard {
    /// Its file's name without the ending.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Guard {
    /// The checked scenario.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn scenario(&self) -> Result<Scenario> {
        Scenario::from_toml(&self.name, &self.text).map_err(|error| anyhow!("{error}"))
    }

    /// Scenario, engine and a hash of the whole outcome, for each engine whose results are the same on every
    /// machine.
    fn fingerprints(&self) -> Result<Vec<(String, u64)>> {
        let scenario = self.scenario()?;
        let engines: [(EngineName, Box<dyn Engine>); 2] =
            [(EngineName::Model, Box::new(Model)), (EngineName::Sim, Box::new(Sim))];
        engines
            .into_iter()
            .map(|(name, mut engine)| {
                let outcome =
                    engine.run(&scenario, &mut Unwatched).with_context(|| self.name.clone())?;
                // Numbers are written so that each reads back to the same bits.
                let text = serde_json::to_string(&outcome)?;
                Ok((format!("{} {name}", self.name), Stream::named(0, &text).at(0)))
            })
            .collect()
    }
}

/// The guard's scenarios, by name.
///
/// # Errors
/// The folder or a file cannot be read.
pub fn guards() -> Result<Vec<Guard>> {
    let folder = root().join(FOLDER);
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let guard = |file: PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Guard { name, text: fs::read_to_string(&file)? })
    };
    files.into_iter().map(guard).collect()
}

/// What belongs in [`FILE`].
///
/// # Errors
/// An outcome is another than the file says, and `RESULTS_VERSION` is as the file has it.
pub fn expected() -> Result<String> {
    let guards = guards()?;
    ensure!(!guards.is_empty(), "no scenario in {FOLDER}");
    let guards: Vec<&Guard> = guards.iter().collect();
    let found: Vec<(String, u64)> =
        in_parallel(&guards, Guard::fingerprints)?.into_iter().flatten().collect();
    let kept = fs::read_to_string(root().join(FILE)).unwrap_or_default();
    let changed = changed(&kept, &found);
    if !changed.is_empty() {
        bail!(
            "results changed and RESULTS_VERSION is still {RESULTS_VERSION}: {}. If the change is meant, raise \
             RESULTS_VERSION in crates/maxseg-core/src/scenario/mod.rs, run `cargo xtask gen` and say it in \
             CHANGELOG.md; if not, it is a bug",
            changed.join(", ")
        );
    }
    Ok(written(&found))
}

fn written(found: &[(String, u64)]) -> String {
    let lines = found.iter().map(|(what, hash)| format!("{what} {hash:016x}\n"));
    format!("{HEAD}version {RESULTS_VERSION}\n{}", lines.collect::<String>())
}

/// Scenarios and engines whose fingerprint is another than the one kept for this version of results; a scenario
/// that was not there is none.
fn changed(kept: &str, found: &[(String, u64)]) -> Vec<String> {
    let mut lines = kept.lines().filter(|line| !line.starts_with('#'));
    if lines.next() != Some(&format!("version {RESULTS_VERSION}")) {
        return Vec::new();
    }
    let kept: Vec<(&str, &str)> = lines.filter_map(|line| line.rsplit_once(' ')).collect();
    let is_other = |(what, hash): &&(String, u64)| {
        kept.iter().any(|(name, text)| name == what && *text != format!("{hash:016x}"))
    };
    found.iter().filter(is_other).map(|(what, _)| what.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tunnels: u64) -> Vec<(String, u64)> {
        vec![("tunnels sim".to_owned(), tunnels), ("framings sim".to_owned(), 2)]
    }

    #[test]
    fn another_outcome_is_a_change_under_the_same_version_only() {
        let kept = written(&found(1));
        assert_eq!(changed(&kept, &found(1)), Vec::<String>::new());
        assert_eq!(changed(&kept, &found(3)), ["tunnels sim"]);
        let older = kept.replace(&format!("version {RESULTS_VERSION}"), "version 0");
        assert_eq!(changed(&older, &found(3)), Vec::<String>::new());
    }

    #[test]
    fn a_scenario_that_is_new_changes_nothing() {
        let kept = written(&found(1)[..1]);
        assert_eq!(changed(&kept, &found(1)), Vec::<String>::new());
    }
}
