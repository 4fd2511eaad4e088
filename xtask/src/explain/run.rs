//! One run: a scenario through the lab, a capture at each end, and what is known of it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use maxseg_core::outcome::{LimitedBy, Outcome};
use serde::{Deserialize, Serialize};

use super::setup::{Application, INITIAL_SEGMENTS, Setup};
use super::split;
use super::truth::Facts;

/// A run, as `run.json` holds it. `sender.pcapng.gz` and `receiver.pcapng.gz` lie beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Where its randomness begins.
    pub seed: u64,
    /// Which.
    pub number: u64,
    /// What was run.
    pub setup: Setup,
    /// What is known of it; worked out anew when it is read.
    #[serde(skip_deserializing)]
    pub facts: Facts,
    /// Which limits are right; several where it is ambiguous, and none where the facts do not tell.
    #[serde(skip_deserializing)]
    pub truth: Vec<LimitedBy>,
    /// Why the lab says that it proves nothing; empty for a valid run.
    pub invalid_because: Vec<String>,
    /// All that the lab tells.
    pub outcome: Outcome,
}

/// Where a capture was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// At the sender of the data.
    Sender,
    /// At its receiver.
    Receiver,
}

impl Point {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sender, Self::Receiver];

    /// The interface's name in the lab's capture.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }

    /// The capture of a run that is kept in `folder`.
    pub fn file(self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.pcapng.gz", self.word()))
    }
}

/// Where a run is kept.
pub fn folder(runs: &Path, number: u64) -> PathBuf {
    runs.join(format!("{number:03}"))
}

impl Run {
    /// Runs the `number`-th scenario under `seed` with `program` and keeps it below `runs`. Where it is
    /// kept there already, it is read. Where the lab could not keep up, it is tried once more.
    ///
    /// # Errors
    /// The lab cannot run here, or a file cannot be written.
    pub fn make(program: &Path, runs: &Path, seed: u64, number: u64) -> Result<Self> {
        let folder = folder(runs, number);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let setup = Setup::draw(seed, number);
        if let Some(kept) = Self::read(&folder).ok().filter(|kept| kept.is_valid_run_of(&setup)) {
            return Ok(kept);
        }
        let mut run = Self::once(program, &folder, (seed, number), &setup)?;
        if !run.invalid_because.is_empty() {
            run = Self::once(program, &folder, (seed, number), &setup)?;
        }
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
        run.facts = facts(&run.setup, &run.outcome);
        run.truth = run.facts.limits();
        Ok(run)
    }

    fn once(
        program: &Path,
        folder: &Path,
        (seed, number): (u64, u64),
        setup: &Setup,
    ) -> Result<Self> {
        let (scenario, whole) = (folder.join("scenario.toml"), folder.join("whole.pcapng"));
        fs::write(&scenario, setup.to_toml())?;
        let output = Command::new(program)
            .args(["-q", "run", "--engine", "lab", "--allow-invalid", "--json", "--pcap"])
            .args([&whole, &scenario])
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "{} failed on {}", program.display(), scenario.display());
        let mut document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let outcome: Outcome = serde_json::from_value(document["rows"][0]["outcome"].take())?;
        let capture = fs::read(&whole)?;
        for point in Point::ALL {
            let part = split::interface(&capture, point.word())
                .with_context(|| whole.display().to_string())?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&part)?;
            fs::write(point.file(folder), packed.finish()?)?;
        }
        fs::remove_file(&whole)?;
        let facts = facts(setup, &outcome);
        Ok(Self {
            seed,
            number,
            setup: setup.clone(),
            facts,
            truth: facts.limits(),
            invalid_because: outcome.invalid_because().to_vec(),
            outcome,
        })
    }

    fn is_valid_run_of(&self, setup: &Setup) -> bool {
        self.invalid_because.is_empty() && self.setup.to_toml() == setup.to_toml()
    }

    /// Whether it is part of the score: it proves something, and the facts tell what.
    pub fn counts(&self) -> bool {
        self.invalid_because.is_empty() && !self.truth.is_empty()
    }

    /// Whether more than one answer is right.
    pub fn is_ambiguous(&self) -> bool {
        self.truth.len() > 1
    }
}

/// What the lab tells of a run, as the label needs it. What it does not tell is zero: then no limit is found.
pub(super) fn facts(setup: &Setup, outcome: &Outcome) -> Facts {
    let lab = outcome.lab.as_deref();
    let flow = lab.and_then(|lab| lab.flows.first());
    let forward = lab.and_then(|lab| lab.links.first());
    let number = |value: Option<u64>| value.unwrap_or(0) as f64;
    let handshake = setup.rtt_s;
    let (reply_bytes, ended_itself) = match setup.application {
        Application::Bulk => (None, false),
        Application::Bytes(_) => (None, true),
        Application::Requests { reply_bytes, .. } => (Some(reply_bytes as f64), false),
    };
    Facts {
        lasted_s: outcome.elapsed_s.unwrap_or(0.0) - handshake,
        payload_bytes: number(outcome.payload_bytes),
        link_bps: setup.link_payload_bps(),
        base_rtt_s: setup.base_rtt_s(),
        slow_start_s: setup.slow_start_s(setup.path_bytes()),
        initial_window_bytes: INITIAL_SEGMENTS * setup.segment_bytes(),
        segment_bytes: setup.segment_bytes(),
        window_bytes: number(flow.and_then(|flow| flow.window_asked.min(flow.window_advertised))),
        read_bps: setup.read_bps.map(|bps| bps as f64),
        has_send_buffer: setup.send_buffer_bytes.is_some(),
        reply_bytes,
        ended_itself,
        dropped_packets: forward.map_or(0, |link| link.damaged + link.refused),
        timeouts: outcome.timeouts.unwrap_or(0),
        busy_s: flow.and_then(|flow| flow.busy_s).unwrap_or(0.0),
        window_limited_s: flow.and_then(|flow| flow.window_limited_s).unwrap_or(0.0),
        buffer_limited_s: flow.and_then(|flow| flow.buffer_limited_s).unwrap_or(0.0),
    }
}
