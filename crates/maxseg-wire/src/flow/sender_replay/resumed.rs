//! The sender goes on behind a hole in the capture.

use super::super::hole::HoleInTime;
use super::SenderReplay;
use super::news::Flights;

impl SenderReplay {
    /// What it sent in a hole is not known; it goes on with payload from `offset` on, and nothing that is known to be in flight.
    #[cold]
    pub(in crate::flow) fn resume(&mut self, hole: HoleInTime, offset: i64) {
        self.advance(hole.from);
        self.settle(hole.from, false);
        self.clock = self.clock.max(hole.to);
        (self.nxt, self.una, self.edge) = (offset, offset, None);
        (self.drained_last, self.full_since_short, self.full_before_short) = (0, 0, 0);
        self.flights = Flights::Further;
        self.last_progress = hole.to;
        self.restarts.on_loss();
        if let Some(epochs) = &mut self.epochs {
            epochs.resume(hole, offset);
        }
        if let Some(refills) = &mut self.refills {
            refills.resume();
        }
    }
}
