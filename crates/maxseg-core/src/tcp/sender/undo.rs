//! Spurious cuts: segments taken for lost were only late.
//!
//! Timestamps tell at the first acknowledgement (Eifel detection, RFC 3522); reports of duplicates
//! tell when every segment that was sent again had arrived already (RFC 3708). What was cut comes back
//! (RFC 4015).

use super::{CongestionControl, PendingControl, Segment, Sender, Time};

/// A cut and what was sent again since.
#[derive(Debug, Clone, Copy)]
pub(super) struct UndoState {
    /// When the first segment was sent again.
    began: Time,
    by_timeout: bool,
    /// Segments sent again that were not reported as duplicates.
    resent: u32,
    /// Whether any was reported.
    reported: bool,
    /// The episode is over when this is acknowledged.
    until: u64,
}

impl UndoState {
    pub(super) fn on_resent(&mut self) {
        self.resent += 1;
    }
}

impl Sender {
    /// The window was cut, and something will be sent again.
    pub(super) fn start_undo(&mut self, now: Time, by_timeout: bool) {
        if self.timestamps || self.sack.is_some() {
            let until = self.max;
            self.undo_state =
                Some(UndoState { began: now, by_timeout, resent: 0, reported: false, until });
        }
    }

    /// Looks at an acknowledgement for a sign that the last cut was spurious.
    pub(super) fn detect_spurious_cut(&mut self, now: Time, segment: &Segment) {
        let Some(undo_state) = &mut self.undo_state else { return };
        if let Some(timestamps) = segment.timestamps()
            && segment.ack > self.una
        {
            // RFC 3522 §3.2 step 5: it answers what was sent before anything was sent again.
            if timestamps.echo < undo_state.began {
                return self.undo(now);
            }
            // It answers what was sent again: that was needed, as far as timestamps can tell.
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
        // Reports arrive a round trip after what they report: wait for one beyond the end.
        if segment.ack > undo_state.until && !undo_state.reported {
            self.undo_state = None;
        }
    }

    /// RFC 4015 §3: the window as before the cut; no more of what is on its way goes again.
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
