//! What the queue of the path, and packets of others in it, say against a prediction.

use super::next_limit::lifts_window;
use crate::advise::change::mend_losses;
use crate::advise::gain::{Gain, NoGain};
use crate::advise::path::ObservedPath;
use crate::advise::{Case, Change};
use crate::diagnose::{CLOCK_STEP, LossCause, is_at_sender};
use crate::evidence::{Bin, DirectionStats};
use crate::outcome::LimitedBy;

/// So many segments are lost at once by no error: what drops by rate or room does.
pub(super) const BURST: u32 = 5;

/// A window that is full for so much of the time goes round once for what it carries (Little's law).
const FULL_WINDOW: f64 = 0.9;
/// Less in flight than this share of what the path holds makes no queue.
const HALF_FULL: f64 = 0.8;
/// Round trips so much longer than the least, and than an acknowledgement that waits for a second segment (RFC 5681 §4.2) makes them by this share
/// of the least, hold packets of others. Of 101 windows that were full and alone on their path 1.19 was the most.
const LONG_ROUND: f64 = 1.2;
const BEYOND_HELD: f64 = 0.05;

/// A queue stands where no round trip of an interval is within this share, and a step of a coarse clock, of the least.
const STANDS: f64 = 0.15;
/// It is not that window's where it stands for longer than this: of those windows' time it was 0.05 at most.
const HALF_OF_THE_TIME: f64 = 0.5;
/// A link is not busy for more than all of the time, and its rate is known to a tenth.
const ALL_OF_THE_TIME: f64 = 1.1;

/// A queue with which the rerun has what was observed is about that which round trips at losses show from this share on: either may be a third aside
/// of what the link has.
const ABOUT_AS_SEEN: f64 = 0.6;

/// Less than this share of what the path holds fills no queue.
const FILLS_NONE: f64 = 0.7;
/// Nothing waited where nineteen delays of twenty, or 98 round trips of a hundred, are within this share, and a step of a coarse clock, of the
/// least.
const NO_WAIT: f64 = 0.1;

/// The gain, where neither the path's queue nor others in it say anything against it. `told_queue` is its size in bytes as the capture tells it.
pub(super) fn checked(
    case: &Case<'_>,
    path: &ObservedPath,
    told_queue: u64,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    let missing = gain.missing();
    // What waits for others is missed by the rerun for that reason.
    let is_open = matches!(missing, None | Some(NoGain::BaselineMisses { .. }));
    if is_open
        && lifts_window(changes)
        && let Some((round_s, least_s)) = rounds_behind_others(case, path)
    {
        return Err(NoGain::WaitsForOthers { round_s, least_s });
    }
    let Some(relative) = gain.relative().filter(|_| missing.is_none()) else {
        return Ok(gain);
    };
    let (data, lost_by) = (case.data(), case.diagnosis.loss.cause);
    let mends = mend_losses(changes);
    let is_of_queue = changes.iter().any(|change| change.is_of_queue());
    if (mends || is_of_queue)
        && standing_share(data, path.rtt_s.value) * (1.0 + relative) > ALL_OF_THE_TIME
    {
        return Err(NoGain::BeyondFullLink);
    }
    let fitted = path.queue_bytes.value;
    if is_of_queue
        && lost_by == LossCause::Queue
        && (fitted as f64) < ABOUT_AS_SEEN * told_queue as f64
    {
        return Err(NoGain::ShorterQueue { told: told_queue, fitted });
    }
    if mends && lost_by == LossCause::Unknown && !shows_errors(data, path) {
        return Err(NoGain::LostAtFullPath);
    }
    Ok(gain)
}

