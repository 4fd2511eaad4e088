//! One run: a scenario through the lab, its captures, second runs without the limits that are suspected, and what is known
//! of all of them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use maxseg_core::outcome::Outcome;
use serde::{Deserialize, Serialize};

use super::counted::facts;
use super::facts::Facts;
use super::lift::SecondRun;
use super::setup::Setup;
use super::simulated_socket::SocketWatch;
use super::split;
use super::stratum::Stratum;
use super::truth::Truth;
use super::view::file;
use super::watch::watcher;
use crate::draws::{ATTEMPTS, Runner, run_in_lab_beside, simulate};

/// The samples of the sender's socket, beside the captures.
pub(super) const RECORDING: &str = "socket.pcapng";
/// The same of a simulated run.
pub(super) const SIMULATED: &str = "socket.json";

/// A run, as `run.json` holds it. The captures, `0.pcapng.gz` and so on, lie beside it, and so do samples of the sender's socket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Where its randomness begins.
    pub seed: u64,
    /// Which of its stratum.
    pub number: u64,
    /// What was run.
    pub setup: Setup,
    /// How often it was tried.
    pub attempts: u32,
    /// Why the lab says that it, or a second run, proves nothing; empty for a valid run.
    pub invalid_because: Vec<String>,
    /// All that the lab tells.
    pub outcome: Outcome,
    /// The same without one limit each, where that tells which it was.
    pub second: Vec<SecondRun>,
    /// What is known of it; worked out anew when it is read.
    #[serde(skip_deserializing)]
    pub facts: Facts,
    /// What limited it; `None` where nothing tells.
    #[serde(skip_deserializing)]
    pub truth: Option<Truth>,
}

/// Where a run is kept.
pub fn folder(runs: &Path, stratum: Stratum, number: u64) -> PathBuf {
    runs.join(stratum.word()).join(format!("{number:03}"))
}

impl Run {
    /// Runs the `number`-th scenario of a stratum under `seed` and keeps it below `runs`. Where it is kept
    /// there already, it is read. Where the lab could not keep up, it is tried again.
    ///
    /// # Errors
    /// The engine cannot run here, or a file cannot be written.
    pub fn make(
        runner: &Runner,
        runs: &Path,
        stratum: Stratum,
        seed: u64,
        number: u64,
    ) -> Result<Self> {
        let folder = folder(runs, stratum, number);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let setup = Setup::drawn_for(runner.engine(), stratum, seed, number);
        let kept = Self::read(&folder).ok().filter(|kept| kept.is_of(&setup));
        let is_kept = kept.is_some();
        let mut run = match kept {
            Some(kept) => kept,
            None => Self::once(runner, &folder, (seed, number), &setup)?,
        };
        while !is_kept && !run.invalid_because.is_empty() && run.attempts < ATTEMPTS {
            let attempts = run.attempts + 1;
            run = Self { attempts, ..Self::once(runner, &folder, (seed, number), &setup)? };
        }
        if run.invalid_because.is_empty() {
            run.second_runs(runner, &folder)?;
        }
        run.judge();
        fs::write(folder.join("run.json"), serde_json::to_string_pretty(&run)?)?;
        Ok(run)
    }

    /// What is kept in `folder`, judged anew.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join("run.json");
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let mut run: Self =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        run.judge();
        Ok(run)
    }

    fn judge(&mut self) {
        self.facts = facts(&self.setup, &self.outcome);
        self.truth = Truth::of(self);
    }

    fn once(
        runner: &Runner,
        folder: &Path,
        (seed, number): (u64, u64),
        setup: &Setup,
    ) -> Result<Self> {
        let whole = folder.join("whole.pcapng");
        let recording = folder.join(RECORDING);
        let (scenario, text) = (folder.join("scenario.toml"), setup.to_toml());
        let outcome = match runner {
            Runner::Lab(program) => {
                run_in_lab_beside(program, &scenario, &text, Some(&whole), |lab| {
                    watcher(lab, &recording)
                })?
            }
            Runner::Sim => {
                let mut watch = SocketWatch::default();
                let outcome = simulate(&scenario, &text, Some(&whole), &mut watch)?;
                watch.write(&folder.join(SIMULATED))?;
                outcome
            }
        };
        let capture = fs::read(&whole)?;
        for (index, view) in setup.views.iter().enumerate() {
            let part = split::part(&capture, view).with_context(|| whole.display().to_string())?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&part)?;
            fs::write(file(folder, index), packed.finish()?)?;
        }
        fs::remove_file(&whole)?;
        let mut run = Self {
            seed,
            number,
            setup: setup.clone(),
            attempts: 1,
            invalid_because: outcome.invalid_because().to_vec(),
            outcome,
            second: Vec::new(),
            facts: Facts::default(),
            truth: None,
        };
        run.judge();
        Ok(run)
    }

    /// Runs it without each suspected limit, where that is to tell which it was.
    fn second_runs(&mut self, runner: &Runner, folder: &Path) -> Result<()> {
        if !Truth::wants_second_runs(self) {
            return Ok(());
        }
        for lift in self.setup.suspects(self.facts.dropped_packets() > 0) {
            if self.second.iter().any(|second| second.lift == lift) {
                continue;
            }
            let setup = self.setup.without(lift);
            let mut second = SecondRun { lift, goodput_bps: 0.0, invalid_because: Vec::new() };
            for _ in 0..ATTEMPTS {
                let scenario = folder.join("scenario.toml");
                let outcome = runner.run(&scenario, &setup.to_toml(), None)?;
                second.goodput_bps = facts(&setup, &outcome).goodput_bps();
                second.invalid_because = outcome.invalid_because().to_vec();
                if second.invalid_because.is_empty() {
                    break;
                }
            }
            if !second.invalid_because.is_empty() {
                let why = second.invalid_because.join(", ");
                self.invalid_because.push(format!("without {}: {why}", lift.word()));
            }
            self.second.push(second);
        }
        Ok(())
    }

    /// Whether it need not be run again: it is of this setup, and valid or tried as often as it is to be.
    fn is_of(&self, setup: &Setup) -> bool {
        self.setup.to_toml() == setup.to_toml() && self.setup.views == setup.views
    }

    /// Its name on pages: the stratum, and its number there.
    pub fn name(&self) -> String {
        format!("{} {}", self.setup.stratum.word(), self.number)
    }

    /// Whether it is part of the score: it proves something, and it is known what.
    pub fn counts(&self) -> bool {
        self.invalid_because.is_empty() && self.truth.is_some()
    }
}
