//! The intervals in which a direction is judged.

use crate::evidence::{Bin, DirectionStats};
use crate::outcome::LimitedBy;
use crate::units::Time;

/// A sender that is out of data for this share of the time writes in steps, and fills no window.
pub(super) const OFTEN_OUT_OF_DATA: f64 = 0.1;

/// The bins of a direction, joined until each is as long as a round trip.
pub(super) fn round_trips(stats: &DirectionStats) -> Vec<Bin> {
    let shortest = Time::from_secs_f64(stats.path_rtt_min_s.unwrap_or(0.001));
    let mut joined: Vec<Bin> = Vec::with_capacity(stats.bins.as_slice().len());
    let mut is_whole = true;
    for bin in stats.bins.as_slice() {
        match joined.last_mut() {
            Some(open) if !is_whole => open.join(bin),
            _ => joined.push(*bin),
        }
        let newest = &joined[joined.len() - 1];
        is_whole = newest.duration >= shortest.max(newest.rtt_mean().unwrap_or(shortest));
    }
    joined
}

/// The limits of an interval that a hole of the capture reaches into.
pub(super) fn unseen(bin: &Bin) -> [(LimitedBy, f64); 4] {
    let none = (LimitedBy::Unknown, 0.0);
    [(LimitedBy::Unknown, bin.duration.as_secs_f64()), none, none, none]
}

/// The bins in which something was sent.
pub(super) fn busy_bins(data: &DirectionStats) -> impl Iterator<Item = &Bin> {
    data.bins.as_slice().iter().filter(|bin| bin.segments > 0)
}

/// The share of the time that a part of each bin takes.
pub(super) fn share_of_time(data: &DirectionStats, part: impl Fn(&Bin) -> Time) -> f64 {
    let (mut all, mut parts) = (0.0, 0.0);
    for bin in data.bins.as_slice() {
        all += bin.duration.as_secs_f64();
        parts += part(bin).as_secs_f64();
    }
    if all > 0.0 { parts / all } else { 0.0 }
}

/// The share of the time in which the sender had no more data.
pub(super) fn share_out_of_data(data: &DirectionStats) -> f64 {
    let part = |bin: &Bin| bin.idle.since(bin.idle_after_full).saturating_add(bin.app_limited);
    share_of_time(data, part)
}

/// The value that so many tenths of these do not exceed, the lower one of two; `None` of nothing.
pub(super) fn decile(mut values: Vec<f64>, tenths: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? * tenths / 10).copied()
}