/// How long a full window takes to go round, and the least round trip, in seconds, where packets of others delay it: those of a window that is too
/// small for a queue of its own do not wait.
fn rounds_behind_others(case: &Case<'_>, path: &ObservedPath) -> Option<(f64, f64)> {
    let data = case.data();
    let least_s = path.rtt_s.value;
    let flight = data.in_flight_max_bytes as f64;
    let goodput = data.goodput_bps.filter(|goodput| *goodput > 0.0)?;
    let is_full = case.share(LimitedBy::ReceiveWindow) >= FULL_WINDOW;
    let is_small = flight < HALF_FULL * path.bdp_bytes();
    let round_s = 8.0 * flight / goodput;
    let held_s = 8.0 * f64::from(data.full_segment()) / goodput;
    // What is repaired waits as well.
    let is_long = round_s >= LONG_ROUND * least_s
        && round_s >= (1.0 + BEYOND_HELD) * least_s + held_s
        && data.resent_data() == 0;
    let is_behind_queue = standing_share(data, path.rtt_s.value) > HALF_OF_THE_TIME;
    (is_full && is_small && (is_long || is_behind_queue)).then_some((round_s, least_s))
}

/// The share of the time in which a queue stood before a path of this round trip: the link carried all it could, of this connection or of others.
/// What overtakes others has a shorter one.
fn standing_share(data: &DirectionStats, path_s: f64) -> f64 {
    let Some(least) = data.path_rtt_min_s.map(|least| least.max(path_s)) else { return 0.0 };
    let long = (1.0 + STANDS) * least + CLOCK_STEP.as_secs_f64();
    let seconds = |bin: &Bin| bin.duration.as_secs_f64();
    let stands = |bin: &&Bin| bin.rtt_min.is_some_and(|shortest| shortest.as_secs_f64() > long);
    let bins = data.bins.as_slice();
    let all: f64 = bins.iter().map(seconds).sum();
    bins.iter().filter(stands).map(seconds).sum::<f64>() / all.max(1e-9)
}

/// Whether a few segments were lost while less was in flight than fills a queue: else a full one may have dropped all that was lost.
fn shows_errors(data: &DirectionStats, path: &ObservedPath) -> bool {
    let least = FILLS_NONE * path.bdp_bytes();
    let mut episodes = data.loss_episodes.as_slice().iter();
    episodes.any(|episode| episode.lost < BURST && (episode.in_flight as f64) < least)
}

/// How many segments were lost at once, where nothing ever waited: a queue that overflows delays what it holds.
pub(super) fn burst_without_wait(data: &DirectionStats) -> Option<u32> {
    let least = data.path_rtt_min_s?;
    let most = NO_WAIT * least + CLOCK_STEP.as_secs_f64();
    let way = data.way_delay.map(|way| way.high_s);
    let trips = data.loaded_round_trips.quantile(0.98).filter(|_| is_at_sender(data));
    let trips = trips.map(|trip| trip.as_secs_f64() - least);
    let lost = data.loss_episodes.as_slice().iter().map(|episode| episode.lost).max()?;
    let waited = way.or(trips)?;
    (lost >= BURST && waited <= most).then_some(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Bins, LossEpisode, LossEpisodes, WayDelay};
    use crate::units::Time;

    #[test]
    fn a_queue_stands_where_no_round_trip_is_short() {
        let mut data = DirectionStats { path_rtt_min_s: Some(0.04), ..DirectionStats::default() };
        data.bins = Bins::new(Time::ZERO, Time::from_millis(100));
        for (n, shortest) in [41, 70, 80, 75].into_iter().enumerate() {
            let bin = data.bins.at(Time::from_millis(100 * n as u64));
            bin.rtt_min = Some(Time::from_millis(shortest));
        }
        assert!((standing_share(&data, 0.04) - 0.75).abs() < 1e-9);
        assert!(standing_share(&data, 0.07) < 1e-9, "the least overtook others");
    }

    #[test]
    fn what_is_lost_at_once_without_a_wait_was_in_no_full_queue() {
        let lost = |lost, high_s| {
            let mut loss_episodes = LossEpisodes::default();
            loss_episodes.begin(LossEpisode { lost, ..LossEpisode::default() });
            let way_delay = Some(WayDelay { high_s, ..WayDelay::default() });
            burst_without_wait(&DirectionStats {
                path_rtt_min_s: Some(0.04),
                way_delay,
                loss_episodes,
                ..DirectionStats::default()
            })
        };
        assert_eq!(lost(53, 0.003), Some(53));
        assert_eq!(lost(53, 0.02), None, "they waited");
        assert_eq!(lost(2, 0.003), None, "errors strike a few");
    }
}
