//! How the flight grows after a timeout.
//!
//! A timeout sets the window to a segment (RFC 5681 §3.1); slow start brings it back to what the loss leaves before all that was
//! outstanding is acknowledged again. What grows from there on is congestion avoidance: a segment a round trip with Reno. CUBIC forgets
//! its last maximum (`bictcp_reset` in `net/ipv4/tcp_cubic.c`): its cubic begins flat, and the growth that Reno would have is 0.53 of
//! a segment. Behind a policer or a queue of a few segments, where flights are lost as a whole again and again, nothing else
//! tells the two apart; nothing waits there after a timeout, and the round trip of the handshake tells flights, too.

use super::CongestionAlgorithm::{self, Cubic, Reno};
use super::weights::{Weights, normal};
use super::{CUBIC_AS_RENO, CUBIC_FACTOR, SMALL_FLIGHT, View, share_of};
use crate::evidence::{CongestionEpoch, DirectionStats};
use crate::outcome::LimitedBy;
use crate::stats::median;

/// Shorter growth says nothing, in round trips.
const LEAST_ROUNDS: f64 = 3.0;
/// A first flight below this one is slow start's, in segments, and so is growth by so many segments a round trip.
const LEAST_FIRST: f64 = 2.0;
const MOST_SLOPE: f64 = 1.5;
/// A flight that shrinks by more than a segment and this share was reduced by what was not seen.
const SHRINKS: f64 = 0.05;
/// A flight is known to a segment, and growth varies by these: a share of a segment a round trip with Reno, a share of itself with CUBIC.
const SEGMENTS_OFF: f64 = 1.0;
const RENO_VARIES: f64 = 0.12;
const CUBIC_VARIES: f64 = 0.2;
/// CUBIC's growth in a round trip where it knows no maximum, as a share of the window (`bictcp_update` in `net/ipv4/tcp_cubic.c`).
const CUBIC_WITHOUT_MAX: f64 = 0.05;
/// Delayed acknowledgements cost Reno a little of its segment a round trip, and whole windows are less than growth by so much:
/// 18 such flights of Reno in captures at the sender grew by 0.67 segments a round trip (median), 31 of CUBIC by 0.33.
const RENO_SLOPE: f64 = 0.92;
const ROUNDED: f64 = 0.5;
const FIRST_ROUND: f64 = 0.2;
/// The largest flight is at least so many segments, as far as other growth may be anything up to it.
const LEAST_RANGE: f64 = 8.0;
/// What no rule explains, as a share of that.
const OTHER: f64 = 0.02;
/// One flight speaks against an algorithm by this at most, and all together count as if they were so many.
const MOST_OF_ONE: f64 = 2.0;
const MOST_EPOCHS: f64 = 8.0;

/// What growth after timeouts shows.
#[derive(Debug, Clone, Default)]
pub(super) struct TimerGrowth {
    pub(super) weights: Weights,
    /// By how many segments each flight grew in a round trip, and its maximum in segments.
    growth: Vec<f64>,
    flights: Vec<f64>,
}

