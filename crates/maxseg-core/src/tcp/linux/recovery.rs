//! What a dubious acknowledgement leads to: the states of congestion and the ways between them
//! (`tcp_fastretrans_alert`, `net/ipv4/tcp_input.c`).

use super::CaState;
use super::Socket;
use super::cc::CongestionControl;
use super::flags::{
    DATA_SACKED, ECE, Flags, LOST_RETRANS, ORIG_SACK_ACKED, Resend, SACK_RENEGING, SET_XMIT_TIMER,
    UNA_ADVANCED,
};
use super::skb::{ACKED, LOST};
use super::timers::Retransmit;

impl Socket {
    /// Changes the state, marks what is lost, and tells what to send for it.
    pub(super) fn fastretrans_alert(
        &mut self,
        prior_una: u64,
        dupacks: u64,
        flags: &mut Flags,
    ) -> Resend {
        let una_advanced = *flags & UNA_ADVANCED != 0;
        let mut find_losses =
            dupacks > 0 || (*flags & DATA_SACKED != 0 && self.sack_forces_retransmit());
        if self.packets_out == 0 {
            self.sacked_out = 0;
        }
        if *flags & ECE != 0 {
            self.prior_ssthresh = 0;
        }
        if self.wait_for_reneging(flags) {
            return Resend::Nothing;
        }
        if self.end_episode() {
            return Resend::Nothing;
        }
        let mut resend = Resend::Nothing;
        let mut begins = false;
        match self.ca_state {
            CaState::Recovery => {
                if !una_advanced {
                    self.add_reno_sacks(dupacks);
                } else if self.try_undo_partially(prior_una, &mut find_losses) {
                    return Resend::Nothing;
                }
                if self.try_undo_by_dsack() {
                    self.try_to_open(*flags);
                }
                self.identify_losses(flags);
                if self.ca_state != CaState::Recovery {
                    if !self.is_time_to_recover() {
                        return Resend::Nothing;
                    }
                    self.enter_recovery();
                }
            }
            CaState::Open | CaState::Disorder | CaState::Cwr | CaState::Loss => {
                if self.ca_state == CaState::Loss {
                    resend = self.process_loss(*flags, dupacks);
                    self.identify_losses(flags);
                    if self.ca_state != CaState::Open && *flags & LOST_RETRANS == 0 {
                        return resend;
                    }
                }
                if self.is_reno() {
                    if una_advanced {
                        self.sacked_out = 0;
                    }
                    self.add_reno_sacks(dupacks);
                }
                if self.ca_state <= CaState::Disorder {
                    self.try_undo_by_dsack();
                }
                self.identify_losses(flags);
                if !self.is_time_to_recover() {
                    self.try_to_open(*flags);
                    return resend;
                }
                if self.take_lost_probe() {
                    return Resend::Nothing;
                }
                self.enter_recovery();
                begins = true;
            }
        }
        if !self.host.tcp_recovery && find_losses {
            self.update_scoreboard(begins);
        }
        Resend::Lost
    }

    /// The receiver seems to have dropped what it SACKed: wait whether that lasts
    /// (`tcp_check_sack_reneging`).
    fn wait_for_reneging(&mut self, flags: &mut Flags) -> bool {
        if *flags & SACK_RENEGING == 0 || *flags & UNA_ADVANCED == 0 {
            return false;
        }
        let delay = self.clock.jiffies_of_micros((self.rtt.srtt8 >> 4).max(10_000));
        self.timers.set_retransmit(&self.clock, Retransmit::Timeout, delay);
        *flags &= !SET_XMIT_TIMER;
        true
    }

    /// What was out when the episode began is acknowledged; gives whether it goes on all the same.
    fn end_episode(&mut self) -> bool {
        if self.ca_state == CaState::Open {
            self.retrans_stamp = 0;
        } else if self.snd_una >= self.high_seq {
            if self.ca_state == CaState::Cwr {
                if self.snd_una != self.high_seq {
                    self.end_cwnd_reduction();
                    self.set_ca_state(CaState::Open);
                }
            } else if self.ca_state == CaState::Recovery {
                if self.is_reno() {
                    self.sacked_out = 0;
                }
                if self.try_undo_recovery() {
                    return true;
                }
                self.end_cwnd_reduction();
            }
        }
        false
    }

