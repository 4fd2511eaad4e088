//! Acknowledgements (`tcp_ack`, `net/ipv4/tcp_input.c`).

use super::Socket;
use super::State;
use super::cc::{CongestionControl, Ticks};
use super::constants::{Nagle, Push};
use super::flags::{
    CA_ALERT, DATA, DATA_ACKED, DSACKING_ACK, ECE, FORWARD_PROGRESS, Flags, MAY_BE_DELAYED,
    NOT_DUP, Resend, SET_XMIT_TIMER, UNA_ADVANCED, WIN_UPDATE,
};
use super::packet::{Flags as HeaderFlags, Packet};
use super::rate::RateSample;
use super::sack::SackState;

/// What became of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Taken,
    Old,
    /// It acknowledges what was never sent, or is too old to be true.
    Invalid,
}

impl Socket {
    /// A packet acknowledges (`tcp_ack`).
    pub(super) fn on_ack(&mut self, packet: &Packet) -> Verdict {
        let (prior_una, prior_out) = (self.snd_una, self.packets_out);
        let (prior_delivered, prior_lost) = (self.delivered, self.lost);
        let is_sack_reneg = self.is_sack_reneg;
        let mut flags = 0;
        let mut state = SackState::default();
        let mut sample = RateSample::default();
        if packet.ack < prior_una {
            return self.on_old_ack(packet, prior_una);
        }
        if packet.ack > self.snd_nxt {
            return Verdict::Invalid;
        }
        if packet.ack > prior_una {
            flags |= UNA_ADVANCED;
            self.retransmits = 0;
        }
        sample.prior_in_flight = self.in_flight();
        let prior_fack = if self.sack_ok { self.highest_sack_seq() } else { self.snd_una };
        self.take_stamp(packet);
        if packet.len > 0 {
            flags |= DATA;
        }
        flags |= self.update_send_window(packet);
        if !packet.sack.is_empty() && self.sack_ok {
            flags |= self.tag_sacked(packet, prior_una, &mut state, &mut sample);
        }
        if self.ecn.ok && packet.flags.has(HeaderFlags::ECE) && packet.syn.is_none() {
            flags |= ECE;
        }
        self.delivered += state.delivered;
        if prior_out == 0 {
            return self.on_ack_of_nothing(packet.ack, prior_una, flags);
        }
        flags |= self.clean_rtx_queue(prior_fack, prior_una, &state, &mut sample);
        sample.may_be_delayed = flags & MAY_BE_DELAYED != 0;
        self.update_reordering_window(sample.prior_delivered);
        if self.tlp_high_seq > 0 {
            self.process_probe_ack(packet.ack, flags);
        }
        let mut resend = Resend::Nothing;
        if self.is_dubious(flags) {
            let dup = flags & (UNA_ADVANCED | NOT_DUP | DSACKING_ACK) == 0;
            resend = self.fastretrans_alert(prior_una, u64::from(dup), &mut flags);
        }
        if flags & SET_XMIT_TIMER != 0 {
            self.set_retransmit_timer();
        }
        let delivered = self.delivered - prior_delivered;
        let lost = self.lost - prior_lost;
        self.complete_sample(delivered, lost, is_sack_reneg, &mut sample);
        self.control_congestion(flags, &sample);
        self.resend(resend);
        Verdict::Taken
    }

    /// Below what is acknowledged already: only its SACK blocks may be news.
    fn on_old_ack(&mut self, packet: &Packet, prior_una: u64) -> Verdict {
        if packet.ack + self.max_window < prior_una {
            return Verdict::Invalid;
        }
        self.take_stamp(packet);
        if !packet.sack.is_empty() && self.sack_ok {
            let mut state = SackState::default();
            let mut flags =
                self.tag_sacked(packet, prior_una, &mut state, &mut RateSample::default());
            let resend = self.fastretrans_alert(prior_una, 0, &mut flags);
            self.resend(resend);
        }
        Verdict::Old
    }

    /// Nothing was out: it may open the window, or tell of a duplicate.
    fn on_ack_of_nothing(&mut self, ack: u64, prior_una: u64, mut flags: Flags) -> Verdict {
        if flags & DSACKING_ACK != 0 {
            self.fastretrans_alert(prior_una, 0, &mut flags);
        }
        self.note_window_after_probe();
        if self.tlp_high_seq > 0 {
            self.process_probe_ack(ack, flags);
        }
        Verdict::Taken
    }

