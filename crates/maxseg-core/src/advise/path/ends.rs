//! The ends of a path: receive window, send buffer, initial window, read rate.

use super::{Confidence, Known};
use crate::advise::Case;
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;

/// The rate at which the receiving application reads: the goodput, where its window closed.
pub(super) fn read_rate(acks: &DirectionStats, goodput_bps: f64) -> Option<Known<f64>> {
    if acks.zero_windows == 0 {
        return None;
    }
    let times = if acks.zero_windows == 1 { "once" } else { "repeatedly" };
    let how = format!("the goodput: a zero window was advertised {times}");
    Some(Known::new(goodput_bps, Confidence::Medium, how))
}

pub(super) fn window(case: &Case<'_>) -> Known<u64> {
    let (data, acks) = (case.data(), case.acks());
    let mut offered: Vec<u64> = data
        .bins
        .as_slice()
        .iter()
        .filter(|bin| bin.segments > 0)
        .map(|bin| bin.window_max)
        .collect();
    offered.sort_unstable();
    let largest = acks.window_max_bytes;
    let middle = offered.get(offered.len() / 2).copied().filter(|window| *window > 0);
    let confidence = if acks.window_scale.is_some() || case.evidence.handshake.syn {
        Confidence::High
    } else {
        Confidence::Low // without the handshake the scale is unknown
    };
    match (middle, largest) {
        (Some(middle), Some(largest)) if middle < largest => Known::new(
            middle,
            confidence,
            format!("advertised most of the time; at most {largest} bytes"),
        ),
        (Some(window), _) | (None, Some(window)) => {
            Known::new(window.max(1), confidence, "advertised all the time")
        }
        (None, None) => {
            Known::new(65_535, Confidence::Low, "not captured: the largest without scaling")
        }
    }
}

pub(super) fn send_buffer(case: &Case<'_>) -> Option<Known<u64>> {
    if case.diagnosis.limited_by != LimitedBy::SendBuffer {
        return None;
    }
    let bins = case.data().bins.as_slice();
    let mut flights: Vec<u64> =
        bins.iter().filter(|bin| bin.segments > 0).map(|bin| bin.in_flight_max).collect();
    flights.sort_unstable();
    let middle = flights.get(flights.len() / 2).copied().unwrap_or(case.data().in_flight_max_bytes);
    let how = "most bytes in flight, while the window allowed more";
    (middle > 0).then(|| Known::new(middle, Confidence::Medium, how))
}

pub(super) fn initial_window(case: &Case<'_>) -> Option<Known<u64>> {
    if case.evidence.marks.mid_stream {
        let how = "most bytes in flight: the beginning was not captured";
        let most = case.data().in_flight_max_bytes;
        return (most > 0).then(|| Known::new(most, Confidence::Low, how));
    }
    let bins = case.data().bins.as_slice();
    let first: u64 =
        bins.iter().take_while(|bin| bin.acked_bytes == 0).map(|bin| bin.sent_bytes).sum();
    let how = "sent before the first acknowledgement";
    (first > 0).then(|| Known::new(first, Confidence::Medium, how))
}