    /// `tcp_time_to_recover`.
    fn is_time_to_recover(&self) -> bool {
        self.lost_out > 0 || (!self.host.tcp_recovery && self.sacked_out + 1 > self.reordering)
    }

    /// Marks what is lost by now (`tcp_identify_packet_loss`).
    fn identify_losses(&mut self, flags: &mut Flags) {
        if self.rtx_queue.is_empty() {
            return;
        }
        if self.is_reno() {
            self.mark_newreno_loss(*flags & UNA_ADVANCED != 0);
        } else if self.host.tcp_recovery {
            let before = self.retrans_out;
            if self.mark_rack_losses() {
                *flags &= !SET_XMIT_TIMER;
            }
            if before > self.retrans_out {
                *flags |= LOST_RETRANS;
            }
        }
    }

    /// `tcp_enter_recovery`.
    pub(super) fn enter_recovery(&mut self) {
        self.forget_stamp_of_retransmission();
        self.counters.recoveries += 1;
        self.prior_ssthresh = 0;
        self.begin_undo();
        if !self.in_cwnd_reduction() {
            self.prior_ssthresh = self.current_ssthresh();
            self.begin_cwnd_reduction();
        }
        self.set_ca_state(CaState::Recovery);
    }

    /// A timeout: all is lost, but for what RACK says may still come (`tcp_enter_loss`,
    /// `tcp_timeout_mark_lost`).
    pub(super) fn enter_loss(&mut self) {
        let new_recovery = self.ca_state < CaState::Recovery;
        self.mark_losses_of_timeout();
        if self.ca_state <= CaState::Disorder
            || self.high_seq <= self.snd_una
            || (self.ca_state == CaState::Loss && self.retransmits == 0)
        {
            self.prior_ssthresh = self.current_ssthresh();
            self.window.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.congestion.ssthresh_after_loss(&self.window);
            self.begin_undo();
        }
        self.window.cwnd = self.in_flight() + 1;
        self.window.count = 0;
        self.snd_cwnd_stamp = self.clock.jiffies;
        if self.ca_state <= CaState::Disorder && self.sacked_out >= self.host.tcp_reordering {
            self.reordering = self.reordering.min(self.host.tcp_reordering);
        }
        self.is_timed_out = true;
        self.set_ca_state(CaState::Loss);
        self.high_seq = self.snd_nxt;
        self.tlp_high_seq = 0;
        self.ecn.tells_of_cut = self.ecn.ok;
        self.frto = self.host.tcp_frto && (new_recovery || self.retransmits > 0);
    }

    fn mark_losses_of_timeout(&mut self) {
        let reneged = self.rtx_queue.front().is_some_and(|head| head.is(ACKED));
        if reneged {
            self.sacked_out = 0;
            self.is_sack_reneg = true;
            self.last_blocks = super::packet::Blocks::default();
        } else if self.is_reno() {
            self.sacked_out = 0;
        }
        for index in 0..self.rtx_queue.len() {
            if reneged {
                self.rtx_queue[index].sacked &= !ACKED;
            } else if self.host.tcp_recovery
                && index > 0
                && self.rack_remaining(self.rtx_queue[index].sent_micros(), 0) > 0
            {
                continue;
            }
            self.mark_lost(index);
        }
        self.clear_retransmit_hints();
    }

