//! How the flight came to be what it was at the first loss: by slow start alone, or by other growth behind it.
//!
//! Slow start doubles the flight each round trip, so that twice the flight has been sent when a loss shows. CUBIC leaves it when round
//! trips rise by an eighth (`HyStart`, RFC 9406 §4.2), Reno does not: what is in flight beyond what the path holds tells that they
//! rose, and how often the flight was sent before tells whether slow start went on. Neither needs round trips under load.

use super::CongestionAlgorithm::{Bbr, Cubic, Reno};
use super::clue::Clue;
use crate::evidence::{DirectionStats, FlightAtLoss};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// Slow start has sent the flight twice at a loss; with a round trip or two that a buffer held it up, not more often than so.
const BY_DOUBLING: f64 = 3.5;
/// Less than this was sent by no doubling: segments of the flight were lost before, and nothing showed that.
const LEAST_DOUBLING: f64 = 1.6;
/// What has been sent so many times its flight has grown otherwise: CUBIC needs tens of round trips to double it then.
const BY_GROWING: f64 = 6.0;
/// A round trip has risen beyond doubt where the flight is so many times what the path holds,
const QUEUED: f64 = 2.0;
/// at all where it is so many times that,
const FULL: f64 = 1.3;
/// and somewhat where it is so many times that.
const ABOVE_PATH: f64 = 1.15;
/// `HyStart` needs 16 segments in flight and 8 round trips of them (`hystart_low_window` and `HYSTART_MIN_SAMPLES` in
/// `net/ipv4/tcp_cubic.c`): where the path holds fewer than so many segments it may come too late,
const LEAST_PATH: f64 = 24.0;
/// but not by three doublings.
const LATE_HYSTART: f64 = 128.0;
/// BBR's start-up keeps 2.89 times what the path holds in flight at most (`bbr_high_gain` in `net/ipv4/tcp_bbr.c`), besides half as
/// much again that was lost meanwhile. By so much no estimate of the path is wrong.
const BEYOND_STARTUP: f64 = 5.0;
/// Reno loses a good part of a flight that it has doubled; one that grew by some segments loses only these, at most this share.
const LITTLE_LOST: f64 = 0.2;
/// Slow start into a full queue loses half of the flight; delayed acknowledgements, and what drains meanwhile, leave this share at least.
const LOST_BY_DOUBLING: f64 = 0.15;
/// Half of a flight that doubled into a full queue is more than that holds. In a large flight no other growth loses so much.
const MUCH_LOST: f64 = 0.5;
const LARGE_FLIGHT: f64 = 100.0;
/// While a flight is doubled that loses so much, windows and buffers may hold it up for some round trips more.
const BY_SLOW_DOUBLING: f64 = 5.5;
/// Packets that overtake others let a flight seem lost that was not, which brings a few needless retransmissions. The first loss of so many segments,
const MANY_RESENT: u32 = 30;
/// and of such a share, is one;
const LARGE_SHARE: f64 = 0.3;
/// between these shares, of a large flight that is beyond what start-up keeps, and that was sent no more than `BY_DOUBLING` times, it is that of slow start.
const BY_SLOW_START: std::ops::RangeInclusive<f64> = 0.4..=0.75;
/// Round trips vary where packets overtake others: so much is as good as beyond start-up.
const BEYOND_STARTUP_OVERTAKEN: f64 = 4.5;
/// A policer drops nearly all above its rate: what is in flight then is more than the sender keeps.
const BY_POLICER: f64 = 0.8;
/// BBR has sent 2.89 times a first window of ten segments (RFC 6928) and more before it knows the path: a flight of fewer segments tells
/// nothing.
const LEAST_FLIGHT: f64 = 48.0;
/// It speaks against an algorithm by this at most: buffers and programs change how flights grow.
const MOST: f64 = 3.5;
/// How likely each is under Reno, CUBIC and BBR, by what was seen in the lab (see `clues`): a flight that doubled into a queue, of which
/// 24, 9 and 20 captures were, and beyond what start-up keeps 17 and none of the others;
const DOUBLED: [f64; 3] = [1.0, 0.33, 1.0];
const DOUBLED_BEYOND_STARTUP: [f64; 3] = [1.0, 0.03, 0.04];
/// likewise where `HyStart` may have come too late, of which 26, 7 and none were;
const DOUBLED_ON_SHORT_PATH: [f64; 3] = [1.0, 0.27, 0.03];
/// half of a flight lost at once, of which 14, 3 and 2 were;
const LOST_BY_HALF: [f64; 3] = [1.0, 0.23, 0.23];
/// likewise where packets overtook others, of which 44, one and none were;
const LOST_WHILE_OVERTAKEN: [f64; 3] = [1.0, 0.05, 0.04];
/// and a flight that grew on behind slow start, of which none, 7 and 1 were.
const GREW_ON: [f64; 3] = [0.07, 1.0, 0.28];
/// Others' packets, or an error, may end what BBR has kept in flight since its start-up, which ends without a loss as well: up to what start-up keeps, and
/// a few segments where acknowledgements come together, the same says less against it.
const GREW_ON_AS_BBR: [f64; 3] = [0.07, 1.0, 0.5];
const STARTUP: f64 = 2.89;
pub(super) const FEW_SEGMENTS: f64 = 10.0;

