//! New segments that leave though nothing was acknowledged for longer than any retransmission timer lasts.

use super::SendHistory;
use crate::flow::segments::DataSegment;

/// A sender that is not answered for so long retransmits, in nanoseconds; or for so many times its timer, where that is longer.
pub(super) const LONGEST_TIMER: u64 = 3_000_000_000;
const TIMERS: u64 = 3;

impl SendHistory {
    /// When the last payload passed, in nanoseconds.
    pub(in crate::flow) const fn last_sent(&self) -> u64 {
        self.last_send
    }

    /// A new segment, so long after the last acknowledgement. Its sender's timer ran out before (RFC 6298 §5), and then what is not
    /// acknowledged leaves first: where it does not, acknowledgements were not captured. Behind a pause the clock may have been set.
    #[cold]
    pub(super) fn on_overdue(&mut self, data: &DataSegment) {
        let Some(oldest) = self.sent.first() else { return };
        let waited = data.at.saturating_sub(oldest.at.max(self.last_ack));
        let timer = LONGEST_TIMER.max(self.round_trips.rto().saturating_mul(TIMERS));
        let has_paused = data.at.saturating_sub(self.last_send) > LONGEST_TIMER / 2;
        self.counts.beyond_timer += u32::from(waited > timer && !has_paused);
    }
}
