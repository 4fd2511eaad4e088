//! The slope of a flight that grows evenly for many round trips.
//!
//! In congestion avoidance Reno adds a segment in each round trip (RFC 5681 §3.1), and CUBIC, where it would be slower than Reno, 0.53
//! (RFC 9438 §4.3). That needs no loss before: it shows in a capture that begins in mid-stream, and behind losses that were none. What
//! grows for as long, but less and less or more and more, grows along a cubic.

use super::CUBIC_AS_RENO;
use super::CongestionAlgorithm::{self, Cubic, Reno};
use super::weights::{Weights, normal};
use crate::evidence::{CongestionEpoch, DirectionStats};
use crate::outcome::LimitedBy;

/// So many round trips tell one slope from the other, where a flight is known to a segment at both ends.
const LEAST_ROUNDS: f64 = 15.0;
/// A flight of whole segments.
const LEAST_FLIGHT: f64 = 4.0;
/// A flight that grows has its maximum in the last round trips: this share of all of them.
const FLAT: u32 = 8;
/// The mean of an even growth is that of its ends, to so many segments and to this share of the growth; the cubic's is not.
const MEAN_OFF: f64 = 0.7;
const MEAN_SHARE_OFF: f64 = 0.05;
/// A bend is one from so many segments beyond that on, and a cubic's mean is at most this share of the growth above or below that of its
/// ends: of 1 − (1 − t)³ it is 3/4.
const LEAST_BEND: f64 = 1.5;
const MOST_BEND: f64 = 0.27;
/// Where a cubic is flat its maximum is older: this share of all round trips at most.
const FLAT_OF_BEND: u32 = 3;
/// How likely a bend is under Reno, CUBIC and BBR: a window that is not always used may make one of Reno's.
const BENT: [f64; 3] = [0.05, 1.0, 0.15];
/// Delayed and stretched acknowledgements, and a first round trip that still recovers, cost this share of a slope.
const LOST_SLOPE: f64 = 0.08;
/// A slope varies by so many segments a round trip, and as a flight's segments do at both ends; CUBIC counts by the time, in
/// thousandths of a second, and varies less.
const SLOPE_OFF: f64 = 0.08;
const SLOPE_OFF_CUBIC: f64 = 0.05;
const ENDS_OFF: f64 = 0.7;
const ENDS_OFF_CUBIC: f64 = 0.5;
/// A window that is not used in every round trip grows in fewer of them (`tcp_is_cwnd_limited` in `include/net/tcp.h`): Reno's slope is
/// anywhere in here then, so often.
const NOT_ALWAYS_USED: std::ops::RangeInclusive<f64> = 0.6..=0.95;
const SELDOM: f64 = 0.3;
/// CUBIC's cubic has any slope, as often as not: up to so many segments a round trip. Steeper ones are slow start's,
const CUBIC_SLOPES: f64 = 2.0;
/// unless the flight grew to less in all its round trips than slow start makes of it in one.
const SLOW_START: f64 = 2.0;
/// or by what CUBIC's window grows in each while it knows no maximum: a segment for twenty (`bictcp_update` in `net/ipv4/tcp_cubic.c`), of which
/// delayed acknowledgements and ends take this share.
const CUBIC_WITHOUT_MAX: f64 = 0.048_790_164;
const SHARE_OFF: f64 = 0.15;
/// BBR's flight follows what it measures: that it grows evenly for so long is chance.
const BY_CHANCE: f64 = 0.15;
/// Where a larger share of round trips than one in so many ended with a program that had no more data, the window grew in some of them, too, and
/// nobody knows in how many: none to all are looked at, in so many steps.
const SHORT: u32 = 8;
const STEPS: u32 = 4;
/// It speaks against an algorithm by this at most.
const MOST: f64 = 3.0;

/// What the longest even growth shows.
#[derive(Debug, Clone, Default)]
pub(super) struct SteadyGrowth {
    pub(super) weights: Weights,
    found: Option<Growth>,
}

/// How a flight grew.
#[derive(Debug, Clone, Copy)]
struct Growth {
    /// Segments a round trip, and at least: of those as well that ended with a program that had no more data.
    slope: f64,
    at_least: f64,
    rounds: f64,
    is_bent: bool,
}

impl SteadyGrowth {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Self {
        let mut all = Self::default();
        // A small buffer leaves windows unused, which then grow in some round trips only.
        let is_held =
            matches!(limit, LimitedBy::Paced | LimitedBy::Application | LimitedBy::SendBuffer);
        if is_held {
            return all;
        }
        let segment = f64::from(data.full_segment());
        // A connection begins with slow start.
        let epochs = data.epochs.as_slice().iter().skip(usize::from(!data.begins_late));
        let growths = epochs.filter_map(|epoch| growth(epoch, segment));
        all.found = growths.max_by(|one, other| one.rounds.total_cmp(&other.rounds));
        if let Some(longest) = &all.found {
            all.weights.add(longest.likelihoods(), MOST);
        }
        all
    }

