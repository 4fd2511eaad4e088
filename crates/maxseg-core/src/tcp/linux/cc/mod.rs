//! Congestion control as the kernel's modules have it: in segments, in its integer arithmetic.

mod cubic;
mod reno;

pub(super) use cubic::Cubic;
pub(super) use reno::Reno;

use super::settings::Algorithm;

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
    pub(super) fn slow_start(&mut self, acked: u64) -> u64 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// Grows by one for each `per` segments acknowledged (`tcp_cong_avoid_ai`).
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

/// Decides how many segments may be in flight (`struct tcp_congestion_ops`, `include/net/tcp.h`).
pub(super) trait CongestionControl {
    /// The connection is open (`init`).
    fn on_open(&mut self, view: &View);
    /// The threshold after a loss (`ssthresh`).
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64;
    /// So many segments were delivered while the window limited the sender (`cong_avoid`).
    fn on_delivery(&mut self, window: &mut Window, view: &View, delivered: u64);
    /// A retransmission timeout (`set_state` to `TCP_CA_Loss`).
    fn on_timeout(&mut self, _view: &View) {}
    /// Sends again after nothing was in flight (`cwnd_event`, `CA_EVENT_TX_START`).
    fn on_restart(&mut self, _view: &View) {}
    /// An acknowledgement with a round trip in microseconds (`pkts_acked`).
    fn on_round_trip(&mut self, _window: &mut Window, _view: &View, _micros: u64) {}
}

/// The one in use. A closed set, so that the inner loop calls it directly.
#[derive(Debug)]
pub(super) enum Congestion {
    Cubic(Cubic),
    Reno(Reno),
}

impl Congestion {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Cubic { hystart } => Self::Cubic(Cubic::new(hystart)),
            Algorithm::Reno => Self::Reno(Reno),
        }
    }
}

macro_rules! each {
    ($self:ident, $cc:ident => $do:expr) => {
        match $self {
            Self::Cubic($cc) => $do,
            Self::Reno($cc) => $do,
        }
    };
}

impl CongestionControl for Congestion {
    fn on_open(&mut self, view: &View) {
        each!(self, cc => cc.on_open(view));
    }
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64 {
        each!(self, cc => cc.ssthresh_after_loss(window))
    }
    #[inline]
    fn on_delivery(&mut self, window: &mut Window, view: &View, delivered: u64) {
        each!(self, cc => cc.on_delivery(window, view, delivered));
    }
    fn on_timeout(&mut self, view: &View) {
        each!(self, cc => cc.on_timeout(view));
    }
    fn on_restart(&mut self, view: &View) {
        each!(self, cc => cc.on_restart(view));
    }
    #[inline]
    fn on_round_trip(&mut self, window: &mut Window, view: &View, micros: u64) {
        each!(self, cc => cc.on_round_trip(window, view, micros));
    }
}
