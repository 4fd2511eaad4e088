//! Acknowledgements that passed and were not captured.

use super::{Reason, ReasonCode, reason};
use crate::diagnose::finding::counted;
use crate::evidence::Evidence;

/// So many segments, and this share of all: a receiver that takes its window back, or copies out of order, bring about fewer.
const LEAST: u64 = 5;
const LEAST_SHARE: f64 = 0.005;

/// No sender exceeds the windows that it knows (RFC 9293 §3.8.6), and all that it knows has passed the point of capture; nor does one send
/// new payload beyond its retransmission timer (RFC 6298 §5).
pub(super) fn lost(evidence: &Evidence) -> Option<Reason> {
    let data = evidence.stats(evidence.data_direction());
    let are_many = |count: u64| {
        count >= LEAST && count as f64 >= LEAST_SHARE * data.data_packets_once() as f64
    };
    if evidence.marks.one_way {
        return None;
    }
    let text = if are_many(data.beyond_window) {
        format!(
            "Acknowledgements are missing, or stored behind the data that they released: {} exceed every window before them",
            counted(data.beyond_window, "segment")
        )
    } else if are_many(data.beyond_timer) {
        format!(
            "Acknowledgements are missing: {} left after the last one was 3 s old, and nothing was retransmitted",
            counted(data.beyond_timer, "new segment")
        )
    } else {
        return None;
    };
    Some(reason(ReasonCode::LostAcknowledgements, text))
}

/// Segments that no receiver leaves without an acknowledgement of their own (RFC 5681 §4.2), and how many come for each of its messages.
const MANY: u64 = 20;
const EACH: u64 = 4;

/// All that the receiver sent has payload, though many segments came for each of its messages: a filter kept payload alone.
pub(super) fn filtered(evidence: &Evidence) -> Option<Reason> {
    let data = evidence.stats(evidence.data_direction());
    let acks = evidence.stats(evidence.data_direction().other());
    let is_filtered = acks.packets > 0
        && acks.packets == acks.data_packets
        && data.data_packets >= MANY
        && data.data_packets >= EACH * acks.packets;
    let text = "Packets without payload are missing, acknowledgements among them, as with a filter that keeps payload";
    is_filtered.then(|| reason(ReasonCode::PayloadOnly, text.to_owned()))
}