/// The flight at the first loss.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    segments: f64,
    /// How many segments the path holds without a queue.
    path: f64,
    /// What was sent until then, and what of it was sent again, as shares of the flight.
    sent: f64,
    sent_again: f64,
    /// A window held it down; that takes nothing from a flight that is beyond what another algorithm allows.
    is_capped: bool,
    has_sack: bool,
}

/// What the path holds without a queue, in bytes; `None` where its rate or round trip is not known.
pub(super) fn path_bytes(data: &DirectionStats) -> Option<f64> {
    // Where packets overtake each other, the least round trip of a segment may be too short.
    let handshake_s = data.epochs.opening.round_trip.as_secs_f64();
    let trip_s = data.path_rtt_min_s.unwrap_or(0.0).max(handshake_s);
    data.capacity_bps.filter(|_| trip_s > 0.0).map(|bps| (bps / 8.0 * trip_s).max(1.0))
}

impl Flight {
    /// `None` without a loss, or where what the path holds is not known.
    pub(super) fn of(data: &DirectionStats) -> Option<Self> {
        Self::at(data.epochs.losses().first()?, data)
    }

    /// That at the first loss of many segments, which is none of packets that were overtaken alone.
    fn at_first_large_loss(data: &DirectionStats) -> Option<Self> {
        let flights = data.epochs.losses().iter().filter(|loss| loss.resent >= MANY_RESENT);
        flights
            .filter_map(|loss| Self::at(loss, data))
            .find(|flight| flight.sent_again >= LARGE_SHARE)
    }

    fn at(loss: &FlightAtLoss, data: &DirectionStats) -> Option<Self> {
        let segment = f64::from(data.full_segment());
        let bytes = loss.in_flight.max(1) as f64;
        Some(Self {
            segments: bytes / segment,
            path: path_bytes(data)? / segment,
            sent: loss.sent_since as f64 / bytes,
            sent_again: f64::from(loss.resent) * segment / bytes,
            is_capped: loss.is_capped,
            has_sack: data.sack_permitted,
        })
    }

    /// How many times what the path holds it is.
    fn over(&self) -> f64 {
        self.segments / self.path
    }

    /// Slow start goes on for a round trip until a full queue's loss shows, and loses a good part of what that brings. With SACK all of
    /// it is sent again in one recovery: where that was little, slow start had ended.
    pub(super) fn loses_little(&self) -> bool {
        self.has_sack && self.sent_again < LOST_BY_DOUBLING && !self.is_beyond_startup()
    }

    fn is_doubled(&self) -> bool {
        (LEAST_DOUBLING..=BY_DOUBLING).contains(&self.sent) && !self.loses_little()
    }

    /// It is more than BBR puts into any path without a policer.
    fn is_beyond_startup(&self) -> bool {
        self.over() > BEYOND_STARTUP && self.sent_again < BY_POLICER
    }

    /// Doubled so far into a queue that `HyStart` would have ended slow start.
    fn is_doubled_into_queue(&self) -> bool {
        let hystart_works = self.path >= LEAST_PATH || self.segments >= LATE_HYSTART;
        self.is_doubled() && self.over() >= QUEUED && hystart_works
    }

    /// Half of a large flight was lost at once.
    fn is_lost_by_half(&self) -> bool {
        (LEAST_DOUBLING..=BY_SLOW_DOUBLING).contains(&self.sent)
            && self.over() >= ABOVE_PATH
            && self.segments >= LARGE_FLIGHT
            && self.sent_again >= MUCH_LOST
    }