    /// After a timeout: was it for nothing (F-RTO, RFC 5682)? Else what is lost goes again
    /// (`tcp_process_loss`).
    fn process_loss(&mut self, flags: Flags, dupacks: u64) -> Resend {
        let recovered = self.snd_una >= self.high_seq;
        if flags & UNA_ADVANCED != 0 && self.try_undo_timeout(false) {
            return Resend::Nothing;
        }
        if self.frto {
            // Something of before the timeout has arrived, so the timeout was too early.
            if flags & ORIG_SACK_ACKED != 0 && self.try_undo_timeout(true) {
                return Resend::Nothing;
            }
            if self.snd_nxt > self.high_seq {
                if flags & DATA_SACKED != 0 || dupacks > 0 {
                    self.frto = false;
                }
            } else if flags & UNA_ADVANCED != 0 && !recovered {
                self.high_seq = self.snd_nxt;
                if !self.write_queue.is_empty() && self.window_end() > self.snd_nxt {
                    return Resend::New;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery();
            return Resend::Nothing;
        }
        if self.is_reno() {
            if self.snd_nxt > self.high_seq && dupacks > 0 {
                self.add_reno_sacks(dupacks);
            } else if flags & UNA_ADVANCED != 0 {
                self.sacked_out = 0;
            }
        }
        Resend::Lost
    }

    /// Back to order, or nearly (`tcp_try_keep_open`).
    pub(super) fn try_to_keep_open(&mut self) {
        let disorder = self.sacked_out + self.lost_out > 0 || self.any_retransmission_out();
        let state = if disorder { CaState::Disorder } else { CaState::Open };
        if self.ca_state != state {
            self.set_ca_state(state);
            self.high_seq = self.snd_nxt;
        }
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, flags: Flags) {
        self.forget_stamp_of_retransmission();
        if flags & ECE != 0 {
            self.enter_cwr();
        }
        if self.ca_state != CaState::Cwr {
            self.try_to_keep_open();
        }
    }

    /// More lies between what is acknowledged and what is SACKed than reordering explains
    /// (`tcp_force_fast_retransmit`).
    pub(super) fn sack_forces_retransmit(&self) -> bool {
        self.highest_sack_seq() > self.snd_una + self.reordering * self.mss_cache
    }

    /// Without RACK: what lies below as many packets as reordering explains is lost
    /// (`tcp_update_scoreboard`).
    fn update_scoreboard(&mut self, begins: bool) {
        if self.is_reno() {
            return;
        }
        match self.sacked_out.checked_sub(self.reordering) {
            Some(upto) => self.mark_head_lost(upto, false),
            None if begins => self.mark_head_lost(1, true),
            None => {}
        }
    }

    /// `tcp_mark_head_lost`.
    fn mark_head_lost(&mut self, packets: u64, head_only: bool) {
        let (mut index, mut count) = match self.lost_hint {
            Some(hint) => {
                if head_only && hint > self.snd_una {
                    return;
                }
                (self.find_sent(hint), self.lost_count_hint)
            }
            None => (0, 0),
        };
        while let Some(skb) = self.rtx_queue.get(index) {
            self.lost_hint = Some(skb.seq);
            self.lost_count_hint = count;
            if skb.end_seq > self.snd_nxt {
                break;
            }
            if skb.is(ACKED) {
                count += skb.segments;
            }
            if count > packets {
                break;
            }
            if !skb.is(LOST) {
                self.mark_lost(index);
            }
            if head_only {
                break;
            }
            index += 1;
        }
    }

    /// Without SACK each duplicate acknowledgement is a packet that has arrived (`tcp_add_reno_sack`).
    fn add_reno_sacks(&mut self, dupacks: u64) {
        if dupacks == 0 || !self.is_reno() {
            return;
        }
        let before = self.sacked_out;
        self.sacked_out += dupacks;
        self.check_reno_reordering(0);
        self.delivered += self.sacked_out.saturating_sub(before);
    }

    /// `tcp_remove_reno_sacks`.
    pub(super) fn remove_reno_sacks(&mut self, acked: u64) {
        if acked > 0 {
            self.delivered += acked.saturating_sub(self.sacked_out).max(1);
            self.sacked_out = self.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(acked);
    }

    /// More duplicates than packets: some overtook others (`tcp_check_reno_reordering`).
    fn check_reno_reordering(&mut self, more: u64) {
        let holes = self.lost_out.max(1).min(self.packets_out);
        if self.sacked_out + holes <= self.packets_out {
            return;
        }
        self.sacked_out = self.packets_out - holes;
        self.reordering = (self.packets_out + more).min(self.host.tcp_max_reordering.into());
        self.reord_seen += 1;
    }
}
