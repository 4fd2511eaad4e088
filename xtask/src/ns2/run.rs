//! Our side of a cell: as many seeds as its precision needs.

use anyhow::Result;
use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::sim::Sim;
use maxseg_core::stats::Summary;

use super::cell::{Cell, Kind};

/// What our simulator gives for a cell.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Goodput in bits per second, as ns-2's script computes it.
    pub goodput: Summary,
    /// The goodput of seeds 1, 2, 3 …
    pub by_seed: Vec<f64>,
    /// Mean counts.
    pub retransmits: f64,
    /// Mean count of timeouts.
    pub timeouts: f64,
}

const FEWEST_SEEDS: u64 = 10;
const MOST_SEEDS: u64 = 200;
/// Seeds are added until the 95% interval is below this share of the mean.
const PRECISION: f64 = 0.01;

/// Runs `cell` over seeds 1, 2, 3 …
///
/// # Errors
/// The cell is no scenario.
pub fn measure(cell: &Cell) -> Result<Measured> {
    let mut scenario = cell.scenario()?;
    let (mut goodputs, mut retransmits, mut timeouts) = (Vec::new(), 0.0, 0.0);
    for seed in 1..=MOST_SEEDS {
        scenario.seed = seed;
        let outcome = Sim.run(&scenario, &mut Unwatched)?;
        let payload = outcome.payload_bytes.unwrap_or(0) as f64;
        goodputs.push(payload * 8.0 / cell.t_s);
        retransmits += outcome.retransmitted_packets.unwrap_or(0) as f64;
        timeouts += outcome.timeouts.unwrap_or(0) as f64;
        let summary = Summary::of(&goodputs);
        let precise = summary.ci95().is_some_and(|half| half < PRECISION * summary.mean);
        if cell.is_deterministic() || (seed >= FEWEST_SEEDS && precise) {
            break;
        }
    }
    let n = goodputs.len() as f64;
    let is_tcp = matches!(cell.kind, Kind::Tcp { .. });
    Ok(Measured {
        goodput: Summary::of(&goodputs),
        by_seed: goodputs,
        retransmits: if is_tcp { retransmits / n } else { 0.0 },
        timeouts: if is_tcp { timeouts / n } else { 0.0 },
    })
}
