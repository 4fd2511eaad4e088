//! How far a congestion window has grown since the last loss, whatever the sender makes of it.
//!
//! Behind a loss the window grows by a segment in each round trip, or by half of one where every second segment is acknowledged
//! (RFC 5681 §3.1); CUBIC's grows no more slowly (RFC 9438 §4.3). A flight that stays far below that is held by something else: a
//! receive window, a send buffer, or a program.

use super::loss::MUCH_LOSS;
use super::trip_view::is_at_sender;
use crate::evidence::{Bin, DirectionStats};
use crate::units::Time;

/// Segments that a window grows by in each round trip, at least.
const GROWTH: f64 = 0.5;
/// A flight is held by something else where that alone is so many times as much: round trips are known to less than that.
const OUTGROWN: f64 = 1.2;
/// Fewer segments show no clock; nor do they where acknowledgements come so thick that chance explains everything.
const ENOUGH: u32 = 8;
const CROWDED: f64 = 0.5;
/// Chance varies by so much.
const ABOUT: f64 = 0.05;

/// Round trips since the last loss; `None` where nothing was lost yet, or that tells nothing. What the loss left of the window does not count:
/// after an expiry of the timer it is a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct SinceLoss {
    trips: Option<f64>,
    tells: bool,
}

impl SinceLoss {
    /// It tells something at a sender that acknowledgements clock and that loses little: BBR, which paces, has no such window, and elsewhere neither
    /// flights nor the clock are known so well.
    pub(super) fn of(data: &DirectionStats, is_clocked: bool) -> Self {
        let has_few = data.needed_retransmissions() as f64 <= MUCH_LOSS * data.data_packets as f64;
        Self { trips: None, tells: is_clocked && is_at_sender(data) && has_few }
    }

    /// An interval passes; a round trip takes so many seconds.
    pub(super) fn pass(&mut self, bin: &Bin, round_trip_s: Option<f64>) {
        if bin.losses > 0 {
            self.trips = Some(0.0);
        } else if let (Some(trips), Some(each)) =
            (&mut self.trips, round_trip_s.filter(|it| *it > 0.0))
        {
            *trips += bin.duration.as_secs_f64() / each;
        }
    }

    /// Whether something else than the window holds the sender back in an interval without losses: the window is far beyond its flight, or
    /// it sends by a clock of its own.
    pub(super) fn is_past(self, bin: &Bin, segment: u64) -> bool {
        self.tells
            && bin.losses == 0
            && (self.has_outgrown(bin.in_flight_max, segment) || has_own_clock(bin))
    }

    /// Whether the window is far beyond a flight, in segments of this size.
    fn has_outgrown(self, flight: u64, segment: u64) -> bool {
        self.trips.is_some_and(|trips| GROWTH * trips * segment as f64 > OUTGROWN * flight as f64)
    }
}

/// Whether no more of an interval's payload left at once after an acknowledgement than chance has it: a congestion window is full whenever
/// something is sent, and lets a segment go when an acknowledgement comes (RFC 5681 §3.1).
fn has_own_clock(bin: &Bin) -> bool {
    let seconds = bin.duration.as_secs_f64();
    let by_chance = bin.clock_time.as_secs_f64() / seconds.max(f64::MIN_POSITIVE);
    bin.segments >= ENOUGH
        && bin.rto_wait == Time::ZERO
        && by_chance < CROWDED
        && bin.clocked_bytes as f64 <= (by_chance + ABOUT) * bin.sent_bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grows_behind_a_loss() {
        let round_trip = Bin { duration: Time::from_millis(40), ..Bin::default() };
        let mut since = SinceLoss { trips: None, tells: true };
        let pass = |since: &mut SinceLoss, times| {
            for _ in 0..times {
                since.pass(&round_trip, Some(0.04));
            }
        };
        pass(&mut since, 100);
        assert!(!since.has_outgrown(1, 1000), "nothing was lost");
        since.pass(&Bin { losses: 1, ..round_trip }, Some(0.04));
        pass(&mut since, 20);
        // Twenty round trips are ten segments: half a window of twenty grows back in that.
        assert!(!since.has_outgrown(20_000, 1000));
        assert!(since.has_outgrown(8_000, 1000), "a send buffer of eight");
    }

    #[test]
    fn a_full_window_is_clocked_by_acknowledgements() {
        let sends = |clocked_bytes, losses| {
            let bin = Bin {
                duration: Time::from_millis(100),
                clock_time: Time::from_millis(10),
                segments: 20,
                sent_bytes: 50_000,
                in_flight_max: 60_000,
                clocked_bytes,
                losses,
                ..Bin::default()
            };
            SinceLoss { trips: Some(5.0), tells: true }.is_past(&bin, 1448)
        };
        assert!(!sends(50_000, 0));
        assert!(sends(1_500, 0), "a program that writes by a clock");
        assert!(!sends(1_500, 1), "what was lost is repaired");
        let tells = |behind, is_clocked| {
            let (rtt_min_s, path_rtt_min_s) = (Some(behind), Some(0.04));
            let data = DirectionStats {
                rtt_min_s,
                path_rtt_min_s,
                data_packets: 1000,
                ..DirectionStats::default()
            };
            SinceLoss::of(&data, is_clocked).tells
        };
        assert!(tells(0.04, true));
        assert!(!tells(0.04, false), "BBR");
        assert!(!tells(0.001, true), "at the receiver");
    }
}
