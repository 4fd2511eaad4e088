//! Whether a pace of the sender's spreads its first flights over their round trips.
//!
//! In slow start acknowledgements clock segments out in trains: a flight takes as long to pass as the narrowest link needs for it,
//! and the rest of the round trip is silent until the path is full. BBR sends at 2.89 times the rate at which segments arrived
//! before (`bbr_high_gain` in `net/ipv4/tcp_bbr.c`): a flight that is twice as large takes 2 ÷ 2.89 of the round trip, whatever the
//! rate of the link. The very first flight is sent at once by all of them, and shows that rate.

use super::CongestionAlgorithm::{self, Bbr, Cubic, Reno};
use super::weights::{Weights, normal};
use crate::evidence::{DirectionStats, Opening, OpeningRound};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// Fewer segments make no flight to measure.
const LEAST_SEGMENTS: f64 = 10.0;
/// The first flight shows a rate from so many on.
const LEAST_FIRST: f64 = 5.0;
/// Slow start makes a flight so many times as large as that before; one that grows less is not the congestion window's.
const GROWS: f64 = 1.4;
/// A receive window that limits later may cut a flight short, whose last segments then wait for delayed acknowledgements: the second
/// is whole if it grows by so much, and the third may not be.
const GROWS_IN_WINDOW: f64 = 1.8;
/// The shares of their round trips that BBR's second and third flight take. The second has twice the segments of the first: it
/// takes 2 ÷ 2.89 less the last segments, which leave two at a time, and a little more where acknowledgements come late. The third
/// is paced by what the second measured, and has most of the round trip.
const PACED: [(f64, f64); 2] = [(0.55, 0.8), (0.8, 1.0)];
/// How exactly a train's length follows from the rate of the link, as a share of it and of the round trip: other traffic and
/// acknowledgements that wait stretch it.
const TRAIN_VARIES: f64 = 0.15;
const TRIP_VARIES: f64 = 0.04;
/// A train at the sender is as long as the acknowledgements that clock it out, which are of half as many segments.
const AT_SENDER: f64 = 0.5;
/// A train that takes more than this share of what a paced flight takes at least is not told from it.
const APART: f64 = 0.75;
/// A link that has room for a flight of twice as many segments, with this share of the round trip, lets slow start double it. BBR's third flight
/// was of 1.5 to 1.8 times the second in captures of the lab, for it is cut off by the pace; where slow start doubled flights it was of 1.84
/// times as much or more in all but one, whatever spread them: acknowledgements that queue do.
const ROOM: f64 = 0.85;
const DOUBLED: f64 = 1.84;
const DOUBLING: [f64; 3] = [1.0, 1.0, 0.06];
const MOST_OF_DOUBLING: f64 = 3.0;
/// Where the acknowledgements have a narrow link, what that spreads counts by this share.
const BEHIND_ACK_PATH: f64 = 0.5;
/// What neither explains, as a density over a round trip.
const OTHER: f64 = 0.2;
/// From this share of a flight on a gap is none between two bursts of ten segments or more.
const HOLE: f64 = 1.0 / 3.0;
/// Each of the flights speaks against an algorithm by this at most, too little to name one.
const MOST_OF_ONE: f64 = 2.0;

/// What the opening shows.
#[derive(Debug, Clone, Default)]
pub(super) struct OpeningPace {
    pub(super) weights: Weights,
    /// The share of its round trip that the last flight took that was looked at.
    taken: Option<f64>,
    /// Whether the third flight was twice the second.
    has_doubled: bool,
}

