//! Pacing: each packet pushes back when the next may go, by what it takes at the pacing rate
//! (`net/ipv4/tcp_output.c`).

use super::Socket;
use super::constants::Push;
use super::skb::Skb;
use super::timers::Retransmit;

/// So many segments go before anything is paced (`tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: u64 = 10;

impl Socket {
    /// Whether the next packet waits for the rate that the program has set (`SO_MAX_PACING_RATE`).
    #[inline]
    pub(crate) const fn waits_for_own_pace(&self) -> bool {
        self.pacing_rate == self.host.max_pacing_rate && self.last_sent_nanos > self.clock.nanos
    }

    /// Whether the next packet has to wait, for which the timer is set (`tcp_pacing_check`).
    #[inline]
    pub(super) fn must_wait_for_pace(&mut self) -> bool {
        if self.last_sent_nanos <= self.clock.nanos || !self.is_paced || self.host.fq {
            return false;
        }
        let when = self.clock.time_of_nanos(self.last_sent_nanos);
        self.timers.pace_at = self.timers.pace_at.min(when);
        true
    }

    /// A packet of data has gone; before it the clock of pacing stood at `before`
    /// (`tcp_update_skb_after_send`).
    #[inline]
    pub(super) fn pace(&mut self, skb: &Skb, before: u64) {
        if !self.is_paced || self.pacing_rate == 0 || self.counters.data_segments < UNPACED_SEGMENTS
        {
            return;
        }
        let takes = skb.len() * 1_000_000_000 / self.pacing_rate;
        // A timer that came late is made up for, by half at most.
        let credit = self.last_sent_nanos - before;
        self.last_sent_nanos += takes - credit.min(takes / 2);
    }

    /// The next packet may go (`tcp_pace_kick`, `tcp_tsq_write`).
    pub(super) fn go_on_sending(&mut self) {
        if self.lost_out > self.retrans_out && self.window.cwnd > self.in_flight() {
            self.retransmit_lost();
        }
        let mss = self.current_mss();
        self.write_xmit(mss, self.nagle(), Push::All);
    }

    /// Sets the retransmission timer, later by what the next packet has to wait (`tcp_reset_xmit_timer`).
    #[inline]
    pub(super) fn reset_timer(&mut self, what: Retransmit, jiffies: u64) {
        let mut jiffies = jiffies;
        if let Some(wait) = self.last_sent_nanos.checked_sub(self.clock.nanos)
            && wait > 0
        {
            jiffies += self.clock.whole_jiffies(wait);
        }
        self.timers.set_retransmit(&self.clock, what, jiffies);
    }
}
