//! The window while it is being reduced (RFC 6937; `net/ipv4/tcp_input.c`).

use super::CaState;
use super::Socket;
use super::cc::{CongestionControl, UNLIMITED};

impl Socket {
    /// The window is to come down (`tcp_init_cwnd_reduction`).
    pub(super) fn begin_cwnd_reduction(&mut self) {
        self.high_seq = self.snd_nxt;
        self.tlp_high_seq = 0;
        self.window.count = 0;
        self.window.prior_cwnd = self.window.cwnd;
        self.prr_delivered = 0;
        self.prr_out = 0;
        self.window.ssthresh = self.congestion.ssthresh_after_loss(&self.window);
        self.ecn.tells_of_cut = self.ecn.ok;
    }

    /// Congestion without a loss: a mark, or a link that takes no more (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self) {
        self.prior_ssthresh = 0;
        if self.ca_state < CaState::Cwr {
            self.undo_marker = None;
            self.begin_cwnd_reduction();
            self.set_ca_state(CaState::Cwr);
        }
    }

    /// As many may go as have arrived, in proportion; below the threshold a little more
    /// (`tcp_cwnd_reduction`).
    pub(super) fn reduce_cwnd(&mut self, delivered: u64, newly_lost: u64, una_advanced: bool) {
        if delivered == 0 || self.window.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.in_flight();
        self.prr_delivered += delivered;
        let may_send = if self.window.ssthresh < in_flight {
            let share =
                (self.window.ssthresh * self.prr_delivered).div_ceil(self.window.prior_cwnd);
            share.saturating_sub(self.prr_out)
        } else {
            let conservative = self.prr_delivered.saturating_sub(self.prr_out).max(delivered);
            let slow_start = u64::from(una_advanced && newly_lost == 0);
            (conservative + slow_start).min(self.window.ssthresh - in_flight)
        };
        // The first retransmission always goes.
        let may_send = may_send.max(u64::from(self.prr_out == 0));
        self.window.cwnd = in_flight + may_send;
    }

    /// `tcp_end_cwnd_reduction`.
    pub(super) fn end_cwnd_reduction(&mut self) {
        if self.congestion.is_rate_based() {
            return;
        }
        if self.window.ssthresh < UNLIMITED
            && (self.ca_state == CaState::Cwr || self.undo_marker.is_some())
        {
            self.window.cwnd = self.window.ssthresh;
            self.snd_cwnd_stamp = self.clock.jiffies;
        }
    }

    /// `tcp_set_ca_state`.
    pub(super) fn set_ca_state(&mut self, state: CaState) {
        if state == CaState::Loss {
            let flow = self.flow();
            self.congestion.on_timeout(&flow);
        }
        self.ca_state = state;
    }
}
