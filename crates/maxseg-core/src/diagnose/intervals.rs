//! The intervals in which a direction is judged.

use crate::evidence::{Bin, DirectionStats};
use crate::units::Time;

/// The bins of a direction, joined until each is as long as a round trip.
pub(super) fn round_trips(stats: &DirectionStats) -> Vec<Bin> {
    let shortest = Time::from_secs_f64(stats.path_rtt_min_s.unwrap_or(0.001));
    let mut joined: Vec<Bin> = Vec::new();
    let mut is_whole = true;
    for bin in stats.bins.as_slice() {
        match joined.last_mut() {
            Some(open) if !is_whole => open.join(bin),
            _ => joined.push(*bin),
        }
        let newest = joined[joined.len() - 1];
        is_whole = newest.duration >= shortest.max(newest.rtt_mean().unwrap_or(shortest));
    }
    joined
}
