//! Cuts that prove needless: what was taken for lost had only been late.
//!
//! Timestamps tell at the first acknowledgement (Eifel detection, RFC 3522); reports of duplicates
//! tell when every segment that was sent again had arrived already (RFC 3708). What was cut comes back
//! (RFC 4015).

use super::{CongestionControl, Segment, Sender, Time, Urgent};

/// A cut and what was sent again since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Episode {
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

impl Episode {
    pub(super) fn on_resent(&mut self) {
        self.resent += 1;
    }
}

impl Sender {
    /// The window was cut, and something will be sent again.
    pub(super) fn begin_episode(&mut self, now: Time, by_timeout: bool) {
        if self.timestamps || self.sack.is_some() {
            let until = self.max;
            self.episode =
                Some(Episode { began: now, by_timeout, resent: 0, reported: false, until });
        }
    }

    /// Looks at an acknowledgement for a sign that the last cut was needless.
    pub(super) fn look_for_needless_cut(&mut self, now: Time, segment: &Segment) {
        let Some(episode) = &mut self.episode else { return };
        if let Some(timestamps) = segment.timestamps()
            && segment.ack > self.una
        {
            // RFC 3522 §3.2 step 5: it answers what was sent before anything was sent again.
            if timestamps.echo < episode.began {
                return self.undo(now);
            }
            // It answers what was sent again: that was needed, as far as timestamps can tell.
            if self.sack.is_none() {
                self.episode = None;
                return;
            }
        }
        if let Some((start, _)) = segment.sack().iter(segment.ack).next()
            && start < segment.ack
        {
            episode.reported = true;
            episode.resent = episode.resent.saturating_sub(1);
            if episode.resent == 0 {
                return self.undo(now);
            }
        }
        // Reports arrive a round trip after what they report: wait for one beyond the end.
        if segment.ack > episode.until && !episode.reported {
            self.episode = None;
        }
    }

    /// RFC 4015 §3: the window as before the cut; no more of what is on its way goes again.
    fn undo(&mut self, now: Time) {
        let Some(episode) = self.episode.take() else { return };
        self.cc.on_needless_cut();
        self.stats.needless_cuts += 1;
        self.recovering = false;
        self.duplicate_acks = 0;
        self.urgent = Urgent::Nothing;
        self.timed_out_at = None;
        if episode.by_timeout {
            self.stats.spurious_timeouts += 1;
            self.rto.end_back_off();
            self.nxt = self.max;
            self.restart_timer(now);
        }
    }
}
