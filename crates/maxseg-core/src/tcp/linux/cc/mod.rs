//! Congestion control as the kernel's modules have it: in segments, in its integer arithmetic.

mod bbr;
mod cubic;
mod reno;

use bbr::Bbr;
use cubic::Cubic;
use reno::Reno;

use super::CaState;
use super::rate::RateSample;
use super::settings::{Algorithm, Host};

/// A slow-start threshold that was never set (`TCP_INFINITE_SSTHRESH`, `include/net/tcp.h`).
pub(super) const UNLIMITED: u64 = 0x7fff_ffff;

/// What the congestion control works on, in segments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// `snd_cwnd`.
    pub(super) cwnd: u64,
    /// `snd_ssthresh`.
    pub(super) ssthresh: u64,
    /// `snd_cwnd_cnt`: segments acknowledged since the window grew last.
    pub(super) count: u64,
    /// `prior_cwnd`: the window before the last cut.
    pub(super) prior_cwnd: u64,
}

impl Window {
    /// `tcp_in_slow_start`.
    pub(super) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by what was acknowledged, to the threshold at most; gives what is left of it
    /// (`tcp_slow_start`, `net/ipv4/tcp_cong.c`).
    #[inline]
    pub(super) fn slow_start(&mut self, acked: u64) -> u64 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// Grows by one for each `per` segments acknowledged (`tcp_cong_avoid_ai`).
    #[inline]
    pub(super) fn additive_increase(&mut self, per: u64, acked: u64) {
        if self.count >= per {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= per {
            self.cwnd += self.count / per;
            self.count %= per;
        }
    }
}

/// The kernel's clock in jiffies, of which a second has `hz`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticks {
    pub(super) jiffies: u64,
    pub(super) hz: u64,
}

/// What it may look at: clocks, numbers and rates of its socket at this instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub(super) micros: u64,
    pub(super) jiffies: u64,
    pub(super) hz: u64,
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
    /// When data were sent last, in jiffies (`lsndtime`).
    pub(super) last_sent_jiffies: u64,
    /// `sk_pacing_rate`, in bytes a second.
    pub(super) pacing_rate: u64,
    /// Whether anything paces what it sends (`sk_pacing_status`).
    pub(super) is_paced: bool,
    /// `sk_gso_max_size`.
    pub(super) gso_max_size: u64,
}

/// What one that measures the path may look at besides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) view: View,
    /// `mss_cache`, in bytes.
    pub(super) mss: u64,
    /// `srtt_us`: eight times the average round trip in microseconds; 0 while there is none.
    pub(super) srtt8: u64,
    /// `tcp_min_rtt`, in microseconds.
    pub(super) min_round_trip: u64,
    /// Segments delivered so far, and when the last of them was known, in microseconds (`delivered_mstamp`).
    pub(super) delivered: u64,
    pub(super) delivered_at: u64,
    /// Segments ever taken for lost.
    pub(super) lost: u64,
    /// `tcp_packets_in_flight`.
    pub(super) in_flight: u64,
    pub(super) ca_state: CaState,
    /// `tcp_clock_cache`, and when the next packet may go (`tcp_wstamp_ns`).
    pub(super) nanos: u64,
    pub(super) next_send_nanos: u64,
    /// Samples are the application's (`app_limited`).
    pub(super) is_app_limited: bool,
}

/// Decides how many segments may be in flight, and how fast they go (`struct tcp_congestion_ops`,
/// `include/net/tcp.h`).
pub(super) trait CongestionControl {
    /// The connection is open (`init`).
    fn on_open(&mut self, window: &mut Window, flow: &Flow);
    /// The threshold after a loss (`ssthresh`).
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64;
    /// So many segments were delivered while the window limited the sender (`cong_avoid`).
    fn on_delivery(&mut self, window: &mut Window, ticks: Ticks, delivered: u64);
    /// The same at the end of every acknowledgement, for one that decides on everything itself; gives whether what
    /// is in flight now tells nothing of the path (`cong_control`).
    fn on_sample(&mut self, _window: &mut Window, _flow: &Flow, _sample: &RateSample) -> bool {
        false
    }
    /// A retransmission timeout (`set_state` to `TCP_CA_Loss`).
    fn on_timeout(&mut self, _flow: &Flow) {}
    /// Sends again after nothing was in flight (`cwnd_event`, `CA_EVENT_TX_START`).
    fn on_restart(&mut self, _window: &mut Window, _flow: &Flow) {}
    /// The window once a cut proves to have been for nothing (`undo_cwnd`; `tcp_reno_undo_cwnd`).
    fn cwnd_after_undo(&mut self, window: &Window, _flow: &Flow) -> u64 {
        window.cwnd.max(window.prior_cwnd)
    }
    /// The rate to send at in bytes a second, for one that has itself paced (`sk_pacing_rate`).
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
    /// Segments of the least burst, where the sysctl does not say (`min_tso_segs`).
    fn least_burst(&self) -> Option<u64> {
        None
    }
    /// An acknowledgement with a round trip in microseconds (`pkts_acked`); gives whether that may end slow start, for
    /// which [`Self::look_for_exit`] is to be called.
    fn on_round_trip(&mut self, _window: &Window, _ticks: Ticks, _micros: u64) -> bool {
        false
    }
    /// Ends slow start where acknowledgements show that the path is full (`hystart_update`).
    fn look_for_exit(&mut self, _window: &mut Window, _view: &View, _micros: u64) {}
}

