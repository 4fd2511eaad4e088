//! What the capture itself does to what it shows: looked for first, as in tcpanaly (Paxson, SIGCOMM 1997).

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{EventKind, Evidence};

/// Copies, losses, offload, a missing direction, a missing beginning.
pub(super) fn look(evidence: &Evidence, findings: &mut Vec<Finding>) {
    let sum = |count: fn(&crate::evidence::DirectionStats) -> u64| {
        count(&evidence.forward) + count(&evidence.reverse)
    };
    let copies = sum(|direction| direction.capture_duplicates);
    let unseen = sum(|direction| direction.unseen_bytes);
    let offloaded = sum(|direction| direction.offloaded_packets);
    let mut faults = Vec::new();
    let mut numbers = Vec::new();
    if copies > 0 {
        faults.push(format!("{copies} packets are in it twice"));
        numbers.push(number("capture_duplicates", copies as f64));
    }
    if evidence.marks.capture_lost && unseen > 0 {
        faults.push(format!("{unseen} bytes were acknowledged that are not in it"));
        numbers.push(number("unseen_bytes", unseen as f64));
    }
    if offloaded > 0 {
        faults.push(format!(
            "{offloaded} packets are larger than any segment: it was made where the network card had not cut \
             them up yet, or had joined them"
        ));
        numbers.push(number("offloaded_packets", offloaded as f64));
    }
    if evidence.marks.one_way {
        faults.push("only one direction is in it".to_owned());
    }
    if evidence.marks.mid_stream {
        faults.push(
            "it begins in the middle: segment size and window scale were not seen".to_owned(),
        );
    }
    if faults.is_empty() {
        return;
    }
    let is_severe = evidence.marks.one_way || unseen > 0;
    let frames = [&evidence.forward, &evidence.reverse]
        .into_iter()
        .flat_map(|direction| direction.events.of(|kind| kind == EventKind::CaptureDuplicate))
        .map(|event| event.frame);
    findings.push(Finding {
        kind: FindingKind::CaptureQuality,
        severity: if is_severe { Severity::Warning } else { Severity::Note },
        way: None,
        from: evidence.begin,
        to: evidence.end,
        evidence: numbers,
        frames: frames.take(8).collect(),
        text: format!("The capture is not all that happened: {}", faults.join("; ")),
        why: "What was not captured cannot be counted, and what was captured twice is not sent twice",
        advice: "Capture at the sender, both directions, from before the connection opens; with offloads off \
                 (ethtool -K IFACE gso off tso off gro off) where sizes on the wire matter"
            .to_owned(),
        source: "Paxson, Automated Packet Trace Analysis of TCP Implementations, SIGCOMM 1997",
    });
}
