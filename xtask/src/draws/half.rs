//! Which half of a reference set is drawn, and where its randomness begins.

use std::process::Command;

use anyhow::{Context, Result};

use crate::root;

/// The seed of the runs on which rules are calibrated.
const TUNING_SEED: u64 = 1;
/// So many hexadecimal digits of the commit are the seed.
const SEED_DIGITS: usize = 12;

/// One half of all runs.
#[derive(Debug, Clone)]
pub(crate) struct Half {
    /// Where its randomness begins.
    pub(crate) seed: u64,
    /// Whether it is scored; on the other, rules are calibrated.
    pub(crate) is_scored: bool,
    /// The commit that the seed was drawn from.
    pub(crate) commit: Option<String>,
}

impl Half {
    /// That of a seed.
    pub(crate) const fn of(seed: u64) -> Self {
        Self { seed, is_scored: seed != TUNING_SEED, commit: None }
    }

    /// As a command asks: the one for calibration, that of a seed, or that of a commit.
    ///
    /// # Errors
    /// git knows no such commit, and no seed is given.
    pub(crate) fn asked(is_tuning: bool, seed: Option<u64>, commit: &str) -> Result<Self> {
        if is_tuning {
            return Ok(Self::of(TUNING_SEED));
        }
        seed.map_or_else(|| Self::of_commit(commit), |seed| Ok(Self::of(seed)))
    }

    fn of_commit(name: &str) -> Result<Self> {
        let wanted = format!("{name}^{{commit}}");
        let output = Command::new("git")
            .args(["rev-parse", "--verify", "--end-of-options", &wanted])
            .current_dir(root())
            .output();
        let commit = output.ok().filter(|output| output.status.success());
        let commit =
            commit.with_context(|| format!("git knows no commit {name}: name a --seed"))?;
        let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
        let digits = commit.get(..SEED_DIGITS).context("git names no commit")?;
        let seed = u64::from_str_radix(digits, 16)?;
        Ok(Self { seed, is_scored: true, commit: Some(commit) })
    }

    /// The seed, and where it is from.
    pub(crate) fn drawn(&self) -> String {
        match (&self.commit, self.is_scored) {
            (Some(commit), _) => format!("{}, drawn from the commit {commit}", self.seed),
            (None, true) => self.seed.to_string(),
            (None, false) => {
                format!("{}, that of the runs on which rules are calibrated", self.seed)
            }
        }
    }
}
