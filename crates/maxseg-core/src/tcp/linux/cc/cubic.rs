//! CUBIC in the kernel's integers (`net/ipv4/tcp_cubic.c`): times in 1/1024 s, factors in 1/1024.

use super::{CongestionControl, Flow, Ticks, View, Window};

/// `beta`, of [`SCALE`]: the window after a cut.
const BETA: u64 = 717;
/// `BICTCP_BETA_SCALE`.
const SCALE: u64 = 1024;
/// `bic_scale` · 10: the cubic factor C, of 2^10 · 10 (`cube_rtt_scale`).
const CUBE_RTT_SCALE: u64 = 410;
/// Binary digits of a time's fraction of a second (`BICTCP_HZ`).
const TIME_SHIFT: u32 = 10;
/// `cube_factor`.
const CUBE_FACTOR: u64 = (1 << (10 + 3 * TIME_SHIFT)) / CUBE_RTT_SCALE;
/// `beta_scale`: (1 + β) / (3 (1 − β)) in eighths. So many acknowledged segments for each of the window, and Reno's would have grown by one.
const BETA_SCALE: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
/// `HyStart` works from this window on (`hystart_low_window`).
const HYSTART_LOW_WINDOW: u64 = 16;
/// Acknowledgements this close in microseconds belong to one train (`hystart_ack_delta_us`).
const HYSTART_ACK_DELTA: u64 = 2000;
/// Round trips until a rise of the delay counts (`HYSTART_MIN_SAMPLES`).
const HYSTART_MIN_SAMPLES: u32 = 8;
/// Bounds of that rise in microseconds (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const HYSTART_DELAY: (u64, u64) = (4000, 16_000);
/// Segments for each acknowledged one before the first loss (`bictcp_update`: "initial").
const SLOWEST_START: u64 = 20;

#[derive(Debug, Default)]
pub(in super::super) struct Cubic {
    hystart: bool,
    /// No round begins below that window (`Host::hystart_rounds_need_window`).
    rounds_need_window: bool,
    /// Acknowledged segments for each that the window grows by.
    per_segment: u64,
    last_max_cwnd: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    /// Time from the epoch's start to the origin, in 1/1024 s.
    k: u64,
    delay_min: u64,
    epoch_start: u64,
    ack_count: u64,
    /// What Reno's window would be.
    reno_cwnd: u64,
    sample_count: u32,
    found: bool,
    round_start: u64,
    round_end_seq: u64,
    last_ack: u64,
    round_rtt: u64,
}

impl Cubic {
    pub(in super::super) fn new(hystart: bool, rounds_need_window: bool) -> Self {
        Self { hystart, rounds_need_window, ..Self::default() }
    }

    /// `bictcp_reset`.
    fn reset(&mut self) {
        let Self {
            hystart,
            rounds_need_window,
            sample_count,
            round_start,
            round_end_seq,
            last_ack,
            round_rtt,
            ..
        } = *self;
        *self = Self {
            hystart,
            rounds_need_window,
            sample_count,
            round_start,
            round_end_seq,
            last_ack,
            round_rtt,
            ..Self::default()
        };
    }

    /// `bictcp_hystart_reset`.
    fn begin_round(&mut self, view: &View) {
        self.round_start = view.micros;
        self.last_ack = view.micros;
        self.round_end_seq = view.snd_nxt;
        self.round_rtt = u64::MAX;
        self.sample_count = 0;
    }

    /// How many segments are to be acknowledged for each that the window grows by (`bictcp_update`).
    #[inline(always)]
    fn update(&mut self, cwnd: u64, ticks: Ticks, acked: u64) {
        self.ack_count += acked;
        let since = ticks.jiffies - self.last_time;
        if self.last_cwnd != cwnd || since > ticks.hz / 32 {
            self.update_now(cwnd, ticks, acked, since);
        }
    }

    /// `since` the last time, in jiffies.
    #[inline(never)]
    fn update_now(&mut self, cwnd: u64, ticks: Ticks, acked: u64, since: u64) {
        if self.epoch_start == 0 || since != 0 {
            self.last_cwnd = cwnd;
            self.last_time = ticks.jiffies;
            if self.epoch_start == 0 {
                self.begin_epoch(cwnd, ticks.jiffies, acked);
            }
            self.follow_curve(cwnd, ticks);
        }
        self.keep_up_with_reno(cwnd);
        self.per_segment = self.per_segment.max(2);
    }

    fn begin_epoch(&mut self, cwnd: u64, jiffies: u64, acked: u64) {
        self.epoch_start = jiffies;
        self.ack_count = acked;
        self.reno_cwnd = cwnd;
        if self.last_max_cwnd <= cwnd {
            self.k = 0;
            self.origin = cwnd;
        } else {
            self.k = cubic_root(CUBE_FACTOR * (self.last_max_cwnd - cwnd));
            self.origin = self.last_max_cwnd;
        }
    }

    fn follow_curve(&mut self, cwnd: u64, Ticks { jiffies, hz }: Ticks) {
        let elapsed = jiffies - self.epoch_start + self.delay_min.div_ceil(1_000_000 / hz);
        let time = (elapsed << TIME_SHIFT) / hz;
        let offset = time.abs_diff(self.k);
        let delta = (CUBE_RTT_SCALE * offset * offset * offset) >> (10 + 3 * TIME_SHIFT);
        // 32-bit arithmetic: far below the origin the target wraps to far above the window.
        let target = if time < self.k {
            self.origin.wrapping_sub(delta) & 0xffff_ffff
        } else {
            self.origin + delta
        };
        self.per_segment = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max_cwnd == 0 {
            self.per_segment = self.per_segment.min(SLOWEST_START);
        }
    }

