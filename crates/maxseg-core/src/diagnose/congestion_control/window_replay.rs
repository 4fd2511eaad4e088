//! What each algorithm makes of the window behind a loss, round trip by round trip, beside the flights that were seen.
//!
//! The flight at a loss, what was acknowledged in each round trip and the time give the window by the rules of Reno (RFC 5681 §3.1) and of
//! CUBIC (RFC 9438 §4), in whole segments as Linux counts them. A sender that nothing else limits has the flight of its window:
//! one of the two predicts flights to the segment, or none does.

use super::CongestionAlgorithm::{self, Cubic, Reno};
use super::first_loss::path_bytes;
use super::replayed_window::{Rule, Window};
use super::weights::Weights;
use super::{View, share_of};
use crate::evidence::{CongestionEpoch, DirectionStats, RoundFlight};
use crate::outcome::LimitedBy;

/// The first two duplicate ACKs of a recovery release a segment each beyond the window (RFC 3042).
const BEYOND_WINDOW: f64 = 2.0;
/// A window that was not full has grown by a segment beyond the flight (`tcp_is_cwnd_limited` in `include/net/tcp.h`).
const BEYOND_FLIGHT: f64 = 1.0;
/// Elsewhere acknowledgements within a millisecond come together: the last, of so many segments, has released nothing of the round trip that
/// it ends.
const LAST_ELSEWHERE: f64 = 2.0;
/// A flight of the window is known to so many segments, and to this share: acknowledgements are delayed and joined.
const SEGMENTS_OFF: f64 = 0.8;
const SHARE_OFF: f64 = 0.04;
/// What no rule explains, beside the likelihood of the very flight that is predicted.
const OTHER: f64 = 0.05;
/// The same of a flight that follows from what BBR measures: as of one that is one and a half deviations from what a rule predicts.
const BY_MEASURE: f64 = 0.3;
/// The round trips of an epoch are off by the same: their mean counts as so many.
const MOST_ROUNDS: f64 = 3.0;
/// To the segment, or to this share.
const TO_SEGMENT: f64 = 0.6;
const TO_SHARE: f64 = 0.03;
/// Of so many flights an algorithm predicts this share to the segment: in captures of the lab 19 of 20 senders' own algorithms did, and
/// of BBR's flights both predicted less in nearly all.
const LEAST_JUDGED: usize = 10;
const LEAST_PREDICTED: f64 = 0.25;
/// Elsewhere than at the sender flights are known to a segment or two: so large a window, in segments, tells the algorithms apart.
const LEAST_ELSEWHERE: f64 = 12.0;
/// An epoch speaks against an algorithm by this for each round trip that counts, and all together count as if they were so many.
const MOST_OF_ROUND: f64 = 0.7;
const MOST_EPOCHS: f64 = 8.0;
/// One that neither predicts speaks for BBR by this at most: much else spoils a prediction.
const MOST_FOR_BBR: f64 = 0.3;

/// Of what is in flight beyond what the path holds, what arrives in a round trip of the handshake shows nothing: predictions below this share
/// of that are compared, and both are known to this share more.
const BELOW_PATH: f64 = 0.95;
const PATH_OFF: f64 = 0.03;

/// How flights are known.
#[derive(Debug, Clone, Copy)]
struct Seen {
    share_off: f64,
    /// What the path holds, in segments, where flights are known by the round trip of the handshake: no more are seen.
    most: Option<f64>,
    /// A flight that neither rule predicts is the path's doing, or BBR's.
    is_of_path: bool,
    /// The window at a loss is at least so large where it tells anything, in segments.
    least: f64,
    /// Segments of the acknowledgement that ends a round trip, as far as they belong to the next.
    last: f64,
}

impl Seen {
    const ELSEWHERE: Self = Self {
        share_off: SHARE_OFF,
        most: None,
        is_of_path: false,
        least: LEAST_ELSEWHERE,
        last: LAST_ELSEWHERE,
    };