impl OpeningPace {
    pub(super) fn of(
        data: &DirectionStats,
        limit: LimitedBy,
        is_at_sender: bool,
        has_ack_path: bool,
    ) -> Self {
        let mut found = Self::default();
        let Opening { round_trip, rounds } = data.epochs.opening;
        let trip_s = round_trip.as_secs_f64();
        let is_held = super::hides_opening(data, limit);
        let is_in_window = limit == LimitedBy::ReceiveWindow;
        let (grows, most) = if is_in_window { (GROWS_IN_WINDOW, 1) } else { (GROWS, PACED.len()) };
        let Some(link_bps) = data.capacity_bps.filter(|_| !is_held && trip_s > 0.0) else {
            return found;
        };
        let segment = f64::from(data.full_segment());
        let link_bps =
            if is_at_sender { link_bps } else { link_bps.max(rate_of(rounds[0], segment)) };
        let on_link = |bytes: f64| bytes * 8.0 / link_bps / trip_s;
        let [_, second, third] = rounds.map(|round| round.bytes as f64);
        if !is_in_window && second >= LEAST_SEGMENTS * segment && on_link(2.0 * second) <= ROOM {
            found.has_doubled = third >= DOUBLED * second;
        }
        if found.has_doubled {
            found.weights.add(DOUBLING, MOST_OF_DOUBLING);
            return found;
        }
        for (pair, paced) in rounds.windows(2).zip(PACED).take(most) {
            let [before, round] = pair else { continue };
            let bytes = round.bytes as f64;
            let is_flight =
                bytes >= LEAST_SEGMENTS * segment && bytes >= grows * before.bytes as f64;
            let has_hole = data.out_of_order_packets > 0 && has_hole(round);
            if is_flight && !has_hole {
                let taken = round.span.as_secs_f64() / trip_s;
                let train = on_link(bytes).min(1.0);
                let train = if is_at_sender { AT_SENDER * train } else { train };
                if train <= APART * paced.0 {
                    found.add(taken, train, paced);
                }
            }
        }
        if has_ack_path {
            let spread = std::mem::take(&mut found.weights);
            found.weights.join(&spread, BEHIND_ACK_PATH);
        }
        found
    }

    /// Whether anything was looked at.
    pub(super) const fn count(&self) -> usize {
        (self.taken.is_some() || self.has_doubled) as usize
    }

    /// A flight that took this share of its round trip, where a train takes `train` of it; a paced one takes what is between these.
    fn add(&mut self, taken: f64, train: f64, (least, most): (f64, f64)) {
        let clocked = normal(taken, train, TRIP_VARIES + TRAIN_VARIES * train) + OTHER;
        let is_paced = (least..=most).contains(&taken);
        let paced = if is_paced { 1.0 / (most - least) } else { 0.0 } + OTHER;
        self.weights.add([clocked, clocked, paced], MOST_OF_ONE);
        self.taken = Some(taken);
    }

    /// What it shows for an algorithm, as a clause.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        if self.has_doubled {
            let is_window = matches!(name, Reno | Cubic);
            return is_window.then(|| "its first flights doubled in each round trip".to_owned());
        }
        let share = approx::whole_percent(self.taken?.clamp(0.0, 1.0));
        match (name, self.weights.best().0) {
            (Bbr, Bbr) => {
                Some(format!("its first flights were spread over {share} of a round trip"))
            }
            (Reno | Cubic, Reno | Cubic) => {
                Some(format!("its first flights were trains, of {share} of a round trip"))
            }
            _ => None,
        }
    }
}

/// Whether a flight is as long as it is by a segment that has overtaken the others: neither a train nor a pace has a gap of that share.
fn has_hole(round: &OpeningRound) -> bool {
    round.longest_gap.as_secs_f64() > HOLE * round.span.as_secs_f64()
}

