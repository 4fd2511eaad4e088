//! From one loss to the next: what each algorithm makes of the flight at a loss, with so much sent since.
//!
//! With a window of w segments w are acknowledged in a round trip, and Reno adds one to the window then. From β·W on, therefore,
//! (w² − β²·W²) ÷ 2 segments have been acknowledged when its window is w: the flight at the next loss follows from the flight at this
//! one and from what was acknowledged in between, without any round trip. CUBIC's cubic goes by the time since, which is as well seen anywhere.

use super::CongestionAlgorithm::{self, Cubic, Reno};
use super::replayed_window::{Rule, Window};
use super::weights::{Weights, normal};
use super::{CUBIC_AS_RENO, CUBIC_FACTOR, CUBIC_LEAVES, FASTEST, RENO_LEAVES};
use crate::evidence::{DirectionStats, FlightAtLoss};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// What duplicates release before the third of them is beyond the window (RFC 3042): two segments, and one less for the lost
/// one's place.
const BEYOND_WINDOW: f64 = 1.0;
/// A window that was not full has grown by a segment beyond the flight (`tcp_is_cwnd_limited` in `include/net/tcp.h`).
const BEYOND_FLIGHT: f64 = 1.0;
/// Smaller flights change by steps that are as large as the difference between algorithms, in segments. From four on, half of flights at losses
/// were within 0.6 segments of what their own algorithm predicts, in captures of the lab, and 1.7 from the other's (medians). Where what is lost
/// at their end was not seen, more are needed.
const LEAST_FLIGHT: f64 = 4.0;
const LEAST_WITH_END_UNSEEN: f64 = 6.0;
/// Smaller ones count by their share of this.
const SMALL_FLIGHT: f64 = 6.0;
/// A flight is known to so many segments, and a prediction to this share: acknowledgements are delayed and stretched.
const SEGMENTS_OFF: f64 = 0.8;
const SHARE_OFF: f64 = 0.05;
/// A recovery of several segments adds to that with the root of their number: each may end its round trip earlier or later.
const EACH_RESENT_OFF: f64 = 0.5;
/// Where more of a flight was lost, its recovery takes several round trips, and new losses fall into it.
const MOST_RESENT: f64 = 0.65;
/// Windows are whole segments: of what is predicted half a segment is lost on the average, and with CUBIC that half twice, for seven
/// tenths are whole segments, too (`bictcp_recalc_ssthresh` in `net/ipv4/tcp_cubic.c`): flights of captures in the lab and of the kernel
/// were less than the formula's by 0.4 segments with Reno and by 1.0 with CUBIC (medians).
const ROUNDED: f64 = 0.5;
const ROUNDED_CUBIC: f64 = 1.0;
/// BBR keeps two bandwidth-delay products in flight, which its estimates of both change by about so much (`bbr_cwnd_gain` and
/// `bbr_pacing_gain` in `net/ipv4/tcp_bbr.c`).
const BBR_VARIES: f64 = 0.3;
/// What no rule explains, as a share of all flights from none to that before.
const OTHER: f64 = 0.1;
/// One loss speaks against an algorithm by this at most, and all together count as if they were so many: of 282 captures at the receiver in which nine losses or
/// more favoured one by a weight of 4 or more, that was the sender's in 279.
const MOST_OF_ONE: f64 = 2.0;
const MOST_LOSSES: f64 = 16.0;
/// A flight that is kept speaks for BBR by less: a reduction that is undone keeps it as well.
const MOST_FOR_BBR: f64 = 1.0;
/// A flight below this share of what congestion avoidance makes of it has not grown: the path let it.
const FAR_BELOW: f64 = 0.6;
/// A flight so many deviations from a prediction is not what it predicts.
const FAR: f64 = 2.0;

/// A flight at a loss that is below this share of that in the round trip before.
const HELD_DOWN: f64 = 0.85;

/// What the flights at losses show.
#[derive(Debug, Clone, Default)]
pub(super) struct LossFlights {
    pub(super) weights: Weights,
    /// How many of the flights that were compared each of Reno and CUBIC predicted.
    as_predicted: [usize; 2],
    /// The flights before, in segments.
    flights: Vec<f64>,
}

