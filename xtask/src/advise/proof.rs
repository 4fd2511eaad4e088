//! Some of the paths in the lab: what the kernel says of the advice.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use maxseg_core::stats::{Summary, welch_interval};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Table;

use super::score::{LEAST_RATE, MOST_WORSE, Scored};
use crate::draws::first_of_all;

/// Runs of the lab for the sweep's best, as many as `maxseg advise --prove lab` makes of each, and their longest time.
const RUNS: usize = 3;
const MOST_SECONDS: f64 = 10.0;

/// One path in the lab: as it is, as advised, and as the sweep has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Proof {
    pub(super) number: u64,
    pub(super) name: String,
    /// What is advised.
    pub(super) words: String,
    /// Goodput as it is, as advised and as the sweep has it; none where the lab did not run.
    pub(super) rates: Option<[Rate; 3]>,
    /// The gain in percent that the simulator promised.
    pub(super) promised_pct: Option<f64>,
    /// Why there is no number.
    pub(super) why: String,
}

/// Goodput in the lab in bits per second.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Rate {
    pub(super) mean: f64,
    /// Half of its 95% interval.
    pub(super) half: f64,
    sd: f64,
}

impl Rate {
    fn of(summary: &Summary) -> Self {
        Self { mean: summary.mean, half: summary.ci95().unwrap_or(0.0), sd: summary.sd }
    }

    /// Whether it is below a share of the other beyond chance: Welch's test, one-sided 95%.
    fn is_below(self, share: f64, other: Self) -> bool {
        let summary = |rate: Self, share: f64| Summary {
            n: RUNS,
            mean: share * rate.mean,
            sd: share * rate.sd,
        };
        let (own, other) = (summary(self, 1.0), summary(other, share));
        other.mean - own.mean > welch_interval(&own, &other, 0.9)
    }
}

impl Proof {
    /// Asks the program for advice with proof by the lab, and runs the sweep's best there as well.
    pub(super) fn of(scored: &Scored, program: &Path, folder: &Path) -> Result<Self> {
        let drawn = &scored.drawn;
        let unproven = |why: String| Self {
            number: drawn.number,
            name: format!("{} {}", drawn.number, drawn.kind.word()),
            words: scored.throughput.words.clone(),
            rates: None,
            promised_pct: None,
            why,
        };
        let file = folder.join(format!("{}.toml", drawn.number));
        fs::write(&file, &drawn.text)?;
        let asked = first_of_all(program)
            .args(["advise", "--json", "-q", "--prove", "lab"])
            .arg(&file)
            .env("XDG_STATE_HOME", folder.canonicalize()?)
            .output()
            .with_context(|| program.display().to_string())?;
        if !asked.status.success() {
            return Ok(unproven(String::from_utf8_lossy(&asked.stderr).trim().to_owned()));
        }
        let document: Value = serde_json::from_slice(&asked.stdout)?;
        let row = |row: usize| rate_of(&document["lab_rows"][row]);
        let before = row(0).context("the lab's row of the path as it is")?;
        // Where leaving it alone is advised, there is one row.
        let after = row(1).unwrap_or(before);
        let same = scored.winner == drawn.text;
        let best = if same { Ok(before) } else { winner(scored, program, folder) };
        let best = match best {
            Ok(best) => best,
            Err(why) => return Ok(unproven(format!("{why:#}"))),
        };
        let simulated = |row: usize| {
            let rows = document["rows"].as_array();
            let wanted = &document["lab_rows"][row]["changes"];
            rows.and_then(|rows| rows.iter().find(|row| row["changes"] == *wanted))
                .and_then(|row| row["goodput_bps"].as_f64())
        };
        let promised_pct =
            simulated(0).zip(simulated(1)).map(|(before, after)| 100.0 * (after / before - 1.0));
        Ok(Self { rates: Some([before, after, best]), promised_pct, ..unproven(String::new()) })
    }

    /// What it misses by the kernel, beyond chance.
    pub(super) fn misses(&self) -> Vec<String> {
        let Some([before, after, best]) = self.rates else {
            return vec![format!("path {} did not run in the lab", self.number)];
        };
        let mut misses = Vec::new();
        if after.is_below(1.0 - MOST_WORSE, before) {
            misses.push(format!("path {} in the lab: slower than as it is", self.number));
        }
        if after.is_below(LEAST_RATE, best) {
            let percent = 100.0 * after.mean / best.mean;
            misses.push(format!(
                "path {} in the lab: goodput {percent:.1}% of the sweep's best",
                self.number
            ));
        }
        misses
    }
}

/// What a row of a document says.
fn rate_of(row: &Value) -> Option<Rate> {
    let mean = row["goodput_bps"].as_f64()?;
    let half = row["goodput_half_bps"].as_f64().unwrap_or(0.0);
    // Student's t of three runs is 4.303: the same interval, backwards.
    let sd = half / Summary { n: RUNS, mean, sd: 1.0 }.ci95().unwrap_or(1.0);
    Some(Rate { mean, half, sd })
}

/// The sweep's best by the kernel.
fn winner(scored: &Scored, program: &Path, folder: &Path) -> Result<Rate> {
    let file = folder.join(format!("{}-winner.toml", scored.drawn.number));
    let mut table: Table = scored.winner.parse()?;
    let until = table.entry("until").or_insert_with(|| Table::new().into());
    let shorter = scored.drawn.seconds()?.min(MOST_SECONDS);
    until.as_table_mut().context("until")?.insert("time".to_owned(), format!("{shorter} s").into());
    fs::write(&file, table.to_string())?;
    let output = first_of_all(program)
        .args(["-q", "run", "--engine", "lab", "--allow-invalid", "--json", "--seeds"])
        .arg(RUNS.to_string())
        .arg(&file)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let rows = document["rows"].as_array().context("rows")?;
    let is_valid = |row: &&Value| {
        row["outcome"]["lab"]["invalid_because"].as_array().is_none_or(Vec::is_empty)
    };
    let rates: Vec<f64> = rows
        .iter()
        .filter(is_valid)
        .filter_map(|row| row["outcome"]["goodput_bps"].as_f64())
        .collect();
    ensure!(rates.len() == RUNS, "{} runs of {}", rates.len(), file.display());
    Ok(Rate::of(&Summary::of(&rates)))
}
