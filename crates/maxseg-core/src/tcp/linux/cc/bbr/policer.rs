//! Policers: two intervals in a row with the same rate and a fifth lost show a token bucket that is empty, and
//! the rate is then that of its tokens (`bbr_lt_bw_sampling`).

use super::super::Flow;
use super::{Bbr, GAIN_SHIFT, Mode, RATE_UNIT, UNIT};

/// Rounds of an interval at least; four times as many at most (`bbr_lt_intvl_min_rtts`).
const LEAST_ROUNDS: u64 = 4;
/// Losses for each delivered segment from which on a policer is thought of (`bbr_lt_loss_thresh`).
const LOSSES: u64 = 50;
/// Two rates are the same that differ by an eighth at most (`bbr_lt_bw_ratio`), or by so many bytes a second
/// (`bbr_lt_bw_diff`).
const SAME_RATIO: u64 = UNIT / 8;
const SAME_BYTES: u64 = 4000 / 8;
/// The rate of a policer is used for so many rounds (`bbr_lt_bw_max_rtts`).
const ROUNDS_IN_USE: u64 = 48;

/// Samples over many round trips.
#[derive(Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_in_use: bool,
    /// Rate of the last interval; 0 where there is none.
    rate: u64,
    rounds: u64,
    /// The interval began here: in milliseconds, and with so many segments delivered and lost.
    began_millis: u64,
    began_delivered: u64,
    began_lost: u64,
}

impl Policer {
    /// The policer's rate, where one was found.
    pub(super) fn rate_in_use(&self) -> Option<u64> {
        self.is_in_use.then_some(self.rate)
    }

    /// `bbr_reset_lt_bw_sampling_interval`.
    const fn begin_interval(&mut self, flow: &Flow) {
        self.began_millis = flow.delivered_at / 1000;
        self.began_delivered = flow.delivered;
        self.began_lost = flow.lost;
        self.rounds = 0;
    }

    /// `bbr_reset_lt_bw_sampling`.
    pub(super) const fn reset(&mut self, flow: &Flow) {
        self.rate = 0;
        self.is_in_use = false;
        self.is_sampling = false;
        self.begin_interval(flow);
    }

    /// Rate of the interval that a loss ends, if so much was lost that it counts.
    fn rate_of_interval(&mut self, flow: &Flow) -> Option<u64> {
        let lost = flow.lost - self.began_lost;
        let delivered = flow.delivered - self.began_delivered;
        if delivered == 0 || (lost << GAIN_SHIFT) < LOSSES * delivered {
            return None;
        }
        let millis = (flow.delivered_at / 1000).saturating_sub(self.began_millis);
        if millis >= u64::from(u32::MAX) / 1000 {
            self.reset(flow);
            return None;
        }
        (delivered * RATE_UNIT).checked_div(millis * 1000)
    }

    /// Whether this interval's rate is that of the one before.
    fn is_same(&self, rate: u64, mss: u64) -> bool {
        let apart = rate.abs_diff(self.rate);
        self.rate > 0
            && (apart * UNIT <= SAME_RATIO * self.rate
                || Bbr::bytes_per_second(mss, apart, UNIT) <= SAME_BYTES)
    }
}

impl Bbr {
    /// An acknowledgement, or a timeout, with so many losses.
    pub(super) fn sample_long_term(&mut self, flow: &Flow, losses: u64, is_app_limited: bool) {
        let policer = &mut self.policer;
        if policer.is_in_use {
            if self.mode == Mode::ProbeBandwidth && self.round_begins {
                policer.rounds += 1;
                if policer.rounds >= ROUNDS_IN_USE {
                    policer.reset(flow);
                    self.probe_bandwidth(flow);
                }
            }
            return;
        }
        if !policer.is_sampling {
            if losses == 0 {
                return;
            }
            policer.begin_interval(flow);
            policer.is_sampling = true;
        }
        if is_app_limited {
            policer.reset(flow);
            return;
        }
        policer.rounds += u64::from(self.round_begins);
        if policer.rounds < LEAST_ROUNDS {
            return;
        }
        if policer.rounds > 4 * LEAST_ROUNDS {
            policer.reset(flow);
            return;
        }
        if losses > 0
            && let Some(rate) = policer.rate_of_interval(flow)
        {
            self.end_interval(flow, rate);
        }
    }

    /// `bbr_lt_bw_interval_done`.
    fn end_interval(&mut self, flow: &Flow, rate: u64) {
        let policer = &mut self.policer;
        if policer.is_same(rate, flow.mss) {
            policer.rate = u64::midpoint(rate, policer.rate);
            policer.is_in_use = true;
            policer.rounds = 0;
            self.pacing_gain = UNIT;
            return;
        }
        policer.rate = rate;
        policer.begin_interval(flow);
    }
}
