//! Packets that overtake others on a path: how many do.

use super::{Confidence, Known};
use crate::advise::Case;
use crate::diagnose::LossCause;

/// Fewer segments that overtook others may be chance, or the capture's own disorder.
const LEAST: u64 = 3;
/// No path has more: beyond that the capture is out of order.
const MOST: f64 = 0.5;

/// The share of data packets that overtake others, from 0 to 1; `None` where none do, or too few to tell.
pub(super) fn share(case: &Case<'_>) -> Option<Known<f64>> {
    let (data, acks) = (case.data(), case.acks());
    let packets = data.segments().max(1);
    // The receiver acknowledges at once what arrives out of order (RFC 5681 §4.2), so that it is counted at the sender as well.
    let (count, how) = match data.epochs.overtaking {
        Some(count) => (u64::from(count), "overtook others"),
        // What is lost brings duplicate acknowledgements as well.
        None if matches!(case.diagnosis.loss.cause, LossCause::Reordering | LossCause::None) => {
            (acks.duplicate_acks, "arrived early, by duplicate acknowledgements")
        }
        None => return None,
    };
    let share = count as f64 / packets as f64;
    (count >= LEAST && share <= MOST)
        .then(|| Known::new(share, Confidence::Medium, format!("{count} of {packets} {how}")))
}