    /// Whether there is any.
    pub(super) const fn count(&self) -> usize {
        self.found.is_some() as usize
    }

    /// What it shows for an algorithm, as a clause.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        let found = self.found.filter(|_| self.weights.best().0 == name)?;
        let Growth { slope, at_least, rounds, is_bent } = found;
        let text = if is_bent {
            format!("the flight grew along a curve in {rounds:.0} round trips")
        } else if at_least < slope {
            format!("the flight grew by {at_least:.2} to {slope:.2} segments a round trip")
        } else {
            format!(
                "the flight grew evenly by {slope:.2} segments in each of {rounds:.0} round trips"
            )
        };
        matches!(name, Reno | Cubic).then_some(text)
    }
}

/// An epoch without the round trips behind its growth in which the receive window was full.
fn until_full(epoch: &CongestionEpoch, segment: f64) -> CongestionEpoch {
    let is_at_most = epoch.last as f64 + segment >= epoch.most as f64;
    let flat = if epoch.is_capped && is_at_most { epoch.flat_rounds } else { 0 };
    let flat_sum = u64::from(flat).saturating_mul(epoch.most);
    CongestionEpoch {
        rounds: epoch.rounds.saturating_sub(flat),
        last: if flat > 0 { epoch.most } else { epoch.last },
        flat_rounds: epoch.flat_rounds - flat,
        sum: epoch.sum.saturating_sub(flat_sum),
        ..*epoch
    }
}

/// That of an epoch, where nothing else may have made it.
fn growth(epoch: &CongestionEpoch, segment: f64) -> Option<Growth> {
    let epoch = until_full(epoch, segment);
    let rounds = f64::from(epoch.rounds) - 1.0;
    let (first, last) = (epoch.first as f64 / segment, epoch.last as f64 / segment);
    let grown = last - first;
    let mean = epoch.sum as f64 / segment / f64::from(epoch.rounds.max(1));
    let off = MEAN_OFF + MEAN_SHARE_OFF * grown;
    let beyond = (mean - 0.5 * (first + last)).abs() - off;
    let by_share = libm::log(last / first);
    let has_no_max = (by_share - CUBIC_WITHOUT_MAX * rounds).abs() <= SHARE_OFF * by_share
        && (mean - grown / by_share).abs() <= off;
    let is_growth = !epoch.after_timer
        && rounds >= LEAST_ROUNDS
        && first >= LEAST_FLIGHT
        && grown >= 0.0
        && (grown < CUBIC_SLOPES * rounds || last < SLOW_START * first || has_no_max);
    let is_flat_for = |share: u32| epoch.flat_rounds <= (epoch.rounds / share).max(1);
    let is_even = beyond <= 0.0 && is_flat_for(FLAT);
    let is_bent = (LEAST_BEND..=MOST_BEND * grown).contains(&beyond)
        && !epoch.is_capped
        && is_flat_for(FLAT_OF_BEND);
    let short = if may_have_grown_unseen(&epoch) { epoch.short_rounds } else { 0 };
    let (slope, at_least) = (grown / rounds, grown / (rounds + f64::from(short)));
    (is_growth && (is_even || is_bent)).then_some(Growth { slope, at_least, rounds, is_bent })
}

/// Whether the window may have grown in round trips that do not count, as well.
pub(super) const fn may_have_grown_unseen(epoch: &CongestionEpoch) -> bool {
    SHORT * epoch.short_rounds > epoch.rounds
}

impl Growth {
    /// Of Reno, CUBIC and BBR.
    fn likelihoods(&self) -> [f64; 3] {
        if self.is_bent {
            return BENT;
        }
        let step = (self.slope - self.at_least) / f64::from(STEPS);
        let slopes = (0..=STEPS).map(|n| self.at_least + f64::from(n) * step);
        let all = slopes.map(|slope| by_slope(slope, self.rounds));
        let sum = all.fold([0.0; 3], |sum, [reno, cubic, bbr]| {
            [sum[0] + reno, sum[1] + cubic, sum[2] + bbr]
        });
        sum.map(|one| one / f64::from(STEPS + 1))
    }
}

