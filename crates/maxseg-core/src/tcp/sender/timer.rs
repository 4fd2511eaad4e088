//! The retransmission timer (RFC 6298 §5) and its RTT samples.

use super::{
    Congestion, CongestionControl, Limit, PendingControl, RecoveryName, Sender, Time, Timestamps,
};

impl Sender {
    /// Called when the retransmission timer or the persist timer expires.
    pub fn on_timeout(&mut self, now: Time) {
        debug_assert!(now >= self.timer, "the timer has not expired");
        if self.persist.is_some() {
            return self.probe_window(now);
        }
        self.limit = Limit::Rto;
        self.account(now);
        self.stats.timeouts += 1;
        let what = match (self.established, self.timed_out_at == Some(self.una)) {
            (false, _) => Congestion::LostSyn,
            (true, false) => Congestion::Timeout,
            (true, true) => Congestion::RepeatedTimeout,
        };
        self.cc.on_congestion(what, &self.congestion_sample());
        if what == Congestion::Timeout {
            self.start_undo(now, true);
        }
        self.timed_out_at = Some(self.una);
        self.recover = Some(self.max);
        self.recovering = false;
        // ns-2's Tahoe keeps the count of duplicates at a timeout (`tcp.cc`; its Reno does not).
        if self.recovery != RecoveryName::Tahoe || self.first_loss.is_none() {
            self.duplicate_acks = 0;
        }
        self.limited_sent = 0;
        if let Some(sack) = &mut self.sack {
            sack.on_timeout();
        }
        self.timed = None; // Karn's algorithm: the following segments are retransmissions
        self.rto.on_timeout();
        self.suspect_black_hole();
        self.restart_timer(now);
        self.nxt = self.una; // go-back-N
        if self.established {
            self.pending_control = PendingControl::Nothing;
            self.open_up(u32::MAX, 0);
        } else {
            self.pending_control = PendingControl::Syn;
        }
    }

    /// RFC 6298 §3: one segment at a time is timed, never a retransmitted one; with timestamps every acknowledgement
    /// of new data is a sample (RFC 7323 §4.1).
    #[inline(always)]
    pub(super) fn take_sample(&mut self, now: Time, ack: u64, timestamps: Option<Timestamps>) {
        if let Some(Timestamps { echo, .. }) = timestamps {
            self.on_sample(echo, now);
        } else if let Some((_, sent)) = self.timed.take_if(|(end, _)| *end <= ack) {
            self.on_sample(sent, now);
        }
    }

    fn on_sample(&mut self, sent: Time, now: Time) {
        self.rto.on_sample(sent, now);
        self.stats.rtt.record(now - sent);
    }

    #[inline(always)]
    pub(super) fn start_timer(&mut self, now: Time) {
        self.timer = now + self.rto.current();
    }

    /// RFC 6298 §5.3, and §5.2 where no data is outstanding.
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, now: Time) {
        if self.una < self.max {
            self.start_timer(now);
        } else {
            self.timer = Time::NEVER;
        }
    }
}
