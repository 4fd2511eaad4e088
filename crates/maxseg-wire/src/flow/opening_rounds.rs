//! How what is sent spreads over each of a connection's first round trips: acknowledgements clock it out in trains, a pace of the
//! sender's spreads it.

use maxseg_core::evidence::{Opening, OpeningRound};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

/// Follows the first round trips; later segments cost a comparison.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct OpeningTracker {
    /// When the first data was sent, and until when segments belong to the opening.
    begin: u64,
    pub(super) until: u64,
    /// When the first segment of this round trip was sent.
    first: u64,
    /// When the last segment was.
    last: u64,
    pub(super) found: Opening,
}

impl OpeningTracker {
    /// The first data was sent at `begin`, and `in_flight` bytes are since; `round_trip` is that of the handshake, 0 where none was
    /// seen. Whatever is seen later than that round trip is no opening.
    pub(super) fn new(at: u64, begin: u64, round_trip: u64, in_flight: u64) -> Self {
        if at >= begin.saturating_add(round_trip) {
            return Self::default();
        }
        let mut found = Opening { round_trip: Time::from_nanos(round_trip), ..Opening::default() };
        let count = found.rounds.len() as u64;
        if let Some(round) = found.rounds.first_mut() {
            let span = Time::from_nanos(at - begin);
            *round = OpeningRound { bytes: in_flight, span, ..OpeningRound::default() };
        }
        let until = begin.saturating_add(count.saturating_mul(round_trip));
        Self { begin, until, first: begin, last: at, found }
    }

    /// A new segment was sent before `until`.
    #[cold]
    #[inline(never)]
    pub(super) fn on_send(&mut self, at: u64, payload: u64) {
        let round_trip = self.found.round_trip.as_nanos().max(1);
        let index = at.saturating_sub(self.begin) / round_trip;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(round) = self.found.rounds.get_mut(index) else { return };
        if round.bytes == 0 {
            (self.first, self.last) = (at, at);
        }
        let gap = Time::from_nanos(at.saturating_sub(std::mem::replace(&mut self.last, at)));
        round.longest_gap = round.longest_gap.max(gap);
        round.bytes = round.bytes.saturating_add(payload);
        round.span = Time::from_nanos(at.saturating_sub(self.first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn each_round_trip_has_its_bytes_and_its_span() {
        let mut opening = OpeningTracker::new(2 * MILLI, 0, 40 * MILLI, 5000);
        for at in [3, 40, 50, 64, 80, 119] {
            opening.on_send(at * MILLI, 1000);
        }
        let seen = opening.found.rounds.map(|round| (round.bytes, round.span));
        let expected = [(6000, 3), (3000, 24), (2000, 39)];
        assert_eq!(seen, expected.map(|(bytes, millis)| (bytes, Time::from_millis(millis))));
        assert_eq!(opening.until, 120 * MILLI);
        let gaps = opening.found.rounds.map(|round| round.longest_gap);
        assert_eq!(gaps, [1, 14, 39].map(Time::from_millis));
    }

    #[test]
    fn what_begins_later_is_no_opening() {
        let late = OpeningTracker::new(50 * MILLI, 0, 40 * MILLI, 5000);
        assert_eq!((late.until, late.found), (0, Opening::default()));
    }
}
