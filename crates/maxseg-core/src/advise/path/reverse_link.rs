//! The link of the acknowledgements, where it is the bottleneck (RFC 3449): the data's own link is faster than what it carries then.

use super::bottleneck::near_receiver;
use super::{Confidence, Known, whole};
use crate::advise::Case;
use crate::diagnose::FindingKind;
use crate::units::{Time, approx};

/// The link of the acknowledgements.
#[derive(Debug, Clone, PartialEq)]
pub struct ReverseLink {
    /// Its rate, headers included, in bits per second.
    pub rate_bps: Known<f64>,
    /// Size of the queue before it, in bytes.
    pub queue_bytes: Known<u64>,
    /// Mean size of an acknowledgement, in bytes.
    pub(super) packet_bytes: f64,
}

/// Acknowledgements of a link that is always busy come at equal intervals; where so many do, these are its time for one.
const MOSTLY_EQUAL: f64 = 0.5;
/// Within this factor a rate is of the same step of intervals.
const SAME_STEP: f64 = 1.08;
/// A queue of so many acknowledgements; a smaller one would be unusual.
const LEAST_PACKETS: f64 = 10.0;
/// Most queues have room for so many packets.
const USUAL_PACKETS: f64 = 100.0;
/// One in twenty waits for longer than this share of them.
const NEARLY_ALL: f64 = 0.95;
/// A receiver acknowledges every second segment at least (RFC 5681 §4.2).
const DELAYED: f64 = 2.0;
/// Counts differ by chance, and by the handshake, by no more than this factor.
const MORE: f64 = 1.05;
/// How many times what the connection reached the link of its data carries, where nothing tells: enough not to limit.
const FASTER: f64 = 10.0;

impl ReverseLink {
    /// That of a connection which it limits; `None` of others.
    pub(super) fn of(case: &Case<'_>, headers: u32) -> Option<Self> {
        let acks = case.acks();
        let is_found = |kind| case.diagnosis.findings.iter().any(|finding| finding.kind == kind);
        if !is_found(FindingKind::AckPath) || acks.packets == 0 {
            return None;
        }
        let packet_bytes = (acks.ip_bytes as f64 / acks.packets as f64).max(headers.into());
        let waited_s = waited_s(case);
        let rate_bps = rate(case, packet_bytes, waited_s);
        let bytes = |seconds: f64| rate_bps.value * seconds / 8.0;
        let waited = approx::time(waited_s);
        let queue_bytes = if was_full(case, rate_bps.value / (8.0 * packet_bytes), waited_s) {
            let bytes = whole(bytes(waited_s).max(LEAST_PACKETS * packet_bytes));
            let how = format!("acknowledgements waited up to {waited}, and some were dropped");
            Known::new(bytes, Confidence::Medium, how)
        } else {
            let bytes = whole(bytes(2.0 * waited_s).max(USUAL_PACKETS * packet_bytes));
            let how =
                format!("at least: acknowledgements waited up to {waited}, and none was dropped");
            Known::new(bytes, Confidence::Low, how)
        };
        Some(Self { rate_bps, queue_bytes, packet_bytes })
    }
}

/// The rate of their link, headers included, in bits per second: where they come at equal intervals, an interval is its time for one. Intervals are
/// counted in steps; what passed in all of the time tells it better, where that is about the same.
fn rate(case: &Case<'_>, packet_bytes: f64, waited_s: f64) -> Known<f64> {
    let (data, acks) = (case.data(), case.acks());
    let behind_s = if near_receiver(case) { waited_s } else { 0.0 };
    let passed = 8.0 * acks.ip_bytes as f64 / (case.data_seconds() + behind_s).max(1e-9);
    let equal = data.intervals.filter(|it| it.equal >= MOSTLY_EQUAL && it.usual_s > 0.0);
    let Some(interval_s) = equal.map(|it| it.usual_s) else {
        return Known::new(
            passed,
            Confidence::Low,
            "acknowledgements over the time of the transfer",
        );
    };
    let of_one = 8.0 * packet_bytes / interval_s;
    let is_same = (1.0 / SAME_STEP..SAME_STEP).contains(&(passed / of_one));
    let every = approx::time(interval_s);
    let how = format!("acknowledgements of {packet_bytes:.0} B come every {every}");
    Known::new(if is_same { passed } else { of_one }, Confidence::Medium, how)
}

/// The longest that acknowledgements waited before their link, in seconds, as timestamps or round trips tell it.
fn waited_s(case: &Case<'_>) -> f64 {
    let (data, acks) = (case.data(), case.acks());
    let by_stamps = acks.way_delay.map_or(0.0, |way| way.high_s);
    let longest = data.loaded_round_trips.quantile(NEARLY_ALL).map(Time::as_secs_f64);
    let by_trips = longest.zip(data.path_rtt_min_s).map_or(0.0, |(trip, least)| trip - least);
    by_stamps.max(by_trips)
}

/// Whether some of them were dropped: at the receiver more were sent than that link carries until the last has passed, elsewhere each of those that
/// came acknowledges more than a receiver lets pass.
fn was_full(case: &Case<'_>, packets_per_s: f64, waited_s: f64) -> bool {
    let (data, acks) = (case.data(), case.acks());
    let sent = acks.packets_once() as f64;
    if near_receiver(case) {
        sent > MORE * packets_per_s * (case.data_seconds() + waited_s)
    } else {
        data.acked_bytes as f64 > MORE * DELAYED * f64::from(data.full_segment()) * sent
    }
}

/// The rate of the link of the data, headers included, where that of the acknowledgements limits.
pub(super) fn rate_of_data(case: &Case<'_>, segment: u32, headers: u32) -> Known<f64> {
    let data = case.data();
    let with_headers = f64::from(segment + headers) / f64::from(segment.max(1));
    let goodput = data.goodput_bps.unwrap_or(0.0);
    let first = data.first_flight_bps.filter(|first| near_receiver(case) && *first > goodput);
    if let Some(first) = first {
        let how = "spacing of the first flight behind the link, headers included";
        return Known::new(first * with_headers, Confidence::Medium, how);
    }
    let how = "assumed: ten times the observed rate, for the link of the acknowledgements is the bottleneck";
    Known::new(FASTER * goodput * with_headers, Confidence::Low, how)
}