/// The likelihoods of an even slope in so many round trips.
fn by_slope(slope: f64, rounds: f64) -> [f64; 3] {
    let expected = |slope: f64| (1.0 - LOST_SLOPE) * slope;
    let unused = if NOT_ALWAYS_USED.contains(&slope) {
        SELDOM / (NOT_ALWAYS_USED.end() - NOT_ALWAYS_USED.start())
    } else {
        0.0
    };
    let reno = normal(slope, expected(1.0), SLOPE_OFF + ENDS_OFF / rounds);
    let as_reno = normal(slope, expected(CUBIC_AS_RENO), SLOPE_OFF_CUBIC + ENDS_OFF_CUBIC / rounds);
    [(1.0 - SELDOM) * reno + unused, 0.5 * as_reno + 0.5 / CUBIC_SLOPES, BY_CHANCE]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::CongestionEpochs;

    const SEGMENT: u64 = 1000;

    /// A capture in mid-stream of a flight that grows from 100 segments as `flight` tells.
    fn direction(rounds: u32, flight: impl Fn(f64) -> f64) -> DirectionStats {
        let segments = |round: u32| {
            let whole = flight(f64::from(round)).floor();
            (0..10_000_u64).find(|n| *n as f64 >= whole).unwrap_or(0) * SEGMENT
        };
        let mut epochs = CongestionEpochs::default();
        epochs.push(CongestionEpoch {
            rounds,
            first: segments(0),
            last: segments(rounds - 1),
            most: segments(rounds - 1),
            sum: (0..rounds).map(segments).sum(),
            ..CongestionEpoch::default()
        });
        DirectionStats {
            mss_used_bytes: Some(1000),
            begins_late: true,
            epochs,
            ..DirectionStats::default()
        }
    }

    fn shown(data: &DirectionStats) -> Option<CongestionAlgorithm> {
        let found = SteadyGrowth::of(data, LimitedBy::Bandwidth);
        (found.count() > 0).then(|| found.weights.best().0)
    }

    #[test]
    fn a_segment_a_round_trip_is_reno_and_half_of_one_is_cubic() {
        assert_eq!(shown(&direction(40, |round| 100.0 + round)), Some(Reno));
        assert_eq!(shown(&direction(40, |round| 100.0 + 0.53 * round)), Some(Cubic));
    }

    /// RFC 9438 §4.2: 0.4 (t − K)³ + W behind W = 143, with round trips of 100 ms: concave, then convex.
    #[test]
    fn a_cubic_is_not_even() {
        let until_peak = libm::cbrt(43.0 / 0.4);
        let mut data = direction(40, |round| 143.0 + 0.4 * (0.1 * round - until_peak).powi(3));
        assert_eq!(shown(&data), Some(Cubic));
        let found = SteadyGrowth::of(&data, LimitedBy::Bandwidth);
        assert!(found.sentence(Cubic).is_some_and(|text| text.contains("a curve")));
        // A step, as of a pace that changes.
        data = direction(40, |round| if round < 2.0 { 100.0 } else { 140.0 });
        assert_eq!(shown(&data), None);
    }

    /// Behind the growth of 40 round trips the receive window was full for so many more.
    #[test]
    fn a_full_window_ends_growth() {
        let mut data = direction(40, |round| 100.0 + 0.53 * round);
        let Some(mut epoch) = data.epochs.as_slice().first().copied() else { panic!() };
        (epoch.rounds, epoch.flat_rounds) = (70, 30);
        epoch.sum += 30 * epoch.most;
        data.epochs = CongestionEpochs::default();
        data.epochs.push(epoch);
        assert_eq!(shown(&data), None);
        epoch.is_capped = true;
        data.epochs = CongestionEpochs::default();
        data.epochs.push(epoch);
        assert_eq!(shown(&data), Some(Cubic));
    }

    /// 16 round trips that make 510 segments of 233: slow start takes two.
    #[test]
    fn a_twentieth_in_each_round_trip_is_cubic_without_a_maximum() {
        let data = direction(17, |round| 233.0 * libm::pow(1.05, round));
        assert_eq!(shown(&data), Some(Cubic));
        let mut known = data.clone();
        known.begins_late = false;
        assert_eq!(shown(&known), None, "slow start comes first");
        assert_eq!(shown(&direction(17, |round| 233.0 * libm::pow(1.15, round))), None);
    }

    #[test]
    fn slow_start_and_programs_are_no_slope() {
        let mut data = direction(40, |round| 100.0 + round);
        assert_eq!(SteadyGrowth::of(&data, LimitedBy::Application).count(), 0);
        // By 2.5 segments a round trip: 25 segments become 125, which slow start makes in three; 250 become 350 by no slow start.
        assert_eq!(shown(&direction(40, |round| 25.0 + 2.5 * round)), None);
        assert_eq!(shown(&direction(40, |round| 250.0 + 2.5 * round)), Some(Cubic));
        data.begins_late = false;
        assert_eq!(shown(&data), None);
    }

    /// 40 round trips that count, and 30 between them in which a program left some of the window unused.
    #[test]
    fn round_trips_that_do_not_count_may_have_grown_as_well() {
        let mut data = direction(40, |round| 100.0 + 1.4 * round);
        assert_eq!(shown(&data), Some(Cubic));
        let Some(mut epoch) = data.epochs.as_slice().first().copied() else { panic!() };
        epoch.short_rounds = 30;
        data.epochs = CongestionEpochs::default();
        data.epochs.push(epoch);
        assert_eq!(shown(&data), Some(Reno));
        let found = SteadyGrowth::of(&data, LimitedBy::Bandwidth);
        assert!(
            found.sentence(Reno).is_some_and(|text| text.contains("0.78 to 1.38")),
            "{found:?}"
        );
    }
}
