//! The installed `ns2`, for cells that are in doubt.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use maxseg_core::stats::Summary;

use super::cell::{Cell, Kind};
use super::reruns::Reruns;
use crate::is_installed;

/// ns-2 with the scripts that made the reference tables.
#[derive(Debug)]
pub struct Ns2 {
    scripts: PathBuf,
    reruns: Mutex<Reruns>,
}

impl Ns2 {
    /// The installed `ns`, with the scripts in `scripts`; `None` where it is not installed.
    pub fn installed(scripts: &Path) -> Option<Self> {
        let reruns = Mutex::default();
        is_installed("ns").then(|| Self { scripts: scripts.to_owned(), reruns })
    }

    /// The same, which runs no cell again of which the runs are known.
    #[must_use]
    pub fn knowing(self, reruns: Reruns) -> Self {
        Self { reruns: Mutex::new(reruns), ..self }
    }

    /// What cells gave that were run again.
    pub fn into_reruns(self) -> Reruns {
        self.reruns.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goodput of `cell` over seeds 1 to `runs`.
    ///
    /// # Errors
    /// ns-2 fails, or prints what is not understood.
    pub fn goodput(&self, cell: &Cell, runs: u32) -> Result<Summary> {
        let arguments = arguments(cell)?.join(" ");
        let reruns = || self.reruns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = reruns().of(&arguments, runs) {
            return Ok(Summary::of(known));
        }
        let goodputs: Vec<f64> =
            (1..=runs).map(|seed| self.goodput_of(&arguments, seed)).collect::<Result<_>>()?;
        let summary = Summary::of(&goodputs);
        reruns().add(arguments, goodputs);
        Ok(summary)
    }

    /// Goodput in bits per second of one run of a cell, by its arguments.
    ///
    /// # Errors
    /// ns-2 fails, or prints what is not understood.
    pub fn goodput_of(&self, arguments: &str, seed: u32) -> Result<f64> {
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        Ok(self.print(arguments, seed, &["goodput_bps"])?[0])
    }

    /// The first `count` random numbers that decide about packets under `seed`.
    ///
    /// # Errors
    /// ns-2 fails.
    pub fn draws(&self, seed: u32, count: usize) -> Result<Vec<f64>> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ns2/draws.tcl");
        let text = ns([script.to_owned(), seed.to_string(), count.to_string()])?;
        text.lines().map(|line| line.trim().parse().context("a random number")).collect()
    }

    /// One run: the values in these columns of what it prints.
    ///
    /// # Errors
    /// ns-2 fails, or prints what is not understood.
    pub fn run(&self, cell: &Cell, seed: u32, columns: &[&str]) -> Result<Vec<f64>> {
        self.print(arguments(cell)?, seed, columns)
    }

    /// The values in these columns of what a script prints.
    fn print(&self, arguments: Vec<String>, seed: u32, columns: &[&str]) -> Result<Vec<f64>> {
        let mut arguments = arguments.into_iter();
        let script = self.scripts.join(arguments.next().unwrap_or_default());
        let common = [format!("seed={seed}"), "head=1".to_owned()];
        let text =
            ns(std::iter::once(script.display().to_string()).chain(arguments).chain(common))?;
        let mut lines = text.lines();
        let (header, row) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        let value = |column: &&str| {
            let index = header.split(',').position(|name| name == *column)?;
            row.split(',').nth(index)?.parse().ok()
        };
        let values: Option<Vec<f64>> = columns.iter().map(value).collect();
        values.with_context(|| format!("ns printed {text:?}"))
    }
}

/// The script of a cell, and all its arguments but the seed.
fn arguments(cell: &Cell) -> Result<Vec<String>> {
    let e: f64 = cell.e_pct.parse().context("e_pct")?;
    let common = [format!("s={}", cell.s), format!("e={}", e / 100.0), format!("T={}", cell.t_s)];
    let (script, own) = match &cell.kind {
        Kind::Tcp { tcp, delayed_ack, ack_errors, ge_frames, ge_seconds, window, qlim, old227 } => {
            (
                "tcp.tcl",
                vec![
                    format!("tcp={tcp}"),
                    format!("sink={}", if *delayed_ack { "delack" } else { "plain" }),
                    format!("ackerr={}", u8::from(*ack_errors)),
                    format!("ge={ge_frames}"),
                    format!("get={ge_seconds}"),
                    format!("win={window}"),
                    format!("qlim={qlim}"),
                    format!("old={}", u8::from(*old227)),
                ],
            )
        }
        Kind::Udp { rate, counts_headers } => (
            "udp.tcl",
            vec![
                format!("rate={rate}"),
                format!("basis={}", if *counts_headers { "wire" } else { "payload" }),
            ],
        ),
    };
    Ok(std::iter::once(script.to_owned()).chain(common).chain(own).collect())
}

/// What `ns` prints, given these arguments.
fn ns(arguments: impl IntoIterator<Item = String>) -> Result<String> {
    let output = Command::new("ns").args(arguments).output().context("cannot run ns")?;
    ensure!(output.status.success(), "ns failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