    /// Half of a flight was lost that slow start had doubled beyond what start-up keeps, whatever overtook it.
    fn is_lost_while_overtaken(&self) -> bool {
        self.segments >= LARGE_FLIGHT
            && self.over() >= BEYOND_STARTUP_OVERTAKEN
            && self.sent <= BY_DOUBLING
            && BY_SLOW_START.contains(&self.sent_again)
    }

    /// It is what BBR may keep in flight.
    fn is_within_bbr(&self) -> bool {
        self.segments <= STARTUP * self.path + FEW_SEGMENTS
    }

    /// It grew on into a queue behind slow start, and lost only what it grew by.
    fn grew_on(&self) -> bool {
        self.sent >= BY_GROWING && self.over() >= FULL && self.sent_again <= LITTLE_LOST
    }
}

/// What the first loss shows.
pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Clue {
    // What is overtaken seems lost.
    if super::is_overtaken(data) {
        return while_overtaken(data, limit);
    }
    let is_held = super::hides_opening(data, limit);
    let shows = |flight: &Flight| !flight.is_capped || flight.is_beyond_startup();
    let flight = Flight::of(data).filter(|_| !data.begins_late && !is_held);
    match flight.filter(shows) {
        // A buffer that holds the flight down later makes it grow more slowly before, too.
        Some(flight) => at(&flight, limit != LimitedBy::SendBuffer),
        None => Clue::default(),
    }
}

/// What the first loss of many segments shows, where packets overtake each other.
fn while_overtaken(data: &DirectionStats, limit: LimitedBy) -> Clue {
    let is_held = data.begins_late || super::is_held_by_program(data, limit);
    let flight = Flight::at_first_large_loss(data).filter(Flight::is_lost_while_overtaken);
    let Some(flight) = flight.filter(|_| !is_held) else { return Clue::default() };
    let (lost, over) = (approx::whole_percent(flight.sent_again), flight.over());
    let text =
        format!("{lost} of a flight of {over:.1} times what the path holds were lost at once");
    Clue::new(LOST_WHILE_OVERTAKEN, MOST, &[Reno], text)
}

