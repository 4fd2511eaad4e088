//! Round trips that become longer: by a queue that the connection fills, or by a longer way.

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{Bin, Direction, DirectionStats, Evidence, Joined};
use crate::units::{Time, approx};

/// Bufferbloat: the median round trip under load is so many times the minimum, and so many seconds longer.
pub(super) const LONG_QUEUE: f64 = 3.0;
pub(super) const LONG_QUEUE_S: f64 = 0.05;
/// Fewer round trips under load show no standing queue.
const LEAST_SAMPLES: u64 = 10;
/// A connection fills a link from this share of the link's rate on.
const LOADED: f64 = 0.6;
/// A step has so many intervals on each side at least, and so few of them may lie on the wrong side of its middle.
const LEAST_INTERVALS: usize = 8;
const ASTRAY: f64 = 0.05;
/// Behind a step round trips vary by no more than this share: a queue grows and shrinks with the window.
const STEADY: f64 = 0.15;

/// Round trips that became much longer: least and median, in seconds.
fn longer(stats: &DirectionStats) -> Option<(f64, f64)> {
    let (least, median) = (stats.path_rtt_min_s?, stats.path_rtt_loaded_s?);
    let is_longer = stats.loaded_round_trips.count() >= LEAST_SAMPLES
        && median >= LONG_QUEUE * least
        && median - least >= LONG_QUEUE_S;
    is_longer.then_some((least, median))
}

pub(super) fn bufferbloat(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let (least, median) = longer(stats)?;
    if step(stats, least, median).is_some() {
        return None;
    }
    let place = match evidence.joined.as_deref().and_then(Joined::queued_direction) {
        Some(queued) if queued == direction => "on the forward path",
        Some(_) => "on the reverse path",
        None => "on the forward or the reverse path",
    };
    Some(Finding {
        kind: FindingKind::Bufferbloat,
        severity: Severity::Warning,
        direction: Some(direction),
        from: stats.first_data.unwrap_or(evidence.begin),
        to: stats.last_ack.unwrap_or(evidence.end),
        evidence: vec![number("rtt_min_s", least), number("rtt_loaded_s", median)],
        frames: Vec::new(),
        text: format!(
            "Under load the median round trip is {:.0} ms, the minimum {}: a queue {place}",
            median * 1000.0,
            if least < 0.001 { approx::time(least) } else { format!("{:.0} ms", least * 1000.0) }
        ),
        why: "A long queue delays all traffic on the link",
        source: "RFC 7567, RFC 8289",
    })
}

pub(super) fn longer_route(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let (least, median) = longer(stats)?;
    let at = step(stats, least, median)?;
    Some(Finding {
        kind: FindingKind::LongerRoute,
        severity: Severity::Note,
        direction: Some(direction),
        from: at,
        to: stats.last_ack.unwrap_or(evidence.end),
        evidence: vec![number("rtt_min_s", least), number("rtt_after_s", median)],
        frames: Vec::new(),
        text: format!(
            "Round trips rose from {} to {} at once, {} after the first packet, and stayed there: a longer route, or \
             somebody else's queue, as this connection sends too little to fill one",
            approx::time(least),
            approx::time(median),
            approx::time(at.since(evidence.begin).as_secs_f64())
        ),
        why: "A window that covered the shorter round trip may limit the connection on the longer one",
        source: "RFC 6298 §2",
    })
}

/// When round trips became longer at once and for good, while the connection sent far less than the path carries. What it
/// sends too slowly to fill a queue with has a longer way to go.
fn step(stats: &DirectionStats, least: f64, median: f64) -> Option<Time> {
    let middle = f64::midpoint(least, median);
    let timed: Vec<(&Bin, f64)> = stats
        .bins
        .as_slice()
        .iter()
        .filter_map(|bin| Some((bin, bin.rtt_min?.as_secs_f64())))
        .collect();
    let first = timed.iter().position(|(_, shortest)| *shortest >= middle)?;
    let (before, after) = timed.split_at(first);
    if before.len() < LEAST_INTERVALS || after.len() < LEAST_INTERVALS {
        return None;
    }
    let astray = after.iter().filter(|(_, shortest)| *shortest < middle).count();
    if astray as f64 > ASTRAY * after.len() as f64 || !is_steady(after) || is_loaded(stats, after) {
        return None;
    }
    Some(after.first()?.0.at)
}

/// Whether the shortest round trips of nine in ten intervals are about equal.
fn is_steady(intervals: &[(&Bin, f64)]) -> bool {
    let mut shortest: Vec<f64> = intervals.iter().map(|(_, shortest)| *shortest).collect();
    shortest.sort_by(f64::total_cmp);
    let at = |tenths: usize| shortest[(shortest.len() - 1) * tenths / 10];
    at(9) - at(1) <= STEADY * at(5)
}

/// Whether the connection carries a good part of what the path can, in these intervals; taken for granted where that is not
/// known.
fn is_loaded(stats: &DirectionStats, intervals: &[(&Bin, f64)]) -> bool {
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for (bin, _) in intervals {
        bytes += bin.acked_bytes as f64;
        seconds += bin.duration.as_secs_f64();
    }
    stats.capacity_bps.is_none_or(|capacity| bytes * 8.0 >= LOADED * capacity * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Bins, LoadedRoundTrips};

    /// Twenty seconds of 3 Mbit/s on a link of this rate; in the middle round trips become 120 ms longer.
    fn stats(capacity_bps: f64) -> DirectionStats {
        let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
        let mut trips = LoadedRoundTrips::default();
        for n in 0..200_u64 {
            let rtt = Time::from_millis(if n < 60 { 30 } else { 150 });
            let bin = bins.at(Time::from_millis(100 * n));
            bin.acked_bytes = 37_500;
            bin.rtt_min = Some(rtt);
            trips.add(rtt);
        }
        DirectionStats {
            bins,
            path_rtt_min_s: Some(0.03),
            path_rtt_loaded_s: Some(0.15),
            loaded_round_trips: trips,
            capacity_bps: Some(capacity_bps),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn a_step_without_load_is_no_queue() {
        for (capacity, expected) in [(40e6, Some(Time::from_secs(6))), (3.2e6, None)] {
            let stats = stats(capacity);
            let (least, median) = longer(&stats).unwrap();
            assert_eq!(step(&stats, least, median), expected, "{capacity} bit/s");
        }
    }
}
