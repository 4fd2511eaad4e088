//! Who is right: cell by cell, and table by table.

use std::collections::BTreeMap;

use anyhow::Result;
use maxseg_core::stats::{Summary, welch_interval};

use super::cell::Cell;
use super::peer::Ns2;
use super::replay::Replay;
use super::run::{Measured, measure};
use crate::parallel::in_parallel;
use crate::tables::Table;

/// A cell with both results.
#[derive(Debug)]
pub struct CellVerdict<'a> {
    /// Which.
    pub cell: &'a Cell,
    /// What ns-2 gave: the table's runs, or a rerun's where the table's were too few.
    pub ns2: Summary,
    /// What we gave; `None` for a cell that was skipped.
    pub ours: Option<Measured>,
    /// Our mean goodput with the random numbers of the table's own seeds, where the table as a whole
    /// left doubt.
    pub replayed: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// How a cell stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// To the bit: nothing in it is random, and it is the same.
    Identical,
    /// Within the bounds.
    Agrees,
    /// Within the bounds of a rerun of ns-2 with more seeds.
    AgreesAfterRerun,
    /// Outside.
    Differs,
    /// Not run, and why.
    Skipped(String),
}

/// A table with its cells and its bias.
#[derive(Debug)]
pub struct TableVerdict<'a> {
    /// The table's name.
    pub name: &'a str,
    /// Its cells.
    pub cells: Vec<CellVerdict<'a>>,
    /// What is wrong with it; empty when all is well.
    pub faults: Vec<String>,
    /// Mean relative difference for each error rate, with the bound that it must keep.
    pub bias: Vec<(String, f64, f64)>,
    /// Counts summed over the table.
    pub sums: Vec<Sum>,
}

/// A count summed over all cells of a table.
#[derive(Debug, Clone)]
pub struct Sum {
    /// What was counted.
    pub what: &'static str,
    /// ns-2's mean counts.
    pub ns2: f64,
    /// Ours: over our own seeds, or over ns-2's where those alone left doubt.
    pub ours: f64,
    /// Whether ours are with ns-2's random numbers.
    pub replayed: bool,
}

impl Sum {
    fn is_off(&self) -> bool {
        self.ns2 > SUM_FROM && (self.ours / self.ns2 - 1.0).abs() > SUM_TOLERANCE
    }
}

/// A cell may differ by so much whatever the noise says: below it no user cares.
const CELL_TOLERANCE: f64 = 0.05;
/// And by as much as two sides that agree differ once in 10 000 cells.
const CELL_CONFIDENCE: f64 = 0.9999;
/// Seeds of the rerun that decides where the table's few runs do not.
const RERUN_SEEDS: u32 = 30;
/// The mean difference over an error rate: a bias above this would show in every figure.
const BIAS_TOLERANCE: f64 = 0.01;
/// And so many of its standard errors.
const BIAS_ERRORS: f64 = 3.0;
/// A bound above this says little: a bias that a user would notice could hide below it.
pub const BIAS_IN_SIGHT: f64 = 0.05;
/// Table sums of counts, where they are large enough to have little noise.
const SUM_TOLERANCE: f64 = 0.03;
const SUM_FROM: f64 = 10_000.0;

/// Runs and judges every table, on all cores.
///
/// # Errors
/// A cell is no scenario, or ns-2 fails.
pub fn judge<'a>(tables: &'a [Table<Cell>], peer: Option<&Ns2>) -> Result<Vec<TableVerdict<'a>>> {
    let cells: Vec<&Cell> = tables.iter().flat_map(|table| &table.cells).collect();
    let verdicts = in_parallel(&cells, |cell| judge_cell(cell, peer))?;
    let mut verdicts = verdicts.into_iter();
    let replay = peer.map(Replay::new);
    tables
        .iter()
        .map(|table| {
            let mut cells: Vec<_> = verdicts.by_ref().take(table.cells.len()).collect();
            if let (Some(peer), Some(replay)) = (peer, &replay) {
                settle_doubts(&mut cells, peer, replay)?;
            }
            let mut sums = sums(&cells);
            if let Some(replay) = &replay
                && sums.iter().any(Sum::is_off)
            {
                replay_sums(&mut sums, &cells, replay)?;
            }
            Ok(judge_table(&table.name, cells, sums))
        })
        .collect()
}