    /// `None` where flights are not known at all.
    fn of(data: &DirectionStats, limit: LimitedBy, view: Option<View>) -> Option<Self> {
        let is_of_path = matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion);
        if let Some(view) = view {
            let share_off = SHARE_OFF + view.grain(data);
            let seen = Self { share_off, most: None, is_of_path, ..Self::ELSEWHERE };
            let is_at_sender = view == View::Sender;
            return Some(if is_at_sender { Self { least: 0.0, last: 0.0, ..seen } } else { seen });
        }
        // What a buffer or a program holds back is not told from what the path holds.
        let path = path_bytes(data).filter(|_| !data.begins_late && is_of_path)?;
        Some(Self {
            share_off: SHARE_OFF + PATH_OFF,
            most: Some(path / segment_of(data)),
            ..Self::ELSEWHERE
        })
    }

    /// Whether both predictions are so large that what arrives is not theirs.
    fn hides(&self, predicted: [f64; 2]) -> bool {
        let [reno, cubic] = predicted;
        self.most.is_some_and(|most| reno.min(cubic) > BELOW_PATH * most)
    }

    /// The logarithm of how likely a flight is where a window is predicted, and whether it is that to the segment.
    fn fit(&self, flight: f64, window: f64) -> (f64, bool) {
        let predicted = self.most.map_or(window, |most| window.min(most));
        let off = flight - predicted;
        let deviations = off / libm::hypot(SEGMENTS_OFF, self.share_off * predicted);
        let is_hit = off.abs() <= TO_SEGMENT.max(TO_SHARE * predicted);
        (libm::log(libm::exp(-0.5 * deviations * deviations) + OTHER), is_hit)
    }
}

/// The payload of a full segment.
fn segment_of(data: &DirectionStats) -> f64 {
    f64::from(data.full_segment())
}

/// What flights behind losses show.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowReplay {
    weights: Weights,
    epochs: usize,
    /// Flights, and how many of them each of Reno and CUBIC predicted to the segment.
    flights: usize,
    as_predicted: [usize; 2],
}

impl WindowReplay {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy, view: Option<View>) -> Self {
        let mut all = Self::default();
        let is_held = matches!(limit, LimitedBy::Paced | LimitedBy::Application);
        if is_held || super::hears_of_needless(data) || data.congestion_marks > 0 {
            return all;
        }
        let Some(seen) = Seen::of(data, limit, view) else { return all };
        let mut last_max = 0.0;
        for epoch in data.epochs.as_slice().iter().filter(|epoch| epoch.before.in_flight > 0) {
            let start = Start::of(epoch, segment_of(data), data.sack_permitted, last_max);
            last_max = start.last_max;
            if !epoch.is_capped && start.window >= seen.least {
                all.add(&start, data.epochs.flights_of(epoch), &seen);
            }
        }
        if all.is_by_chance() { Self::default() } else { all }
    }

    /// Whether neither rule predicts as many flights as its own algorithm's.
    fn is_by_chance(&self) -> bool {
        let [reno, cubic] = self.as_predicted;
        self.flights >= LEAST_JUDGED
            && (reno.max(cubic) as f64) < LEAST_PREDICTED * self.flights as f64
    }

    /// How many epochs were looked at.
    pub(super) const fn count(&self) -> usize {
        self.epochs
    }

    /// Adds what they show to what else is known.
    pub(super) fn join_to(&self, weights: &mut Weights) {
        weights.join(&self.weights, share_of(self.epochs, MOST_EPOCHS, &[], 1.0));
    }

    fn add(&mut self, start: &Start, flights: &[RoundFlight], seen: &Seen) {
        let (mut sums, mut hits, mut count) = ([0.0; 2], [0; 2], 0_usize);
        let by = |rule| start.predict(rule, flights, seen.last);
        for ((flight, reno), cubic) in flights.iter().zip(by(Rule::Reno)).zip(by(Rule::Cubic)) {
            if !seen.hides([reno, cubic]) {
                count += 1;
                let flight = f64::from(flight.most) / start.segment;
                for ((sum, hits), window) in sums.iter_mut().zip(&mut hits).zip([reno, cubic]) {
                    let (fit, is_hit) = seen.fit(flight, window);
                    *sum += fit;
                    *hits += usize::from(is_hit);
                }
            }
        }
        if count == 0 {
            return;
        }
        let [reno, cubic] = sums.map(|sum| sum / count as f64);
        let by_measure = libm::log(BY_MEASURE);
        let is_of_neither = by_measure > reno.max(cubic);
        // A buffer or a program may have held any window down.
        if is_of_neither && !seen.is_of_path {
            return;
        }
        let rounds = (count as f64).min(MOST_ROUNDS);
        let most = if is_of_neither { MOST_FOR_BBR } else { MOST_OF_ROUND * rounds };
        // What arrives in a round trip of the handshake tells nothing of BBR.
        let bbr = if seen.most.is_some() { reno.max(cubic) } else { by_measure };
        self.weights.add([reno, cubic, bbr].map(|fit| libm::exp(rounds * fit)), most);
        self.epochs += 1;
        self.flights += count;
        for (all, hits) in self.as_predicted.iter_mut().zip(hits) {
            *all += hits;
        }
    }

    /// What they show for an algorithm, as a clause; `None` where they show nothing of it.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        let [reno, cubic] = self.as_predicted;
        let (hits, rule) = match name {
            Reno => (reno, "a window that halves and grows by a segment a round trip"),
            Cubic => (cubic, "a window that CUBIC reduces and grows"),
            CongestionAlgorithm::Bbr | CongestionAlgorithm::Unknown => return None,
        };
        let is_best = self.weights.best().0 == name;
        (is_best && hits > 0).then(|| {
            format!("{hits} of {} flights behind losses were those of {rule}", self.flights)
        })
    }
}

