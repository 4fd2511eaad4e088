//! Losses and a full link that share the time: which of the two limits more.
//!
//! Without losses the transfer takes all that the link carries. On a faster link it sends the window that its losses leave in each
//! round trip, which then holds no queue. The link limits more where more is in flight on the average than the path holds without a
//! queue (Little's law), losses where less is. And where losses leave little of the link unused, it does in any case. Where losses come in
//! a part of the transfer, the two come one after the other, and each holds for its time.

use super::full_link::{FULL_LINK, is_at, trains_bps};
use super::limits::LimitSpan;
use super::lossy_stretch::LossyStretch;
use super::trip_view::flight_by_trips;
use crate::evidence::DirectionStats;
use crate::outcome::{LimitShare, LimitedBy};
use crate::units::approx;

/// Each of the two holds for so much of the time, and both for most of it.
const EACH: f64 = 0.3;
const BOTH: f64 = 0.8;
/// What is in flight, in what the path holds, from which on the link limits more: a delayed acknowledgement makes round trips longer by
/// a segment at most, one in thirty.
const MORE: f64 = 1.03;
/// And up to which losses do: away from the sender round trips lack what waits before the capture point, a tenth in the lab.
const LESS: f64 = 0.9;
/// In between the one that holds for longer by so much is the limit.
const LEAD: f64 = 0.3;
/// So much of the time of each is apart from the other's where they come one after the other.
const NEARLY_ALL: f64 = 0.9;

/// Whether a limit is one of losses.
pub(super) const fn is_loss(limit: LimitedBy) -> bool {
    matches!(limit, LimitedBy::Congestion | LimitedBy::Rto)
}

/// Whether the link limits more than the losses that share the time with it.
pub(super) fn link_does(
    data: &DirectionStats,
    acks: &DirectionStats,
    shares: &[LimitShare],
    spans: &[LimitSpan],
) -> bool {
    let is_full = || is_at(data, trains_bps(data), FULL_LINK);
    // While nothing passes at all no link is full.
    data.stop().is_none()
        && of_both(shares).is_some()
        && !come_in_turn(data, spans)
        && (is_full() || flight_by_trips(data, acks).is_some_and(|flight| flight >= MORE))
}

/// Why neither is the limit: a clause; `None` where that is not in doubt.
pub(super) fn in_doubt(
    data: &DirectionStats,
    acks: &DirectionStats,
    shares: &[LimitShare],
    spans: &[LimitSpan],
) -> Option<String> {
    let (lost, link) = of_both(shares).filter(|_| !come_in_turn(data, spans))?;
    let flight = flight_by_trips(data, acks)?;
    ((LESS..MORE).contains(&flight) && (lost - link).abs() < LEAD).then(|| {
        let [lost, link] = [lost, link].map(approx::whole_percent);
        format!(
            "losses keep the window down for {lost} of the time, and the link is full for {link}, while about as much is in flight as the \
             path holds: a faster link and fewer losses would bring about the same"
        )
    })
}

/// Whether losses came in a part of the transfer, and the link was full in the rest: nearly all of the time of the one is before nearly all
/// of that of the other.
fn come_in_turn(data: &DirectionStats, spans: &[LimitSpan]) -> bool {
    if LossyStretch::of(data).is_none() {
        return false;
    }
    let of = |is_it: fn(LimitedBy) -> bool| -> Vec<(f64, f64)> {
        let of_limit = spans.iter().filter(|span| is_it(span.kind));
        of_limit.map(|span| (span.from.as_secs_f64(), span.to.as_secs_f64())).collect()
    };
    let (lost, link) = (of(is_loss), of(|kind| kind == LimitedBy::Bandwidth));
    let is_before = |first: &[(f64, f64)], second: &[(f64, f64)]| {
        let (first_ends, second_begins) =
            (quantile(first, NEARLY_ALL), quantile(second, 1.0 - NEARLY_ALL));
        first_ends.zip(second_begins).is_some_and(|(ends, begins)| ends <= begins)
    };
    is_before(&lost, &link) || is_before(&link, &lost)
}

/// When such a share of the time of some spans is over.
fn quantile(spans: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut left = share * spans.iter().map(|(from, to)| to - from).sum::<f64>();
    for (from, to) in spans {
        if *to - *from >= left {
            return Some(*from + left);
        }
        left -= *to - *from;
    }
    spans.last().map(|(_, to)| *to)
}

