//! One run: as it is, captured and explained; then with the advice carried out; and, where that gains nothing, without what
//! limits it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::advice::{Advice, evidence};
use super::carry_out::carry_out;
use super::draw::Draw;
use super::limit::Limit;
use super::once::{HostLine, in_process};
use crate::draws::{ATTEMPTS, Congestion};
use crate::explain::{View, part};

/// A run, as `run.json` holds it. The captures, `before.pcapng.gz` and so on, lie beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Where its randomness begins.
    pub seed: u64,
    /// Which of its limit and congestion control.
    pub number: u64,
    /// What was run.
    pub draw: Draw,
    /// What was advised.
    pub advice: Advice,
    /// How long the send buffer held the sender back, by the kernel's count (`sndbuf_limited` of `ss -ti`).
    #[serde(default)]
    pub buffer_limited_s: f64,
    /// Why the lab says that it proves nothing; empty for a valid run.
    pub invalid_because: Vec<String>,
    /// The same transfer with the advice; `None` where none is given.
    pub after: Option<Measured>,
    /// The same transfer without its limit, where the advice gained nothing, or there was none.
    pub lifted: Option<Measured>,
}

/// What a second run came to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Goodput of its capture.
    pub goodput_bps: f64,
    /// A command that failed, with what it said: the advice cannot be carried out.
    pub failed: Option<String>,
}

/// What makes a transfer faster by less is chance: as in `validate explain`.
pub(super) const FASTER: f64 = 1.1;

/// Where a run is kept.
pub(super) fn folder(runs: &Path, limit: Limit, congestion: Congestion, number: u64) -> PathBuf {
    runs.join(limit.word()).join(format!("{}-{number:03}", congestion.word()))
}

impl Run {
    /// Runs the `number`-th draw of a limit and a congestion control, or reads it where it is kept.
    ///
    /// # Errors
    /// The lab cannot run here, or a file cannot be written.
    pub fn make(
        runs: &Path,
        limit: Limit,
        congestion: Congestion,
        seed: u64,
        number: u64,
    ) -> Result<Self> {
        let folder = folder(runs, limit, congestion, number);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let draw = Draw::of(limit, congestion, seed, number);
        if let Ok(kept) = Self::read(&folder)
            && kept.draw.to_toml() == draw.to_toml()
        {
            return Ok(kept);
        }
        let bench = Bench { folder: &folder, draw: &draw };
        let prepared = draw.preparation();
        let (invalid_because, buffer_limited_s) =
            bench.once("before", &draw.to_toml(), &prepared)?;
        let mut run = Self {
            seed,
            number,
            advice: Advice::default(),
            buffer_limited_s,
            invalid_because,
            draw: draw.clone(),
            after: None,
            lifted: None,
        };
        if run.invalid_because.is_empty() {
            run.advice = run.advised(&folder)?;
            run.second_runs(&bench, prepared)?;
        }
        fs::write(folder.join("run.json"), serde_json::to_string_pretty(&run)?)?;
        Ok(run)
    }

    /// What the capture in `folder` is said to need, as far as the condition of a change holds.
    fn advised(&self, folder: &Path) -> Result<Advice> {
        let mut advice = Advice::of_capture(&folder.join("before.pcapng.gz"))?;
        if advice.only_if_buffered && self.buffer_limited_s <= 0.0 {
            advice.without_change();
        }
        Ok(advice)
    }

    fn second_runs(&mut self, bench: &Bench<'_>, prepared: Vec<HostLine>) -> Result<()> {
        let bytes = self.advice.bytes;
        let (changed, commands) = carry_out(bench.draw, &self.advice);
        if changed != *bench.draw || !commands.is_empty() {
            let lines = [prepared, commands].concat();
            self.after = Some(self.measured(bench, "after", &changed.to_toml_of(bytes), &lines)?);
        }
        if self.advised_gain() < FASTER - 1.0 {
            let lifted = bench.draw.lifted();
            let text = lifted.to_toml_of(bytes);
            let lines = lifted.preparation();
            self.lifted = Some(self.measured(bench, "lifted", &text, &lines)?);
        }
        Ok(())
    }

    fn measured(
        &mut self,
        bench: &Bench<'_>,
        name: &str,
        text: &str,
        lines: &[HostLine],
    ) -> Result<Measured> {
        let invalid = match bench.once(name, text, lines) {
            Ok((invalid, _)) => invalid,
            Err(error) if format!("{error:#}").contains("` failed (") => {
                let failed = Some(format!("{error:#}"));
                return Ok(Measured { goodput_bps: 0.0, failed });
            }
            Err(error) => return Err(error),
        };
        self.invalid_because.extend(invalid.into_iter().map(|why| format!("{name}: {why}")));
        Ok(Measured { goodput_bps: bench.goodput_bps(name)?, failed: None })
    }

    /// What is kept in `folder`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join("run.json");
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        serde_json::from_str(&text).with_context(|| file.display().to_string())
    }

    /// The same, with what is advised by now: the measurement stays where the advice is the same change.
    ///
    /// # Errors
    /// The capture cannot be read.
    pub fn explained_anew(mut self, folder: &Path) -> Result<Self> {
        if self.invalid_because.is_empty() {
            let advice = self.advised(folder)?;
            let (now, then) = (carry_out(&self.draw, &advice), carry_out(&self.draw, &self.advice));
            if now != then {
                // Another change was not measured.
                self.invalid_because.push("the advice has changed since".to_owned());
            }
            self.advice = advice;
        }
        Ok(self)
    }

    /// What the advice gained, relative to the run as it was.
    pub fn advised_gain(&self) -> f64 {
        let after = self.after.as_ref().map_or(self.advice.observed_bps, |after| after.goodput_bps);
        after / self.advice.observed_bps.max(1.0) - 1.0
    }

    /// The most that could be gained, by the advice or by removing what limits.
    pub fn possible_gain(&self) -> f64 {
        let lifted = self.lifted.as_ref().map_or(0.0, |lifted| lifted.goodput_bps);
        (lifted / self.advice.observed_bps.max(1.0) - 1.0).max(self.advised_gain())
    }
}

/// Where the runs of a draw are made.
struct Bench<'a> {
    folder: &'a Path,
    draw: &'a Draw,
}

impl Bench<'_> {
    /// Runs, and keeps the capture. Gives why the run proves nothing, which is tried again then, and for how long the send buffer
    /// was the limit.
    fn once(&self, name: &str, text: &str, commands: &[HostLine]) -> Result<(Vec<String>, f64)> {
        let mut invalid = Vec::new();
        let mut buffer_limited_s = 0.0;
        for _ in 0..ATTEMPTS {
            let outcome = in_process(self.folder, text, commands)?;
            let whole = self.folder.join("whole.pcapng");
            let view = View::at(&self.draw.captured_at);
            let capture = part(&fs::read(&whole)?, &view)?;
            fs::remove_file(&whole)?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&capture)?;
            fs::write(self.folder.join(format!("{name}.pcapng.gz")), packed.finish()?)?;
            let flow = outcome.lab.as_ref().and_then(|proof| proof.flows.first());
            buffer_limited_s = flow.and_then(|flow| flow.buffer_limited_s).unwrap_or(0.0);
            invalid = outcome.invalid_because().to_vec();
            if invalid.is_empty() {
                break;
            }
        }
        Ok((invalid, buffer_limited_s))
    }

    fn goodput_bps(&self, name: &str) -> Result<f64> {
        let evidence = evidence(&self.folder.join(format!("{name}.pcapng.gz")))?;
        Ok(evidence.stats(evidence.data_direction()).goodput_bps.unwrap_or(0.0))
    }
}
