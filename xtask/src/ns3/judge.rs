//! Who is right: cell by cell. Nothing here is random, so what differs differs in behaviour.

use anyhow::Result;

use super::cell::{Cell, Extent, Fault, WARM_UP};
use super::run::{Measured, measure};
use crate::parallel::in_parallel;
use crate::tables::Table;

/// A cell with both results.
#[derive(Debug)]
pub struct CellVerdict<'a> {
    /// Which.
    pub cell: &'a Cell,
    /// What we gave; `None` where ns-3 is no oracle.
    pub ours: Option<Measured>,
    /// The verdict.
    pub verdict: Verdict,
}

/// How a cell stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same packets, the goodput to the six digits printed, the echoes to one of the last of them.
    Identical,
    /// Within the tolerances.
    Agrees,
    /// Outside, and in what.
    Differs(Vec<String>),
    /// Not compared.
    NoOracle(Fault),
}

/// A table with its cells.
#[derive(Debug)]
pub struct TableVerdict<'a> {
    /// The table's name.
    pub name: &'a str,
    /// Its cells.
    pub cells: Vec<CellVerdict<'a>>,
}

impl TableVerdict<'_> {
    /// How many cells were compared.
    pub fn checked(&self) -> usize {
        self.cells.iter().filter(|cell| cell.ours.is_some()).count()
    }

    /// What is wrong, a line for each cell.
    pub fn faults(&self) -> Vec<String> {
        let fault = |cell: &CellVerdict<'_>| match &cell.verdict {
            Verdict::Differs(what) => {
                Some(format!("{}: {}: {}", self.name, cell.cell.title(), what.join("; ")))
            }
            Verdict::Identical | Verdict::Agrees | Verdict::NoOracle(_) => None,
        };
        self.cells.iter().filter_map(fault).collect()
    }

    /// The rows that were not compared, counted by reason.
    pub fn not_compared(&self) -> Vec<(Fault, usize)> {
        let faults = [Fault::LossRecovery, Fault::Karn, Fault::SlowStart];
        let count = |fault: Fault| {
            self.cells.iter().filter(|cell| cell.verdict == Verdict::NoOracle(fault)).count()
        };
        faults.map(|fault| (fault, count(fault))).into_iter().filter(|(_, n)| *n > 0).collect()
    }
}

impl CellVerdict<'_> {
    /// Relative difference of the goodput.
    pub fn goodput(&self) -> Option<f64> {
        Some(self.ours?.goodput / self.cell.ns3.goodput - 1.0)
    }

    /// Relative difference of the mean round trip of echoes.
    pub fn ping(&self) -> Option<f64> {
        Some(self.ours?.ping? / self.cell.ns3.ping? - 1.0)
    }
}

/// Of the goodput. Where the window is scaled our SYNs have 4 bytes of options more (the MSS), which is
/// less than 0.01% of the shortest transfer; a segment in a thousand more or less is a change of behaviour.
const GOODPUT_TOLERANCE: f64 = 0.001;
/// Of the mean round trip of echoes: one of some two hundred can fall on the other side of a packet.
const PING_TOLERANCE: f64 = 0.01;

/// Runs and judges every table, on all cores.
///
/// # Errors
/// A cell is no scenario.
pub fn judge(tables: &[Table<Cell>]) -> Result<Vec<TableVerdict<'_>>> {
    let cells: Vec<&Cell> = tables.iter().flat_map(|table| &table.cells).collect();
    let mut verdicts = in_parallel(&cells, judge_cell)?.into_iter();
    let of_table = |table: &'_ Table<Cell>| verdicts.by_ref().take(table.cells.len()).collect();
    let cells: Vec<Vec<CellVerdict<'_>>> = tables.iter().map(of_table).collect();
    let named = tables.iter().zip(cells);
    Ok(named.map(|(table, cells)| TableVerdict { name: &table.name, cells }).collect())
}

fn judge_cell(cell: &Cell) -> Result<CellVerdict<'_>> {
    if let Some(fault) = cell.fault() {
        return Ok(CellVerdict { cell, ours: None, verdict: Verdict::NoOracle(fault) });
    }
    let ours = measure(cell)?;
    let mut judged = CellVerdict { cell, ours: Some(ours), verdict: Verdict::Agrees };
    judged.verdict = compare(&judged, &ours);
    Ok(judged)
}

fn compare(judged: &CellVerdict<'_>, ours: &Measured) -> Verdict {
    let cell = judged.cell;
    let goodput = judged.goodput().unwrap_or(f64::INFINITY).abs();
    let ping = match cell.ns3.ping {
        None => 0.0,
        Some(_) => judged.ping().unwrap_or(f64::INFINITY).abs(),
    };
    let mut what = miscounts(cell, ours);
    if is_identical(cell, ours) && what.is_empty() {
        return Verdict::Identical;
    }
    if goodput > GOODPUT_TOLERANCE + one_segment(cell) {
        what.push(format!("goodput {:.1} for {:.1} bit/s", ours.goodput, cell.ns3.goodput));
    }
    if ping > PING_TOLERANCE {
        what.push(format!("ping {:?} for {:?} s", ours.ping, cell.ns3.ping));
    }
    if what.is_empty() { Verdict::Agrees } else { Verdict::Differs(what) }
}

fn is_identical(cell: &Cell, ours: &Measured) -> bool {
    printed(ours.goodput) == printed(cell.ns3.goodput)
        && cell.ns3.ping.is_none_or(|theirs| {
            ours.ping.is_some_and(|ours| (ours - theirs).abs() < 1.5 * last_digit(theirs))
        })
}

/// With the six digits that the tables have.
fn printed(value: f64) -> String {
    format!("{value:.5e}")
}

/// One in the last of the six digits. Rounded to them, the means of some rows with echoes are one away from
/// ns-3's; 1.5 leaves room for no more.
fn last_digit(value: f64) -> f64 {
    10_f64.powf(value.log10().floor() - 5.0)
}

/// A segment that arrives as the count begins or ends is in it or not by less than what is printed.
fn one_segment(cell: &Cell) -> f64 {
    match cell.extent {
        Extent::Bytes { .. } => 0.0,
        Extent::Seconds(seconds) => {
            8.0 * f64::from(cell.mss) / (cell.ns3.goodput * (seconds - WARM_UP))
        }
    }
}

/// Counts that are not the same, of a transfer that came to its end: ns-3 then closes the connection with
/// a FIN and its acknowledgement, which our simulator does not.
fn miscounts(cell: &Cell, ours: &Measured) -> Vec<String> {
    if !cell.is_complete() {
        return Vec::new();
    }
    let counts = [
        ("packets with payload", ours.data_packets, cell.ns3.data_packets),
        ("packets to the receiver", ours.forward + 1, cell.ns3.forward),
        ("packets to the sender", ours.reverse + 1, cell.ns3.reverse),
    ];
    let differ = counts.into_iter().filter(|(_, ours, theirs)| ours != theirs);
    differ.map(|(what, ours, theirs)| format!("{ours} for {theirs} {what}")).collect()
}
