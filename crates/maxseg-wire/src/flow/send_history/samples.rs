//! Samples of the round trip.

use maxseg_core::evidence::LoadedRoundTrips;
use maxseg_core::units::Time;

use super::super::segments::AckSegment;
use super::super::vantage::Distance;
use super::SendHistory;

impl SendHistory {
    /// Data that passed at `sent_at` is acknowledged.
    #[inline]
    pub(super) fn on_sample(&mut self, ack: &AckSegment, sent_at: u64) {
        let sample = ack.at.saturating_sub(sent_at);
        let shift = self.distance.as_ref().map_or(0, Distance::get);
        if !self.way_is_known && self.distance.as_ref().is_some_and(Distance::is_known) {
            // What was seen before lacks the way to the sender.
            self.way_is_known = true;
            self.round_trips.path_least = None;
            self.loaded = LoadedRoundTrips::default();
        }
        let path = sample.saturating_add(shift);
        self.round_trips.add(sample, path);
        let is_loaded = match self.distance {
            Some(_) => self.sender.in_flight() > 2 * self.sender.full(),
            None => ack.una < self.nxt,
        };
        if is_loaded && !ack.has_payload {
            self.loaded.add(Time::from_nanos(path));
            self.sender.on_round_trip(ack.at.saturating_add(shift), path);
        }
        if let Some(trace) = &mut self.trace {
            trace.rtts.push((Time::from_nanos(ack.at), Time::from_nanos(path)));
        }
    }
}
