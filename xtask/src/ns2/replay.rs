//! Our simulator with ns-2's own random numbers: the same packets die, so what differs is behaviour
//! alone, and no seed is luckier than another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, ensure};
use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::errors::{ErrorModel, Schedule};
use maxseg_core::outcome::Outcome;
use maxseg_core::sim::Sim;

use super::cell::{Cell, Kind};
use super::peer::Ns2;

/// What is left of the differences when chance is taken out.
#[derive(Debug, Clone, Copy)]
pub struct Difference {
    /// Whether goodput, packets, retransmissions and timeouts are all the same.
    pub identical: bool,
    /// Relative difference of the goodput.
    pub goodput: f64,
}

/// More packets than any run of the tables with errors sends.
const DRAWS: usize = 200_000;

/// ns-2's random numbers by seed, fetched once.
#[derive(Debug)]
pub struct Replay<'a> {
    peer: &'a Ns2,
    draws: Mutex<BTreeMap<u32, Arc<[f64]>>>,
}

impl<'a> Replay<'a> {
    /// With the random numbers of this ns-2.
    pub fn new(peer: &'a Ns2) -> Self {
        Self { peer, draws: Mutex::default() }
    }

    /// What our simulator gives for `cell` when the packets die that die in ns-2 under `seed`; `None`
    /// for a cell whose losses cannot be listed beforehand.
    ///
    /// # Errors
    /// ns-2 fails, or the cell is no scenario.
    pub fn run(&self, cell: &Cell, seed: u32) -> Result<Option<Outcome>> {
        let Some(lost) = self.lost(cell, seed)? else {
            return Ok(None);
        };
        let mut scenario = cell.scenario()?;
        let radio = scenario.path.hops.last_mut().map(|hop| &mut hop.forward);
        if let Some(radio) = radio {
            radio.errors = Schedule::constant(ErrorModel::List { lost: lost.into() });
        }
        let outcome = Sim.run(&scenario, &mut Unwatched)?;
        let sent = outcome.packets.unwrap_or(0) - outcome.ack_packets.unwrap_or(0);
        ensure!(sent < DRAWS as u64, "{} sends more than {DRAWS} packets", cell.title());
        Ok(Some(outcome))
    }

    /// Our run of `cell` against ns-2's, the same packets dying in both; `None` for a cell whose losses
    /// cannot be listed beforehand.
    ///
    /// # Errors
    /// ns-2 fails, or the cell is no scenario.
    pub fn compare(&self, cell: &Cell, seed: u32) -> Result<Option<Difference>> {
        let Some(ours) = self.run(cell, seed)? else { return Ok(None) };
        let columns = ["goodput_bps", "retransmits", "timeouts", "packets_sent"];
        let theirs = self.peer.run(cell, seed, &columns)?;
        let goodput = ours.payload_bytes.unwrap_or(0) as f64 * 8.0 / cell.t_s;
        let sent = ours.packets.unwrap_or(0) - ours.ack_packets.unwrap_or(0);
        let counts = [
            goodput,
            ours.retransmitted_packets.unwrap_or(0) as f64,
            ours.timeouts.unwrap_or(0) as f64,
            sent as f64,
        ];
        // ns-2 counts a repeated SYN as a retransmission, we only repeated data.
        let syns = sent - ours.data_packets.unwrap_or(0);
        let slack = [0.005, syns.saturating_sub(1) as f64, 0.0, 0.0];
        let identical =
            counts.iter().zip(&theirs).zip(slack).all(|((a, b), slack)| (a - b).abs() <= slack);
        let relative = if theirs[0] > 0.0 { goodput / theirs[0] - 1.0 } else { 0.0 };
        Ok(Some(Difference { identical, goodput: relative }))
    }

    /// The packets that ns-2 damages on the radio link, counted from 0, the SYN included.
    fn lost(&self, cell: &Cell, seed: u32) -> Result<Option<Vec<u64>>> {
        let Kind::Tcp { ack_errors: false, ge_frames, ge_seconds, .. } = &cell.kind else {
            return Ok(None);
        };
        if *ge_seconds > 0.0 || cell.is_deterministic() {
            return Ok(None);
        }
        let draws = self.draws(seed)?;
        let e: f64 = cell.e_pct.parse::<f64>()? / 100.0;
        let frames = (cell.s + 40).div_ceil(128);
        Ok(Some(if *ge_frames > 0.0 {
            in_bursts(&draws, e, *ge_frames, u64::from(frames))
        } else {
            independent(&draws, e, frames)
        }))
    }

    fn draws(&self, seed: u32) -> Result<Arc<[f64]>> {
        let mut known = self.draws.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(draws) = known.get(&seed) {
            return Ok(Arc::clone(draws));
        }
        let draws: Arc<[f64]> = self.peer.draws(seed, DRAWS)?.into();
        known.insert(seed, Arc::clone(&draws));
        Ok(draws)
    }
}

/// `ErrorModel` with a uniform variable: one number a packet. SYNs, one frame each, go on until one of
/// them arrives.
fn independent(draws: &[f64], e: f64, frames: u32) -> Vec<u64> {
    let segment = 1.0 - (1.0 - e).powi(i32::try_from(frames).unwrap_or(i32::MAX));
    let mut waiting_for_syn = true;
    let mut is_lost = |draw: f64| {
        let lost = draw < if waiting_for_syn { e } else { segment };
        waiting_for_syn &= lost;
        lost
    };
    (0..).zip(draws).filter(|(_, draw)| is_lost(**draw)).map(|(packet, _)| packet).collect()
}

/// `gilbert_list` of the reference script: runs of good and bad frames; a packet with any bad frame is
/// lost. The SYN counts as a full segment.
fn in_bursts(draws: &[f64], e: f64, burst: f64, frames: u64) -> Vec<u64> {
    let leave_bad = 1.0 / burst;
    let leave_good = e * leave_bad / (1.0 - e);
    let mut draws = draws.iter();
    let mut bad = draws.next().is_some_and(|draw| *draw < e);
    let (mut frame, mut lost) = (0, Vec::new());
    for draw in draws {
        let leave: f64 = if bad { leave_bad } else { leave_good };
        let run = whole((1.0 - draw).max(1e-12).ln() / (1.0 - leave).ln()) + 1;
        if bad {
            let (from, to) = (frame / frames, (frame + run - 1) / frames);
            let next = lost.last().map_or(0, |packet| packet + 1);
            lost.extend(from.max(next)..=to);
        }
        frame += run;
        bad = !bad;
    }
    lost
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a quotient of two negative logarithms, far below 2^64"
)]
fn whole(x: f64) -> u64 {
    x.floor() as u64
}