fn at(flight: &Flight, grows_freely: bool) -> Clue {
    let over = flight.over();
    if flight.is_doubled_into_queue() {
        let text = format!("its first flights doubled up to {over:.1} times what the path holds");
        if flight.is_beyond_startup() {
            Clue::new(DOUBLED_BEYOND_STARTUP, MOST, &[Reno], text)
        } else {
            Clue::new(DOUBLED, MOST, &[Reno, Bbr], text)
        }
    } else if flight.is_doubled() && flight.is_beyond_startup() && flight.segments >= LEAST_FLIGHT {
        let text = format!("the first loss came at {over:.1} times what the path holds");
        Clue::new(DOUBLED_ON_SHORT_PATH, MOST, &[Reno, Cubic], text)
    } else if flight.is_lost_by_half() {
        let lost = approx::whole_percent(flight.sent_again.min(1.0));
        let text = format!("slow start ended where {lost} of a flight were lost");
        Clue::new(LOST_BY_HALF, MOST, &[Reno], text)
    } else if grows_freely && flight.grew_on() {
        let text = "slow start ended before the first loss, and the flight went on growing";
        let seen = if flight.is_within_bbr() { GREW_ON_AS_BBR } else { GREW_ON };
        Clue::new(seen, MOST, &[Cubic], text.to_owned())
    } else {
        Clue::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::CongestionAlgorithm;
    use crate::evidence::CongestionEpochs;
    use crate::units::Time;

    const SEGMENT: u64 = 1000;

    /// A path that holds 50 segments, and a first loss at such a flight after so many segments.
    fn direction(flight: u64, sent: u64, resent: u32) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        epochs.push_loss(FlightAtLoss {
            in_flight: flight * SEGMENT,
            sent_since: sent * SEGMENT,
            resent,
            ..FlightAtLoss::default()
        });
        DirectionStats {
            mss_used_bytes: Some(1000),
            sack_permitted: true,
            capacity_bps: Some(8e6),
            path_rtt_min_s: Some(0.05),
            epochs,
            ..DirectionStats::default()
        }
    }

    fn shown(data: &DirectionStats) -> Option<CongestionAlgorithm> {
        let found = of(data, LimitedBy::Bandwidth);
        (found.count() > 0).then(|| found.weights.best().0)
    }

    fn spoken_for(data: &DirectionStats) -> Vec<CongestionAlgorithm> {
        let found = of(data, LimitedBy::Bandwidth);
        [Reno, Cubic, Bbr].into_iter().filter(|name| found.sentence(*name).is_some()).collect()
    }

    #[test]
    fn doubling_into_a_queue_is_not_cubic_and_slower_growth_is() {
        assert_eq!(spoken_for(&direction(200, 390, 95)), [Reno, Bbr]);
        assert_eq!(shown(&direction(300, 590, 150)), Some(Reno));
        assert_eq!(shown(&direction(120, 1400, 6)), Some(Cubic));
    }

    /// Twice what the path holds is what BBR keeps: a packet of others may end that, too.
    #[test]
    fn a_flight_within_what_bbr_keeps_speaks_less_against_it() {
        let probability =
            |segments| of(&direction(segments, 1400, 6), LimitedBy::Bandwidth).weights.best().1;
        assert!(probability(120) < 0.7, "{}", probability(120));
        assert!(probability(180) > 0.7, "{}", probability(180));
    }

    /// From 10 segments on slow start sends 10, 20, 40 and so on: about twice the flight. BBR keeps 2.89 times the path at most.
    #[test]
    fn a_flight_beyond_start_up_is_not_of_bbr() {
        let probability = |data: &DirectionStats| of(data, LimitedBy::Bandwidth).weights.best().1;
        assert!(probability(&direction(300, 590, 150)) > probability(&direction(200, 390, 95)));
        // On a short path `HyStart` may come too late: Reno and CUBIC are not told apart, but no BBR.
        let mut short = direction(60, 108, 30);
        short.path_rtt_min_s = Some(0.009);
        assert_eq!(spoken_for(&short), [Reno, Cubic]);
        // A policer drops what is above its rate, from any sender.
        let mut policed = short.clone();
        policed.epochs = direction(60, 108, 60).epochs;
        assert_eq!(shown(&policed), None);
    }

    /// Slow start into a queue of three times the path loses half of the flight: few lost segments are of slow growth. Without SACK
    /// a recovery may end before all are sent again.
    #[test]
    fn slow_start_loses_much() {
        let mut data = direction(200, 390, 8);
        assert_eq!(shown(&data), None);
        data.sack_permitted = false;
        assert_eq!(spoken_for(&data), [Reno, Bbr]);
    }

    #[test]
    fn half_of_a_flight_lost_at_once_is_reno() {
        // A window held slow start up for two round trips; then it overshot a queue of a fifth of the path.
        let mut data = direction(120, 540, 60);
        data.path_rtt_min_s = Some(0.1);
        assert_eq!(shown(&data), Some(Reno));
        // Errors strike few.
        data.epochs = direction(120, 540, 3).epochs;
        assert_eq!(shown(&data), None);
    }

    /// Each flight that is overtaken seems to lose some; half of one is lost to slow start.
    #[test]
    fn slow_start_shows_behind_losses_that_were_none() {
        let mut data = direction(40, 70, 2);
        let slow_start = FlightAtLoss {
            at: Time::from_secs(1),
            in_flight: 300 * SEGMENT,
            sent_since: 500 * SEGMENT,
            resent: 150,
            ..FlightAtLoss::default()
        };
        data.epochs.push_loss(slow_start);
        assert_eq!(shown(&data), None);
        (data.data_packets, data.out_of_order_packets) = (1000, 40);
        assert_eq!(spoken_for(&data), [Reno]);
        // What BBR has in flight at most may be lost as well.
        data.epochs = direction(150, 250, 75).epochs;
        assert_eq!(shown(&data), None);
    }

    /// Segments that overtake others seem to have been faster than the path.
    #[test]
    fn the_handshake_bounds_the_round_trip() {
        let mut data = direction(120, 230, 40);
        assert_eq!(spoken_for(&data), [Reno, Bbr]);
        data.epochs.opening.round_trip = Time::from_millis(100);
        assert_eq!(shown(&data), None);
    }

    #[test]
    fn without_a_queue_slow_start_tells_nothing() {
        assert_eq!(shown(&direction(40, 78, 1)), None);
        assert_eq!(shown(&direction(40, 1400, 1)), None);
    }
}
