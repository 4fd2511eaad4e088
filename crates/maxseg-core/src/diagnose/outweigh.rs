//! Losses and a full link that share the time: which of the two limits more.
//!
//! Without losses the transfer takes all that the link carries. On a faster link it sends the window that its losses leave in each
//! round trip, which then holds no queue. The link limits more where more is in flight on the average than the path holds without a
//! queue (Little's law), losses where less is. And where losses leave little of the link unused, it does in any case.

use super::full_link::{FULL_LINK, is_at, trains_bps};
use super::stops::goodput_while_read;
use super::trip_view::sees_round_trips;
use crate::evidence::DirectionStats;
use crate::outcome::{LimitShare, LimitedBy};
use crate::units::approx;

/// Each of the two holds for so much of the time, and both for most of it.
const EACH: f64 = 0.3;
const BOTH: f64 = 0.8;
/// A link that is busy for less of the time is no limit.
const BUSY: f64 = 0.6;
/// What is in flight, in what the path holds, from which on the link limits more: a delayed acknowledgement makes round trips longer by
/// a segment at most, one in thirty.
const MORE: f64 = 1.03;
/// And up to which losses do: away from the sender round trips lack what waits before the capture point, a tenth in the lab.
const LESS: f64 = 0.9;
/// In between the one that holds for longer by so much is the limit.
const LEAD: f64 = 0.3;

/// Whether a limit is one of losses.
pub(super) const fn is_loss(limit: LimitedBy) -> bool {
    matches!(limit, LimitedBy::Congestion | LimitedBy::Rto)
}

/// Whether the link limits more than the losses that share the time with it.
pub(super) fn link_does(
    data: &DirectionStats,
    acks: &DirectionStats,
    shares: &[LimitShare],
) -> bool {
    let is_full = || is_at(data, trains_bps(data), FULL_LINK);
    // While nothing passes at all no link is full.
    data.interruption().is_none()
        && of_both(shares).is_some()
        && (is_full() || flight(data, acks).is_some_and(|flight| flight >= MORE))
}

/// Why neither is the limit: a clause; `None` where that is not in doubt.
pub(super) fn in_doubt(
    data: &DirectionStats,
    acks: &DirectionStats,
    shares: &[LimitShare],
) -> Option<String> {
    let (lost, link) = of_both(shares)?;
    let flight = flight(data, acks)?;
    ((LESS..MORE).contains(&flight) && (lost - link).abs() < LEAD).then(|| {
        let [lost, link] = [lost, link].map(approx::whole_percent);
        format!(
            "losses keep the window down for {lost} of the time, and the link is full for {link}, while about as much is in flight as the \
             path holds: a faster link and fewer losses would bring about the same"
        )
    })
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

/// What is in flight on the average, in what the path holds without a queue, where round trips of the whole path are seen and the link
/// is busy.
fn flight(data: &DirectionStats, acks: &DirectionStats) -> Option<f64> {
    let trips = data.path_rtt_mean_s.zip(data.path_rtt_min_s);
    let (mean, least) = trips.filter(|_| sees_round_trips(data, acks))?;
    let (goodput, link) = goodput_while_read(data).zip(trains_bps(data))?;
    is_at(data, Some(link), BUSY).then(|| goodput / link * (mean / least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Outage;
    use crate::units::Time;

    const SHARES: [LimitShare; 2] = [
        LimitShare { kind: LimitedBy::Congestion, share: 0.53 },
        LimitShare { kind: LimitedBy::Bandwidth, share: 0.45 },
    ];

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
        let does = |busy, longer| link_does(&transfer(busy, longer), &acks, &SHARES);
        assert!(does(0.8, 1.4));
        assert!(does(0.9, 1.0), "little is left without losses");
        assert!(!does(0.8, 1.1), "losses leave it shorter");
        assert!(!does(0.5, 2.5), "others queue");
        let (from, to) = (Time::from_secs(3), Time::from_secs(5));
        let outage = Outage { from, to, retransmissions: 3, of_payload: false };
        let interrupted = DirectionStats { outage: Some(outage), ..transfer(0.9, 1.0) };
        assert!(!link_does(&interrupted, &acks, &SHARES), "nothing passed for two seconds");
        let away = DirectionStats { rtt_min_s: Some(0.001), ..transfer(0.8, 1.4) };
        assert!(!link_does(&away, &acks, &SHARES), "the queue is not seen");
        let seldom =
            [LimitShare { share: 0.8, ..SHARES[0] }, LimitShare { share: 0.2, ..SHARES[1] }];
        assert!(!link_does(&transfer(0.8, 1.4), &acks, &seldom));
    }

    #[test]
    fn a_flight_as_long_as_the_path_is_in_doubt() {
        let acks = DirectionStats::default();
        let doubt = |busy, longer| in_doubt(&transfer(busy, longer), &acks, &SHARES);
        assert!(doubt(0.8, 1.25).is_some_and(|text| text.starts_with("losses keep")));
        assert_eq!(doubt(0.8, 1.4), None);
        assert_eq!(doubt(0.8, 1.05), None);
        let leads =
            [LimitShare { share: 0.66, ..SHARES[1] }, LimitShare { share: 0.32, ..SHARES[0] }];
        assert_eq!(in_doubt(&transfer(0.8, 1.25), &acks, &leads), None);
    }
}
