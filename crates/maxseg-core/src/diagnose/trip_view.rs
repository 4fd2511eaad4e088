//! What is seen of the round trips of a transfer: whether they are those of the whole path, and whether they hold a queue.

use super::full_link::{held_s, is_at, trains_bps};
use super::stops::goodput_while_read;
use crate::evidence::{DirectionStats, WayDelay};
use crate::units::Time;

/// Round trips are flat while nine of ten under load are within so many times the least,
const FLAT: f64 = 1.15;
/// and a step of a coarse clock.
pub(crate) const CLOCK_STEP: Time = Time::from_millis(1);
/// A queue is seen where one round trip of twenty under load is so many times the least.
const QUEUED: f64 = 1.3;
/// The capture point is at the sender where the path behind it has this share of the round trip.
const AT_SENDER: f64 = 0.9;
/// A link that is busy for less of the time is no limit.
pub(super) const BUSY: f64 = 0.6;
/// Segments of a first window (RFC 6928).
const FIRST_WINDOW: f64 = 10.0;

/// What is seen of the round trips of the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundTripView {
    /// They are measured elsewhere than where the queue is, or not at all.
    Unseen,
    Flat,
    /// Longer under load, but no queue for sure.
    Varied,
    Queued,
}

impl RoundTripView {
    pub(super) fn of(data: &DirectionStats, acks: &DirectionStats) -> Self {
        let Some(least) = data.path_rtt_min_s else { return Self::Unseen };
        if !sees_round_trips(data, acks) {
            return Self::Unseen;
        }
        if ways_are_flat(data, acks) {
            return Self::Flat;
        }
        // The first window is sent at once, whatever the pace afterwards, and queues.
        let first = if data.begins_late { 0.0 } else { FIRST_WINDOW };
        let first = (first / data.loaded_round_trips.count() as f64).min(0.5);
        let seconds = |share: f64| {
            data.loaded_round_trips.quantile(share.min(1.0 - first)).map(Time::as_secs_f64)
        };
        match (seconds(0.9), seconds(0.95)) {
            (Some(most), _) if most <= FLAT * least + CLOCK_STEP.as_secs_f64() => Self::Flat,
            (_, Some(most)) if most > QUEUED * least + CLOCK_STEP.as_secs_f64() + held_s(data) => {
                Self::Queued
            }
            _ => Self::Varied,
        }
    }
}

/// Whether nothing waits on either way, by the timestamps of both ends: no queue makes round trips longer, whatever a packet that
/// overtakes the others takes.
pub(super) fn ways_are_flat(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let ways = data.way_delay.zip(acks.way_delay).zip(data.path_rtt_min_s);
    ways.is_some_and(|((there, back), least)| is_flat(there, least) && is_flat(back, least))
}

/// Whether nothing waits on one way, by the timestamps of both ends, on a path of this least round trip in seconds.
pub(super) fn is_flat(way: WayDelay, least_s: f64) -> bool {
    way.high_s <= (FLAT - 1.0) * least_s + 2.0 * CLOCK_STEP.as_secs_f64()
}

/// Whether round trips are no longer than a delayed acknowledgement makes them.
pub(super) fn waits_for_second_segment(data: &DirectionStats) -> bool {
    let most = data.loaded_round_trips.quantile(0.9).map(Time::as_secs_f64);
    most.zip(data.path_rtt_min_s)
        .is_none_or(|(most, least)| most <= FLAT * least + CLOCK_STEP.as_secs_f64() + held_s(data))
}

/// Whether the capture point is at the sender, or next to it, where round trips are known.
pub(crate) fn is_at_sender(data: &DirectionStats) -> bool {
    let ends = data.rtt_min_s.zip(data.path_rtt_min_s);
    ends.is_some_and(|(behind, path)| path > 0.0 && behind >= AT_SENDER * path)
}

/// Whether round trips of the whole path are seen: near the sender, or by timestamps.
pub(super) fn sees_round_trips(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let Some((least, behind)) = data.path_rtt_min_s.zip(data.rtt_min_s) else { return false };
    behind >= 0.5 * least || data.timestamps && acks.timestamps
}

/// What is in flight on the average, in what the path holds without a queue, where round trips of the whole path are seen and the link
/// is busy.
pub(super) fn flight_by_trips(data: &DirectionStats, acks: &DirectionStats) -> Option<f64> {
    let trips = data.path_rtt_mean_s.zip(data.path_rtt_min_s);
    let (mean, least) = trips.filter(|_| sees_round_trips(data, acks))?;
    let (goodput, link) = goodput_while_read(data).zip(trains_bps(data))?;
    is_at(data, Some(link), BUSY).then(|| goodput / link * (mean / least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_sender_all_of_the_path_is_behind_the_capture_point() {
        let is_there = |behind| {
            let (rtt_min_s, path_rtt_min_s) = (Some(behind), Some(0.04));
            is_at_sender(&DirectionStats { rtt_min_s, path_rtt_min_s, ..DirectionStats::default() })
        };
        assert!(is_there(0.04));
        assert!(!is_there(0.02) && !is_there(0.001));
        assert!(!is_at_sender(&DirectionStats::default()), "unknown");
    }

    #[test]
    fn where_nothing_waits_on_either_way_longer_round_trips_are_no_queue() {
        let way = |high_s| WayDelay {
            count: 500,
            low_s: 0.0,
            median_s: 0.0,
            high_s,
            ..WayDelay::default()
        };
        let are_flat = |there, back| {
            let of = |high_s| DirectionStats {
                way_delay: Some(way(high_s)),
                path_rtt_min_s: Some(0.02),
                ..DirectionStats::default()
            };
            ways_are_flat(&of(there), &of(back))
        };
        assert!(are_flat(0.002, 0.001));
        assert!(!are_flat(0.02, 0.001) && !are_flat(0.002, 0.02));
        let unknown = DirectionStats::default();
        assert!(!ways_are_flat(&unknown, &unknown), "without timestamps");
    }
}
