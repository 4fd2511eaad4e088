//! Where the instructions of a packet go: callgrind's counts, gathered by part of the simulator.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{cargo, grid, target};
use crate::{is_installed, root};

/// A part of the simulator and the instructions of a packet that are spent there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Share {
    pub(super) part: &'static str,
    pub(super) instructions: f64,
}

/// Which source files are which part. The first that fits counts.
const PARTS: [(&str, &str); 9] = [
    ("maxseg-core/src/link/arrival_queue.rs", "packets on their way"),
    ("maxseg-core/src/link/", "links: places, wire, errors, pipe"),
    ("maxseg-core/src/errors/", "links: places, wire, errors, pipe"),
    ("maxseg-core/src/framing/", "links: places, wire, errors, pipe"),
    ("maxseg-core/src/tcp/cc/", "congestion control"),
    ("maxseg-core/src/tcp/receiver.rs", "TCP's receiver"),
    ("maxseg-core/src/tcp/", "TCP's sender"),
    ("maxseg-core/src/sim/", "the world: who is next, who answers"),
    ("/library/", "comparisons, options and slices of the standard library, inlined everywhere"),
];

/// Instructions of a data packet by part, largest first. Nothing without valgrind.
pub(super) fn measure() -> Result<Vec<Share>> {
    if !is_installed("valgrind") {
        return Ok(Vec::new());
    }
    // The shipped program with the names of its lines left in.
    let folder = target().join("profile");
    let target_dir = folder.display().to_string();
    cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "maxseg",
        "--config",
        "profile.release.strip=false",
        "--target-dir",
        &target_dir,
    ])?;
    let program = folder.join("release/maxseg");
    let counts = |seconds| count(&program, &folder.join("callgrind.out"), seconds);
    let ((short, short_packets), (long, long_packets)) = (counts(250)?, counts(500)?);
    let packets = long_packets - short_packets;
    let mut shares: Vec<Share> = long
        .into_iter()
        .map(|(part, instructions)| {
            let once = short.get(part).copied().unwrap_or(0.0);
            Share { part, instructions: (instructions - once) / packets }
        })
        .filter(|share| share.instructions >= 1.0)
        .collect();
    shares.sort_by(|a, b| b.instructions.total_cmp(&a.instructions));
    Ok(shares)
}

/// Instructions by part, and data packets, of a run of so many seconds.
fn count(program: &Path, out: &Path, seconds: u32) -> Result<(BTreeMap<&'static str, f64>, f64)> {
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(grid::one_flow(seconds))
        .current_dir(root())
        .output()
        .context("cannot run valgrind")?;
    ensure!(output.status.success(), "callgrind: {}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packets = document["rows"][0]["outcome"]["data_packets"].as_f64().context("no packets")?;
    Ok((by_part(&std::fs::read_to_string(out)?), packets))
}

/// Adds up what callgrind wrote: `fl=`, `fi=` and `fe=` name the file that the following cost lines
/// belong to, by number after the first time; the line after `calls=` is a callee's cost.
fn by_part(text: &str) -> BTreeMap<&'static str, f64> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut sums = BTreeMap::new();
    let (mut file, mut is_call) = ("", false);
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=') {
            let is_file = ["fl", "fi", "fe", "cfi", "cfl"].contains(&key);
            if is_file && let Some((number, name)) = value.split_once(')') {
                let name = name.trim();
                if !name.is_empty() {
                    names.insert(number, name);
                }
                if !key.starts_with('c') {
                    file = names.get(number).copied().unwrap_or("");
                }
            }
            is_call |= key == "calls";
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split(' ').next_back().and_then(|cost| cost.parse().ok());
            if !std::mem::take(&mut is_call) {
                *sums.entry(part_of(file)).or_insert(0.0) += cost.unwrap_or(0.0);
            }
        }
    }
    sums
}

fn part_of(file: &str) -> &'static str {
    let part = PARTS.iter().find(|(path, _)| file.contains(path));
    part.map_or("everything else", |(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_belong_to_the_file_named_last_and_calls_to_their_callee() {
        let text = "events: Ir\nfl=(1) /x/crates/maxseg-core/src/sim/world.rs\nfn=(1) run\n10 5\n\
                    fi=(2) /x/crates/maxseg-core/src/link/arrival_queue.rs\n+3 7\ncfi=(3) /y/main.rs\n\
                    cfn=(9) other\ncalls=1 20\n10 1000\n* 2\nfe=(1)\n-3 4\n";
        let sums = by_part(text);
        assert!((sums["the world: who is next, who answers"] - 9.0).abs() < 1e-9, "{sums:?}");
        assert!((sums["packets on their way"] - 9.0).abs() < 1e-9, "{sums:?}");
        assert_eq!(sums.len(), 2, "{sums:?}");
    }
}