fn judge_cell<'a>(cell: &'a Cell, peer: Option<&Ns2>) -> Result<CellVerdict<'a>> {
    let ns2 = cell.goodput;
    if let Some(reason) = cell.not_yet() {
        return Ok(CellVerdict {
            cell,
            ns2,
            ours: None,
            replayed: None,
            verdict: Verdict::Skipped(reason),
        });
    }
    let ours = measure(cell)?;
    let verdict = compare(cell, &ns2, &ours.goodput, Verdict::Agrees);
    let mut judged = CellVerdict { cell, ns2, ours: Some(ours), replayed: None, verdict };
    if let (Verdict::Differs, Some(peer)) = (&judged.verdict, peer) {
        judged.judge_again(peer.goodput(cell, RERUN_SEEDS)?);
    }
    Ok(judged)
}

impl CellVerdict<'_> {
    /// Judge on more runs of ns-2 than the table has.
    fn judge_again(&mut self, ns2: Summary) {
        if let Some(ours) = &self.ours {
            self.verdict = compare(self.cell, &ns2, &ours.goodput, Verdict::AgreesAfterRerun);
            self.ns2 = ns2;
        }
    }
}

fn compare(cell: &Cell, ns2: &Summary, ours: &Summary, good: Verdict) -> Verdict {
    let difference = (ours.mean - ns2.mean).abs();
    // The tables hold two decimals.
    if cell.is_deterministic() && difference <= 0.005 {
        Verdict::Identical
    } else if difference <= CELL_TOLERANCE * ns2.mean
        || difference <= welch_interval(ns2, ours, CELL_CONFIDENCE)
    {
        good
    } else {
        Verdict::Differs
    }
}

/// Where the cells of an error rate differ in common by more than their noise, or where that noise is
/// so large that a bias could hide in it, take the noise away: give our simulator the random numbers
/// of the table's own seeds. What cannot be replayed is run again with more seeds of ns-2.
fn settle_doubts(cells: &mut [CellVerdict<'_>], peer: &Ns2, replay: &Replay<'_>) -> Result<()> {
    let in_doubt: Vec<String> = biases(cells)
        .into_iter()
        .filter(|(_, mean, bound)| is_in_doubt(*mean, *bound))
        .map(|(rate, ..)| rate)
        .collect();
    let is_meant = |cell: &CellVerdict<'_>| {
        let runs_as_in_table = cell.ns2.n == cell.cell.goodput.n;
        runs_as_in_table
            && cell.ours.is_some()
            && !cell.cell.is_deterministic()
            && in_doubt.contains(&cell.cell.e_pct)
    };
    let meant: Vec<(usize, &Cell)> = (0..)
        .zip(&*cells)
        .filter(|(_, cell)| is_meant(cell))
        .map(|(place, cell)| (place, cell.cell))
        .collect();
    let settled = in_parallel(&meant.iter().collect::<Vec<_>>(), |(_, cell)| {
        Ok(match replayed_goodput(cell, replay)? {
            Some(goodput) => Settled::Replayed(goodput),
            None => Settled::Rerun(peer.goodput(cell, RERUN_SEEDS)?),
        })
    })?;
    for ((place, _), settled) in meant.into_iter().zip(settled) {
        match settled {
            Settled::Replayed(goodput) => cells[place].replayed = Some(goodput),
            Settled::Rerun(ns2) => cells[place].judge_again(ns2),
        }
    }
    Ok(())
}

/// How a doubt was settled.
enum Settled {
    /// Our mean goodput over the table's own seeds.
    Replayed(f64),
    /// ns-2's over more of them.
    Rerun(Summary),
}

