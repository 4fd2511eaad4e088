//! BBR v1 in the kernel's integers (`net/ipv4/tcp_bbr.c`): it measures what the path delivers and its least round
//! trip, sends at that rate, and keeps about twice their product in flight.
//!
//! Rates are segments a microsecond in units of 2^-24, gains in units of 1/256.

mod aggregation;
mod phases;
mod policer;
#[cfg(test)]
mod tests;
mod window;

use super::super::CaState;
use super::super::rate::RateSample;
use super::super::windowed::WindowedMax;
use super::{CongestionControl, Flow, Ticks, UNLIMITED, Window};
use crate::rng::{Rng, Stream};
use aggregation::Aggregation;
use policer::Policer;

/// Binary digits of a rate (`BW_SCALE`), and its unit.
const RATE_SHIFT: u32 = 24;
const RATE_UNIT: u64 = 1 << RATE_SHIFT;
/// Binary digits of a gain (`BBR_SCALE`), and a gain of 1.
const GAIN_SHIFT: u32 = 8;
const UNIT: u64 = 1 << GAIN_SHIFT;
/// 2/ln 2: doubles what is sent each round trip (`bbr_high_gain`).
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Its inverse, which empties the queue again (`bbr_drain_gain`).
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// `bbr_cwnd_gain`.
const CWND_GAIN: u64 = UNIT * 2;
/// It sends at this many percent of the rate that it measured (`bbr_pacing_margin_percent`).
const PACING_PERCENT: u64 = 99;
/// The largest rate of so many rounds counts (`bbr_bw_rtts`).
const RATE_ROUNDS: u64 = phases::PHASES + 2;
/// Rounds without a quarter more show that the path is full (`bbr_full_bw_cnt`, `bbr_full_bw_thresh`).
const FULL_ROUNDS: u64 = 3;
const FULL_GROWTH: u64 = UNIT * 5 / 4;
/// Below this rate in bytes a second packets are not joined (`bbr_min_tso_rate`, in bits).
const MIN_TSO_RATE: u64 = 1_200_000 / 8;
/// The round trip that is assumed before there is one, in microseconds (`USEC_PER_MSEC`).
const NOMINAL_ROUND_TRIP: u64 = 1000;

/// `enum bbr_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRoundTrip,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own, as in `struct bbr`")]
pub(in super::super) struct Bbr {
    mode: Mode,
    pacing_gain: u64,
    cwnd_gain: u64,
    /// `sk_pacing_rate` and `sk_max_pacing_rate`, in bytes a second.
    pacing_rate: u64,
    max_pacing_rate: u64,
    has_seen_round_trip: bool,
    /// Largest rate of the last rounds.
    largest: WindowedMax,
    /// Rounds, each as long as a packet and its acknowledgement take, and where the next begins.
    rounds: u64,
    next_round: u64,
    round_begins: bool,
    /// Startup has filled the path, and what tells so.
    is_full: bool,
    full_rate: u64,
    full_rounds: u64,
    /// In microseconds, and when it was measured in jiffies.
    min_round_trip: u64,
    min_round_trip_at: u64,
    /// When the probe of the round trip is over, in jiffies, once the flight is small.
    probe_ends: Option<u64>,
    probe_round_done: bool,
    /// The phase of the cycle of gains, and since when, in microseconds.
    phase: u64,
    phase_began: u64,
    /// It sends again after nothing was in flight.
    restarts: bool,
    /// State at the last acknowledgement, and the window before the loss.
    previous_state: CaState,
    prior_cwnd: u64,
    conserves_packets: bool,
    policer: Policer,
    aggregation: Aggregation,
    draws: Rng,
}

impl Bbr {
    /// Its phases are drawn from `seed`; the program lets it send at `max_pacing_rate` bytes a second at most.
    pub(in super::super) fn new(seed: u64, max_pacing_rate: u64) -> Self {
        Self {
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_rate: max_pacing_rate,
            max_pacing_rate,
            has_seen_round_trip: false,
            largest: WindowedMax::new(0, 0),
            rounds: 0,
            next_round: 0,
            round_begins: false,
            is_full: false,
            full_rate: 0,
            full_rounds: 0,
            min_round_trip: u64::MAX,
            min_round_trip_at: 0,
            probe_ends: None,
            probe_round_done: false,
            phase: 0,
            phase_began: 0,
            restarts: false,
            previous_state: CaState::Open,
            prior_cwnd: 0,
            conserves_packets: false,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            draws: Stream::named(seed, "bbr").reader(),
        }
    }

    /// By how much faster than the path it sends at present.
    pub(in super::super) fn pacing_gain(&self) -> f64 {
        self.pacing_gain as f64 / UNIT as f64
    }

    /// The rate that the path is taken to have (`bbr_bw`).
    fn rate(&self) -> u64 {
        self.policer.rate_in_use().unwrap_or_else(|| self.largest.get())
    }

