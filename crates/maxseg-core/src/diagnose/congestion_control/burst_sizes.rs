//! How many segments come at a time where the link is not full.
//!
//! BBR hands its device what its pace sends in a millisecond, at least two segments, or one below 1.2 Mbit/s, and waits until these
//! were sent (`bbr_min_tso_segs` in `net/ipv4/tcp_bbr.c`, `tcp_tso_autosize` in `net/ipv4/tcp_output.c`). Acknowledgements of two
//! segments release two as well, but one more where the window grows, and many where they come together. In front of a link that is
//! not full nothing joins what left apart: so it arrives, and needs neither round trips nor timestamps.

use super::CongestionAlgorithm::{Bbr, Cubic, Reno};
use super::clue::Clue;
use crate::evidence::{Bursts, DirectionStats};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// A window that grows by a segment in some round trips sends more than two in a larger share of its bursts: losses and reordering
/// bring no more about in those of BBR.
const MOST_LARGER: f64 = 0.04;
/// Single segments are what others' packets, or losses, cut of bursts of two: so many stay whole.
const LEAST_WHOLE: f64 = 0.25;
/// Below this pace BBR sends segments one by one (`bbr_min_tso_rate`): nearly all of them.
const ONE_BY_ONE_BPS: f64 = 1.2e6;
const NEARLY_ALL: f64 = 0.9;
/// A pace that a socket, a shaper or a narrow link of the acknowledgements sets has equal intervals. BBR's is 1.25 and 0.75 of itself
/// in two of eight phases (`bbr_pacing_gain`).
const EQUAL: f64 = 0.9;
/// From what a policer drops BBR learns its rate, and paces at that alone (`bbr_lt_bw_sampling`): at equal intervals, as a shaper of the host does,
/// which loses nothing of that. So large a share was lost: all 7 such captures at the receiver were of BBR.
const POLICED: f64 = 0.05;
/// So many larger bursts, on a link that is so far from full, are of a window, where BBR would send two at a time: its pace sends
/// fewer than two in a millisecond.
const MANY_LARGER: f64 = 0.2;
const NOT_FULL: f64 = 0.7;
const TSO_S: f64 = 0.001;
/// How likely these are under Reno, CUBIC and BBR. Of 124 runs of BBR in the lab that lost packets or were under load, seen at the
/// receiver, 51 showed the small bursts and 7 the larger ones; of 337 of the others none and 128. But `fq` at the sender's interface
/// spaces the segments of any algorithm like this, so that they name one with little confidence.
const SMALL: [f64; 3] = [0.15, 0.15, 1.0];
const LARGER: [f64; 3] = [1.0, 1.0, 0.16];
/// In slow start an acknowledgement of two segments releases four, behind it two (RFC 5681 §3.1). Where a narrow link lets acknowledgements through
/// at equal distances, and never a segment was lost, bursts of two with few larger ones are of a window that left slow start without a loss; a
/// pace sends none that are larger.
const RELEASED_TWO: f64 = 0.6;
const STILL_FEW: f64 = 0.25;
/// So many bursts: slow start would have doubled them several times.
const MANY_BURSTS: u32 = 100;
/// Of captures at the receiver without a loss 36 of CUBIC showed them, and none of Reno and BBR.
const ENDED_EARLY: [f64; 3] = [0.04, 1.0, 0.04];
/// Where acknowledgements queue, round trips rise, and `HyStart` ends slow start. Such a share of larger bursts is of slow start that goes on,
const RELEASED_MORE: f64 = 0.6;
/// in so many bursts,
const SOME_BURSTS: u32 = 50;
/// which 10 such captures of Reno showed, and none of 187 of CUBIC and 162 of BBR.
const NEVER_ENDED: [f64; 3] = [1.0, 0.04, 0.04];
/// They speak against an algorithm by this at most: other senders pace as well (`tc-fq(8)`).
const MOST: f64 = 3.5;

