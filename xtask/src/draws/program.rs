//! A scenario through the lab of a built program.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use maxseg_core::outcome::Outcome;

/// A run is tried so often before it is called invalid.
pub(crate) const ATTEMPTS: u32 = 3;

/// Where this user may, the lab goes before all other programs: then what else the machine does makes few packets late.
/// `nice` does not help where each session has its own share of the machine (sched(7), "autogroup").
const BEFORE_ALL: [&str; 2] = ["-f", "20"];

/// A program as it is to be started before all others.
pub(crate) fn first_of_all(program: &Path) -> Command {
    static MAY: OnceLock<bool> = OnceLock::new();
    let may = || {
        let tried =
            Command::new("chrt").args(BEFORE_ALL).arg("true").stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    if !MAY.get_or_init(may) {
        return Command::new(program);
    }
    let mut command = Command::new("chrt");
    command.args(BEFORE_ALL).arg(program);
    command
}

/// Writes a scenario to a file and runs it; its packets go to `capture`.
///
/// # Errors
/// The lab cannot run here, or a file cannot be written.
pub(crate) fn run_in_lab(
    program: &Path,
    scenario: &Path,
    text: &str,
    capture: Option<&Path>,
) -> Result<Outcome> {
    run_in_lab_beside(program, scenario, text, capture, |_| Ok(None))
}

/// The same, with another program beside it, which is begun with the number of the lab's process and ends of itself.
///
/// # Errors
/// As above, or the other program cannot be started.
pub(crate) fn run_in_lab_beside(
    program: &Path,
    scenario: &Path,
    text: &str,
    capture: Option<&Path>,
    begin: impl FnOnce(u32) -> Result<Option<Child>>,
) -> Result<Outcome> {
    fs::write(scenario, text).with_context(|| scenario.display().to_string())?;
    let mut command = first_of_all(program);
    command.args(["-q", "run", "--engine", "lab", "--allow-invalid", "--json"]);
    if let Some(file) = capture {
        command.arg("--pcap").arg(file);
    }
    let lab = command.arg(scenario).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let beside = begin(lab.id());
    let output = lab.wait_with_output()?;
    if let Some(mut beside) = beside? {
        // Without the lab's hosts there is nothing that it could wait for.
        let _ = beside.kill();
        beside.wait()?;
    }
    ensure!(output.status.success(), "{} failed on {}", program.display(), scenario.display());
    let mut document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(serde_json::from_value(document["rows"][0]["outcome"].take())?)
}
