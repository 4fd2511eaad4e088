//! What a capture shows where packets overtake each other, on the way or in the capture itself: neither round trips nor the rate of arrivals are
//! those of a queue then, and pauses are not those of the sender.

use super::full_link::{FULL_LINK, is_at};
use super::loss_cause::loses_much;
use super::pace::variation;
use crate::evidence::{CaptureFacts, DirectionStats, Evidence};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// From this share of packets on: below it most trains of segments arrive as they left the link.
const MANY: f64 = 0.1;
/// A link that is always full carries the same: the rate varies by less than this share of itself. That of a congestion window that
/// overtaking reduces again and again varies as it does.
const SAME_RATE: f64 = 0.05;
/// So is one that carries what the first flight did, which was sent at once, before anything had a queue to overtake in. One that sends less than
/// this share of its packets again grows to what the path carries.
const FEW_AGAIN: f64 = 0.002;
/// Where acknowledgements stand before their data for so many of the segments, and segments out of order as well, the capture has not the order in
/// which a host sent and received; one clock that is behind another leaves the order of each direction as it was.
const MANY_EARLY: f64 = 0.05;
/// Flights are not the sender's either where so many packets were stored behind later ones, and so many segments came out of order in the order of
/// their times: the times are wrong then, and not the place in the file.
const MANY_BEHIND: f64 = 0.05;
const SOME_OVERTAKEN: f64 = 0.01;
/// So few may be chance.
const FEW: u64 = 5;
/// So often a clock may be set during a capture.
const FEW_STEPS: u64 = 4;
/// Nobody sends so many segments again whose acknowledgements passed before.
const MANY_PAST: u64 = 50;

/// Whether a limit shows in the distances of packets, and in how long they wait.
pub(super) fn needs_order(limit: LimitedBy) -> bool {
    limit == LimitedBy::Bandwidth
}

/// Whether the times of a file are of no use: a clock that is set is set once or twice; what steps again and again is a file whose packets do
/// not stand in the order of their times. So is one that steps once, and then brings what was acknowledged and missing before.
pub(super) fn has_no_order(evidence: &Evidence) -> bool {
    let steps = evidence.capture.clock_steps;
    let brings_the_past = |data: &DirectionStats| {
        data.spurious.acknowledged >= MANY_PAST
            && 2 * data.retransmitted_bytes >= data.lost_by_capture()
    };
    let is_past = || {
        [&evidence.forward, &evidence.reverse]
            .into_iter()
            .any(|data| data.lost_by_capture() > 0 && brings_the_past(data))
    };
    steps > FEW_STEPS || steps > 0 && is_past()
}

/// Why the limit is unknown though a link seems to be full, or losses to limit; `None` where that is not in doubt.
pub(super) fn in_doubt(
    data: &DirectionStats,
    capture: &CaptureFacts,
    limit: LimitedBy,
) -> Option<String> {
    let early = capture.acks_before_data as f64 / (data.data_packets_once() as f64).max(1.0);
    let has_no_order = data.out_of_order_packets > FEW && early >= MANY_EARLY;
    if limit == LimitedBy::Congestion && has_no_order && !loses_much(data) {
        return Some(format!(
            "{} of the acknowledgements were captured before their data: in that order it does not show whether losses or pauses of the \
             sender limit; a capture that keeps the order (one queue of the interface, one tap) shows it",
            approx::whole_percent(early.min(1.0))
        ));
    }
    let share = data.out_of_order_share();
    let again = data.retransmitted_packets as f64 / (data.data_packets_once() as f64).max(1.0);
    let is_even = || variation(data).is_some_and(|varies| varies < SAME_RATE);
    let is_doubtful = || !is_even() && !is_at(data, data.first_flight_bps, FULL_LINK);
    (needs_order(limit) && share >= MANY && again >= FEW_AGAIN && is_doubtful()).then(|| {
        format!(
            "{} of the segments arrived out of order, and where packets overtake each other, neither the rate at which they arrive \
             nor round trips show a full link; a capture at the sender shows more",
            approx::whole_percent(share.min(1.0))
        )
    })
}

