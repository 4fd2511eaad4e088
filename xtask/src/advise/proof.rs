//! Some of the paths in the lab: what the kernel says of the advice.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::draw::Drawn;

/// One path in the lab, as it is and as advised.
#[derive(Debug, Clone)]
pub(super) struct Proof {
    pub(super) drawn: Drawn,
    /// Goodput as it is and as advised, in bits per second; nothing where leaving it alone is advised.
    pub(super) rates: Option<[f64; 2]>,
    /// The gain in percent that the simulator promised.
    pub(super) promised_pct: Option<f64>,
    /// Why there is no number.
    pub(super) why: String,
}

impl Proof {
    /// Asks the program for advice with proof by the lab.
    pub(super) fn of(drawn: Drawn, program: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("{}.toml", drawn.number));
        fs::write(&file, &drawn.text)?;
        let output = Command::new(program)
            .args(["advise", "--json", "-q", "--prove", "lab"])
            .arg(&file)
            .env("XDG_STATE_HOME", folder.canonicalize()?)
            .output()
            .with_context(|| program.display().to_string())?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Ok(Self { drawn, rates: None, promised_pct: None, why });
        }
        let document: Value = serde_json::from_slice(&output.stdout)?;
        let rate = |row: usize| document["lab_rows"][row]["goodput_bps"].as_f64();
        let simulated = |row: usize| {
            let rows = document["rows"].as_array();
            let wanted = &document["lab_rows"][row]["changes"];
            rows.and_then(|rows| rows.iter().find(|row| row["changes"] == *wanted))
                .and_then(|row| row["goodput_bps"].as_f64())
        };
        let rates = rate(0).zip(rate(1)).map(|(before, after)| [before, after]);
        let promised_pct =
            simulated(0).zip(simulated(1)).map(|(before, after)| 100.0 * (after / before - 1.0));
        let why = if rates.is_none() { "leave it as it is".to_owned() } else { String::new() };
        Ok(Self { drawn, rates, promised_pct, why })
    }

    /// Whether the kernel is slower with what is advised, by more than the bar.
    pub(super) fn is_worse(&self) -> bool {
        self.rates.is_some_and(|[before, after]| after < 0.98 * before)
    }
}
