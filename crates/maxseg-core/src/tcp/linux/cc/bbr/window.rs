//! The window: a multiple of what the path holds, and what losses do to it.

use super::super::super::CaState;
use super::super::super::constants::{INITIAL_CWND, PACING_SHIFT};
use super::super::super::rate::RateSample;
use super::super::{Flow, Window};
use super::{Bbr, CongestionControl, GAIN_SHIFT, Mode, RATE_UNIT};

/// `bbr_cwnd_min_target`.
pub(super) const LEAST_CWND: u64 = 4;
/// A burst has no more segments than this (`bbr_tso_segs_goal`).
const MOST_BURST: u64 = 0x7f;

impl Bbr {
    /// Segments that the path holds at this rate and its least round trip, times a gain (`bbr_bdp`).
    fn path_holds(&self, rate: u64, gain: u64) -> u64 {
        if self.min_round_trip == u64::MAX {
            return INITIAL_CWND;
        }
        ((rate * self.min_round_trip * gain) >> GAIN_SHIFT).div_ceil(RATE_UNIT)
    }

    /// Segments of a burst (`bbr_tso_segs_goal`).
    pub(super) fn burst(&self, flow: &Flow) -> u64 {
        let bytes = (self.pacing_rate >> PACING_SHIFT).min(flow.view.gso_max_size);
        (bytes / flow.mss).max(self.least_burst().unwrap_or(1)).min(MOST_BURST)
    }

    /// Room for bursts at both hosts, in even numbers (`bbr_quantization_budget`).
    fn with_bursts(&self, flow: &Flow, segments: u64) -> u64 {
        let even = (segments + 3 * self.burst(flow)).next_multiple_of(2);
        let is_raising = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        if is_raising { even + 2 } else { even }
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, flow: &Flow, rate: u64, gain: u64) -> u64 {
        self.with_bursts(flow, self.path_holds(rate, gain))
    }

    /// The window to come back to (`bbr_save_cwnd`).
    pub(super) fn save_cwnd(&mut self, cwnd: u64) {
        let is_good = self.previous_state < CaState::Recovery && self.mode != Mode::ProbeRoundTrip;
        self.prior_cwnd = if is_good { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// What losses make of the window; gives whether no more goes than arrives
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover_or_restore(&mut self, cwnd: &mut u64, flow: &Flow, sample: &RateSample) -> bool {
        let conserved = flow.in_flight + sample.acked_sacked;
        if sample.losses > 0 {
            *cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        let (before, now) = (self.previous_state, flow.ca_state);
        if now == CaState::Recovery && before != CaState::Recovery {
            self.conserves_packets = true;
            self.next_round = flow.delivered;
            *cwnd = conserved;
        } else if before >= CaState::Recovery && now < CaState::Recovery {
            *cwnd = (*cwnd).max(self.prior_cwnd);
            self.conserves_packets = false;
        }
        self.previous_state = now;
        if self.conserves_packets {
            *cwnd = (*cwnd).max(conserved);
        }
        self.conserves_packets
    }

    /// The window grows to its target, and comes down to it once the path was full (`bbr_set_cwnd`).
    pub(super) fn set_cwnd(
        &mut self,
        window: &mut Window,
        flow: &Flow,
        sample: &RateSample,
        rate: u64,
    ) {
        let acked = sample.acked_sacked;
        let mut cwnd = window.cwnd;
        if acked > 0 && !self.recover_or_restore(&mut cwnd, flow, sample) {
            let holds = self.path_holds(rate, self.cwnd_gain) + self.cwnd_for_aggregation();
            let target = self.with_bursts(flow, holds);
            if self.is_full {
                cwnd = target.min(cwnd + acked);
            } else if cwnd < target || flow.delivered < INITIAL_CWND {
                cwnd += acked;
            }
            cwnd = cwnd.max(LEAST_CWND);
        }
        if self.mode == Mode::ProbeRoundTrip {
            cwnd = cwnd.min(LEAST_CWND);
        }
        window.cwnd = cwnd;
    }
}