/// The rate at which the first flight arrived, which any sender sends at once; 0 where it is too short to tell.
fn rate_of(first: OpeningRound, segment: f64) -> f64 {
    let (bytes, seconds) = (first.bytes as f64, first.span.as_secs_f64());
    if bytes >= LEAST_FIRST * segment && seconds > 0.0 {
        (bytes - segment) * 8.0 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::CongestionEpochs;
    use crate::units::Time;

    /// Flights of 10, 20 and so many segments over 100 ms round trips of a link that needs 1 ms for a segment.
    fn direction(spans_ms: [u64; 2], third: u64) -> DirectionStats {
        let round = |segments: u64, millis| OpeningRound {
            bytes: segments * 1000,
            span: Time::from_millis(millis),
            longest_gap: Time::ZERO,
        };
        let mut epochs = CongestionEpochs::default();
        epochs.opening = Opening {
            round_trip: Time::from_millis(100),
            rounds: [round(10, 9), round(20, spans_ms[0]), round(third, spans_ms[1])],
        };
        DirectionStats {
            mss_used_bytes: Some(1000),
            capacity_bps: Some(8e6),
            epochs,
            ..DirectionStats::default()
        }
    }

    fn best(data: &DirectionStats, is_at_sender: bool) -> (CongestionAlgorithm, f64) {
        OpeningPace::of(data, LimitedBy::Bandwidth, is_at_sender, false).weights.best()
    }

    #[test]
    fn flights_that_are_spread_are_paced() {
        let (name, probability) = best(&direction([61, 92], 34), false);
        assert_eq!(name, Bbr);
        assert!(probability > 0.9, "{probability}");
    }

    #[test]
    fn trains_are_no_pace() {
        for (data, is_at_sender) in
            [(direction([19, 33], 34), false), (direction([9, 17], 34), true)]
        {
            let found = OpeningPace::of(&data, LimitedBy::Bandwidth, is_at_sender, false);
            assert_eq!(found.count(), 1);
            assert_ne!(found.weights.best().0, Bbr);
            assert!(found.sentence(Reno).is_some_and(|text| text.contains("trains")));
        }
    }

    /// Acknowledgements that queue spread flights over the whole round trip; they double all the same.
    #[test]
    fn flights_that_double_have_no_pace() {
        let data = direction([99, 99], 40);
        let found = OpeningPace::of(&data, LimitedBy::Bandwidth, false, false);
        assert_ne!(found.weights.best().0, Bbr);
        assert!(found.sentence(Reno).is_some_and(|text| text.contains("doubled")));
        assert_eq!(found.sentence(Bbr), None);
        let spread = direction([61, 92], 34);
        let weight = |has_ack_path| {
            OpeningPace::of(&spread, LimitedBy::Bandwidth, false, has_ack_path).weights.best().1
        };
        assert!(weight(true) < weight(false));
    }

    /// A train behind a segment that has overtaken it by 40 ms.
    #[test]
    fn a_segment_that_overtook_a_flight_does_not_spread_it() {
        let mut data = direction([61, 92], 34);
        data.epochs.opening.rounds[1].longest_gap = Time::from_millis(40);
        data.epochs.opening.rounds[2].longest_gap = Time::from_millis(60);
        let count = |data: &DirectionStats| {
            OpeningPace::of(data, LimitedBy::Bandwidth, false, false).count()
        };
        assert_eq!(count(&data), 1);
        (data.data_packets, data.out_of_order_packets) = (1000, 20);
        assert_eq!(count(&data), 0);
    }

    /// The rate of the first flight, where other traffic slows the rest of the connection down.
    #[test]
    fn the_first_flight_shows_the_link() {
        let mut data = direction([61, 92], 34);
        data.capacity_bps = Some(2e6);
        assert_eq!(best(&data, false).0, Bbr);
    }

    /// A flight that does not grow, a program that paces: neither is the congestion window's.
    #[test]
    fn what_else_spreads_flights_is_not_counted() {
        let mut data = direction([61, 92], 34);
        let paced = OpeningPace::of(&data, LimitedBy::Paced, false, false);
        assert_eq!(paced.count(), 0);
        data.epochs.opening.rounds[1].bytes = 11_000;
        data.epochs.opening.rounds[2].bytes = 12_000;
        assert_eq!(OpeningPace::of(&data, LimitedBy::Bandwidth, false, false).count(), 0);
        // A flight that a window may cut short.
        data.epochs.opening.rounds[1].bytes = 15_000;
        assert_eq!(OpeningPace::of(&data, LimitedBy::ReceiveWindow, false, false).count(), 0);
        assert_eq!(OpeningPace::of(&data, LimitedBy::Bandwidth, false, false).count(), 1);
        // Packets that overtake each other; but few that overtook many spoil few flights.
        (data.data_packets, data.out_of_order_packets) = (1000, 40);
        assert_eq!(OpeningPace::of(&data, LimitedBy::Bandwidth, false, false).count(), 0);
        data.epochs.overtaking = Some(5);
        assert_eq!(OpeningPace::of(&data, LimitedBy::Bandwidth, false, false).count(), 1);
    }
}