/// Our mean goodput when the same packets die as in the table's runs; `None` for a cell whose losses
/// cannot be listed beforehand.
fn replayed_goodput(cell: &Cell, replay: &Replay<'_>) -> Result<Option<f64>> {
    let runs = u32::try_from(cell.goodput.n)?;
    let mut sum = 0.0;
    for seed in 1..=runs {
        let Some(outcome) = replay.run(cell, seed)? else { return Ok(None) };
        sum += outcome.payload_bytes.unwrap_or(0) as f64 * 8.0 / cell.t_s;
    }
    Ok(Some(sum / f64::from(runs)))
}

fn is_in_doubt(mean: f64, bound: f64) -> bool {
    mean.abs() > bound || bound > BIAS_IN_SIGHT
}

fn judge_table<'a>(name: &'a str, cells: Vec<CellVerdict<'a>>, sums: Vec<Sum>) -> TableVerdict<'a> {
    let mut faults: Vec<String> = cells
        .iter()
        .filter(|cell| cell.verdict == Verdict::Differs)
        .map(|cell| {
            let ours = cell.ours.as_ref().map_or(0.0, |ours| ours.goodput.mean);
            format!("{}: ns-2 {:.1}, maxseg {ours:.1} bit/s", cell.cell.title(), cell.ns2.mean)
        })
        .collect();
    let bias = biases(&cells);
    for (e_pct, mean, bound) in &bias {
        if mean.abs() > *bound {
            faults.push(format!(
                "e {e_pct}%: mean difference {:+.2}% is beyond {:.2}%",
                mean * 100.0,
                bound * 100.0
            ));
        }
    }
    for Sum { what, ns2, ours, .. } in sums.iter().filter(|sum| sum.is_off()) {
        faults.push(format!("sum of {what}: ns-2 {ns2:.0}, maxseg {ours:.0}"));
    }
    TableVerdict { name, cells, faults, bias, sums }
}

/// For each error rate the mean relative difference, and 1% plus three of its standard errors.
fn biases(cells: &[CellVerdict<'_>]) -> Vec<(String, f64, f64)> {
    let mut by_rate: BTreeMap<&str, Vec<Difference<'_>>> = BTreeMap::new();
    for cell in cells {
        if let Some(difference) = Difference::of(cell) {
            by_rate.entry(&cell.cell.e_pct).or_default().push(difference);
        }
    }
    let mut biases: Vec<(String, f64, f64)> = by_rate
        .into_iter()
        .map(|(rate, differences)| {
            let n = differences.len() as f64;
            let mean = differences.iter().map(|difference| difference.relative).sum::<f64>() / n;
            let bound = BIAS_TOLERANCE + BIAS_ERRORS * variance_of_sum(&differences).sqrt() / n;
            (rate.to_owned(), mean, bound)
        })
        .collect();
    let rate = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    biases.sort_by(|a, b| rate(&a.0).total_cmp(&rate(&b.0)));
    biases
}

/// A cell's relative difference, with the standard errors of both sides relative to ns-2's mean.
struct Difference<'a> {
    relative: f64,
    ns2_error: f64,
    our_error: f64,
    by_seed: &'a [f64],
}

impl<'a> Difference<'a> {
    /// `None` where there is nothing to compare, or ns-2 delivered nothing.
    fn of(cell: &'a CellVerdict<'_>) -> Option<Self> {
        let ours = cell.ours.as_ref()?;
        let mean = cell.ns2.mean;
        if mean <= 0.0 {
            return None;
        }
        if let Some(replayed) = cell.replayed {
            let relative = replayed / mean - 1.0;
            return Some(Self { relative, ns2_error: 0.0, our_error: 0.0, by_seed: &[] });
        }
        // One spread for both, pooled: five runs alone know their own spread badly.
        let freedom = |s: &Summary| s.n.saturating_sub(1) as f64;
        let (a, b) = (&cell.ns2, &ours.goodput);
        let squares = freedom(a) * a.sd * a.sd + freedom(b) * b.sd * b.sd;
        let sd = (squares / (freedom(a) + freedom(b)).max(1.0)).sqrt();
        Some(Self {
            relative: ours.goodput.mean / mean - 1.0,
            ns2_error: sd / (a.n as f64).sqrt() / mean,
            our_error: sd / (b.n as f64).sqrt() / mean,
            by_seed: &ours.by_seed,
        })
    }
}