impl LossFlights {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy, is_at_sender: bool) -> Self {
        let mut all = Self::default();
        let is_whole = is_at_sender || data.epochs.counts_packets;
        let least = if is_whole { LEAST_FLIGHT } else { LEAST_WITH_END_UNSEEN };
        let is_held = matches!(limit, LimitedBy::Paced | LimitedBy::Application);
        if is_held || super::hears_of_needless(data) || data.congestion_marks > 0 {
            return all;
        }
        let segment = f64::from(data.full_segment());
        let trip_s = data.path_rtt_min_s.unwrap_or(0.0);
        let mut last_max = 0.0;
        for pair in data.epochs.losses().windows(2) {
            let [before, loss] = pair else { continue };
            let step = Step::between(before, loss, segment, trip_s, last_max);
            last_max = step.last_max;
            let is_plain = ![before, loss].iter().any(|it| it.by_timer || is_held_down(it, data));
            if is_plain && step.from >= least && step.resent <= MOST_RESENT * step.from {
                all.add(&step, limit);
            }
        }
        all
    }

    /// How many flights were compared.
    pub(super) const fn count(&self) -> usize {
        self.flights.len()
    }

    /// The share with which their weights count.
    pub(super) fn share(&self) -> f64 {
        super::share_of(self.count(), MOST_LOSSES, &self.flights, SMALL_FLIGHT)
    }

    fn add(&mut self, step: &Step, limit: LimitedBy) {
        let resent = EACH_RESENT_OFF * libm::sqrt((step.resent - 1.0).max(0.0));
        let exact = libm::hypot(SEGMENTS_OFF, resent);
        let off = |predicted: f64| libm::hypot(exact, SHARE_OFF * predicted);
        let is_below = |predicted: f64| step.to < predicted - FAR * off(predicted);
        let (reno, cubic) = (step.reno(), step.cubic());
        let is_below_both = is_below(reno) && is_below(cubic);
        // What a buffer may hold down tells nothing.
        if limit == LimitedBy::SendBuffer && (is_below(reno) || is_below(cubic)) {
            return;
        }
        let other = OTHER / step.from.max(1.0);
        let by_reno = normal(step.to, reno, off(reno)) + other;
        let by_cubic = normal(step.to, cubic, off(cubic)) + other;
        let kept = libm::log((step.to / step.from).max(0.01));
        let mut by_bbr = normal(kept, 0.0, BBR_VARIES) / step.to.max(1.0) + other;
        // A window or a buffer may have held any algorithm down there, where the path is not the limit.
        let is_of_path = matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion);
        let is_kept = is_of_path && !step.is_capped && step.to < FAR_BELOW * reno.min(cubic);
        if is_below_both && !is_kept {
            by_bbr = by_bbr.min(by_reno.max(by_cubic));
        }
        let most = if by_bbr > by_reno.max(by_cubic) { MOST_FOR_BBR } else { MOST_OF_ONE };
        self.weights.add([by_reno, by_cubic, by_bbr], most);
        self.flights.push(step.from);
        for (count, predicted) in self.as_predicted.iter_mut().zip([reno, cubic]) {
            *count += usize::from((step.to - predicted).abs() <= FAR * off(predicted));
        }
    }

    /// How many follow from an algorithm's rule, and the rule; `None` of BBR, which has none.
    const fn fitting(&self, name: CongestionAlgorithm) -> Option<(usize, &'static str)> {
        match (name, self.as_predicted) {
            (Reno, [reno, _]) => Some((reno, "half of it and a segment a round trip")),
            (Cubic, [_, cubic]) => Some((cubic, "70% of it and the growth of CUBIC")),
            _ => None,
        }
    }

    /// What they show for an algorithm, as a clause; `None` where they show nothing of it.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        let (fitting, rule) = self.fitting(name)?;
        let share = fitting as f64 / self.count().max(1) as f64;
        (fitting > 0).then(|| {
            let share = approx::whole_percent(share);
            format!(
                "{share} of the flights at losses were what follows from the one before by {rule}"
            )
        })
    }
}

/// Whether a send buffer ended the flight at a loss: it holds all that was sent from the first lost segment on, and less is in flight then than was in
/// the round trip before.
fn is_held_down(loss: &FlightAtLoss, data: &DirectionStats) -> bool {
    let mut epochs = data.epochs.as_slice().iter();
    let ended = epochs.find(|epoch| epoch.by_loss && epoch.to == loss.at);
    ended.is_some_and(|epoch| (loss.in_flight as f64) < HELD_DOWN * epoch.last as f64)
}

/// From a loss to the next; flights in segments.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: f64,
    to: f64,
    /// New segments that were sent between, and the segments that the first recovery sent again.
    sent: f64,
    resent: f64,
    seconds: f64,
    trip_s: f64,
    /// What CUBIC takes for the largest window after the first of the two losses (fast convergence, RFC 9438 §4.7).
    last_max: f64,
    /// The receive window ended the growth.
    is_capped: bool,
}

