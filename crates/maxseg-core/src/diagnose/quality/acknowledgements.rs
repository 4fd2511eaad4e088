//! Acknowledgements that passed and were not captured.

use super::{Reason, ReasonCode, reason};
use crate::diagnose::finding::counted;
use crate::evidence::Evidence;

/// So many segments, and this share of all: a receiver that takes its window back, or copies out of order, bring about fewer.
const LEAST: u64 = 5;
const LEAST_SHARE: f64 = 0.005;

/// No sender exceeds the windows that it knows (RFC 9293 §3.8.6), and all that it knows has passed the point of capture.
pub(super) fn lost(evidence: &Evidence) -> Option<Reason> {
    let data = evidence.stats(evidence.data_direction());
    let beyond = data.beyond_window;
    let is_chance = beyond < LEAST || (beyond as f64) < LEAST_SHARE * data.data_packets as f64;
    if evidence.marks.one_way || is_chance {
        return None;
    }
    let text = format!(
        "Acknowledgements are missing, or stored behind the data that they released: {} exceed every window before them",
        counted(beyond, "segment")
    );
    Some(reason(ReasonCode::LostAcknowledgements, text))
}
