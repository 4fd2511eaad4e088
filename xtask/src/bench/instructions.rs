//! Instructions per data packet, by valgrind: the same on every run, so CI can hold it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Line;
use crate::root;

/// What the project has set itself: at most so many for a packet of the cellular path without errors,
/// its acknowledgement included.
pub const MOST: f64 = 780.0;

const SHORT_S: u32 = 500;

/// Instructions that each further data packet costs: a long run's less a short one's, so that what every
/// run costs once cancels.
///
/// # Errors
/// valgrind is missing, or the program fails.
pub fn per_packet(program: &Path) -> Result<f64> {
    let (short, short_packets) = count(program, SHORT_S)?;
    let (long, long_packets) = count(program, 2 * SHORT_S)?;
    Ok((long - short) / (long_packets - short_packets))
}

/// Instructions and data packets of a run of so many seconds.
fn count(program: &Path, seconds: u32) -> Result<(f64, f64)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(super::grid::one_flow(seconds))
        .current_dir(root())
        .output()
        .context("cannot run valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} under valgrind failed:\n{said}", program.display());
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let packets = document["rows"][0]["outcome"]["data_packets"].as_f64().context("no packets")?;
    let instructions = said
        .lines()
        .filter_map(|line| line.split_once("refs:"))
        .find_map(|(_, number)| number.trim().replace(',', "").parse().ok())
        .with_context(|| format!("no count in\n{said}"))?;
    Ok((instructions, packets))
}

pub(super) fn line(program: &Path) -> Result<Line> {
    let instructions = per_packet(program)?;
    let reached = instructions <= MOST;
    Ok(Line {
        what: "instructions per data packet, no errors, its acknowledgement included".to_owned(),
        figures: vec![format!("{instructions:.0}")],
        asked: format!("at most {MOST:.0}"),
        reached: Some(reached),
        fault: (!reached).then(|| format!("{instructions:.0} instructions a packet")),
    })
}
