//! Packets that the capture holds twice.

use super::{Reason, ReasonCode, reason};
use crate::diagnose::finding::counted;
use crate::evidence::Evidence;

pub(super) fn twice(evidence: &Evidence) -> Option<Reason> {
    let copies = evidence.forward.capture_duplicates + evidence.reverse.capture_duplicates;
    if copies == 0 {
        return None;
    }
    let place = match evidence.capture.repeating_points {
        0 => "at the same point".to_owned(),
        others => format!("at {} points", others + 1),
    };
    let told = evidence.forward.dsack_acks + evidence.reverse.dsack_acks;
    if evidence.capture.repeating_points == 0 && 2 * told >= copies {
        let text = format!(
            "{} came twice, and the receiver reports them (D-SACK): the network doubled them, and each counts once",
            counted(copies, "packet")
        );
        return Some(reason(ReasonCode::CapturedTwice, text));
    }
    // With a path between, what was lost behind one place was seen before.
    let rest = if evidence.capture.is_merged { "" } else { ": each counts once" };
    let text = format!("{} captured twice, {place}{rest}", counted(copies, "packet"));
    Some(reason(ReasonCode::CapturedTwice, text))
}

/// Those that another connection has, with addresses that a hop translated.
pub(super) fn translated(evidence: &Evidence) -> Option<Reason> {
    let there = evidence.capture.translated?;
    let ends = [(evidence.client, there.client), (evidence.server, there.server)];
    let named = ends.iter().filter(|(here, there)| here != there);
    let named: Vec<String> = named.map(|(here, there)| format!("{here} is {there}")).collect();
    let text = format!(
        "Connection {} has the same packets, before or behind address translation (NAT): {} there",
        there.id,
        named.join(", and ")
    );
    Some(reason(ReasonCode::Translated, text))
}
