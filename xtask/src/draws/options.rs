//! What commands that run drawn scenarios in the lab are asked for.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::Half;
use crate::bench::{release_program, target};

/// Which half, how many runs at once, and where they go.
#[derive(Debug, Clone, Args)]
pub struct DrawOptions {
    /// Where their randomness begins; by default drawn from the last commit
    #[arg(long)]
    pub seed: Option<u64>,
    /// The commit that the seed is drawn from, where that is not the last one
    #[arg(long, conflicts_with = "seed", value_name = "COMMIT", default_value = "HEAD")]
    pub commit: String,
    /// The half on which rules are calibrated, with a seed of its own; the page goes to the folder of the runs
    #[arg(long, conflicts_with = "seed")]
    pub tuning: bool,
    /// How many runs at once: more are quicker, and likelier to be invalid
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Keep the runs in this folder; what is there already is not run again
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// The program that runs the lab; this tree's, built for it, unless given
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
}

impl DrawOptions {
    /// The half that is asked for.
    ///
    /// # Errors
    /// git knows no commit, and no seed is given.
    pub(crate) fn half(&self) -> Result<Half> {
        Half::asked(self.tuning, self.seed, &self.commit)
    }

    /// Where the runs of a half go: by default below this folder of the build.
    pub(crate) fn folder(&self, of: impl AsRef<Path>, half: &Half) -> PathBuf {
        let default = || target().join(of).join(half.seed.to_string());
        self.keep.clone().unwrap_or_else(default)
    }

    /// The program that runs the lab.
    ///
    /// # Errors
    /// It cannot be built.
    pub(crate) fn program(&self) -> Result<PathBuf> {
        self.program.clone().map_or_else(release_program, Ok)
    }
}