/// Why flights and departures do not show the congestion control: the capture has not the order in which the sender sent and heard, as on a
/// busy host whose queues have their times apart; `None` where it has.
pub(super) fn hides_flights(data: &DirectionStats, capture: &CaptureFacts) -> Option<String> {
    let packets = (data.data_packets_once() as f64).max(1.0);
    let early = capture.acks_before_data as f64 / packets;
    let behind = capture.late_packets as f64 / packets;
    let is_disordered = data.out_of_order_packets > 0 || data.lost_by_capture() > 0;
    let has_wrong_times = behind >= MANY_BEHIND && data.out_of_order_share() >= SOME_OVERTAKEN;
    let (share, how) = if early >= MANY_EARLY && is_disordered {
        (early, "the acknowledgements were captured before their data")
    } else if has_wrong_times {
        (behind, "the packets have times that are not in the order of the file")
    } else {
        return None;
    };
    Some(format!(
        "{} of {how}: flights of such a capture are not those of the sender",
        approx::whole_percent(share.min(1.0))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(data: &DirectionStats, early: u64, limit: LimitedBy) -> Option<String> {
        let capture = CaptureFacts { acks_before_data: early, ..CaptureFacts::default() };
        in_doubt(data, &capture, limit)
    }

    #[test]
    fn a_full_link_is_in_doubt_where_packets_overtake_each_other() {
        let data = |out_of_order_packets| DirectionStats {
            data_packets: 1000,
            retransmitted_packets: 5,
            out_of_order_packets,
            ..DirectionStats::default()
        };
        let found = doubt(&data(240), 0, LimitedBy::Bandwidth);
        assert!(found.is_some_and(|text| text.starts_with("24% of the segments")));
        assert_eq!(doubt(&data(240), 0, LimitedBy::ReceiveWindow), None);
        assert_eq!(doubt(&data(50), 0, LimitedBy::Bandwidth), None);
        let unhurt = DirectionStats { retransmitted_packets: 1, ..data(240) };
        assert_eq!(doubt(&unhurt, 0, LimitedBy::Bandwidth), None);
    }

    #[test]
    fn losses_are_in_doubt_where_acknowledgements_stand_before_their_data() {
        let data = |lost| DirectionStats {
            data_packets: 1000,
            retransmitted_packets: lost,
            out_of_order_packets: 15,
            ..DirectionStats::default()
        };
        assert!(doubt(&data(12), 230, LimitedBy::Congestion).is_some());
        let in_order = DirectionStats { out_of_order_packets: 0, ..data(12) };
        assert_eq!(doubt(&in_order, 800, LimitedBy::Congestion), None, "two clocks");
        assert_eq!(doubt(&data(12), 20, LimitedBy::Congestion), None, "a few");
        assert_eq!(doubt(&data(90), 230, LimitedBy::Congestion), None, "losses limit in any order");
        assert_eq!(doubt(&data(12), 230, LimitedBy::ReceiveWindow), None);
    }

    #[test]
    fn a_capture_without_order_shows_no_flights() {
        let hides = |early, behind, out_of_order_packets| {
            let capture = CaptureFacts {
                acks_before_data: early,
                late_packets: behind,
                ..CaptureFacts::default()
            };
            let data = DirectionStats {
                data_packets: 1000,
                out_of_order_packets,
                ..DirectionStats::default()
            };
            hides_flights(&data, &capture)
        };
        let why = hides(260, 0, 4).unwrap();
        assert!(why.starts_with("26% of the acknowledgements"), "{why}");
        assert_eq!(hides(260, 0, 0), None, "one clock behind another");
        assert_eq!(hides(20, 0, 40), None, "the path reorders");
        assert!(hides(0, 490, 150).is_some());
        assert_eq!(hides(0, 490, 0), None, "the file alone was out of order");
    }
}