/// The variance of the differences' sum. Cells of one table share their seeds, and so the draws that
/// kill their packets: an unlucky seed is unlucky at every segment size. Their errors are correlated
/// as our own runs of the same seeds are.
fn variance_of_sum(differences: &[Difference<'_>]) -> f64 {
    let pairs = differences.iter().flat_map(|a| differences.iter().map(move |b| (a, b)));
    pairs
        .map(|(a, b)| {
            let common = a.ns2_error * b.ns2_error + a.our_error * b.our_error;
            common * correlation(a.by_seed, b.by_seed)
        })
        .sum()
}

/// The correlation of two series over their common length; 0 where it cannot be told.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (sa, sb) = (Summary::of(&a[..n]), Summary::of(&b[..n]));
    if n < 3 || sa.sd <= 0.0 || sb.sd <= 0.0 {
        return 0.0;
    }
    let products = a.iter().zip(b).map(|(x, y)| (x - sa.mean) * (y - sb.mean));
    products.sum::<f64>() / ((n - 1) as f64 * sa.sd * sb.sd)
}

fn sums(cells: &[CellVerdict<'_>]) -> Vec<Sum> {
    let sum = |what, ns2: fn(&Cell) -> f64, ours: fn(&Measured) -> f64| {
        let run = cells.iter().filter_map(|cell| Some((cell.cell, cell.ours.as_ref()?)));
        let (ns2, ours) =
            run.fold((0.0, 0.0), |(a, b), (cell, mine)| (a + ns2(cell), b + ours(mine)));
        Sum { what, ns2, ours, replayed: false }
    };
    vec![
        sum("timeouts", |cell| cell.timeouts, |ours| ours.timeouts),
        sum("retransmissions", |cell| cell.retransmits, |ours| ours.retransmits),
    ]
}

/// A table's counts rest on five seeds that all cells share, so that its sums are as noisy as five
/// numbers: give our simulator the random numbers of those very seeds.
fn replay_sums(sums: &mut [Sum], cells: &[CellVerdict<'_>], replay: &Replay<'_>) -> Result<()> {
    let run: Vec<&CellVerdict<'_>> = cells.iter().filter(|cell| cell.ours.is_some()).collect();
    let counts = in_parallel(&run, |cell| replayed_counts(cell, replay))?;
    for (sum, ours) in sums.iter_mut().zip([
        counts.iter().map(|(timeouts, _)| timeouts).sum(),
        counts.iter().map(|(_, retransmits)| retransmits).sum(),
    ]) {
        sum.ours = ours;
        sum.replayed = true;
    }
    Ok(())
}

/// Mean timeouts and retransmissions over the seeds of the table.
fn replayed_counts(cell: &CellVerdict<'_>, replay: &Replay<'_>) -> Result<(f64, f64)> {
    let runs = u32::try_from(cell.cell.goodput.n)?;
    let (mut timeouts, mut retransmits) = (0.0, 0.0);
    for seed in 1..=runs {
        let Some(outcome) = replay.run(cell.cell, seed)? else {
            let own = cell.ours.as_ref().map(|ours| (ours.timeouts, ours.retransmits));
            return Ok(own.unwrap_or_default());
        };
        timeouts += outcome.timeouts.unwrap_or(0) as f64 / f64::from(runs);
        retransmits += outcome.retransmitted_packets.unwrap_or(0) as f64 / f64::from(runs);
    }
    Ok((timeouts, retransmits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_is_a_difference_beyond_its_bound_or_a_bound_that_says_little() {
        assert!(!is_in_doubt(0.01, 0.03));
        assert!(is_in_doubt(-0.04, 0.03));
        assert!(is_in_doubt(0.01, 0.12), "a bias of 5% would not be seen");
    }
}
