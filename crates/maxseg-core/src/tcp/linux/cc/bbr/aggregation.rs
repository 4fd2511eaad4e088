//! Acknowledgements that come in lumps: how much more arrives at once than the rate explains
//! (`bbr_update_ack_aggregation`).

use super::super::super::rate::RateSample;
use super::super::Flow;
use super::{Bbr, RATE_UNIT};

/// Rounds that each half of the window has (`bbr_extra_acked_win_rtts`).
const HALF_ROUNDS: u64 = 5;
/// The counter of rounds holds no more.
const MOST_ROUNDS: u64 = 0x1f;
/// An epoch ends after so many segments (`bbr_ack_epoch_acked_reset_thresh`).
const MOST_SEGMENTS: u64 = 1 << 20;
/// What the excess is worth at most, in microseconds at the rate (`bbr_extra_acked_max_us`).
const MOST_MICROS: u64 = 100_000;

/// The excess of the last five to ten rounds.
#[derive(Debug, Default)]
pub(super) struct Aggregation {
    /// When the epoch began, in microseconds, and segments acknowledged in it.
    began: u64,
    acked: u64,
    /// Largest excess of this half of the window and of the one before.
    excess: [u64; 2],
    half: usize,
    rounds: u64,
}

impl Aggregation {
    /// An epoch begins.
    pub(super) const fn begin(&mut self, micros: u64) {
        self.began = micros;
        self.acked = 0;
    }

    fn note_round(&mut self) {
        self.rounds = MOST_ROUNDS.min(self.rounds + 1);
        if self.rounds >= HALF_ROUNDS {
            self.rounds = 0;
            self.half = 1 - self.half;
            self.excess[self.half] = 0;
        }
    }
}

impl Bbr {
    pub(super) fn update_aggregation(&mut self, cwnd: u64, flow: &Flow, sample: &RateSample) {
        if sample.acked_sacked == 0 || sample.valid_delivered().is_none() {
            return;
        }
        let rate = self.rate();
        let aggregation = &mut self.aggregation;
        if self.round_begins {
            aggregation.note_round();
        }
        let span = flow.delivered_at.saturating_sub(aggregation.began);
        let mut expected = rate * span / RATE_UNIT;
        if aggregation.acked <= expected || aggregation.acked + sample.acked_sacked >= MOST_SEGMENTS
        {
            aggregation.begin(flow.delivered_at);
            expected = 0;
        }
        aggregation.acked = (aggregation.acked + sample.acked_sacked).min(MOST_SEGMENTS - 1);
        let excess = (aggregation.acked - expected).min(cwnd);
        let largest = &mut aggregation.excess[aggregation.half];
        *largest = (*largest).max(excess);
    }

    /// What the window gets for it (`bbr_ack_aggregation_cwnd`).
    pub(super) fn cwnd_for_aggregation(&self) -> u64 {
        if !self.is_full {
            return 0;
        }
        let [first, second] = self.aggregation.excess;
        first.max(second).min(self.rate() * MOST_MICROS / RATE_UNIT)
    }
}
