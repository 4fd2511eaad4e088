//! The losses that begin a recovery of their own.

use crate::evidence::{DirectionStats, LossEpisode};
use crate::stats::Summary;

/// The episodes that are no part of the one before: more than a flight was sent since.
pub(super) fn recoveries(data: &DirectionStats) -> Vec<&LossEpisode> {
    let segment = segment_bytes(data);
    let is_own = |episode: &&LossEpisode| {
        u64::from(episode.sent_since).saturating_mul(segment) > episode.in_flight
    };
    data.loss_episodes.as_slice().iter().filter(is_own).collect()
}

/// The share of all lost segments that were lost before this episode.
pub(super) fn lost_before(data: &DirectionStats, first: Option<&&LossEpisode>) -> f64 {
    let Some(first) = first else { return 0.0 };
    let before = data.loss_episodes.as_slice().iter().take_while(|episode| episode.at < first.at);
    let lost: u64 = before.map(|episode| u64::from(episode.lost)).sum();
    lost as f64 / (data.needed_retransmissions() as f64).max(1.0)
}

/// The payload of a full segment.
pub(super) fn segment_bytes(data: &DirectionStats) -> u64 {
    u64::from(data.full_segment())
}

/// The standard deviation as a share of the mean.
pub(super) fn variation(values: &[f64]) -> f64 {
    Summary::of(values).coefficient_of_variation().unwrap_or(0.0)
}
