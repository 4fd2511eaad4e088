//! What the flight becomes after a loss, and how it grows until the next.

use super::replayed_window::{Rule, Window};
use super::steady_growth::may_have_grown_unseen;
use super::weights::{Weights, normal};
use super::{CUBIC_AS_RENO, CUBIC_FACTOR, CUBIC_LEAVES, RENO_LEAVES, SMALL_FLIGHT, View};
use crate::diagnose::intervals::{OFTEN_OUT_OF_DATA, share_out_of_data};
use crate::evidence::{CongestionEpoch, DirectionStats};
use crate::outcome::LimitedBy;
use crate::stats::median;
use crate::units::approx;

/// What is left of a smaller flight is a matter of rounding, in segments,
const LEAST_PEAK: f64 = 6.0;
/// but where the receive window held it down: then the congestion window is known to the segment,
const LEAST_CAPPED_PEAK: f64 = 3.8;
/// A window that was full for so many round trips has grown to a segment beyond the flight, with CUBIC as well, and no further. Then what a loss
/// leaves is exact: 50 of 60 flights of Reno in such windows were the half of that to the segment.
const FULL_FOR: u32 = 3;
const FULL_OFF: f64 = 0.5;
/// as it has grown to so many segments more than the flight, which no longer fills it (`tcp_is_cwnd_limited` in `include/net/tcp.h`).
const BEYOND_FLIGHT: f64 = 1.0;
/// A first flight of so many times that before the loss is none of its making: what seemed lost was not, and the reduction
/// was undone.
const MOST_LEFT: f64 = 1.6;
/// Where reductions are undone, or a receive window, a send buffer or a program that often had no more limited, what is left of a flight above
/// this share says nothing: the congestion window may have been larger.
const MAYBE_UNDONE: f64 = 0.85;
/// What is left of a flight below this share shows another cause, as an expiry of the timer or all of a flight lost.
const LEAST_LEFT: f64 = 0.2;
/// From round trips of so many seconds on, CUBIC's window grows by a good part of what a loss took before the first of them is over.
const SLOW_TRIP_S: f64 = 1.0;
/// Shorter growth says nothing, in round trips; where the flight before is not known, growth has to be longer.
const LEAST_GROWTH: f64 = 3.0;
const LONG_GROWTH: f64 = 8.0;
/// Neither shrinks by more than this share of a flight, and a segment: marks or losses that were not seen reduced it (RFC 3168 §6.1.2).
const SHRINKS: f64 = 0.05;
/// One epoch speaks against an algorithm by this at most, too little to name one: BBR may leave any share. All together count
/// as if they were so many: what spoils one may spoil all.
const MOST_OF_ONE: f64 = 2.0;
const MOST_EPOCHS: f64 = 8.0;
/// By less where slow start came before: the window may then have been twice the flight (`tcp_is_cwnd_limited` again), and what the
/// loss left of the flight is more than its share of the window.
const MOST_AFTER_SLOW_START: f64 = 1.0;
/// Slow start has grown the flight so many times.
const SLOW_START_GROWTH: u64 = 2;

/// A send buffer holds all that was sent from the first lost segment on. Where less than this share of the flight was in flight at the loss, and less than
/// this share of it is left, slow start follows up to what the loss left of the window.
const LEAST_AT_LOSS: f64 = 0.7;
const LEAST_OF_WINDOW: f64 = 0.4;

/// What all epochs show.
#[derive(Debug, Clone, Default)]
pub(super) struct EpochClues {
    pub(super) weights: Weights,
    /// What each loss left of the flight before, as a share of it.
    left: Vec<f64>,
    /// By how many segments each epoch grew in a round trip.
    growth: Vec<f64>,
    /// The largest flights of both, in segments.
    flights: Vec<f64>,
}

/// Numbers that the likelihoods of an epoch depend on.
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which holds or not")]
struct Scale {
    segment: f64,
    least_trip_s: f64,
    grain: f64,
    /// A flight is known to so many segments.
    segments_off: f64,
    is_undone: bool,
    /// Neither a pace nor what the application writes holds the flight down.
    writes_enough: bool,
    /// The send buffer may.
    has_full_buffer: bool,
    /// Its program often has no more to send.
    runs_out: bool,
}