/// What the sizes of bursts show.
pub(super) fn of(data: &DirectionStats, limit: LimitedBy, has_ack_path: bool) -> Clue {
    // What a program writes, a pace or a full receive window lets go two by two is no window's growth.
    // Packets that overtake others cut bursts and join them.
    let is_held =
        matches!(limit, LimitedBy::Paced | LimitedBy::Application | LimitedBy::ReceiveWindow);
    if is_held || super::is_overtaken(data) {
        return Clue::default();
    }
    let segment_bits = 8.0 * f64::from(data.full_segment());
    let seen = data.intervals.and_then(|all| Some((all.bursts?, all.equal)));
    let count = data.intervals.map_or(0, |all| all.count);
    let is_free = limit != LimitedBy::SendBuffer && never_lost(data);
    match seen {
        Some((bursts, EQUAL..)) if is_free && count >= MANY_BURSTS && is_released(&bursts) => {
            let text = "acknowledgements at equal distances released two segments each, not four: slow start had \
                        ended without a loss";
            Clue::new(ENDED_EARLY, MOST, &[Cubic], text.to_owned())
        }
        Some((bursts, EQUAL..))
            if is_free
                && has_ack_path
                && count >= SOME_BURSTS
                && larger(&bursts) >= RELEASED_MORE =>
        {
            let text = "acknowledgements at equal distances released more than two segments each: slow start went on \
                        while round trips rose";
            Clue::new(NEVER_ENDED, MOST, &[Reno], text.to_owned())
        }
        Some((bursts, equal))
            if equal < EQUAL && is_small(&bursts) || is_policed(&bursts, data) =>
        {
            let share = approx::whole_percent(1.0 - larger(&bursts));
            let text = format!("{share} of its bursts had two segments at most");
            Clue::new(SMALL, MOST, &[Bbr], text)
        }
        Some((bursts, _)) if is_of_window(&bursts, segment_bits) => {
            let share = approx::whole_percent(larger(&bursts));
            let text = format!("{share} of its bursts had more than two segments");
            Clue::new(LARGER, MOST, &[Reno, Cubic], text)
        }
        _ => Clue::default(),
    }
}

/// The share of those of three segments and more.
fn larger(bursts: &Bursts) -> f64 {
    (1.0 - bursts.of_one - bursts.of_two).max(0.0)
}

/// As BBR sends them.
fn is_small(bursts: &Bursts) -> bool {
    let is_one_by_one = bursts.of_one >= NEARLY_ALL && bursts.rate_bps < ONE_BY_ONE_BPS;
    larger(bursts) < MOST_LARGER && (bursts.of_two >= LEAST_WHOLE || is_one_by_one)
}

/// As BBR sends them at a policer's rate.
fn is_policed(bursts: &Bursts, data: &DirectionStats) -> bool {
    bursts.of_one.max(bursts.of_two) >= NEARLY_ALL && is_small(bursts) && loses_as_policed(data)
}

/// Whether so large a share was lost.
pub(super) fn loses_as_policed(data: &DirectionStats) -> bool {
    data.retransmitted_packets as f64 >= POLICED * data.data_packets_once() as f64
        && data.retransmitted_packets > 0
}

/// As acknowledgements of two segments release them from a window that hardly grows.
fn is_released(bursts: &Bursts) -> bool {
    bursts.of_two >= RELEASED_TWO && (MOST_LARGER..=STILL_FEW).contains(&larger(bursts))
}

/// Whether nothing was lost or marked since the connection began, and no window held its flight down.
fn never_lost(data: &DirectionStats) -> bool {
    let is_capped = data.epochs.as_slice().iter().any(|epoch| epoch.is_capped);
    let has_reduced = data.congestion_marks > 0 || !data.epochs.losses().is_empty();
    !data.begins_late && !is_capped && data.window_full == 0 && !has_reduced
}