    /// Starts a packet-timed round where one ended, and takes the sample in (`bbr_update_bw`).
    fn update_rate(&mut self, flow: &Flow, sample: &RateSample) {
        self.round_begins = false;
        let Some(delivered) = sample.valid_delivered() else { return };
        if sample.prior_delivered >= self.next_round {
            self.next_round = flow.delivered;
            self.rounds += 1;
            self.round_begins = true;
            self.conserves_packets = false;
        }
        self.sample_long_term(flow, sample.losses, sample.is_app_limited);
        let rate = delivered * RATE_UNIT / sample.interval;
        // What the application did not fill tells of the application, unless it is more than ever.
        if !sample.is_app_limited || rate >= self.largest.get() {
            self.largest.update(RATE_ROUNDS, self.rounds, rate);
        }
    }

    /// Has the rate stopped growing (`bbr_check_full_bw_reached`)?
    fn check_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_begins || sample.is_app_limited {
            return;
        }
        if self.largest.get() >= (self.full_rate * FULL_GROWTH) >> GAIN_SHIFT {
            self.full_rate = self.largest.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.policer.rate_in_use().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBandwidth => (self.gain_of_phase(), CWND_GAIN),
            Mode::ProbeRoundTrip => (UNIT, UNIT),
        };
    }

    /// Rate and gain in bytes a second (`bbr_rate_bytes_per_sec`).
    const fn bytes_per_second(mss: u64, rate: u64, gain: u64) -> u64 {
        let rate = (rate * mss * gain) >> GAIN_SHIFT;
        (rate * (1_000_000 / 100 * PACING_PERCENT)) >> RATE_SHIFT
    }

    /// The same, as far as the program allows (`bbr_bw_to_pacing_rate`).
    fn allowed_rate(&self, mss: u64, rate: u64, gain: u64) -> u64 {
        Self::bytes_per_second(mss, rate, gain).min(self.max_pacing_rate)
    }

    /// Before any sample: the window each round trip (`bbr_init_pacing_rate_from_rtt`).
    fn pace_by_round_trip(&mut self, cwnd: u64, flow: &Flow) {
        let round_trip = if flow.srtt8 > 0 {
            self.has_seen_round_trip = true;
            (flow.srtt8 >> 3).max(1)
        } else {
            NOMINAL_ROUND_TRIP
        };
        let rate = cwnd * RATE_UNIT / round_trip;
        self.pacing_rate = self.allowed_rate(flow.mss, rate, HIGH_GAIN);
    }

    /// `bbr_set_pacing_rate`. Startup never slows down.
    fn pace(&mut self, cwnd: u64, flow: &Flow, rate: u64, gain: u64) {
        let pacing_rate = self.allowed_rate(flow.mss, rate, gain);
        if !self.has_seen_round_trip && flow.srtt8 > 0 {
            self.pace_by_round_trip(cwnd, flow);
        }
        if self.is_full || pacing_rate > self.pacing_rate {
            self.pacing_rate = pacing_rate;
        }
    }
}

impl CongestionControl for Bbr {
    /// `bbr_init`.
    fn on_open(&mut self, window: &mut Window, flow: &Flow) {
        window.ssthresh = UNLIMITED;
        self.next_round = flow.delivered;
        self.min_round_trip = flow.min_round_trip;
        self.min_round_trip_at = flow.view.jiffies;
        self.pace_by_round_trip(window.cwnd, flow);
        self.policer.reset(flow);
        self.aggregation.begin(flow.view.micros);
    }

    /// `bbr_ssthresh`: the threshold stays.
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64 {
        self.save_cwnd(window.cwnd);
        window.ssthresh
    }

    #[inline]
    fn on_delivery(&mut self, _window: &mut Window, _ticks: Ticks, _delivered: u64) {}

    /// `bbr_main`.
    fn on_sample(&mut self, window: &mut Window, flow: &Flow, sample: &RateSample) -> bool {
        self.update_rate(flow, sample);
        self.update_aggregation(window.cwnd, flow, sample);
        self.update_phase(flow, sample);
        self.check_full(sample);
        self.check_drained(window, flow);
        let is_probing = self.update_round_trip(window, flow, sample);
        self.update_gains();
        let rate = self.rate();
        self.pace(window.cwnd, flow, rate, self.pacing_gain);
        self.set_cwnd(window, flow, sample, rate);
        is_probing
    }

    /// `bbr_set_state`: a timeout ends a round.
    fn on_timeout(&mut self, flow: &Flow) {
        self.previous_state = CaState::Loss;
        self.full_rate = 0;
        self.round_begins = true;
        self.sample_long_term(flow, 1, false);
    }

    /// `bbr_cwnd_event`: what restarts after the application was silent needs no more than the rate.
    fn on_restart(&mut self, window: &mut Window, flow: &Flow) {
        if !flow.is_app_limited {
            return;
        }
        self.restarts = true;
        self.aggregation.begin(flow.view.micros);
        match self.mode {
            Mode::ProbeBandwidth => self.pace(window.cwnd, flow, self.rate(), UNIT),
            Mode::ProbeRoundTrip => self.end_probe_if_due(window, flow),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_undo_cwnd`.
    fn cwnd_after_undo(&mut self, window: &Window, flow: &Flow) -> u64 {
        self.full_rate = 0;
        self.full_rounds = 0;
        self.policer.reset(flow);
        window.cwnd
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate)
    }

    /// `bbr_min_tso_segs`.
    fn least_burst(&self) -> Option<u64> {
        Some(if self.pacing_rate < MIN_TSO_RATE { 1 } else { 2 })
    }
}