impl EpochClues {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy, view: View) -> Self {
        let needless = 5 * data.spurious_retransmissions > data.retransmitted_packets;
        let scale = Scale {
            segment: f64::from(data.full_segment()),
            least_trip_s: data.path_rtt_min_s.unwrap_or(0.0),
            grain: view.grain(data),
            segments_off: if view == View::Sender { 0.7 } else { 1.0 },
            is_undone: needless,
            writes_enough: !matches!(limit, LimitedBy::Paced | LimitedBy::Application),
            has_full_buffer: limit == LimitedBy::SendBuffer,
            runs_out: share_out_of_data(data) >= OFTEN_OUT_OF_DATA,
        };
        let mut all = Self::default();
        let mut before: Option<&CongestionEpoch> = None;
        for epoch in data.epochs.as_slice() {
            if !epoch.after_timer && !begins_with_slow_start(epoch) {
                all.add_reduction(epoch, before, &scale);
                // A flight that still grew at its end was held by no buffer.
                let grew_on = epoch.flat_rounds <= 1 && f64::from(epoch.rounds) >= LONG_GROWTH;
                let grows_freely = scale.writes_enough && (grew_on || !scale.has_full_buffer);
                if before.is_some() && grows_freely {
                    all.add_growth(epoch, &scale);
                }
            }
            before = Some(epoch);
        }
        all
    }

    /// How many shares and growths were looked at.
    pub(super) fn count(&self) -> usize {
        self.left.len() + self.growth.len()
    }

    /// The share with which their weights count.
    pub(super) fn share(&self) -> f64 {
        super::share_of(self.count(), MOST_EPOCHS, &self.flights, SMALL_FLIGHT)
    }

    fn add_reduction(
        &mut self,
        epoch: &CongestionEpoch,
        before: Option<&CongestionEpoch>,
        scale: &Scale,
    ) {
        let was_capped = before.is_some_and(|before| before.is_capped);
        let was_slow_start = before.is_some_and(|before| {
            before.peak == 0 && before.most >= SLOW_START_GROWTH * before.first
        });
        let peak = epoch.peak as f64 / scale.segment;
        let left = epoch.first as f64 / epoch.peak.max(1) as f64;
        let may_be_more = scale.is_undone || was_capped || scale.has_full_buffer || scale.runs_out;
        let says_nothing = may_be_more && left > MAYBE_UNDONE;
        let (least, beyond) =
            if was_capped { (LEAST_CAPPED_PEAK, BEYOND_FLIGHT) } else { (LEAST_PEAK, 0.0) };
        if peak < least || !(LEAST_LEFT..MOST_LEFT).contains(&left) || says_nothing {
            return;
        }
        let is_exact = was_capped && before.is_some_and(|before| before.flat_rounds >= FULL_FOR);
        let segments_off = if is_exact { FULL_OFF } else { scale.segments_off };
        let off = libm::hypot(0.04 + scale.grain, segments_off / peak);
        let leaves = |share: f64| (share * (peak + beyond)).floor().max(2.0) / peak;
        let other = 0.08; // what no rule explains
        let by_reno = normal(left, leaves(RENO_LEAVES), off) + other;
        let trip_s = trip_s(epoch);
        let cubic_leaves = if trip_s >= SLOW_TRIP_S {
            cubic_after_trip(peak + beyond, trip_s, scale.least_trip_s) / peak
        } else {
            leaves(CUBIC_LEAVES)
        };
        let by_cubic = normal(left, cubic_leaves, off) + other;
        let by_bbr = if left < 1.3 { 0.8 } else { 0.3 };
        // What is left of a full window that neither explains is a matter of the window.
        let by_bbr = if was_capped { f64::min(by_bbr, by_reno.max(by_cubic)) } else { by_bbr };
        let likelihoods = [by_reno, by_cubic, by_bbr];
        let most = if was_slow_start { MOST_AFTER_SLOW_START } else { MOST_OF_ONE };
        self.weights.add(likelihoods, most);
        self.left.push(left);
        self.flights.push(peak);
    }

    fn add_growth(&mut self, epoch: &CongestionEpoch, scale: &Scale) {
        let segments = |bytes: u64| bytes as f64 / scale.segment;
        let (first, most, peak) =
            (segments(epoch.first), segments(epoch.most), segments(epoch.peak));
        // A full window ends the growth; what is then is not the congestion window's.
        let (until, flat) =
            if epoch.is_capped { (most, epoch.flat_rounds) } else { (segments(epoch.last), 0) };
        let rounds = f64::from(epoch.rounds.saturating_sub(1 + flat));
        let grown = until - first;
        let is_long = rounds >= if peak > 0.0 { LEAST_GROWTH } else { LONG_GROWTH };
        // Slow start, after a timer that was not seen.
        let is_doubling = first < LEAST_LEFT * peak;
        let is_reduced = grown < -1.0 - SHRINKS * first;
        if !is_long || may_have_grown_unseen(epoch) || first < 2.0 || is_doubling || is_reduced {
            return;
        }
        let trip_s = trip_s(epoch);
        let largest = peak.max(most).max(8.0);
        let exact = 1.0 + scale.grain * largest;
        let other = 0.02 / largest;
        // Delayed and stretched acknowledgements cost Reno a little of its segment a round trip.
        let reno = normal(grown, 0.92 * rounds - 0.2, exact + 0.12 * rounds) + other;
        let cubic = if peak > 0.0 {
            let expected = cubic_growth(peak, first, rounds, trip_s);
            normal(grown, expected, exact + 0.2 * expected) + other
        } else {
            1.0 / (1.5 * rounds + 0.3 * most)
        };
        self.weights.add([reno, cubic, 1.0 / (2.0 * largest)], MOST_OF_ONE);
        self.growth.push(grown / rounds);
        self.flights.push(peak.max(most));
    }

    /// What they show, as a clause; `None` without any.
    pub(super) fn sentence(&self) -> Option<String> {
        let count = self.left.len();
        let left = median(self.left.clone()).map(|left| match count {
            _ if left >= 1.0 => "losses left all of the flight".to_owned(),
            1 => format!("a loss left {} of the flight", approx::whole_percent(left)),
            _ => format!(
                "{count} losses left {} of the flight (median)",
                approx::whole_percent(left)
            ),
        });
        let growth = median(self.growth.clone()).map(|growth| {
            let way = if growth < 0.0 { "shrank" } else { "grew" };
            format!("it {way} by {:.1} segments a round trip between losses", growth.abs())
        });
        let clauses: Vec<String> = left.into_iter().chain(growth).collect();
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }
}

