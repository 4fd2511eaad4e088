//! Faults of the capture itself, as in tcpanaly (Paxson, SIGCOMM 1997).

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{EventKind, Evidence};

/// Duplicates, missing packets, offload, a missing direction, a missing beginning.
pub(super) fn quality(evidence: &Evidence) -> Option<Finding> {
    let sum = |count: fn(&crate::evidence::DirectionStats) -> u64| {
        count(&evidence.forward) + count(&evidence.reverse)
    };
    let copies = sum(|stats| stats.capture_duplicates);
    let unseen = sum(|stats| stats.unseen_bytes);
    let offloaded = sum(|stats| stats.offloaded_packets);
    let mut faults = Vec::new();
    let mut numbers = Vec::new();
    if copies > 0 {
        faults.push(format!("{copies} packets are duplicates"));
        numbers.push(number("capture_duplicates", copies as f64));
    }
    if evidence.marks.capture_lost && unseen > 0 {
        faults.push(format!("{unseen} acknowledged bytes are missing"));
        numbers.push(number("unseen_bytes", unseen as f64));
    }
    if offloaded > 0 {
        faults.push(format!(
            "{offloaded} packets are larger than a segment, captured before segmentation or after receive offload"
        ));
        numbers.push(number("offloaded_packets", offloaded as f64));
    }
    if evidence.marks.one_way {
        faults.push("one direction is missing".to_owned());
    }
    if evidence.marks.mid_stream {
        faults.push("the handshake is missing, and with it MSS and window scale".to_owned());
    }
    if faults.is_empty() {
        return None;
    }
    let is_severe = evidence.marks.one_way || unseen > 0;
    let frames = [&evidence.forward, &evidence.reverse]
        .into_iter()
        .flat_map(|stats| stats.events.of(|kind| kind == EventKind::CaptureDuplicate))
        .map(|event| event.frame);
    Some(Finding {
        kind: FindingKind::CaptureQuality,
        severity: if is_severe { Severity::Warning } else { Severity::Note },
        direction: None,
        from: evidence.begin,
        to: evidence.end,
        evidence: numbers,
        frames: frames.take(8).collect(),
        text: format!("The capture is incomplete: {}", faults.join("; ")),
        why: "Counts cover captured packets only, and a duplicate in the capture is no retransmission",
        source: "Paxson, Automated Packet Trace Analysis of TCP Implementations, SIGCOMM 1997",
    })
}
