//! Cells judged: what is exact is compared packet by packet, what is drawn by its means.

use std::path::Path;

use anyhow::{Context, Result};
use maxseg_core::stats::{Summary, student_t, welch_interval};
use maxseg_core::units::Time;

use super::cell::Cell;
use super::compare::{Difference, SamplesCompared, compare_samples, first_difference, show};
use super::reference::Reference;
use super::run::{Outcome, run};
use crate::parallel::in_parallel;
use crate::tables::Row;

/// Runs of a cell with random losses: twice the kernel's, so that most of the noise is the kernel's.
const LOSSY_SEEDS: u64 = 16;
/// Runs of one where only BBR's phase is drawn, as many as most of the kernel's.
const PHASE_SEEDS: u64 = 3;
/// Goodput of a path without random loss, as a share of the kernel's, and BBR's, whose phase is drawn.
pub const GOODPUT: f64 = 0.01;
const BBR_GOODPUT: f64 = 0.015;
/// BBR's retransmissions as a share of the kernel's.
const BBR_RETRANSMISSIONS: f64 = 0.1;
/// Below so many retransmissions a share of them is a matter of single packets.
const FEW: f64 = 50.0;
/// Drawn means may be 95% intervals apart by chance; so many are a rule that is missing.
const INTERVALS: f64 = 4.0;
/// Median and 99th percentile of requests, as a share of the kernel's, where nothing is drawn.
const REQUESTS: f64 = 0.05;
/// A round trip is read in steps of this, in milliseconds.
const READ_STEP: f64 = 0.1;

/// A cell, run as often as it needs, beside the kernel's.
#[derive(Debug)]
pub struct Judged {
    /// The cell.
    pub cell: Cell,
    /// Goodput in bits a second, ours and the kernel's.
    pub goodput: (Summary, Summary),
    /// Segments sent again.
    pub retransmitted: (Summary, Summary),
    /// Median and 99th percentile of requests, in milliseconds, ours and the kernel's.
    pub requests: Option<[(f64, f64); 2]>,
    /// Where the first packet differs; `None` where all recorded ones are the same.
    pub difference: Option<Difference>,
    /// Whether packets were recorded that can be compared.
    pub is_recorded: bool,
    /// The first packet that differs comes before anything was dropped, or drawn.
    pub is_early: bool,
    /// Both sides around it.
    pub shown: String,
    /// What was recorded, and the first of our runs.
    pub reference: Reference,
    /// Our first run.
    pub first: Outcome,
    /// Samples of `tcp_info`, compared where all packets are the same.
    pub samples: SamplesCompared,
}

/// The cells of a folder.
///
/// # Errors
/// Its table cannot be read.
pub fn cells(folder: &Path) -> Result<Vec<Cell>> {
    let file = folder.join("cells.csv");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines
        .map(|line| {
            let row: Vec<(&str, &str)> = columns.iter().copied().zip(line.split(',')).collect();
            Cell::from_row(&row).with_context(|| line.to_owned())
        })
        .collect()
}

/// Runs and judges cells of this folder, on all cores.
///
/// # Errors
/// What was recorded of a cell cannot be read, or the cell cannot be run.
pub fn judge(folder: &Path, cells: &[Cell]) -> Result<Vec<Judged>> {
    let cells: Vec<&Cell> = cells.iter().collect();
    in_parallel(&cells, |cell| judge_one(folder, cell).with_context(|| cell.name.clone()))
}

fn judge_one(folder: &Path, cell: &Cell) -> Result<Judged> {
    let seeds = match (cell.loss > 0.0, cell.is_drawn()) {
        (true, _) => LOSSY_SEEDS,
        (false, true) => PHASE_SEEDS,
        (false, false) => 1,
    };
    let step = Time::from_millis(if cell.set == "ss" { 1 } else { 10 });
    let mut runs =
        (1..=seeds).map(|seed| run(cell, seed, step)).collect::<Result<Vec<Outcome>>>()?;
    let summary = |of: fn(&Outcome) -> f64| Summary::of(&runs.iter().map(of).collect::<Vec<_>>());
    let (received, retransmitted) =
        (summary(|run| run.received as f64), summary(|run| run.retransmitted as f64));
    let scale = 8.0 / cell.time.as_secs_f64();
    let goodput = Summary { mean: received.mean * scale, sd: received.sd * scale, ..received };
    let mut answers: Vec<f64> =
        runs.iter().flat_map(|run| run.answers.iter().map(|seconds| seconds * 1e3)).collect();
    answers.sort_by(f64::total_cmp);
    let first = runs.swap_remove(0);
    let mut reference = Reference::of(folder, &cell.name)?;
    if cell.qdisc.contains("tso") {
        reference.cut(cell.mss);
    }
    let is_recorded = !reference.seen.is_empty() && cell.loss == 0.0;
    let difference = first_difference(&reference, &first).filter(|_| is_recorded);
    let certain = [first.first_drop, first.first_drawn].into_iter().flatten().min();
    let is_early =
        difference.as_ref().is_some_and(|found| certain.is_none_or(|until| found.at < until));
    let shown =
        difference.as_ref().map_or_else(String::new, |found| show(&reference, &first, found));
    let is_same = is_recorded && difference.is_none();
    let samples =
        if is_same { compare_samples(&reference, &first) } else { SamplesCompared::default() };
    Ok(Judged {
        samples,
        goodput: (goodput, theirs(cell, "goodput_bps")),
        retransmitted: (retransmitted, theirs(cell, "retrans_segs")),
        requests: requests(cell, &answers),
        difference,
        is_recorded,
        is_early,
        shown,
        reference,
        first,
        cell: cell.clone(),
    })
}

