//! Instructions per data packet, by valgrind: the same on every run, so CI can hold it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Line;
use crate::root;

/// What the project has set itself: at most so many for a packet of the cellular path without errors,
/// its acknowledgement included.
const MOST: f64 = 780.0;

const SHORT_S: u32 = 500;

/// Linux's own TCP at both ends.
pub(super) const LINUX: [&str; 2] = ["sender.stack=linux", "receiver.stack=linux"];

/// A host's stack on that path.
struct Stack {
    what: &'static str,
    sets: &'static [&'static str],
    /// What the project has set itself, if anything.
    asked: Option<f64>,
    /// What it may cost: what it cost when that was written, and a hundredth.
    most: Option<f64>,
}

/// What Linux's own TCP costs there, and a lossy path with it and with ns-2's SACK. What was asked of the former is little
/// more than half of what it takes: a packet of it passes more rules than links and ns-2's sender together have.
const OTHERS: [Stack; 4] = [
    Stack {
        what: "the same with the stack `linux`, CUBIC",
        sets: &LINUX,
        asked: Some(1250.0),
        most: Some(1989.0),
    },
    Stack {
        what: "the same with the stack `linux`, BBR",
        sets: &["sender.stack=linux", "receiver.stack=linux", "sender.congestion=bbr"],
        asked: Some(1560.0),
        most: Some(2433.0),
    },
    Stack {
        what: "1% of frames lost, the stack `linux` with SACK",
        sets: &["sender.stack=linux", "receiver.stack=linux", "hop.radio.errors.rate=0.01"],
        asked: None,
        most: Some(2794.0),
    },
    Stack {
        what: "1% of frames lost, the stack `ns2-sack`",
        sets: &["sender.stack=ns2-sack", "receiver.stack=ns2-sack", "hop.radio.errors.rate=0.01"],
        asked: None,
        most: None,
    },
];

/// What may not grow: the case, what a packet of it costs, and what it may cost.
///
/// # Errors
/// valgrind is missing, or the program fails.
pub fn held(program: &Path) -> Result<Vec<(&'static str, f64, f64)>> {
    let mut held = vec![("the stack `ns2-reno`, no errors", per_packet(program)?, MOST)];
    for stack in &OTHERS {
        if let Some(most) = stack.most {
            held.push((stack.what, per_packet_with(program, stack.sets)?, most));
        }
    }
    Ok(held)
}

/// Instructions that each further data packet costs: a long run's less a short one's, so that what every
/// run costs once cancels.
fn per_packet(program: &Path) -> Result<f64> {
    per_packet_with(program, &[])
}

/// The same with further settings.
fn per_packet_with(program: &Path, sets: &[&str]) -> Result<f64> {
    let (short, short_packets) = count(program, SHORT_S, sets)?;
    let (long, long_packets) = count(program, 2 * SHORT_S, sets)?;
    Ok((long - short) / (long_packets - short_packets))
}

/// Instructions and data packets of a run of so many seconds.
fn count(program: &Path, seconds: u32, sets: &[&str]) -> Result<(f64, f64)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(super::grid::one_flow(seconds))
        .args(sets.iter().flat_map(|set| ["--set", set]))
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

/// ns-2's stack, which a fault is for, then others.
pub(super) fn lines(program: &Path) -> Result<Vec<Line>> {
    let mut lines = vec![line(program)?];
    for Stack { what, sets, asked, most } in OTHERS {
        let instructions = per_packet_with(program, sets)?;
        let is_beyond = most.is_some_and(|most| instructions > most);
        lines.push(Line {
            what: what.to_owned(),
            figures: vec![format!("{instructions:.0}")],
            asked: asked.map_or_else(String::new, |asked| format!("at most {asked:.0}")),
            reached: asked.map(|asked| instructions <= asked),
            fault: is_beyond.then(|| format!("{instructions:.0} instructions a packet: {what}")),
        });
    }
    Ok(lines)
}

fn line(program: &Path) -> Result<Line> {
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
