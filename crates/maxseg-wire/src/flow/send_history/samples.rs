//! Samples of the round trip, of departures, and of the rate and the intervals at which payload arrives.

use maxseg_core::evidence::LoadedRoundTrips;
use maxseg_core::units::Time;

use super::super::round_trips::Sample;
use super::super::segments::{AckSegment, DataSegment};
use super::super::vantage::Distance;
use super::{BULK, MANY, SendHistory};

impl SendHistory {
    /// Whether a segment that was sent at one time and acknowledged at another gives a round trip: the clock was not set between, and what
    /// is acknowledged passed before.
    pub(super) const fn is_timed(&self, sent_at: u64, acked_at: u64) -> bool {
        sent_at > self.untimed_until && sent_at <= acked_at
    }

    /// Data that passed at `sent_at` is acknowledged.
    #[inline]
    pub(super) fn on_sample(&mut self, ack: &AckSegment, sent_at: u64, how: Sample) {
        let (sample, fills_gap) = (ack.at.saturating_sub(sent_at), how.fills_gap);
        let shift = self.distance.as_ref().map_or(0, Distance::of_late);
        // Of a delay that has just begun the sender learns later.
        let known = self.distance.as_ref().map(|distance| sample.saturating_add(distance.get()));
        if !self.way_is_known && self.distance.as_ref().is_some_and(Distance::is_known) {
            // What was seen before lacks the way to the sender.
            self.way_is_known = true;
            self.round_trips.path_least = None;
            self.loaded = LoadedRoundTrips::default();
            self.on_way_known(sample.min(self.round_trips.least.unwrap_or(sample)));
        }
        let path = sample.saturating_add(shift);
        self.round_trips.add(sample, path, Sample { known, ..how });
        let is_loaded = match self.distance {
            Some(_) => self.sender.in_flight() > 2 * self.sender.full(),
            None => ack.una < self.nxt,
        };
        // What arrived behind a hole waited for the repair, not in a queue.
        if is_loaded && !ack.has_payload && !fills_gap {
            self.loaded.add(Time::from_nanos(path));
            self.sender.on_round_trip(ack.at.saturating_add(shift), path);
        }
        if let Some(trace) = &mut self.trace {
            trace.rtts.note((Time::from_nanos(ack.at), Time::from_nanos(path)), false);
        }
    }

    /// The way to the sender is known at last, in mid-stream, and so is this round trip to the receiver: trains are those of the
    /// segments where that is nearer. Of what acknowledgements showed nothing is left then.
    #[cold]
    fn on_way_known(&mut self, to_receiver: u64) {
        let to_sender = self.distance.as_ref().map_or(0, Distance::get);
        if !self.is_nearer_receiver && to_sender > to_receiver {
            self.is_nearer_receiver = true;
            self.trains = None;
            self.intervals = None;
        }
    }

    /// The rate of packet trains in bits per second of payload, where its segments themselves are seen to come out of the path.
    pub(in crate::flow) fn arrival_bps(&self) -> Option<f64> {
        self.trains.as_ref().filter(|_| self.is_nearer_receiver)?.here.rate()
    }

    /// A new segment passes, and says when it left its sender.
    #[inline]
    pub(super) fn note_departure(&mut self, data: &DataSegment) {
        let answer = self.distance.as_ref().and_then(Distance::answer);
        if let Some((answer, stamp)) = answer.zip(data.stamp) {
            let payload = (data.end - data.start).cast_unsigned();
            self.departures.get_or_insert_default().on_new(data.at, stamp, payload, &answer);
        }
    }

    /// An acknowledgement tells of payload that has arrived: it left the narrowest link, or at least those behind the capture point.
    #[inline(always)]
    pub(super) fn deliver(&mut self, at: u64, bytes: i64, is_first: bool) {
        if !self.is_nearer_receiver {
            self.arrive(at, bytes, is_first);
        } else if !self.is_at_receiver && self.arrivals >= BULK {
            self.deliver_behind(at, bytes, is_first);
        }
    }

    #[inline(never)]
    fn deliver_behind(&mut self, at: u64, bytes: i64, is_first: bool) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let pause = self.round_trips.pause();
        let trains = self.trains.get_or_insert_default();
        trains.behind.get_or_insert_default().on_arrival(at, bytes, pause, is_first);
    }

    /// Payload left the narrowest link.
    #[inline(always)]
    pub(super) fn arrive(&mut self, at: u64, bytes: i64, is_first: bool) {
        self.arrivals = self.arrivals.saturating_add(1);
        if self.arrivals >= BULK {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let pause = self.round_trips.pause();
            self.trains.get_or_insert_default().here.on_arrival(at, bytes, pause, is_first);
        }
        if self.arrivals >= MANY {
            let intervals = self.intervals.get_or_insert_default();
            intervals.on_arrival(at, bytes, self.sender.full(), self.is_nearer_receiver);
        }
    }
}