/// As acknowledgements release them from a window.
fn is_of_window(bursts: &Bursts, segment_bits: f64) -> bool {
    let by_pace = bursts.rate_bps * TSO_S / segment_bits;
    larger(bursts) >= MANY_LARGER && bursts.busy < NOT_FULL && by_pace < 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::CongestionAlgorithm;
    use crate::evidence::Intervals;

    /// At the receiver, behind a link that was busy for 40% of the time.
    fn direction(of_one: f64, of_two: f64, equal: f64) -> DirectionStats {
        let bursts = Some(Bursts { of_one, of_two, busy: 0.4, rate_bps: 8e6 });
        let intervals =
            Intervals { count: 500, usual_s: 0.003, equal, others: 0, others_equal: 0.0, bursts };
        DirectionStats {
            mss_used_bytes: Some(1448),
            intervals: Some(intervals),
            ..DirectionStats::default()
        }
    }

    fn shown(data: &DirectionStats, limit: LimitedBy) -> Option<CongestionAlgorithm> {
        let found = of(data, limit, false);
        (found.count() > 0).then(|| found.weights.best().0)
    }

    #[test]
    fn two_at_a_time_at_varying_intervals_are_bbr() {
        let data = direction(0.02, 0.97, 0.75);
        assert_eq!(shown(&data, LimitedBy::Congestion), Some(Bbr));
        // One in fourteen has a third segment where acknowledgements release a growing window.
        assert_eq!(shown(&direction(0.19, 0.74, 0.75), LimitedBy::Congestion), None);
    }

    #[test]
    fn another_pace_or_a_full_window_is_not() {
        assert_eq!(shown(&direction(0.01, 0.99, 0.98), LimitedBy::Unknown), None);
        let data = direction(0.02, 0.97, 0.75);
        for limit in [LimitedBy::Paced, LimitedBy::Application, LimitedBy::ReceiveWindow] {
            assert_eq!(shown(&data, limit), None);
        }
    }

    #[test]
    fn packets_that_overtake_others_cut_bursts() {
        let mut data = direction(0.02, 0.97, 0.75);
        (data.data_packets, data.out_of_order_packets) = (1000, 40);
        assert_eq!(shown(&data, LimitedBy::Congestion), None);
    }

    #[test]
    fn below_its_least_pace_bbr_sends_one_by_one() {
        let mut data = direction(0.99, 0.01, 0.8);
        assert_eq!(shown(&data, LimitedBy::Bandwidth), None);
        let bursts = data.intervals.as_mut().and_then(|all| all.bursts.as_mut()).unwrap();
        bursts.rate_bps = 0.6e6;
        assert_eq!(shown(&data, LimitedBy::Bandwidth), Some(Bbr));
        // A shaper's intervals are equal; a policer that BBR has measured drops some.
        if let Some(intervals) = &mut data.intervals {
            intervals.equal = 0.95;
        }
        assert_eq!(shown(&data, LimitedBy::Bandwidth), None);
        (data.data_packets, data.retransmitted_packets) = (200, 14);
        assert_eq!(shown(&data, LimitedBy::Congestion), Some(Bbr));
        // At a policer's rate above 1.2 Mbit/s it sends two at a time.
        let mut twos = direction(0.06, 0.93, 0.95);
        assert_eq!(shown(&twos, LimitedBy::Congestion), None);
        (twos.data_packets, twos.retransmitted_packets) = (200, 14);
        assert_eq!(shown(&twos, LimitedBy::Congestion), Some(Bbr));
    }

    /// A narrow link of the acknowledgements: one in ten adds a segment.
    #[test]
    fn two_for_each_acknowledgement_without_a_loss_are_cubic() {
        let mut data = direction(0.17, 0.75, 0.99);
        assert_eq!(shown(&data, LimitedBy::Bandwidth), Some(Cubic));
        assert_eq!(shown(&data, LimitedBy::SendBuffer), None);
        // Slow start behind a loss ends there, and before a capture nobody knows how.
        let mut late = data.clone();
        late.begins_late = true;
        assert_eq!(shown(&late, LimitedBy::Bandwidth), None);
        data.epochs.push_loss(crate::evidence::FlightAtLoss::default());
        assert_eq!(shown(&data, LimitedBy::Bandwidth), None);
    }

    /// What a narrow link lets through at equal distances releases twice as much each time, though round trips rise.
    #[test]
    fn many_for_each_acknowledgement_that_queued_are_reno() {
        let mut data = direction(0.0, 0.1, 0.99);
        let named = |data: &DirectionStats, has_ack_path| {
            let found = of(data, LimitedBy::Bandwidth, has_ack_path);
            let is_by_queue = found.sentence(Reno).is_some_and(|text| text.contains("slow start"));
            is_by_queue.then(|| found.weights.best().0)
        };
        assert_eq!(named(&data, true), Some(Reno));
        // Devices join segments as well, and `HyStart` has no reason where nothing queues.
        assert_eq!(named(&data, false), None);
        data.epochs.push_loss(crate::evidence::FlightAtLoss::default());
        assert_eq!(named(&data, true), None);
    }

    #[test]
    fn large_bursts_on_an_empty_link_are_of_a_window() {
        let mut data = direction(0.2, 0.3, 0.3);
        let found = of(&data, LimitedBy::Congestion, false);
        assert!(found.sentence(Reno).is_some_and(|text| text.contains("50%")), "{found:?}");
        assert_eq!(found.sentence(Bbr), None);
        // A full link joins bursts; a faster pace sends larger ones.
        for (busy, rate_bps) in [(0.95, 8e6), (0.4, 30e6)] {
            let bursts = data.intervals.as_mut().and_then(|all| all.bursts.as_mut()).unwrap();
            (bursts.busy, bursts.rate_bps) = (busy, rate_bps);
            assert_eq!(shown(&data, LimitedBy::Congestion), None);
        }
    }
}