impl Step {
    fn between(
        before: &FlightAtLoss,
        loss: &FlightAtLoss,
        segment: f64,
        trip_s: f64,
        last_max: f64,
    ) -> Self {
        let flight = |loss: &FlightAtLoss| loss.in_flight as f64 / segment - BEYOND_WINDOW;
        let from = flight(before) + if before.is_capped { BEYOND_FLIGHT } else { 0.0 };
        let converged = from * (1.0 + CUBIC_LEAVES) / 2.0;
        Self {
            from,
            to: flight(loss),
            sent: loss.sent_since as f64 / segment,
            resent: f64::from(before.resent),
            seconds: loss.at.since(before.at).as_secs_f64(),
            trip_s,
            last_max: if from < last_max { converged } else { from },
            is_capped: loss.is_capped,
        }
    }

    /// The flight that Reno has after it.
    fn reno(&self) -> f64 {
        self.capped(self.grown_by_trip(RENO_LEAVES, 1.0) - ROUNDED)
    }

    /// The flight that CUBIC has after it: along the cubic, or as much as Reno's growth makes of it where that is more (RFC 9438
    /// §4.2, §4.3).
    fn cubic(&self) -> f64 {
        let left = CUBIC_LEAVES * self.from;
        let until_max = libm::cbrt((self.last_max - left).max(0.0) / CUBIC_FACTOR);
        // The recovery sends as much as the loss leaves (RFC 6937 §3); the cubic begins behind it, and looks a round trip ahead.
        let growing = (1.0 - left / self.sent.max(1.0)).max(0.0);
        let off = self.seconds * growing + self.trip_s - until_max;
        let cubic = self.last_max.max(left) + CUBIC_FACTOR * off * off * off;
        if cubic > left + self.acknowledged() / FASTEST {
            return self.capped(self.cubic_by_acks());
        }
        self.capped(cubic.max(self.grown_by_trip(CUBIC_LEAVES, CUBIC_AS_RENO)) - ROUNDED_CUBIC)
    }

    /// The same where the cubic rises faster than acknowledgements let the window grow, as over round trips of seconds: acknowledgement
    /// by acknowledgement, in whole segments. What the recovery sent that was new is acknowledged while it still lasts, and the link, which is
    /// full, takes as long for each.
    fn cubic_by_acks(&self) -> f64 {
        let mut window = Window::after_loss(Rule::Cubic, self.from, self.last_max, self.trip_s);
        let in_recovery = (window.segments() - self.resent).max(0.0);
        let all = (self.acknowledged() - in_recovery).max(0.0);
        let seconds = self.seconds * all / self.sent.max(1.0);
        let mut rest = all;
        while rest > 0.0 {
            let acked = rest.min(window.segments());
            window.on_round(acked, seconds * acked / all);
            rest -= acked;
        }
        window.segments()
    }

    /// Segments that were acknowledged between the losses: what was in flight at either was not, and made nothing grow.
    fn acknowledged(&self) -> f64 {
        (self.sent - self.to).max(0.0)
    }

    /// The flight after a reduction to a share, grown by so many segments a round trip.
    fn grown_by_trip(&self, leaves: f64, growth: f64) -> f64 {
        let left = leaves * self.from;
        libm::sqrt(left * left + 2.0 * growth * self.acknowledged())
    }

    /// A window that was full held down what is predicted above it.
    const fn capped(&self, flight: f64) -> f64 {
        if self.is_capped { flight.min(self.to) } else { flight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CongestionEpoch, CongestionEpochs};
    use crate::units::Time;

    const SEGMENT: u64 = 1000;

    /// A direction that lost at these flights, in segments, with so many segments and seconds between.
    fn direction(losses: &[(u64, u64, u64)]) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        let mut at = Time::ZERO;
        for (flight, sent, millis) in losses {
            at = at.saturating_add(Time::from_millis(*millis));
            epochs.push_loss(FlightAtLoss {
                at,
                in_flight: (flight + 1) * SEGMENT,
                sent_since: sent * SEGMENT,
                resent: 1,
                ..FlightAtLoss::default()
            });
        }
        DirectionStats { mss_used_bytes: Some(1000), epochs, ..DirectionStats::default() }
    }

    /// From 20 to 40 segments 600 are acknowledged, and 40 more are in flight; from 20 to 24 there are 88 and 24.
    #[test]
    fn half_and_a_segment_a_round_trip_are_reno() {
        let data = direction(&[(40, 0, 0), (40, 640, 900), (24, 112, 200)]);
        let found = LossFlights::of(&data, LimitedBy::Congestion, false);
        assert_eq!(found.count(), 2);
        assert_eq!(found.weights.best().0, Reno);
        assert!(found.sentence(Reno).unwrap().contains("100%"), "{found:?}");
    }

