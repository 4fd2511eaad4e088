//! Acknowledgements of new data, and loss detection by duplicate ones (RFC 5681, RFC 6582).

use super::{
    AckSample, Bytes, Congestion, CongestionControl, FirstLoss, Limit, PendingControl,
    RecoveryName, Segment, Sender, Time,
};

/// Duplicate acknowledgements that indicate a loss (RFC 5681 §3.2).
pub(super) const DUPLICATES: u32 = 3;

impl Sender {
    #[inline(always)]
    pub(super) fn on_new_ack(&mut self, now: Time, segment: &Segment) {
        let ack = segment.ack;
        if self.sack.is_some() && self.on_new_sack(now, segment) {
            return;
        }
        if self.recovering && self.recovery == RecoveryName::Newreno && self.recover > Some(ack) {
            return self.on_partial_ack(now, ack);
        }
        let sample = AckSample {
            acked: Bytes::new(ack - self.una),
            in_flight: Bytes::new(self.max - self.una),
            was_limited: matches!(self.limit, Limit::Congestion | Limit::StartUp),
        };
        self.advance(now, segment);
        if self.recovering {
            self.recovering = false;
            self.cc.on_recovered(sample);
        } else if !(segment.echoes_marks && self.ecn) {
            self.cc.on_ack(sample); // RFC 3168 §6.1.2: no increase while marks are echoed
        }
        self.open_up(u32::MAX, 0);
    }

    /// Removes all data up to the acknowledged number.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: Time, segment: &Segment) {
        self.duplicate_acks = 0;
        self.limited_sent = 0;
        self.una = segment.ack;
        self.nxt = self.nxt.max(segment.ack);
        self.take_sample(now, segment.ack, segment.timestamps());
        self.restart_timer(now);
    }

    /// RFC 6582 §3.2: the first unacknowledged segment was lost as well.
    fn on_partial_ack(&mut self, now: Time, ack: u64) {
        // Only the first partial acknowledgement restarts the timer ("impatient", RFC 6582 §4), without
        // resetting the back-off.
        if !self.partial_ack_seen {
            self.partial_ack_seen = true;
            self.restart_timer(now);
        }
        self.cc.on_partial_ack(Bytes::new(ack - self.una));
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.pending_control = PendingControl::Unacknowledged;
        self.open_up(self.recovery_burst, 0);
    }

    pub(super) fn on_duplicate_ack(&mut self, now: Time, segment: &Segment) {
        if self.sack.is_some() {
            return self.on_duplicate_sack(now, segment);
        }
        self.duplicate_acks += 1;
        if self.recovering {
            self.cc.on_duplicate_ack();
            return self.open_up(self.recovery_burst, 0);
        }
        match self.duplicate_acks {
            DUPLICATES if self.may_fast_retransmit() => self.fast_retransmit(now),
            n if n >= DUPLICATES => self.open_up(self.recovery_burst, 0),
            n if self.limited_transmit => self.open_up(1, u64::from(n) * self.mss),
            _ => self.burst = 0,
        }
    }

    /// RFC 6582 §3.2 step 2: one reduction per window of data.
    pub(super) fn may_fast_retransmit(&self) -> bool {
        match self.first_loss {
            Some(FirstLoss::Always) if self.una == 1 => true,
            Some(FirstLoss::Never) if self.una == 1 => false,
            Some(_) | None => self.recover.is_none_or(|recover| self.una > recover),
        }
    }

    fn fast_retransmit(&mut self, now: Time) {
        self.stats.fast_retransmits += 1;
        self.recover = Some(self.max);
        self.timed = None; // Karn's algorithm
        let sample = self.congestion_sample();
        if self.recovery == RecoveryName::Tahoe {
            // Tahoe has no recovery: go back to slow start, as after a timeout.
            self.cc.on_congestion(Congestion::Timeout, &sample);
            self.start_undo(now, false);
            self.nxt = self.una;
            self.restart_timer(now);
            return self.open_up(u32::MAX, 0);
        }
        self.recovering = true;
        self.partial_ack_seen = false;
        self.cc.on_congestion(Congestion::Loss, &sample);
        self.start_undo(now, false);
        self.restart_timer(now);
        self.pending_control = PendingControl::Unacknowledged;
        self.open_up(self.recovery_burst, 0);
    }
}
