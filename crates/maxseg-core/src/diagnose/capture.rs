//! The capture's peculiarities as a finding.

use super::finding::{Finding, FindingKind, Severity, number};
use super::quality::{Quality, Reason, ReasonCode};
use crate::evidence::{EventKind, Evidence};

/// Duplicates, missing packets, offload, a missing direction, a missing beginning, disorder, clocks.
pub(super) fn quality(evidence: &Evidence) -> Option<Finding> {
    let reasons = Quality::reasons(evidence);
    if reasons.is_empty() {
        return None;
    }
    let sum = |count: fn(&crate::evidence::DirectionStats) -> u64| {
        count(&evidence.forward) + count(&evidence.reverse)
    };
    let numbers = [
        ("capture_duplicates", sum(|stats| stats.capture_duplicates)),
        ("unseen_bytes", sum(|stats| stats.unseen_bytes)),
        ("offloaded_packets", sum(|stats| stats.offloaded_packets)),
        ("late_packets", evidence.capture.late_packets),
        ("acks_before_data", evidence.capture.acks_before_data),
        ("clock_steps", evidence.capture.clock_steps),
    ];
    let frames = [&evidence.forward, &evidence.reverse]
        .into_iter()
        .flat_map(|stats| stats.events.of(|kind| kind == EventKind::CaptureDuplicate))
        .map(|event| event.frame);
    let texts: Vec<&str> = reasons.iter().map(|reason| reason.text.as_str()).collect();
    let is_severe = reasons.iter().any(is_severe) || evidence.capture.later_first;
    let severity = if is_severe { Severity::Warning } else { Severity::Note };
    Some(Finding {
        kind: FindingKind::CaptureQuality,
        severity,
        direction: None,
        from: evidence.begin,
        to: evidence.end,
        evidence: numbers
            .into_iter()
            .filter(|(_, value)| *value > 0)
            .map(|(name, value)| number(name, value as f64))
            .collect(),
        frames: frames.take(8).collect(),
        text: texts.join(". "),
        why: "Counts cover captured packets only, and a duplicate in the capture is not a retransmission",
        source: "Paxson, Automated Packet Trace Analysis of TCP Implementations, SIGCOMM 1997",
    })
}

/// Whether something is missing, or may be.
fn is_severe(reason: &Reason) -> bool {
    match reason.code {
        ReasonCode::OneWay
        | ReasonCode::Merged
        | ReasonCode::MissingFiles
        | ReasonCode::CaptureLoss
        | ReasonCode::LostAcknowledgements
        | ReasonCode::PayloadOnly
        | ReasonCode::CutHeaders
        | ReasonCode::ClockCoarse
        | ReasonCode::ClockJump => true,
        ReasonCode::MidStream
        | ReasonCode::CapturedTwice
        | ReasonCode::Translated
        | ReasonCode::SplitDirections
        | ReasonCode::Unordered
        | ReasonCode::Offload => false,
    }
}
