//! What one direction alone shows, and a shut window without the handshake. Flights and windows are not seen together there:
//! few limits leave a sign, and the others stay unknown.

use super::data_queue::tell_delays;
use super::intervals::{busy_bins, share_of_time};
use super::pace::variation;
use crate::evidence::{Direction, DirectionStats, Evidence};
use crate::outcome::LimitedBy;
use crate::units::Time;

/// The application limits where the sender had nothing more to send for this share of the time.
const OUT_OF_DATA: f64 = 0.5;
/// Losses without a change of the rate are those of a full link: it varies by less than this share of itself.
const CEILING: f64 = 0.08;
/// Losses that come with changes of the rate by more than this share of it, so many of them, are what limits.
const CHANGES: f64 = 0.25;
const MANY_LOSSES: u64 = 6;
/// The data queues where three of four segments wait for so long beyond the least, and half of them for twice as long.
const QUEUE_S: f64 = 0.005;
/// A window that shut so often is what limits.
const OFTEN_SHUT: u64 = 5;
/// So is one that is low for this share of the time.
const LOW: f64 = 0.5;

/// The limit of a connection of which only one direction was captured, where that shows it.
pub(super) fn limit(evidence: &Evidence, direction: Direction) -> Option<LimitedBy> {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    if !evidence.marks.one_way {
        // Without the handshake windows are known by what was in flight only: one that is shut is, whatever its scale.
        (evidence.marks.mid_stream && is_read_slowly(acks)).then_some(LimitedBy::ReceiveWindow)
    } else if data.payload_bytes > 0 {
        of_data(data, acks)
    } else {
        of_acks(data, acks)
    }
}

/// The data alone shows pauses behind short segments, losses, and how the rate changes.
fn of_data(data: &DirectionStats, acks: &DirectionStats) -> Option<LimitedBy> {
    if is_asked(data, acks) && share_of_time(data, |bin| bin.app_limited) >= OUT_OF_DATA {
        return Some(LimitedBy::Application);
    }
    let lost = data.needed_retransmissions();
    let varies = variation(data)?;
    if lost > 0 && varies < CEILING {
        Some(LimitedBy::Bandwidth)
    } else if data.loss_episodes.count() >= MANY_LOSSES && varies > CHANGES {
        Some(LimitedBy::Congestion)
    } else {
        None
    }
}

/// Whether pauses end with payload of the other end, requests, of which this one acknowledges a byte for each at least: a window
/// stops a sender behind a short segment as well.
fn is_asked(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let pauses = busy_bins(data).filter(|bin| bin.app_limited > Time::ZERO).count();
    acks.acked_bytes > 0 && acks.acked_bytes >= pauses as u64
}

/// Whether the windows of these acknowledgements were often shut, or small beside the largest for most of the time.
fn is_read_slowly(acks: &DirectionStats) -> bool {
    acks.window_shut_times >= OFTEN_SHUT || acks.low_windows.is_some_and(|share| share >= LOW)
}

/// Whether the reader is behind for most of the time, and its buffer becomes full again and again: then it sets the pace, as
/// what is lost is sent again before it has read the rest.
pub(super) fn is_always_behind(acks: &DirectionStats) -> bool {
    acks.window_shut_times >= OFTEN_SHUT && acks.low_windows.is_some_and(|share| share >= LOW)
}

/// The acknowledgements alone show windows, and by their timestamps how long the data was on its way.
fn of_acks(data: &DirectionStats, acks: &DirectionStats) -> Option<LimitedBy> {
    if is_read_slowly(acks) {
        return Some(LimitedBy::ReceiveWindow);
    }
    let way = data.way_delay.filter(|_| tell_delays(acks))?;
    (way.low_s >= QUEUE_S && way.median_s >= 2.0 * QUEUE_S).then_some(LimitedBy::Bandwidth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::WayDelay;

    #[test]
    fn acknowledgements_show_windows_and_queues() {
        let none = DirectionStats::default();
        let shut = DirectionStats { window_shut_times: 9, ..DirectionStats::default() };
        assert_eq!(of_acks(&none, &shut), Some(LimitedBy::ReceiveWindow));
        let low = DirectionStats { low_windows: Some(0.8), ..DirectionStats::default() };
        assert_eq!(of_acks(&none, &low), Some(LimitedBy::ReceiveWindow));
        let way = |low_s, median_s| {
            let way = WayDelay { count: 500, low_s, median_s, high_s: median_s };
            DirectionStats { way_delay: Some(way), ..DirectionStats::default() }
        };
        assert!(!is_always_behind(&shut) && !is_always_behind(&low), "it may have caught up");
        assert!(is_always_behind(&DirectionStats { window_shut_times: 9, ..low }));
        let none = DirectionStats { packets: 500, ..none };
        assert_eq!(of_acks(&way(0.02, 0.03), &none), Some(LimitedBy::Bandwidth));
        assert_eq!(of_acks(&way(0.0, 0.03), &none), None);
        assert_eq!(of_acks(&none, &none), None);
        let lossy = DirectionStats { duplicate_acks: 100, ..none };
        assert_eq!(of_acks(&way(0.02, 0.03), &lossy), None);
    }
}
