//! The ends of a path: receive window, send buffer, initial window, read rate.

use super::{Confidence, Known, whole};
use crate::advise::case::{Case, LONG_SHARE};
use crate::diagnose::{CongestionAlgorithm, has_slow_reader};
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;
use crate::settings::CongestionName;

/// From this confidence on a name is more than likely.
const SURE: f64 = 0.9;

/// The sender's congestion control; where the capture does not show it, that of most hosts.
pub(super) fn congestion(case: &Case<'_>) -> Known<CongestionName> {
    let found = &case.diagnosis.congestion_control;
    let name = match found.name {
        CongestionAlgorithm::Reno => CongestionName::Reno,
        CongestionAlgorithm::Cubic => CongestionName::Cubic,
        CongestionAlgorithm::Bbr => CongestionName::Bbr,
        CongestionAlgorithm::Unknown => {
            let how = format!("Linux's default, assumed: {}", found.evidence);
            return Known::new(CongestionName::Cubic, Confidence::Low, how);
        }
    };
    let confidence = if found.confidence >= SURE { Confidence::High } else { Confidence::Medium };
    Known::new(name, confidence, found.evidence.clone())
}

/// The rate at which the receiving application reads: the goodput, where its window shows that it is behind.
pub(super) fn read_rate(
    data: &DirectionStats,
    acks: &DirectionStats,
    goodput_bps: f64,
) -> Option<Known<f64>> {
    if !has_slow_reader(data, acks) {
        return None;
    }
    let shown = match acks.zero_windows {
        0 if acks.begins_late => "the advertised window kept changing",
        0 => "the window was low for most of the time",
        1 => "a zero window was advertised once",
        _ => "a zero window was advertised repeatedly",
    };
    Some(Known::new(goodput_bps, Confidence::Medium, format!("the goodput: {shown}")))
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
    let confidence = if acks.window_scale.is_some() || case.evidence.has_syn_options() {
        Confidence::High
    } else {
        Confidence::Low // the scale is unknown
    };
    let limits = case.diagnosis.limited_by == LimitedBy::ReceiveWindow;
    // A reader that is behind, and never stops, leaves a part of its buffer free.
    let is_part = acks.zero_windows == 0 && has_slow_reader(data, acks);
    match (middle, largest) {
        (Some(middle), Some(largest)) if middle < largest && is_part => Known::new(
            largest,
            confidence,
            "the largest advertised: what was not read took the rest later",
        ),
        (Some(middle), Some(largest)) if middle < largest && limits => Known::new(
            middle,
            confidence,
            format!("advertised most of the time; at most {largest} bytes"),
        ),
        (Some(middle), Some(largest)) if middle < largest => {
            Known::new(largest, confidence, "the largest advertised: it was not the limit")
        }
        (Some(window), _) | (None, Some(window)) => {
            Known::new(window.max(1), confidence, "advertised all the time")
        }
        (None, None) => {
            Known::new(65_535, Confidence::Low, "not captured: the largest without scaling")
        }
    }
}

pub(super) fn send_buffer(case: &Case<'_>) -> Option<Known<u64>> {
    let diagnosis = &case.diagnosis;
    let may_be = diagnosis.leaves_window_unused || case.share(LimitedBy::SendBuffer) >= LONG_SHARE;
    let is_open = diagnosis.limited_by == LimitedBy::Unknown && may_be;
    let is_known = diagnosis.limited_by == LimitedBy::SendBuffer || diagnosis.waits_for_room;
    if !is_known && !is_open {
        return None;
    }
    // As many bytes as a round trip of the goodput holds (Little's law): of what a burst brings, the mean.
    let data = case.data();
    let mean = data.goodput_bps? * data.path_rtt_mean_s.or(data.path_rtt_min_s)? / 8.0;
    let how =
        "in flight at this goodput, while the window allowed more: it stands for the send buffer";
    (mean >= 1.0).then(|| Known::new(whole(mean), Confidence::Medium, how))
}

pub(super) fn initial_window(case: &Case<'_>) -> Option<Known<u64>> {
    if case.evidence.marks.mid_stream {
        let how = "most bytes in flight: the beginning was not captured";
        let most = case.data().in_flight_max_bytes;
        return (most > 0).then(|| Known::new(most, Confidence::Low, how));
    }
    // What comes first behind a hop that dropped the first flight is what is sent after timeouts.
    if case.is_behind_narrow_hop() {
        return None;
    }
    let bins = case.data().bins.as_slice();
    let first: u64 =
        bins.iter().take_while(|bin| bin.acked_bytes == 0).map(|bin| bin.sent_bytes).sum();
    let segment = u64::from(case.data().mss_used_bytes.unwrap_or(1).max(1));
    // A congestion window is of whole segments: what else went first is what the application wrote.
    let is_window = first > 0 && first.is_multiple_of(segment);
    let how = "sent before the first acknowledgement";
    is_window.then(|| Known::new(first, Confidence::Medium, how))
}
