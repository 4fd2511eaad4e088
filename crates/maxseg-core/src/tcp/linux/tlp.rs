//! Tail loss probes (RFC 8985 §7; `net/ipv4/tcp_output.c`, `tcp_process_tlp_ack` in `tcp_input.c`).

use super::CaState;
use super::Socket;
use super::constants::{Nagle, Push};
use super::flags::{DATA_SACKED, DSACK_TLP, Flags, NOT_DUP, UNA_ADVANCED};
use super::rack::TIMEOUT_MIN_MICROS;
use super::timers::Retransmit;

impl Socket {
    /// Whether the tail is probed in this state.
    #[inline]
    pub(super) fn may_probe_tail(&self) -> bool {
        self.host.tcp_early_retrans
            && !self.is_reno()
            && matches!(self.ca_state, CaState::Open | CaState::Cwr)
    }

    /// Sets the timer for the probe; gives whether it runs (`tcp_schedule_loss_probe`). `advancing` tells
    /// that the retransmission timer would start anew.
    pub(super) fn schedule_loss_probe(&mut self, advancing: bool) -> bool {
        if self.packets_out == 0 || !self.may_probe_tail() {
            return false;
        }
        self.set_probe_timer(advancing);
        true
    }

    /// The same where the tail is probed and packets are out.
    #[inline(always)]
    pub(super) fn set_probe_timer(&mut self, advancing: bool) {
        self.timers.is_owed = false;
        let until_rto = if advancing {
            self.clock.micros_of_jiffies(self.rto).cast_signed()
        } else {
            self.micros_until_rto()
        };
        let most = if until_rto > 0 { until_rto.unsigned_abs() } else { u64::MAX };
        let timeout = if self.rtt.srtt8 > 0 {
            // Two round trips, and time for an acknowledgement that is delayed.
            let slack =
                if self.packets_out == 1 { self.rto_min_micros() } else { TIMEOUT_MIN_MICROS };
            self.clock.jiffies_of_micros(((self.rtt.srtt8 >> 2) + slack).min(most))
        } else {
            self.clock.seconds(1, 1).min(self.clock.jiffies_of_micros(most))
        };
        self.reset_timer(Retransmit::LossProbe, timeout);
    }

    /// It is time to probe: with new data where the window has room, else with the last segment again
    /// (`tcp_send_loss_probe`).
    pub(super) fn send_loss_probe(&mut self) {
        if self.tlp_high_seq == 0 {
            self.tlp_retrans = false;
            if self.probe_tail() {
                self.tlp_high_seq = self.snd_nxt;
                self.counters.loss_probes += 1;
                self.timers.pending = None;
            }
        }
        self.rearm_rto();
    }

    fn probe_tail(&mut self) -> bool {
        let mss = self.current_mss();
        if self.write_queue.front().is_some_and(|skb| self.fits_send_window(skb, mss)) {
            let before = self.packets_out;
            self.write_xmit(mss, Nagle::Off, Push::Probe);
            return self.packets_out > before;
        }
        let Some(last) = self.rtx_queue.len().checked_sub(1) else { return false };
        let skb = self.rtx_queue[last];
        let mut index = last;
        if skb.segments > 1 && skb.len() > (skb.segments - 1) * mss {
            self.split_sent(last, (skb.segments - 1) * mss, mss);
            index += 1;
        }
        if !self.retransmit_unmarked(index, 1) {
            return false;
        }
        self.tlp_retrans = true;
        true
    }

    /// What an acknowledgement tells of the probe: did it repair a loss (`tcp_process_tlp_ack`)?
    pub(super) fn process_probe_ack(&mut self, ack: u64, flags: Flags) {
        if ack < self.tlp_high_seq {
            return;
        }
        if !self.tlp_retrans || flags & DSACK_TLP != 0 {
            self.tlp_high_seq = 0;
        } else if ack > self.tlp_high_seq {
            // No duplicate was SACKed, so the probe repaired a loss: that is congestion.
            self.begin_cwnd_reduction();
            self.set_ca_state(CaState::Cwr);
            self.end_cwnd_reduction();
            self.try_to_keep_open();
        } else if flags & (UNA_ADVANCED | NOT_DUP | DATA_SACKED) == 0 {
            self.tlp_high_seq = 0;
        }
    }
}