/// What an epoch begins with; flights in segments.
#[derive(Debug, Clone, Copy)]
struct Start {
    /// The window at the loss.
    window: f64,
    /// Segments acknowledged in slow start behind an expiry of the retransmission timer; `None` behind a fast recovery.
    after_expiry: Option<f64>,
    /// What CUBIC takes for the largest window after the loss (fast convergence, RFC 9438 §4.7).
    last_max: f64,
    segment: f64,
    trip_s: f64,
}

impl Start {
    fn of(epoch: &CongestionEpoch, segment: f64, has_sack: bool, last_max: f64) -> Self {
        let before = &epoch.before;
        let beyond = if epoch.after_timer { 0.0 } else { -BEYOND_WINDOW };
        let unused = if before.was_capped { BEYOND_FLIGHT } else { 0.0 };
        let flight = before.in_flight as f64 / segment + beyond + unused;
        let window = libm::round(flight).max(1.0);
        let converged = window * (1.0 + super::CUBIC_LEAVES) / 2.0;
        let max = if window < last_max { converged } else { window };
        // With SACK only what was lost is acknowledged anew.
        let again = f64::from(before.resent);
        let acked = if has_sack { again } else { before.acked as f64 / segment };
        let rounds = f64::from(epoch.rounds) + 0.5;
        Self {
            window,
            after_expiry: epoch.after_timer.then_some(acked),
            // An expiry has CUBIC forget it (`bictcp_reset` in `net/ipv4/tcp_cubic.c`).
            last_max: if epoch.after_timer { 0.0 } else { max },
            segment,
            trip_s: epoch.to.since(epoch.from).as_secs_f64() / rounds,
        }
    }

    /// The window that an algorithm has at each flight.
    fn predict(&self, rule: Rule, flights: &[RoundFlight], last: f64) -> Vec<f64> {
        let Self { segment, trip_s, .. } = *self;
        let mut window = Window::after_loss(rule, self.window, self.last_max, trip_s);
        if let Some(acked) = self.after_expiry {
            window.restart();
            window.on_round(acked, 0.0);
        }
        let windows = flights.iter().map(|flight| {
            let acked = f64::from(flight.acked) / segment;
            let last = last.min(acked / 2.0);
            window.on_round(acked - last, trip_s);
            let segments = window.segments();
            window.on_ack(last);
            segments
        });
        windows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CongestionEpochs, RecoveryBefore};
    use crate::units::Time;