    /// Its timestamp is the one to echo, if it is in order (`tcp_replace_ts_recent`).
    pub(super) fn take_stamp(&mut self, packet: &Packet) {
        if let Some(stamps) = packet.stamps
            && packet.seq <= self.rcv_wup
            && stamps.value >= self.ts_recent
            && self.state != State::SynSent
        {
            self.ts_recent = stamps.value;
        }
    }

    /// Its window is the newest (`tcp_ack_update_window`).
    #[inline]
    fn update_send_window(&mut self, packet: &Packet) -> Flags {
        let is_newest = packet.ack > self.snd_una
            || packet.seq > self.snd_wl1
            || (packet.seq == self.snd_wl1 && (packet.window > self.snd_wnd || packet.window == 0));
        let mut flags = 0;
        if is_newest {
            flags = WIN_UPDATE;
            self.snd_wl1 = packet.seq;
            if self.snd_wnd != packet.window {
                self.snd_wnd = packet.window;
                if !self.write_queue.is_empty() {
                    self.check_slow_start_after_idle();
                }
                if self.snd_wnd > self.max_window {
                    self.max_window = self.snd_wnd;
                    self.sync_mss();
                }
            }
        }
        self.snd_una = packet.ack;
        flags
    }

    /// `tcp_ack_is_dubious`.
    #[inline]
    fn is_dubious(&self, flags: Flags) -> bool {
        flags & NOT_DUP == 0 || flags & CA_ALERT != 0 || self.ca_state != super::CaState::Open
    }

    /// `tcp_is_cwnd_limited`.
    #[inline]
    pub(super) const fn cwnd_limits(&self) -> bool {
        self.is_cwnd_limited
            || (self.window.in_slow_start() && self.window.cwnd < 2 * self.max_packets_out)
    }

    /// The window follows what was delivered (`tcp_cong_control`).
    #[inline]
    fn control_congestion(&mut self, flags: Flags, sample: &RateSample) {
        if self.congestion.is_rate_based() {
            return self.control_rate(sample);
        }
        if self.in_cwnd_reduction() {
            self.reduce_cwnd(sample.acked_sacked, sample.losses, flags & UNA_ADVANCED != 0);
        } else {
            // Where packets overtake each other, what is SACKed counts too (`tcp_may_raise_cwnd`).
            let progress = if self.reordering > self.host.tcp_reordering {
                FORWARD_PROGRESS
            } else {
                DATA_ACKED
            };
            if flags & progress != 0 {
                self.raise_cwnd(sample.acked_sacked);
            }
        }
        self.update_pacing_rate();
    }

    /// The clock that the congestion control's curves count in.
    #[inline(always)]
    const fn ticks(&self) -> Ticks {
        Ticks { jiffies: self.clock.jiffies, hz: self.host.hz }
    }

    /// The congestion control hears of a round trip. What it sees of the socket is put together only where it looks for
    /// the end of slow start.
    #[inline(always)]
    pub(super) fn tell_round_trip(&mut self, micros: u64) {
        if self.congestion.on_round_trip(&self.window, self.ticks(), micros) {
            self.look_for_exit(micros);
        }
    }

    #[inline(never)]
    fn look_for_exit(&mut self, micros: u64) {
        let view = self.view();
        self.congestion.look_for_exit(&mut self.window, &view, micros);
    }

    /// So many segments were delivered, for which the window grows if it is what limits (`tcp_cong_avoid`).
    #[inline(always)]
    pub(super) fn raise_cwnd(&mut self, delivered: u64) {
        if self.cwnd_limits() {
            let ticks = self.ticks();
            self.congestion.on_delivery(&mut self.window, ticks, delivered);
        }
        self.snd_cwnd_stamp = self.clock.jiffies;
    }

    /// The congestion control decides on window and rate.
    pub(super) fn control_rate(&mut self, sample: &RateSample) {
        if self.state == State::SynSent {
            return; // it begins with the open connection
        }
        let flow = self.flow();
        if self.congestion.on_sample(&mut self.window, &flow, sample) {
            self.rate.app_limited = (self.delivered + self.in_flight()).max(1);
        }
        self.update_pacing_rate();
    }

    /// `tcp_xmit_recovery`.
    fn resend(&mut self, what: Resend) {
        if what == Resend::Nothing || self.state == State::SynSent {
            return;
        }
        if what == Resend::New {
            let mss = self.current_mss();
            self.push_pending(mss, Nagle::Off, Push::All);
            if self.snd_nxt > self.high_seq {
                return;
            }
            self.frto = false;
        }
        self.retransmit_lost();
    }
}
