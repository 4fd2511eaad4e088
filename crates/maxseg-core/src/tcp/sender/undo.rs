//! Undo of spurious reductions, where segments taken for lost were only late.
//!
//! Timestamps show it at the first acknowledgement (Eifel detection, RFC 3522), DSACK when every retransmitted
//! segment was reported as a duplicate (RFC 3708). The window is restored (RFC 4015).

use super::{CongestionControl, PendingControl, Segment, Sender, Time};

/// A reduction, and the retransmissions since.
#[derive(Debug, Clone, Copy)]
pub(super) struct UndoState {
    /// Time of the first retransmission.
    began: Time,
    by_timeout: bool,
    /// Retransmitted segments not reported as duplicates.
    resent: u32,
    /// Whether a duplicate was reported.
    reported: bool,
    /// The end of recovery: SND.MAX at the reduction.
    until: u64,
}

impl UndoState {
    pub(super) fn on_resent(&mut self) {
        self.resent += 1;
    }
}

impl Sender {
    /// Called when the window is reduced, before the retransmission.
    pub(super) fn start_undo(&mut self, now: Time, by_timeout: bool) {
        if self.timestamps || self.sack.is_some() {
            let until = self.max;
            self.undo_state =
                Some(UndoState { began: now, by_timeout, resent: 0, reported: false, until });
        }
    }

    /// Checks whether an acknowledgement shows that the last reduction was spurious.
    pub(super) fn detect_spurious_cut(&mut self, now: Time, segment: &Segment) {
        let Some(undo_state) = &mut self.undo_state else { return };
        if let Some(timestamps) = segment.timestamps()
            && segment.ack > self.una
        {
            // RFC 3522 §3.2 step 5: it answers a segment sent before the first retransmission.
            if timestamps.echo < undo_state.began {
                return self.undo(now);
            }
            // It answers a retransmission, which timestamps therefore cannot show to be spurious.
            if self.sack.is_none() {
                self.undo_state = None;
                return;
            }
        }
        if let Some((start, _)) = segment.sack().iter(segment.ack).next()
            && start < segment.ack
        {
            undo_state.reported = true;
            undo_state.resent = undo_state.resent.saturating_sub(1);
            if undo_state.resent == 0 {
                return self.undo(now);
            }
        }
        // DSACKs arrive a round trip later: wait for an acknowledgement beyond the end.
        if segment.ack > undo_state.until && !undo_state.reported {
            self.undo_state = None;
        }
    }

    /// RFC 4015 §3: restores the window and stops retransmitting data in flight.
    fn undo(&mut self, now: Time) {
        let Some(undo_state) = self.undo_state.take() else { return };
        self.cc.on_spurious_cut();
        self.stats.spurious_cuts += 1;
        self.recovering = false;
        self.duplicate_acks = 0;
        self.pending_control = PendingControl::Nothing;
        self.timed_out_at = None;
        if undo_state.by_timeout {
            self.stats.spurious_timeouts += 1;
            self.rto.end_back_off();
            self.nxt = self.max;
            self.restart_timer(now);
        }
    }
}