    /// A loss at so many segments, and the flights of the round trips of 50 ms behind it.
    fn direction(lost_at: u64, flights: &[u32], after_timer: bool) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        let rounds = u32::try_from(flights.len()).unwrap();
        let mut epoch = CongestionEpoch {
            to: Time::from_millis(50 * u64::from(rounds)),
            after_timer,
            before: RecoveryBefore {
                in_flight: lost_at * 1000,
                resent: 10,
                ..RecoveryBefore::default()
            },
            ..CongestionEpoch::default()
        };
        for (before, flight) in flights.iter().zip(flights.iter().skip(1)) {
            let flight = RoundFlight { most: flight * 1000, acked: before * 1000 };
            epochs.push_flight(flight, &mut epoch);
        }
        epochs.push(CongestionEpoch { rounds, ..epoch });
        DirectionStats {
            mss_used_bytes: Some(1000),
            sack_permitted: true,
            epochs,
            ..DirectionStats::default()
        }
    }

    fn best(data: &DirectionStats, limit: LimitedBy) -> (CongestionAlgorithm, f64) {
        WindowReplay::of(data, limit, Some(View::Sender)).weights.best()
    }

    #[test]
    fn flights_to_the_segment_name_reno_and_cubic() {
        let reno = direction(42, &[20, 21, 22, 23, 24, 25], false);
        let (name, probability) = best(&reno, LimitedBy::Congestion);
        assert_eq!(name, Reno);
        assert!(probability > 0.7, "{probability}");
        let found = WindowReplay::of(&reno, LimitedBy::Congestion, Some(View::Sender));
        assert!(found.sentence(Reno).is_some_and(|text| text.starts_with("5 of 5 flights")));
        let cubic = direction(42, &[28, 28, 29, 30, 30, 31], false);
        assert_eq!(best(&cubic, LimitedBy::Congestion).0, Cubic);
    }

    /// Slow start up to half of 14 or seven tenths of it, and on from there.
    #[test]
    fn an_expiry_of_the_timer_begins_with_slow_start() {
        assert_eq!(best(&direction(14, &[7, 8, 9, 10, 11], true), LimitedBy::Rto).0, Reno);
        assert_eq!(best(&direction(14, &[9, 10, 10, 11, 11], true), LimitedBy::Rto).0, Cubic);
    }

    #[test]
    fn what_neither_predicts_says_little() {
        let data = direction(42, &[40, 40, 40, 40, 40], false);
        let (name, probability) = best(&data, LimitedBy::Congestion);
        assert!(name == CongestionAlgorithm::Bbr && probability < 0.5, "{name:?} {probability}");
        assert_eq!(WindowReplay::of(&data, LimitedBy::Unknown, Some(View::Sender)).count(), 0);
        let reno = direction(42, &[20, 21, 22, 23, 24, 25], false);
        let held = WindowReplay::of(&reno, LimitedBy::Application, Some(View::Sender));
        assert_eq!(held.count(), 0);
    }
    /// What arrives in a round trip of the handshake is the window where that is less than the path holds: 40 segments.
    #[test]
    fn without_timestamps_flights_below_the_path_show_it() {
        let seen = |flights: &[u32]| {
            let mut data = direction(52, flights, false);
            (data.capacity_bps, data.path_rtt_min_s) = (Some(6.4e6), Some(0.05));
            WindowReplay::of(&data, LimitedBy::Bandwidth, None)
        };
        let reno = seen(&[25, 26, 27, 28, 29, 30]);
        assert_eq!(reno.weights.best().0, Reno);
        assert_eq!(seen(&[35, 35, 36, 37, 38, 38]).weights.best().0, Cubic);
        // Both windows are beyond the path.
        let mut data = direction(102, &[40, 40, 40, 40], false);
        (data.capacity_bps, data.path_rtt_min_s) = (Some(6.4e6), Some(0.05));
        assert_eq!(WindowReplay::of(&data, LimitedBy::Bandwidth, None).count(), 0);
    }
}