/// Whether a send buffer held the flight down at the loss, and what follows begins with slow start.
fn begins_with_slow_start(epoch: &CongestionEpoch) -> bool {
    let is_below = |bytes: u64, share: f64| (bytes as f64) < share * epoch.peak as f64;
    is_below(epoch.before.in_flight, LEAST_AT_LOSS) && is_below(epoch.first, LEAST_OF_WINDOW)
}

/// How long a round trip of an epoch takes, in seconds: the last is not whole.
fn trip_s(epoch: &CongestionEpoch) -> f64 {
    epoch.to.since(epoch.from).as_secs_f64() / (f64::from(epoch.rounds) + 0.5)
}

/// CUBIC's window at the end of the first round trip behind a loss, of so many seconds, on a path of this least one.
fn cubic_after_trip(window: f64, trip_s: f64, least_trip_s: f64) -> f64 {
    let mut cubic = Window::after_loss(Rule::Cubic, window, window, least_trip_s);
    cubic.on_round(cubic.segments(), trip_s);
    cubic.segments()
}

/// By how many segments CUBIC grows in so many round trips, from `first` after a loss at `peak` (RFC 9438 §4.2, §4.3).
fn cubic_growth(peak: f64, first: f64, rounds: f64, trip_s: f64) -> f64 {
    let until_peak = libm::cbrt((peak - first).max(0.0) / CUBIC_FACTOR);
    let since = (rounds + 1.0) * trip_s - until_peak;
    let cubic = peak.max(first) + CUBIC_FACTOR * since * since * since;
    (cubic - first).max(CUBIC_AS_RENO * rounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::CongestionAlgorithm;
    use crate::evidence::RecoveryBefore;

    /// Of a flight of 195 segments a buffer let 23 be beyond the lost one: slow start goes from there to what the loss left of the window.
    #[test]
    fn what_a_buffer_let_out_at_a_loss_is_not_what_that_left() {
        let epoch = |in_flight, first| CongestionEpoch {
            peak: 195_000,
            first,
            before: RecoveryBefore { in_flight, ..RecoveryBefore::default() },
            ..CongestionEpoch::default()
        };
        assert!(begins_with_slow_start(&epoch(23_000, 52_000)));
        assert!(
            !begins_with_slow_start(&epoch(23_000, 98_000)),
            "the window, not the flight, was halved"
        );
        assert!(!begins_with_slow_start(&epoch(197_000, 52_000)));
    }

    /// Seven flights of seven segments in a full window, and four in the round trip behind each loss: of eight, half.
    #[test]
    fn what_a_loss_leaves_of_a_full_window_is_exact() {
        let epoch = CongestionEpoch {
            peak: 7000,
            most: 7000,
            last: 7000,
            is_capped: true,
            ..CongestionEpoch::default()
        };
        let named = |flat_rounds, first| {
            let rounds = flat_rounds + 5;
            let mut data =
                DirectionStats { mss_used_bytes: Some(1000), ..DirectionStats::default() };
            for _ in 0..8 {
                data.epochs.push(CongestionEpoch { rounds, first, flat_rounds, ..epoch });
            }
            let found = EpochClues::of(&data, LimitedBy::ReceiveWindow, View::Elsewhere);
            let mut weights = Weights::default();
            weights.join(&found.weights, found.share());
            weights.best()
        };
        assert_eq!(named(15, 4000).0, CongestionAlgorithm::Reno);
        assert_eq!(named(15, 5000).0, CongestionAlgorithm::Cubic);
        assert!(named(15, 5000).1 > named(1, 5000).1, "it was full for a round trip only");
    }

    /// Growth of a few segments counts by their size, with or without a reduction.
    #[test]
    fn growth_of_small_flights_counts_less() {
        let share = |segments: u64| {
            let mut all = EpochClues::default();
            all.flights.push(segments as f64);
            all.growth.push(0.0);
            all.share()
        };
        assert!(share(3) < 0.3 && share(12) > 0.9);
    }

    /// A modem with a queue of 20 segments: of 31 a loss leaves 21, which are 27 when all of them are acknowledged, 4 s later.
    #[test]
    fn cubic_grows_within_a_round_trip_of_seconds() {
        let after = cubic_after_trip(31.0, 4.0, 0.17);
        assert!((25.0..=29.0).contains(&after), "{after}");
    }
}