impl TimerGrowth {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy, view: View) -> Self {
        let mut all = Self::default();
        let is_held =
            matches!(limit, LimitedBy::Paced | LimitedBy::Application | LimitedBy::SendBuffer);
        if is_held {
            return all;
        }
        let segment = f64::from(data.full_segment());
        let behind = data.epochs.as_slice().iter();
        for epoch in behind.filter(|epoch| epoch.after_timer && !epoch.is_capped) {
            all.add(epoch, segment, view.grain(data));
        }
        all
    }

    /// How many flights were looked at.
    pub(super) const fn count(&self) -> usize {
        self.growth.len()
    }

    /// The share with which their weights count.
    pub(super) fn share(&self) -> f64 {
        share_of(self.count(), MOST_EPOCHS, &self.flights, SMALL_FLIGHT)
    }

    fn add(&mut self, epoch: &CongestionEpoch, segment: f64, grain: f64) {
        let segments = |bytes: u64| bytes as f64 / segment;
        let (first, most) = (segments(epoch.first), segments(epoch.most));
        let rounds = f64::from(epoch.rounds) - 1.0;
        let grown = segments(epoch.last) - first;
        let is_growth = (-1.0 - SHRINKS * first..=MOST_SLOPE * rounds).contains(&grown);
        if rounds < LEAST_ROUNDS || first < LEAST_FIRST || !is_growth {
            return;
        }
        let trip_s = epoch.to.since(epoch.from).as_secs_f64() / (f64::from(epoch.rounds) + 0.5);
        let since = (rounds + 1.0) * trip_s;
        let at_least = first * (libm::pow(1.0 + CUBIC_WITHOUT_MAX, rounds) - 1.0);
        let cubic = (CUBIC_FACTOR * since * since * since).max(CUBIC_AS_RENO * rounds);
        let cubic = cubic.max(at_least);
        let range = most.max(LEAST_RANGE);
        let exact = SEGMENTS_OFF + grain * range;
        let other = OTHER / range;
        let reno = RENO_SLOPE * rounds - FIRST_ROUND - ROUNDED;
        let by_reno = normal(grown, reno, exact + RENO_VARIES * rounds) + other;
        let by_cubic = normal(grown, cubic - ROUNDED, exact + CUBIC_VARIES * cubic) + other;
        self.weights.add([by_reno, by_cubic, 1.0 / (2.0 * range)], MOST_OF_ONE);
        self.growth.push(grown / rounds);
        self.flights.push(most);
    }

    /// What they show for an algorithm, as a clause.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        let speaks = matches!(name, Reno | Cubic) && self.weights.best().0 == name;
        let growth = median(self.growth.clone()).filter(|_| speaks)?;
        Some(format!("it grew by {growth:.1} segments a round trip after timeouts"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::CongestionEpochs;
    use crate::units::Time;

    const SEGMENT: u64 = 1000;

    /// Ten timeouts after which the flight went from three segments on to so many in seven round trips of 14 ms.
    fn direction(last: u64) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        for n in 0..10 {
            let from = Time::from_millis(300 * n);
            epochs.push(CongestionEpoch {
                from,
                to: from.saturating_add(Time::from_millis(105)),
                rounds: 7,
                peak: 5 * SEGMENT,
                first: 3 * SEGMENT,
                most: last * SEGMENT,
                last: last * SEGMENT,
                after_timer: true,
                by_loss: true,
                ..CongestionEpoch::default()
            });
        }
        DirectionStats { mss_used_bytes: Some(1000), epochs, ..DirectionStats::default() }
    }

    fn shown(data: &DirectionStats, limit: LimitedBy, view: View) -> Option<CongestionAlgorithm> {
        let found = TimerGrowth::of(data, limit, view);
        (found.count() > 0).then(|| found.weights.best().0)
    }

    #[test]
    fn a_segment_a_round_trip_is_reno_and_half_of_one_is_cubic() {
        assert_eq!(shown(&direction(8), LimitedBy::Rto, View::Sender), Some(Reno));
        assert_eq!(shown(&direction(5), LimitedBy::Rto, View::ByHandshake), Some(Cubic));
        let found = TimerGrowth::of(&direction(5), LimitedBy::Rto, View::Sender);
        assert!(found.sentence(Cubic).is_some_and(|text| text.contains("0.3 segments")));
        assert_eq!(found.sentence(Reno), None);
    }

    /// Small flights count by their size.
    #[test]
    fn all_of_them_are_less_than_certain() {
        let found = TimerGrowth::of(&direction(5), LimitedBy::Rto, View::Sender);
        assert!(found.share() < 0.4, "{}", found.share());
    }

    #[test]
    fn what_hides_growth_is_no_clue() {
        for limit in [LimitedBy::Application, LimitedBy::Paced, LimitedBy::SendBuffer] {
            assert_eq!(shown(&direction(8), limit, View::Sender), None);
        }
        // Slow start, and a reduction that was not seen.
        assert_eq!(shown(&direction(20), LimitedBy::Rto, View::Sender), None);
        assert_eq!(shown(&direction(1), LimitedBy::Rto, View::Sender), None);
    }
}