/// The shares of losses and of the link, where these two share the time.
fn of_both(shares: &[LimitShare]) -> Option<(f64, f64)> {
    let of = |is_it: fn(LimitedBy) -> bool| {
        let these = shares.iter().filter(|limit| is_it(limit.kind));
        these.map(|limit| limit.share).sum::<f64>()
    };
    let (lost, link) = (of(is_loss), of(|kind| kind == LimitedBy::Bandwidth));
    (lost.min(link) >= EACH && lost + link >= BOTH).then_some((lost, link))
}

#[cfg(test)]
mod tests {
    use super::super::lossy_stretch::lossy_for;
    use super::*;
    use crate::evidence::Outage;
    use crate::units::Time;

    /// Losses for one share of the time, a full link for another.
    fn shares([lost, link]: [f64; 2]) -> Vec<LimitShare> {
        let of = |kind, share| LimitShare { kind, share };
        let mut shares = vec![of(LimitedBy::Congestion, lost), of(LimitedBy::Bandwidth, link)];
        shares.sort_by(|a, b| b.share.total_cmp(&a.share));
        shares
    }

    /// A link of 10 Mbit/s that is busy for this share of the time, behind round trips of so many times the least.
    fn transfer(busy: f64, longer: f64) -> DirectionStats {
        DirectionStats {
            goodput_bps: Some(10e6 * busy),
            capacity_bps: Some(10e6),
            rtt_min_s: Some(0.05),
            path_rtt_min_s: Some(0.05),
            path_rtt_mean_s: Some(0.05 * longer),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn a_flight_that_the_path_does_not_hold_is_of_the_link() {
        let acks = DirectionStats::default();
        let does =
            |busy, longer| link_does(&transfer(busy, longer), &acks, &shares([0.53, 0.45]), &[]);
        assert!(does(0.8, 1.4));
        assert!(does(0.9, 1.0), "little is left without losses");
        assert!(!does(0.8, 1.1), "losses leave it shorter");
        assert!(!does(0.5, 2.5), "others queue");
        let (from, to) = (Time::from_secs(3), Time::from_secs(5));
        let outage = Outage { from, to, retransmissions: 3, of_payload: false };
        let interrupted = DirectionStats { outage: Some(outage), ..transfer(0.9, 1.0) };
        assert!(
            !link_does(&interrupted, &acks, &shares([0.53, 0.45]), &[]),
            "nothing passed for two seconds"
        );
        let away = DirectionStats { rtt_min_s: Some(0.001), ..transfer(0.8, 1.4) };
        assert!(!link_does(&away, &acks, &shares([0.53, 0.45]), &[]), "the queue is not seen");
        assert!(!link_does(&transfer(0.8, 1.4), &acks, &shares([0.8, 0.2]), &[]));
    }

    #[test]
    fn a_flight_as_long_as_the_path_is_in_doubt() {
        let acks = DirectionStats::default();
        let doubt =
            |busy, longer| in_doubt(&transfer(busy, longer), &acks, &shares([0.53, 0.45]), &[]);
        assert!(doubt(0.8, 1.25).is_some_and(|text| text.starts_with("losses keep")));
        assert_eq!(doubt(0.8, 1.4), None);
        assert_eq!(doubt(0.8, 1.05), None);
        assert_eq!(in_doubt(&transfer(0.8, 1.25), &acks, &shares([0.32, 0.66]), &[]), None);
    }

    /// Ten seconds: segments are lost in the first two, the window grows until the sixth, and the link is full from there on.
    #[test]
    fn losses_before_a_full_link_keep_their_time() {
        let mut data = lossy_for(10, 2);
        (data.goodput_bps, data.capacity_bps) = (Some(8e6), Some(10e6));
        data.path_rtt_mean_s = Some(0.07);
        let span = |kind, [from, to]: [u64; 2]| LimitSpan {
            from: Time::from_secs(from),
            to: Time::from_secs(to),
            kind,
        };
        let acks = DirectionStats::default();
        let does = |data: &DirectionStats, spans: Vec<LimitSpan>| {
            link_does(data, &acks, &shares([0.6, 0.4]), &spans)
        };
        let (lost, link) = (LimitedBy::Congestion, LimitedBy::Bandwidth);
        let in_turn = || vec![span(lost, [0, 6]), span(link, [6, 10])];
        assert!(!does(&data, in_turn()));
        let by_turns = vec![span(lost, [0, 3]), span(link, [3, 7]), span(lost, [7, 10])];
        assert!(does(&data, by_turns), "a window that losses reduce again and again");
        data.sack_permitted = false;
        assert!(does(&data, in_turn()), "one overflow, repaired for long");
    }
}
