//! What runs drawn scenarios, and leaves packets to capture.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use maxseg_core::engine::{Engine as _, Unwatched, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_workbench::capture;
use serde::{Deserialize, Serialize};

use super::program::run_in_lab;

/// An engine that leaves packets to capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// This machine's kernel, in real time
    #[default]
    Lab,
    /// The stack `linux` in virtual time: the same runs from the same seed, on any machine
    Sim,
}

/// An engine, ready to run.
#[derive(Debug, Clone)]
pub enum Runner {
    /// The lab of this program.
    Lab(PathBuf),
    /// The simulator.
    Sim,
}

impl Runner {
    /// Which engine it is.
    pub const fn engine(&self) -> Engine {
        match self {
            Self::Lab(_) => Engine::Lab,
            Self::Sim => Engine::Sim,
        }
    }

    /// Writes a scenario to a file and runs it; its packets go to `capture`.
    ///
    /// # Errors
    /// The engine cannot run it here, or a file cannot be written.
    pub(crate) fn run(
        &self,
        scenario: &Path,
        text: &str,
        capture: Option<&Path>,
    ) -> Result<Outcome> {
        match self {
            Self::Lab(program) => run_in_lab(program, scenario, text, capture),
            Self::Sim => simulate(scenario, text, capture, &mut Unwatched),
        }
    }
}

/// Writes a scenario to a file and simulates it under the eyes of `watch`; its packets go to `capture`.
///
/// # Errors
/// It is no scenario, or a file cannot be written.
pub(crate) fn simulate(
    scenario: &Path,
    text: &str,
    capture: Option<&Path>,
    watch: &mut dyn Watch,
) -> Result<Outcome> {
    fs::write(scenario, text).with_context(|| scenario.display().to_string())?;
    let parsed = Scenario::from_toml("drawn", text)?;
    Ok(match capture {
        Some(file) => capture::run(&parsed, watch, file)?,
        None => Sim.run(&parsed, watch)?,
    })
}
