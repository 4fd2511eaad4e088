//! Windows that shut, or cannot open far enough.

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{Direction, DirectionStats, EventKind, Evidence};
use crate::units::Time;

/// What a window can be without a scale (RFC 9293 §3.1: 16 bits).
const UNSCALED: u64 = 65_535;
/// A window is used up when so much of it was in flight.
const USED_UP: f64 = 0.85;
/// A window covers the path when it holds so much more than that.
const COVERED: f64 = 1.0;

/// The receiver of a direction.
pub(super) fn look(evidence: &Evidence, way: Direction, findings: &mut Vec<Finding>) {
    findings.extend(shut(evidence, way));
    findings.extend(clamped(evidence, way));
}

/// Time in which the window of a direction's receiver had no room.
fn shut_time(data: &DirectionStats) -> Time {
    let mut all = Time::ZERO;
    for bin in data.bins.as_slice() {
        all = all.saturating_add(bin.window_shut);
    }
    all
}

fn shut(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let (data, acks) = (evidence.direction(way), evidence.direction(way.other()));
    if acks.zero_windows == 0 {
        return None;
    }
    let first = acks.events.of(|kind| kind == EventKind::ZeroWindow).next();
    let frames: Vec<u64> = acks
        .events
        .of(|kind| kind == EventKind::ZeroWindow)
        .map(|event| event.frame)
        .take(8)
        .collect();
    let receiver = evidence.receiver(way);
    let seconds = shut_time(data).as_secs_f64();
    let lasted =
        data.last_ack.unwrap_or(evidence.end).since(data.first_data.unwrap_or(evidence.begin));
    let is_long = seconds > 0.05 * lasted.as_secs_f64();
    Some(Finding {
        kind: FindingKind::ZeroWindow,
        severity: if is_long { Severity::Problem } else { Severity::Warning },
        way: Some(way),
        from: first.map_or(evidence.begin, |event| event.at),
        to: data.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("zero_windows", acks.zero_windows as f64),
            number("zero_window_probes", data.zero_window_probes as f64),
            number("window_shut_s", seconds),
        ],
        frames,
        text: format!(
            "{receiver} offered no window at all {}; for {seconds:.3} s it had no room for another segment",
            if acks.window_shut_times == 1 {
                "once".to_owned()
            } else {
                format!("{} times", acks.window_shut_times)
            }
        ),
        why: "The program at the receiver reads more slowly than data comes: its buffer is full, and the sender waits",
        advice: format!(
            "Find out why the program on {receiver} reads slowly; a larger buffer only puts it off"
        ),
        source: "RFC 9293 §3.8.6",
    })
}

fn clamped(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let (data, acks) = (evidence.direction(way), evidence.direction(way.other()));
    let window = acks.window_max_bytes?;
    let is_unscaled = acks.window_scale.is_none_or(|shift| shift == 0);
    let in_flight = data.in_flight_max_bytes as f64;
    if !is_unscaled || window > UNSCALED || in_flight < USED_UP * window as f64 || window == 0 {
        return None;
    }
    let rate = data.capacity_bps.unwrap_or(0.0).max(data.first_flight_bps.unwrap_or(0.0));
    let rtt = data.path_rtt_min_s?;
    let holds = rate * rtt / 8.0;
    if holds < COVERED * window as f64 {
        return None;
    }
    let receiver = evidence.receiver(way);
    let why_unscaled = match (evidence.forward.window_scale, evidence.reverse.window_scale) {
        (None, _) | (_, None) => "one side offers no window scale",
        _ => "its scale is 0, as of a small receive buffer fixed before the handshake",
    };
    Some(Finding {
        kind: FindingKind::WindowClamped,
        severity: Severity::Problem,
        way: Some(way),
        from: data.first_data.unwrap_or(evidence.begin),
        to: data.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("window_max_bytes", window as f64),
            number("in_flight_max_bytes", in_flight),
            number("path_holds_bytes", holds.round()),
            number("most_bps", window as f64 * 8.0 / rtt),
        ],
        frames: Vec::new(),
        text: format!(
            "The window of {receiver} stays at {window} bytes: {why_unscaled}; the path holds {holds:.0}"
        ),
        why: "No more than a window travels in a round trip, whatever the link could carry",
        advice: format!(
            "On {receiver}: do not set SO_RCVBUF (or set it to {:.0} bytes and more), let the kernel size the buffer, \
             and keep window scaling on",
            (2.0 * holds).ceil()
        ),
        source: "RFC 7323 §2, RFC 6349 §3.3.1",
    })
}
