//! The round trip of a path without queueing.

use super::{Confidence, Known};
use crate::advise::Case;
use crate::evidence::DirectionStats;

/// What overtakes has skipped a wait: the least round trip is shorter than the usual one by more than this share.
const SHORTER: f64 = 0.1;

/// The round trip, in seconds; of a path that `reorders`, that of packets which overtake none. `None` where none was measured.
pub(super) fn of(case: &Case<'_>, reorders: bool) -> Option<Known<f64>> {
    let least = least(case)?;
    let of_others = if reorders { of_overtaken(case, least.value) } else { None };
    Some(of_others.unwrap_or(least))
}

fn least(case: &Case<'_>) -> Option<Known<f64>> {
    let data = case.data();
    if let Some(rtt) = data.path_rtt_min_s.filter(|rtt| *rtt > 0.0) {
        return Some(Known::new(rtt, Confidence::High, "minimum round trip of the whole path"));
    }
    if let Some(rtt) = case.evidence.handshake.rtt() {
        return Some(Known::new(rtt.as_secs_f64(), Confidence::High, "the handshake"));
    }
    let how = "minimum round trip beyond the capture point: the path before it is not included";
    data.rtt_min_s.filter(|rtt| *rtt > 0.0).map(|rtt| Known::new(rtt, Confidence::Low, how))
}

/// The round trip of what did not overtake, in seconds, where the least one, `least_s`, is of what did.
fn of_overtaken(case: &Case<'_>, least_s: f64) -> Option<Known<f64>> {
    let rtt_s = case.evidence.handshake.rtt()?.as_secs_f64();
    let how = "the handshake: packets that overtook others had less";
    (rtt_s > (1.0 + SHORTER) * least_s).then(|| Known::new(rtt_s, Confidence::Medium, how))
}

/// The part of the round trip on the sender's side of the point of capture, in seconds.
pub(super) fn before_capture(data: &DirectionStats) -> f64 {
    let ways = data.path_rtt_min_s.zip(data.rtt_min_s);
    ways.map_or(0.0, |(path, behind)| (path - behind).max(0.0))
}
