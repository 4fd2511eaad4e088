//! One run of the lab with commands in its hosts, in a process of its own that goes before all others.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use clap::Args;
use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_linux::lab::{HostCommand, Lab};
use serde::{Deserialize, Serialize};

use crate::draws::first_of_all;

/// A command of a host of the lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLine {
    /// The host: `sender`, `r1`, `receiver`.
    pub host: String,
    /// The command line, as it is printed.
    pub line: String,
}

impl HostLine {
    pub(super) fn new(host: &str, line: impl Into<String>) -> Self {
        Self { host: host.to_owned(), line: line.into() }
    }
}

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct OnceArgs {
    /// A folder with `scenario.toml` and `commands.json`; the outcome and the capture go there
    folder: PathBuf,
}

/// Runs the scenario of a folder after its commands.
///
/// # Errors
/// The lab cannot run it, a command fails, or a file cannot be read or written.
pub fn once(options: &OnceArgs) -> Result<()> {
    let folder = &options.folder;
    let text = fs::read_to_string(folder.join("scenario.toml"))?;
    let scenario = Scenario::from_toml("scenario.toml", &text)
        .map_err(|error| anyhow::anyhow!("{}", error.what))?;
    let lines: Vec<HostLine> = serde_json::from_slice(&fs::read(folder.join("commands.json"))?)?;
    let commands = lines
        .into_iter()
        .map(|HostLine { host, line }| HostCommand { host, line })
        .collect::<Vec<_>>();
    let mut file = BufWriter::new(File::create(folder.join("whole.pcapng"))?);
    let mut lab = Lab::capturing(&mut file).after_commands(commands);
    let outcome = lab.run(&scenario, &mut Unwatched)?;
    drop(lab);
    file.into_inner()?;
    fs::write(folder.join("outcome.json"), serde_json::to_string(&outcome)?)?;
    Ok(())
}

/// Runs a scenario after commands in its hosts, in a process of its own; its capture is `whole.pcapng` in the folder.
///
/// # Errors
/// As [`once`]; the text says what failed.
pub(super) fn in_process(folder: &Path, text: &str, commands: &[HostLine]) -> Result<Outcome> {
    fs::write(folder.join("scenario.toml"), text)?;
    fs::write(folder.join("commands.json"), serde_json::to_string(commands)?)?;
    let program = std::env::current_exe()?;
    let output = first_of_all(&program)
        .arg("lab-once")
        .arg(folder)
        .stderr(Stdio::piped())
        .output()
        .with_context(|| program.display().to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", said.trim());
    Ok(serde_json::from_slice(&fs::read(folder.join("outcome.json"))?)?)
}