    fn keep_up_with_reno(&mut self, cwnd: u64) {
        let per_reno_segment = (cwnd * BETA_SCALE) >> 3;
        while self.ack_count > per_reno_segment {
            self.ack_count -= per_reno_segment;
            self.reno_cwnd += 1;
        }
        if self.reno_cwnd > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (self.reno_cwnd - cwnd));
        }
    }
}

impl CongestionControl for Cubic {
    fn on_open(&mut self, _window: &mut Window, flow: &Flow) {
        self.reset();
        if self.hystart {
            self.begin_round(&flow.view);
        }
    }

    /// `cubictcp_recalc_ssthresh`.
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64 {
        self.epoch_start = 0;
        self.last_max_cwnd = if window.cwnd < self.last_max_cwnd {
            (window.cwnd * (SCALE + BETA)) / (2 * SCALE) // fast convergence
        } else {
            window.cwnd
        };
        (window.cwnd * BETA / SCALE).max(2)
    }

    /// `cubictcp_cong_avoid`.
    #[inline(always)]
    fn on_delivery(&mut self, window: &mut Window, ticks: Ticks, delivered: u64) {
        let mut left = delivered;
        if window.in_slow_start() {
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        self.update(window.cwnd, ticks, left);
        window.additive_increase(self.per_segment, left);
    }

    /// `cubictcp_state`.
    fn on_timeout(&mut self, flow: &Flow) {
        self.reset();
        self.begin_round(&flow.view);
    }

    /// Time without data in flight is none of the curve's (`cubictcp_cwnd_event`).
    fn on_restart(&mut self, _window: &mut Window, flow: &Flow) {
        let view = &flow.view;
        let idle = view.jiffies - view.last_sent_jiffies;
        if self.epoch_start > 0 && idle > 0 {
            self.epoch_start = (self.epoch_start + idle).min(view.jiffies);
        }
    }

    /// `cubictcp_acked`.
    #[inline(always)]
    fn on_round_trip(&mut self, window: &Window, ticks: Ticks, micros: u64) -> bool {
        // Just after a cut the queue may not have drained.
        if self.epoch_start > 0 && ticks.jiffies - self.epoch_start < ticks.hz {
            return false;
        }
        let delay = micros.max(1);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        !self.found && window.in_slow_start() && self.hystart
    }

    /// `hystart_update`.
    #[inline(never)]
    fn look_for_exit(&mut self, window: &mut Window, view: &View, micros: u64) {
        let delay = micros.max(1);
        let is_low = window.cwnd < HYSTART_LOW_WINDOW;
        if view.snd_una > self.round_end_seq && !(is_low && self.rounds_need_window) {
            self.begin_round(view);
        }
        if is_low {
            return;
        }
        if view.micros - self.last_ack <= HYSTART_ACK_DELTA {
            self.last_ack = view.micros;
            let mut threshold = self.delay_min + ack_delay(view);
            if !view.is_paced {
                threshold /= 2;
            }
            if view.micros - self.round_start > threshold {
                self.found = true;
                window.ssthresh = window.cwnd;
            }
        }
        self.round_rtt = self.round_rtt.min(delay);
        if self.sample_count < HYSTART_MIN_SAMPLES {
            self.sample_count += 1;
        } else if self.round_rtt
            > self.delay_min + (self.delay_min >> 3).clamp(HYSTART_DELAY.0, HYSTART_DELAY.1)
        {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }
}

/// What four of the largest bursts take at the pacing rate, a millisecond at most (`hystart_ack_delay`).
fn ack_delay(view: &View) -> u64 {
    (view.gso_max_size * 4 * 1_000_000).checked_div(view.pacing_rate).unwrap_or(0).min(1000)
}

/// The cube root as the module approximates it: 64 starting values, then one step of Newton and Raphson
/// (`cubic_root`). Its values were tuned by hand, so no formula gives them; the K of every epoch depends on them.
fn cubic_root(a: u64) -> u64 {
    const TABLE: [u64; 64] = [
        0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164,
        168, 170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209,
        211, 213, 215, 217, 219, 221, 222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240,
        242, 244, 245, 246, 248, 250, 251, 252, 254,
    ];
    let bits = u64::from(u64::BITS - a.leading_zeros());
    let entry = |index: u64| usize::try_from(index).ok().and_then(|i| TABLE.get(i)).unwrap_or(&254);
    if bits < 7 {
        return (entry(a) + 35) >> 6;
    }
    let thirds = ((bits * 84) >> 8) - 1;
    let mut root = ((entry(a >> (thirds * 3)) + 10) << thirds) >> 6;
    root = 2 * root + a / (root * (root - 1));
    (root * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::super::UNLIMITED;
    use super::*;

    #[test]
    fn the_cube_root_is_within_the_module_s_own_error() {
        for root in [7_u64, 50, 333, 2000, 60_000, 1_000_000] {
            let found = cubic_root(root.pow(3));
            assert!(found.abs_diff(root) * 200 <= root.max(200), "{root}: {found}");
        }
    }

    #[test]
    fn a_cut_keeps_seven_tenths_and_remembers_less_where_the_window_had_not_recovered() {
        let mut cubic = Cubic::new(true, false);
        let window = |cwnd| Window { cwnd, ssthresh: UNLIMITED, count: 0, prior_cwnd: 0 };
        assert_eq!(cubic.ssthresh_after_loss(&window(100)), 70);
        assert_eq!(cubic.last_max_cwnd, 100);
        assert_eq!(cubic.ssthresh_after_loss(&window(80)), 56);
        assert_eq!(cubic.last_max_cwnd, 68);
    }
}
