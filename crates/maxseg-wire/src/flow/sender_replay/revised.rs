//! Times of which what comes later tells that they were not what they seemed.

use maxseg_core::evidence::Outage;
use maxseg_core::units::Time;

use super::{MICRO, MILLI, SenderReplay, time};

impl SenderReplay {
    /// A hole opens in front of a segment that passes at `at`. Gives whether it is of a flight that was lost before an idle time: then the
    /// sender was not idle, but waited for its retransmission timer.
    #[cold]
    pub(in crate::flow) fn on_hole(&mut self, at: u64, hole: (i64, i64), round_trip: u64) -> bool {
        let Some((from, to)) = self.restarts.lost_flight(at, hole, self.full, round_trip) else {
            return false;
        };
        self.restarts.on_loss();
        let (from, to) = (time(from), time(to));
        self.bins.spread(from, to, |bin, span| {
            bin.idle = bin.idle.since(span);
            bin.idle_after_full = bin.idle_after_full.since(span);
            bin.rto_wait = bin.rto_wait.saturating_add(span);
        });
        self.on_outage(from, to);
        true
    }

    /// Nothing passed from `from` to `to`, though the timer expired more than once.
    #[cold]
    pub(in crate::flow) fn was_cut_off(&mut self, from: u64, to: u64) {
        self.on_outage(time(from), time(to));
    }

    /// What passes then was sent again for the first time that shows.
    fn on_outage(&mut self, from: Time, to: Time) {
        let outage = Outage { from, to, retransmissions: 1, of_payload: true };
        if let Some(epochs) = &mut self.epochs
            && epochs.lost_flight.is_none_or(|longest| longest.seconds() < outage.seconds())
        {
            epochs.lost_flight = Some(outage);
        }
    }

    /// The time before all was acknowledged counts no longer, where it is about a round trip: nothing held that up.
    pub(super) fn was_not_drained_last(&mut self) {
        let (to, lasted) = (self.last_progress, u64::from(self.drained_last) * MILLI);
        if lasted > 2 * MICRO * u64::from(self.first_round_trip) {
            return;
        }
        let from = to.saturating_sub(lasted);
        self.bins.spread(time(from), time(to), |bin, span| {
            bin.app_limited = bin.app_limited.since(span);
        });
    }
}
