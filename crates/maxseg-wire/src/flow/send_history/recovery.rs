//! The first round trips of recoveries, where no SACK blocks tell what arrived.

use maxseg_core::evidence::Cause;

use super::super::recovery_rounds::{Acknowledgement, Again, THRESHOLD};
use super::super::segments::DataSegment;
use super::SendHistory;

impl SendHistory {
    /// A segment is sent again: another of the same recovery, or the first of one.
    pub(super) fn note_first_round(&mut self, data: &DataSegment, cause: Cause, is_further: bool) {
        let full = self.sender.full();
        let Some(epochs) = self.sender.epochs.as_mut() else { return };
        let is_plain = cause == Cause::Fast && self.sacked <= self.una;
        // Elsewhere than at the sender more have passed than it had seen.
        let seen = if self.distance.is_none() { self.duplicates } else { THRESHOLD };
        let is_first = is_plain && !is_further && data.start == self.una;
        let released_by = is_first.then_some(seen);
        let again = Again { start: data.start, nxt: self.nxt, released_by };
        if let Some(round) = epochs.recovery.on_resend(again, full) {
            epochs.list.push_round(round);
        }
    }

    /// Whether the other end misses the byte at `start`, by duplicate acknowledgements or by what it acknowledged selectively behind it.
    pub(in crate::flow) const fn is_asked_for(&self, start: i64) -> bool {
        self.duplicates > 0 && start == self.una || self.sacked > start
    }

    /// An acknowledgement of new data passes after so many duplicates.
    #[inline(always)]
    pub(super) fn end_first_round(&mut self, una: i64, duplicates: u32) {
        if duplicates > THRESHOLD {
            self.end_round_after(una, duplicates);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_round_after(&mut self, una: i64, duplicates: u32) {
        let full = self.sender.full();
        let Some(epochs) = self.sender.epochs.as_mut() else { return };
        let edge = (self.edge > i64::MIN).then_some(self.edge);
        let ack = Acknowledgement { una, duplicates, edge };
        let at_sender = self.distance.is_none().then_some(self.nxt);
        if let Some(round) = epochs.recovery.on_progress(ack, at_sender, full) {
            epochs.list.push_round(round);
        }
    }
}