    /// 0.4 t³ in segments: with 100 at a loss the window is that again after 4.2 s.
    #[test]
    fn seven_tenths_and_the_cubic_are_cubic() {
        let data = direction(&[(100, 0, 0), (100, 9000, 4217), (71, 80, 40)]);
        let found = LossFlights::of(&data, LimitedBy::Congestion, false);
        assert_eq!(found.weights.best().0, Cubic, "{found:?}");
    }

    #[test]
    fn a_flight_that_is_kept_is_bbr() {
        let data = direction(&[(40, 0, 0), (41, 30, 40), (39, 50, 60), (42, 35, 40)]);
        let found = LossFlights::of(&data, LimitedBy::Congestion, false);
        assert_eq!(found.weights.best().0, CongestionAlgorithm::Bbr, "{found:?}");
        // 48 round trips at a policer's rate that it has measured (`bbr_lt_bw_max_rtts`): Reno would have 44 segments.
        let policed = direction(&[(14, 0, 0), (14, 1000, 700), (13, 1000, 700)]);
        let best = LossFlights::of(&policed, LimitedBy::Bandwidth, false).weights.best().0;
        assert_eq!(best, CongestionAlgorithm::Bbr);
        let buffered = LossFlights::of(&policed, LimitedBy::Unknown, false);
        assert_ne!(buffered.weights.best().0, CongestionAlgorithm::Bbr);
        // A program that sends less leaves no window to see.
        assert_eq!(LossFlights::of(&data, LimitedBy::Application, false).count(), 0);
    }

    /// The round trip before the second loss had 50 segments: a buffer let 24 of them be beyond the lost one.
    #[test]
    fn a_flight_that_a_buffer_ended_is_no_window() {
        let mut data = direction(&[(40, 0, 0), (24, 640, 900), (24, 112, 200)]);
        assert_eq!(LossFlights::of(&data, LimitedBy::Congestion, true).count(), 2);
        let Some(second) = data.epochs.losses().get(1).copied() else { panic!() };
        data.epochs.push(CongestionEpoch {
            to: second.at,
            by_loss: true,
            last: 50 * SEGMENT,
            ..CongestionEpoch::default()
        });
        assert_eq!(LossFlights::of(&data, LimitedBy::Congestion, true).count(), 0);
    }

    /// Of 6 segments CUBIC keeps 4 and has 5 when 7 more are acknowledged; Reno has 5 when 8 are, from 3 on.
    #[test]
    fn small_flights_count_where_their_end_is_known() {
        let mut data = direction(&[(6, 0, 0), (5, 14, 200), (5, 15, 300), (5, 15, 400)]);
        assert_eq!(LossFlights::of(&data, LimitedBy::Congestion, true).count(), 3);
        assert_eq!(LossFlights::of(&data, LimitedBy::Congestion, false).count(), 1);
        data.epochs.counts_packets = true;
        assert_eq!(LossFlights::of(&data, LimitedBy::Congestion, false).count(), 3);
    }

    /// A modem with a queue of 20: round trips of 4 s, in which the cubic would have grown to 100 segments, and 33 acknowledgements let
    /// the window grow from 21 to about what it was.
    #[test]
    fn acknowledgements_bound_what_cubic_grows_by() {
        let mut data = direction(&[]);
        for (second, flight, sent, resent) in [(0, 31, 64, 10), (13, 28, 61, 7), (28, 31, 79, 10)] {
            data.epochs.push_loss(FlightAtLoss {
                at: Time::from_secs(second),
                in_flight: flight * SEGMENT,
                sent_since: sent * SEGMENT,
                resent,
                ..FlightAtLoss::default()
            });
        }
        let found = LossFlights::of(&data, LimitedBy::Bandwidth, true);
        let (name, probability) = found.weights.best();
        assert_eq!(name, Cubic, "{found:?}");
        assert!(probability > 0.7, "{probability}");
    }

    /// The receive window held the flight at 9 segments and the window at 10: CUBIC keeps 7, not 6.3.
    #[test]
    fn a_window_that_was_not_full_is_larger_than_the_flight() {
        let mut before = FlightAtLoss { in_flight: 10 * SEGMENT, ..FlightAtLoss::default() };
        let after = FlightAtLoss { in_flight: 7 * SEGMENT, sent_since: 7000, ..before };
        let flight = |before: &FlightAtLoss| {
            Step::between(before, &after, SEGMENT as f64, 0.05, 0.0).cubic()
        };
        let free = flight(&before);
        before.is_capped = true;
        let more = flight(&before) - free;
        assert!((more - 0.7).abs() < 0.1, "{more}");
    }
}
