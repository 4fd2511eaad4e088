//! Cuts that prove to have been for nothing are taken back (Eifel, D-SACK, F-RTO; `net/ipv4/tcp_input.c`).

use super::Socket;
use super::cc::CongestionControl;
use super::clock::Clock;
use super::rack::RECOVERY_THRESHOLD;
use super::skb::{ANY_RETRANSMISSION, EVER_RETRANSMITTED, LOST, Skb};
use super::{CaState, State};

impl Socket {
    /// `tcp_is_reno`: SACK was not agreed on.
    #[inline]
    pub(super) const fn is_reno(&self) -> bool {
        !self.sack_ok
    }

    /// Remembers what a cut would have to be taken back from (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo_marker = Some(self.snd_una);
        self.undo_retrans = self.retrans_out.cast_signed();
        if self.tlp_high_seq > 0 && self.tlp_retrans {
            self.undo_retrans += 1;
        }
        if self.undo_retrans == 0 {
            self.undo_retrans = -1;
        }
    }

    /// Whether the packet at hand echoes a time before `millis` (`tcp_tsopt_ecr_before`).
    fn echoes_before(&self, millis: u64) -> bool {
        self.rcv_tsecr != 0 && self.rcv_tsecr < millis
    }

    /// Whether what was sent again is acknowledged by its first copy (`tcp_skb_spurious_retrans`).
    pub(super) fn is_spurious(&self, skb: &Skb) -> bool {
        skb.is(ANY_RETRANSMISSION) && self.echoes_before(Clock::millis_of(skb.sent_nanos))
    }

    /// Whether a packet taken for lost was only late (`tcp_packet_delayed`).
    fn was_only_late(&self) -> bool {
        if self.retrans_stamp != 0 {
            return self.echoes_before(self.retrans_stamp);
        }
        // Without SACK a late acknowledgement of the episode's end may belong to either copy.
        !(self.is_reno() && self.snd_una >= self.high_seq) && self.state != State::SynSent
    }

    /// `tcp_any_retrans_done`.
    pub(super) fn any_retransmission_out(&self) -> bool {
        self.retrans_out > 0 || self.rtx_queue.front().is_some_and(|skb| skb.is(EVER_RETRANSMITTED))
    }

    /// `tcp_retrans_stamp_cleanup`.
    pub(super) fn forget_stamp_of_retransmission(&mut self) {
        if !self.any_retransmission_out() {
            self.retrans_stamp = 0;
        }
    }

    /// The window is what it was (`tcp_undo_cwnd_reduction`, `tcp_reno_undo_cwnd`).
    fn undo_cwnd_reduction(&mut self, unmark_losses: bool) {
        if unmark_losses {
            for skb in &mut self.rtx_queue {
                skb.sacked &= !LOST;
            }
            self.lost_out = 0;
            self.clear_retransmit_hints();
            self.look_again_for_losses();
        }
        if self.prior_ssthresh > 0 {
            let flow = self.flow();
            self.window.cwnd = self.congestion.cwnd_after_undo(&self.window, &flow);
            if self.prior_ssthresh > self.window.ssthresh {
                self.window.ssthresh = self.prior_ssthresh;
                self.ecn.tells_of_cut = false; // `tcp_ecn_withdraw_cwr`
            }
        }
        self.snd_cwnd_stamp = self.clock.jiffies;
        self.undo_marker = None;
        self.rack.advanced = true;
        self.counters.undone += 1;
    }

    /// `tcp_may_undo`.
    fn may_undo(&self) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == 0 || self.was_only_late())
    }

    /// Without SACK the end of an episode may be acknowledged by duplicates still to come
    /// (`tcp_is_non_sack_preventing_reopen`).
    fn must_stay_for_late_duplicates(&mut self) -> bool {
        if self.snd_una == self.high_seq && self.is_reno() {
            self.forget_stamp_of_retransmission();
            return true;
        }
        false
    }

    /// At the end of an episode; gives whether it goes on for late duplicates
    /// (`tcp_try_undo_recovery`).
    pub(super) fn try_undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_cwnd_reduction(false);
        } else if self.rack.reo_wnd_persist > 0 {
            self.rack.reo_wnd_persist -= 1;
        }
        if self.must_stay_for_late_duplicates() {
            return true;
        }
        self.set_ca_state(CaState::Open);
        self.is_sack_reneg = false;
        false
    }

    /// Where each retransmission arrived as a duplicate (`tcp_try_undo_dsack`).
    pub(super) fn try_undo_by_dsack(&mut self) -> bool {
        if self.undo_marker.is_some() && self.undo_retrans == 0 {
            self.rack.reo_wnd_persist = RECOVERY_THRESHOLD.min(self.rack.reo_wnd_persist + 1);
            self.undo_cwnd_reduction(false);
            return true;
        }
        false
    }

    /// After a timeout (`tcp_try_undo_loss`).
    pub(super) fn try_undo_timeout(&mut self, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo() {
            return false;
        }
        self.undo_cwnd_reduction(true);
        if by_frto {
            self.counters.spurious_timeouts += 1;
        }
        self.retransmits = 0;
        if self.must_stay_for_late_duplicates() {
            return true;
        }
        if by_frto || self.sack_ok {
            self.set_ca_state(CaState::Open);
            self.is_sack_reneg = false;
        }
        true
    }

    /// In the middle of a recovery; gives whether there is nothing else to do (`tcp_try_undo_partial`).
    pub(super) fn try_undo_partially(&mut self, prior_una: u64, find_losses: &mut bool) -> bool {
        if self.undo_marker.is_some() && self.was_only_late() {
            self.check_reordering(prior_una);
            if self.retrans_out > 0 {
                return true;
            }
            self.forget_stamp_of_retransmission();
            self.undo_cwnd_reduction(true);
            self.try_to_keep_open();
        } else {
            *find_losses = self.sack_forces_retransmit();
        }
        false
    }
}
