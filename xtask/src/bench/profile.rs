//! Where the instructions of a packet go: callgrind's counts, gathered by part of the simulator.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::instructions::LINUX;
use super::{cargo, grid, target};
use crate::{is_installed, root};

/// A part of the simulator and the instructions of a packet that are spent there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Share {
    pub(super) part: &'static str,
    pub(super) instructions: f64,
}

const LOSSES: &str = "what is lost or comes out of order: SACK, RACK, retransmissions";
const ARRIVING: &str = "data that arrive: buffer, window, delayed acknowledgements";
const SENDING: &str = "sending: bursts, send buffer, headers";
const TIMES: &str = "clocks and timers";

/// Which source files are which part. The first that fits counts.
const PARTS: [(&str, &str); 33] = [
    ("maxseg-core/src/tcp/linux/sack.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/rack.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/queue.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/recovery.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/reordered.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/retransmit.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/clean.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/ack.rs", LOSSES),
    ("maxseg-core/src/tcp/linux/receive.rs", ARRIVING),
    ("maxseg-core/src/tcp/linux/receive_buffer.rs", ARRIVING),
    ("maxseg-core/src/tcp/linux/delayed_ack.rs", ARRIVING),
    ("maxseg-core/src/tcp/linux/unread.rs", ARRIVING),
    ("maxseg-core/src/tcp/linux/output.rs", SENDING),
    ("maxseg-core/src/tcp/linux/segmentation.rs", SENDING),
    ("maxseg-core/src/tcp/linux/write.rs", SENDING),
    ("maxseg-core/src/tcp/linux/skb.rs", SENDING),
    ("maxseg-core/src/tcp/linux/packet.rs", SENDING),
    ("maxseg-core/src/tcp/linux/outbox.rs", SENDING),
    ("maxseg-core/src/tcp/linux/clock.rs", TIMES),
    ("maxseg-core/src/tcp/linux/timers.rs", TIMES),
    ("maxseg-core/src/tcp/linux/tlp.rs", TIMES),
    ("maxseg-core/src/tcp/linux/cc/", "congestion control"),
    ("maxseg-core/src/tcp/linux/", "acknowledgements: round trips, rates, windows"),
    ("maxseg-core/src/link/arrival_queue.rs", "packets on their way"),
    ("maxseg-core/src/link/", "links: places, wire, errors, pipe"),
    ("maxseg-core/src/errors/", "links: places, wire, errors, pipe"),
    ("maxseg-core/src/framing/", "links: places, wire, errors, pipe"),
    ("maxseg-core/src/tcp/cc/", "congestion control"),
    ("maxseg-core/src/tcp/receiver.rs", "TCP's receiver"),
    ("maxseg-core/src/tcp/", "TCP's sender"),
    ("maxseg-core/src/sim/", "the world: who is next, who answers"),
    ("/library/", "comparisons, options and slices of the standard library, inlined everywhere"),
    ("memmove", "the queue of packets sent, moved where SACK cuts one"),
];

/// Instructions of a data packet by part, largest first: of ns-2's stack and of Linux's with CUBIC.
#[derive(Debug, Default)]
pub(super) struct Profile {
    pub(super) ns2: Vec<Share>,
    pub(super) linux: Vec<Share>,
}

/// Both profiles. Nothing without valgrind.
pub(super) fn measure() -> Result<Profile> {
    if !is_installed("valgrind") {
        return Ok(Profile::default());
    }
    // The shipped program with the names of its lines.
    let folder = target().join("profile");
    let target_dir = folder.display().to_string();
    cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "maxseg",
        "--config",
        "profile.release.debug=\"line-tables-only\"",
        "--config",
        "profile.release.strip=false",
        "--target-dir",
        &target_dir,
    ])?;
    let program = folder.join("release/maxseg");
    Ok(Profile { ns2: shares(&program, &[])?, linux: shares(&program, &LINUX)? })
}

/// Of the stack that these settings name.
fn shares(program: &Path, sets: &[&str]) -> Result<Vec<Share>> {
    let out = program.with_file_name("callgrind.out");
    let counts = |seconds| count(program, &out, seconds, sets);
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
fn count(
    program: &Path,
    out: &Path,
    seconds: u32,
    sets: &[&str],
) -> Result<(BTreeMap<&'static str, f64>, f64)> {
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(grid::one_flow(seconds))
        .args(sets.iter().flat_map(|set| ["--set", set]))
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
