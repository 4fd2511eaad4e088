//! The capture ends, or has a hole, and the flight goes on behind it.

use super::super::hole::HoleInTime;
use super::super::opening_rounds::OpeningTracker;
use super::super::recovery_rounds::RecoveryRounds;
use super::EpochTracker;

impl EpochTracker {
    /// The capture has a hole, and the flight goes on behind it at `offset`: in the midst of a round trip.
    pub(in crate::flow) fn resume(&mut self, hole: HoleInTime, offset: i64) {
        self.settle(hole.from);
        let next = Self::new(hole.to, offset, OpeningTracker::default(), true);
        let Self { epoch, sent_until, is_cut, .. } = next;
        (self.epoch, self.sent_until, self.is_cut) = (epoch, sent_until, is_cut);
        (self.most, self.is_stuck, self.is_recovering, self.is_full) = (0, false, false, false);
        (self.round_end, self.round_una, self.expiry_una) = (offset, offset, offset);
        (self.short_end, self.echoed) = (offset, None);
        self.identifications.forget_last();
        self.recovery = RecoveryRounds::default();
    }

    /// The capture ends.
    pub(in crate::flow) fn finish(&mut self, at: u64) {
        if let Some(lines) = &mut self.drop_lines {
            lines.finish();
        }
        self.list.is_by_echo = self.echoed.is_some();
        self.list.counts_packets = self.identifications.is_counting();
        self.list.opening = self.opening.found;
        self.settle(at);
    }

    /// What is under way ends here.
    fn settle(&mut self, at: u64) {
        if let Some(loss) = self.loss.take() {
            self.list.push_loss(loss);
        }
        if !self.is_recovering && self.epoch.rounds > 0 {
            self.end(at, false);
        }
    }
}