/// The kernel's mean of a column, with the spread that its interval tells of.
fn theirs(cell: &Cell, column: &str) -> Summary {
    let n = cell.count("runs").unwrap_or(1);
    let half = cell.number(&format!("{column}_ci95")).filter(|_| n > 1);
    let sd = half.map_or(0.0, |half| half / student_t(0.975, (n - 1) as f64) * (n as f64).sqrt());
    Summary { n, mean: cell.number(column).unwrap_or(f64::NAN), sd }
}

fn requests(cell: &Cell, answers: &[f64]) -> Option<[(f64, f64); 2]> {
    let last = answers.len().checked_sub(1)?;
    // As the table's: the sample at this share of their number.
    let at = |percent: usize| answers[(answers.len() * percent / 100).min(last)];
    Some([(at(50), cell.number("rr_p50_ms")?), (at(99), cell.number("rr_p99_ms")?)])
}

impl Judged {
    /// Our goodput as a share of the kernel's, less 1.
    pub fn apart(&self) -> f64 {
        self.goodput.0.mean / self.goodput.1.mean - 1.0
    }

    /// The difference of goodput in widths of Welch's 95% interval; `None` where losses are not drawn, or nothing
    /// varies.
    pub fn widths(&self) -> Option<f64> {
        let (ours, theirs) = &self.goodput;
        let width = welch_interval(ours, theirs, 0.95);
        (self.cell.loss > 0.0 && width > 0.0).then(|| (ours.mean - theirs.mean) / width)
    }

    /// Segments sent again as a share of the kernel's, less 1; `None` where they are few.
    pub fn retransmitted_apart(&self) -> Option<f64> {
        let (ours, theirs) = &self.retransmitted;
        (theirs.mean >= FEW).then(|| ours.mean / theirs.mean - 1.0)
    }

    /// What is wrong with it, if anything is.
    pub fn fault(&self) -> Option<String> {
        let name = &self.cell.name;
        if let Some(found) = self.difference.as_ref().filter(|_| self.is_early) {
            // A write and an acknowledgement at one instant: which of them goes first is the timers' slack.
            if found.what != "direction" {
                return Some(format!("{name}: packet {} differs ({})", found.index, found.what));
            }
        }
        if let Some(widths) = self.widths() {
            return (widths.abs() > INTERVALS).then(|| format!("{name}: {widths:+.1} intervals"));
        }
        if self.cell.loss > 0.0 {
            return None;
        }
        if self.is_apart() && !self.is_one_draw() {
            return Some(format!("{name}: goodput {:+.2}%", 100.0 * self.apart()));
        }
        if let Some(fault) = self.request_fault() {
            return Some(format!("{name}: {fault}"));
        }
        None
    }

    /// Whether goodput is beyond its bound, where losses are not drawn.
    fn is_apart(&self) -> bool {
        let bound = if self.cell.cc == "bbr" { BBR_GOODPUT } else { GOODPUT };
        self.cell.loss == 0.0 && self.apart().abs() > bound
    }

    /// The kernel ran it once, and its phase is drawn: its one number may be of any phase.
    fn is_one_draw(&self) -> bool {
        self.cell.cc == "bbr" && self.goodput.1.n == 1
    }

    /// Beyond the bound of goodput, which is no fault since the kernel drew its phase once: named, as a rule may be missing there.
    pub fn is_undecided(&self) -> bool {
        self.is_apart() && self.is_one_draw()
    }

    fn request_fault(&self) -> Option<String> {
        let mut pairs = self.requests?.into_iter().zip(["median", "99th percentile"]);
        let (far, what) = pairs.find(|((ours, kernel), _)| {
            (ours - kernel).abs() > (REQUESTS * kernel).max(READ_STEP)
        })?;
        Some(format!("{what} of requests {:.2} ms for {:.2}", far.0, far.1))
    }

    /// BBR's retransmissions are the kernel's, or nearly; `None` where that is not asked.
    pub fn retransmits_alike(&self) -> Option<bool> {
        (self.cell.cc == "bbr" && self.cell.loss == 0.0)
            .then(|| self.retransmitted_apart().map(|apart| apart.abs() <= BBR_RETRANSMISSIONS))
            .flatten()
    }
}
