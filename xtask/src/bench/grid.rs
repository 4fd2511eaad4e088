//! The whole grid of a shipped scenario, ours in one process and ns-2's a process a run; and memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use maxseg_core::scenario::Draft;

use super::Line;
use super::cases::{Ns2Run, Script};
use super::measure::{cpu_of_children, ns2};
use crate::root;

const SCENARIO: &str = "scenarios/cellular-mss.toml";
const SEEDS: u32 = 10;
const SECONDS: u32 = 500;

/// Arguments of the program for one flow over the grid's path without errors.
pub(super) fn one_flow(seconds: u32) -> Vec<String> {
    let mut arguments: Vec<String> = ["run", SCENARIO, "--engine", "sim", "--json", "-q"]
        .into_iter()
        .map(str::to_owned)
        .collect();
    for set in [
        "sender.mss=536".to_owned(),
        "hop.radio.errors.rate=0".to_owned(),
        format!("until.time={seconds} s"),
    ] {
        arguments.extend(["--set".to_owned(), set]);
    }
    arguments
}

/// The program's memory at its largest, with one flow.
pub(super) fn memory(program: &Path) -> Result<Line> {
    const MOST: f64 = 12.0;
    let output = Command::new(std::env::current_exe()?)
        .arg("peak-memory")
        .arg(program)
        .args(one_flow(4 * SECONDS))
        .current_dir(root())
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mebibytes: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    Ok(Line {
        what: "peak memory of the program with one flow, MiB".to_owned(),
        figures: vec![format!("{mebibytes:.1}")],
        asked: format!("below {MOST:.0}"),
        reached: Some(mebibytes < MOST),
        fault: None,
    })
}

/// The grid: CPU against ns-2's, and what a second core brings.
pub(super) fn measure(program: &Path) -> Result<Vec<Line>> {
    let on = |jobs: &str| -> Vec<String> {
        let seeds = SEEDS.to_string();
        ["run", SCENARIO, "--engine", "sim", "--json", "-q", "--seeds", &seeds, "--jobs", jobs]
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    // In turn, and the best of each: what else the machine does only makes them slower.
    let (mut one, mut two) = (spend(program, &on("1"))?, spend(program, &on("2"))?);
    for _ in 1..5 {
        one = one.best(spend(program, &on("1"))?);
        two = two.best(spend(program, &on("2"))?);
    }
    let (theirs, runs) = grid_of_ns2()?;
    let ratio = theirs / one.cpu_s;
    let speed_up = one.wall_s / two.wall_s;
    Ok(vec![
        Line {
            what: format!(
                "the grid of `{SCENARIO}` ({runs} runs) on one core: {:.2} s of CPU, ns-2 {theirs:.0} s; ratio. \
                 Ours makes a run in which nothing is random once for all seeds",
                one.cpu_s
            ),
            figures: vec![format!("{ratio:.0}")],
            asked: "at least 100".to_owned(),
            reached: Some(ratio >= 100.0),
            fault: (ratio < 50.0).then(|| format!("the grid: {ratio:.0} times ns-2")),
        },
        Line {
            what: "the same on two cores, times faster".to_owned(),
            figures: vec![format!("{speed_up:.2}")],
            asked: "at least 1.9".to_owned(),
            reached: Some(speed_up >= 1.9),
            fault: None,
        },
    ])
}

#[derive(Debug, Clone, Copy)]
struct Spent {
    cpu_s: f64,
    wall_s: f64,
}

impl Spent {
    fn best(self, other: Self) -> Self {
        Self { cpu_s: self.cpu_s.min(other.cpu_s), wall_s: self.wall_s.min(other.wall_s) }
    }
}

fn spend(program: &Path, arguments: &[String]) -> Result<Spent> {
    let (begun, before) = (Instant::now(), cpu_of_children()?);
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(status.success(), "{} {} failed", program.display(), arguments.join(" "));
    Ok(Spent { cpu_s: cpu_of_children()? - before, wall_s: begun.elapsed().as_secs_f64() })
}

/// CPU seconds of ns-2 for every point and seed of the grid, and how many runs that is.
fn grid_of_ns2() -> Result<(f64, usize)> {
    let text = std::fs::read_to_string(root().join(SCENARIO))?;
    let draft = Draft::parse(SCENARIO, &text)?;
    let points = draft.sweep()?.points(&draft)?;
    let mut cpu_s = 0.0;
    for point in &points {
        let value = |key: &str| {
            let mut values = point.values.iter();
            let (_, value) =
                values.find(|(axis, _)| axis == key).with_context(|| format!("no axis {key}"))?;
            anyhow::Ok(value.to_string())
        };
        let (e, s) = (value("hop.radio.errors.rate")?, value("sender.mss")?);
        for seed in 1..=SEEDS {
            let arguments = vec![
                format!("s={s}"),
                format!("e={e}"),
                format!("T={SECONDS}"),
                format!("seed={seed}"),
                "head=1".to_owned(),
            ];
            let script = Script::Cellular { s: s.parse()?, t_s: SECONDS };
            cpu_s += ns2(&Ns2Run { script, arguments })?.cpu_s;
        }
    }
    Ok((cpu_s, points.len() * SEEDS as usize))
}
