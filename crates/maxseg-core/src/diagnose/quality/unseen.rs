//! What passed and was not captured: packets that the capture lost, and files that are missing.

use super::super::finding::{counted, counted_times};
use super::super::intervals::share_of_time;
use super::super::overtaken::has_no_order;
use super::{Reason, ReasonCode, reason};
use crate::evidence::{DirectionStats, Evidence};
use crate::units::approx;

/// The share of the payload that the capture lost.
pub(super) fn share(evidence: &Evidence) -> f64 {
    let share = |stats: &DirectionStats| {
        let lost = stats.lost_by_capture();
        let all = lost + stats.unique_bytes;
        if all == 0 { 0.0 } else { lost as f64 / all as f64 }
    };
    share(evidence.stats(evidence.data_direction()))
}

/// The share of a direction's time of which files are missing.
pub(super) fn share_of_its_time(stats: &DirectionStats) -> f64 {
    share_of_time(stats, |bin| stats.unseen_part_of(bin))
}

pub(super) fn missing_files(evidence: &Evidence) -> Option<Reason> {
    let holes = |stats: &DirectionStats| {
        let lasted = stats.holes.iter().map(|hole| hole.lasted().as_secs_f64()).sum::<f64>();
        let bytes = stats.holes.iter().map(|hole| hole.bytes).sum::<u64>();
        (stats.holes.len(), lasted, bytes)
    };
    let (there, back) = (holes(&evidence.forward), holes(&evidence.reverse));
    let (count, lasted) = (there.0.max(back.0), there.1.max(back.1));
    let holes = match count {
        0 => return None,
        1 => "Files of this capture are missing".to_owned(),
        _ => format!("Files of this capture are missing {}", counted_times(count as u64)),
    };
    Some(reason(
        ReasonCode::MissingFiles,
        format!(
            "{holes}, {} in all: what passed then, {} at least, counts neither as lost nor as in flight, and what limited it is unknown",
            approx::time(lasted),
            counted(there.2 + back.2, "byte"),
        ),
    ))
}

pub(super) fn capture_loss(evidence: &Evidence) -> Option<Reason> {
    let unseen = evidence.forward.lost_by_capture() + evidence.reverse.lost_by_capture();
    if !evidence.marks.capture_lost || unseen == 0 || has_no_order(evidence) {
        return None;
    }
    Some(reason(
        ReasonCode::CaptureLoss,
        format!(
            "The capture lost packets of {}: what was in flight and sent again there is not counted",
            counted(unseen, "acknowledged byte")
        ),
    ))
}