/// The one in use. A closed set, so that the inner loop calls it directly.
#[derive(Debug)]
pub(super) enum Congestion {
    Cubic(Cubic),
    Reno(Reno),
    Bbr(Box<Bbr>),
}

impl Congestion {
    pub(super) fn new(host: &Host) -> Self {
        match host.congestion {
            Algorithm::Cubic { hystart } => {
                Self::Cubic(Cubic::new(hystart, host.hystart_rounds_need_window))
            }
            Algorithm::Reno => Self::Reno(Reno),
            Algorithm::Bbr => Self::Bbr(Box::new(Bbr::new(host.seed, host.max_pacing_rate))),
        }
    }

    /// Whether it decides on window and rate itself, at every acknowledgement (`cong_control`), and is paced.
    #[inline]
    pub(super) const fn is_rate_based(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// By how much faster than the path BBR sends at present (`tcp_bbr_info`); `None` for the others.
    pub(super) fn pacing_gain(&self) -> Option<f64> {
        match self {
            Self::Bbr(bbr) => Some(bbr.pacing_gain()),
            Self::Cubic(_) | Self::Reno(_) => None,
        }
    }

    /// Windows that the send buffer has room for (`sndbuf_expand`).
    pub(super) const fn windows_of_buffer(&self) -> u64 {
        if self.is_rate_based() { 3 } else { 2 }
    }
}

macro_rules! each {
    ($self:ident, $cc:ident => $do:expr) => {
        match $self {
            Self::Cubic($cc) => $do,
            Self::Reno($cc) => $do,
            Self::Bbr($cc) => $do,
        }
    };
}

impl CongestionControl for Congestion {
    fn on_open(&mut self, window: &mut Window, flow: &Flow) {
        each!(self, cc => cc.on_open(window, flow));
    }
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64 {
        each!(self, cc => cc.ssthresh_after_loss(window))
    }
    #[inline(always)]
    fn on_delivery(&mut self, window: &mut Window, ticks: Ticks, delivered: u64) {
        each!(self, cc => cc.on_delivery(window, ticks, delivered));
    }
    fn on_sample(&mut self, window: &mut Window, flow: &Flow, sample: &RateSample) -> bool {
        each!(self, cc => cc.on_sample(window, flow, sample))
    }
    fn on_timeout(&mut self, flow: &Flow) {
        each!(self, cc => cc.on_timeout(flow));
    }
    fn on_restart(&mut self, window: &mut Window, flow: &Flow) {
        each!(self, cc => cc.on_restart(window, flow));
    }
    fn cwnd_after_undo(&mut self, window: &Window, flow: &Flow) -> u64 {
        each!(self, cc => cc.cwnd_after_undo(window, flow))
    }
    fn pacing_rate(&self) -> Option<u64> {
        each!(self, cc => cc.pacing_rate())
    }
    #[inline]
    fn least_burst(&self) -> Option<u64> {
        each!(self, cc => cc.least_burst())
    }
    #[inline(always)]
    fn on_round_trip(&mut self, window: &Window, ticks: Ticks, micros: u64) -> bool {
        each!(self, cc => cc.on_round_trip(window, ticks, micros))
    }
    fn look_for_exit(&mut self, window: &mut Window, view: &View, micros: u64) {
        each!(self, cc => cc.look_for_exit(window, view, micros));
    }
}
