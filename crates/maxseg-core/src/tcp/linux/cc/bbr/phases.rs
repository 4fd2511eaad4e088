//! What it does in turn: the cycle of gains, the end of startup, and the probe of the round trip.

use super::super::super::rate::RateSample;
use super::super::{Flow, Window};
use super::window::LEAST_CWND;
use super::{Bbr, Mode, RATE_SHIFT, UNIT};

/// Phases of the cycle (`CYCLE_LEN`).
pub(super) const PHASES: u64 = 8;
/// The cycle begins in one of so many phases, drawn (`bbr_cycle_rand`).
const DRAWN_PHASES: u64 = 7;
/// The least round trip is looked for again after so many seconds (`bbr_min_rtt_win_sec`).
const ROUND_TRIP_SECONDS: u64 = 10;
/// How long the flight stays small then: a fifth of a second (`bbr_probe_rtt_mode_ms`).
const PROBES_PER_SECOND: u64 = 5;

impl Bbr {
    /// `bbr_pacing_gain`: more, then as much less, then the rate itself.
    pub(super) const fn gain_of_phase(&self) -> u64 {
        match self.phase {
            0 => UNIT * 5 / 4,
            1 => UNIT * 3 / 4,
            _ => UNIT,
        }
    }

    /// What will be in the network when the next packet leaves, which pacing holds back
    /// (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, flow: &Flow, in_flight: u64) -> u64 {
        let wait = flow.next_send_nanos.saturating_sub(flow.nanos) / 1000;
        let delivered = (self.rate() * wait) >> RATE_SHIFT;
        let burst = if self.pacing_gain > UNIT { self.burst(flow) } else { 0 };
        (in_flight + burst).saturating_sub(delivered)
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_phase(&mut self, flow: &Flow, sample: &RateSample) {
        if self.mode == Mode::ProbeBandwidth && self.is_phase_over(flow, sample) {
            self.next_phase(flow);
        }
    }

    /// `bbr_is_next_cycle_phase`.
    fn is_phase_over(&self, flow: &Flow, sample: &RateSample) -> bool {
        let is_long = flow.delivered_at.saturating_sub(self.phase_began) > self.min_round_trip;
        if self.pacing_gain == UNIT {
            return is_long;
        }
        let in_network = self.in_network(flow, sample.prior_in_flight);
        let rate = self.largest.get();
        if self.pacing_gain > UNIT {
            // What the queue does not take cannot be reached.
            return is_long
                && (sample.losses > 0
                    || in_network >= self.inflight(flow, rate, self.pacing_gain));
        }
        is_long || in_network <= self.inflight(flow, rate, UNIT)
    }

    /// `bbr_advance_cycle_phase`.
    const fn next_phase(&mut self, flow: &Flow) {
        self.phase = (self.phase + 1) % PHASES;
        self.phase_began = flow.delivered_at;
    }

    /// The cycle begins anywhere but in the phase that drains (`bbr_reset_probe_bw_mode`).
    pub(super) fn probe_bandwidth(&mut self, flow: &Flow) {
        self.mode = Mode::ProbeBandwidth;
        // `get_random_u32_below`: the upper half of a product.
        let drawn = ((self.draws.next_u64() >> 32) * DRAWN_PHASES) >> 32;
        self.phase = PHASES - 1 - drawn;
        self.next_phase(flow);
    }

    /// Startup is over once the path is full, and draining once the queue is empty (`bbr_check_drain`).
    pub(super) fn check_drained(&mut self, window: &mut Window, flow: &Flow) {
        let rate = self.largest.get();
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(flow, rate, UNIT);
        }
        if self.mode == Mode::Drain
            && self.in_network(flow, flow.in_flight) <= self.inflight(flow, rate, UNIT)
        {
            self.probe_bandwidth(flow);
        }
    }

    /// The least round trip, and each ten seconds a small flight to find it; gives whether that goes on, so that
    /// samples tell nothing of the path (`bbr_update_min_rtt`).
    pub(super) fn update_round_trip(
        &mut self,
        window: &mut Window,
        flow: &Flow,
        sample: &RateSample,
    ) -> bool {
        let jiffies = flow.view.jiffies;
        let is_old = jiffies > self.min_round_trip_at + ROUND_TRIP_SECONDS * flow.view.hz;
        if let Some(micros) = sample.rtt
            && (micros < self.min_round_trip || (is_old && !sample.may_be_delayed))
        {
            self.min_round_trip = micros;
            self.min_round_trip_at = jiffies;
        }
        if is_old && !self.restarts && self.mode != Mode::ProbeRoundTrip {
            self.mode = Mode::ProbeRoundTrip;
            self.save_cwnd(window.cwnd);
            self.probe_ends = None;
        }
        let is_probing = self.mode == Mode::ProbeRoundTrip;
        if is_probing {
            self.go_on_with_probe(window, flow);
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarts = false;
        }
        is_probing
    }

    fn go_on_with_probe(&mut self, window: &mut Window, flow: &Flow) {
        if self.probe_ends.is_none() {
            if flow.in_flight <= LEAST_CWND {
                self.probe_ends = Some(flow.view.jiffies + flow.view.hz / PROBES_PER_SECOND);
                self.probe_round_done = false;
                self.next_round = flow.delivered;
            }
            return;
        }
        self.probe_round_done |= self.round_begins;
        if self.probe_round_done {
            self.end_probe_if_due(window, flow);
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn end_probe_if_due(&mut self, window: &mut Window, flow: &Flow) {
        let jiffies = flow.view.jiffies;
        if self.probe_ends.is_none_or(|end| jiffies <= end) {
            return;
        }
        self.min_round_trip_at = jiffies;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.probe_bandwidth(flow);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
