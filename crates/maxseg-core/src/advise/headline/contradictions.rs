//! What the evidence says against a prediction: a gain that contradicts it is not given.

use super::next_limit::lifts_window;
use super::queues::{self, BURST};
use super::stalls;
use crate::advise::change::mend_losses;
use crate::advise::gain::{CLOSE, Gain, NoGain};
use crate::advise::path::ObservedPath;
use crate::advise::scenario_text::LossModel;
use crate::advise::{Case, Change, Subject};
use crate::diagnose::{
    CongestionAlgorithm, FULL_LINK, LossCause, is_overtaken, rate_of_possible_policer,
};
use crate::outcome::LimitedBy;
use crate::stats::median;

/// The gain, where nothing that the capture shows contradicts it, or leaves open what it depends on. `told_queue` is the size of the queue in bytes
/// as the capture tells it: that of `path` is the one with which a rerun has what was observed.
pub(super) fn uncontradicted(
    case: &Case<'_>,
    path: &ObservedPath,
    told_queue: u64,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    within_full_link(case, changes, gain)
        .and_then(|gain| not_policed(case, path, changes, gain))
        .and_then(|gain| on_own_link(case, changes, gain))
        .and_then(|gain| beyond_what_was_used(changes, gain))
        .and_then(|gain| while_lost(case, path, changes, gain))
        .and_then(|gain| in_order(case, path, changes, gain))
        .and_then(|gain| with_known_queue(case, path, changes, gain))
        .and_then(|gain| in_own_queue(case, changes, gain))
        .and_then(|gain| queues::checked(case, path, told_queue, changes, gain))
}

/// While the link is full, losses cost at most the rest of its rate.
fn within_full_link(case: &Case<'_>, changes: &[Change], gain: Gain) -> Result<Gain, NoGain> {
    let full = case.share(LimitedBy::Bandwidth);
    let is_full = case.diagnosis.limited_by == LimitedBy::Bandwidth;
    match gain.relative() {
        Some(relative)
            if is_full && mend_losses(changes) && FULL_LINK * full * (1.0 + relative) > 1.0 =>
        {
            Err(NoGain::BeyondFullLink)
        }
        _ => Ok(gain),
    }
}

/// A larger share of lost segments, of at least so many, is what a policer drops that the sender exceeds, as often as not: of 150 transfers that lost
/// as many for no reason that shows, four fifths were policed, and of 173 with errors at lower rates none.
const MUCH_LOST: f64 = 0.05;
const LEAST_LOST: u64 = 10;
/// Where the overflow that ended slow start dropped most of them, and no more than this share was lost since: a policer drops again as often as the
/// sender comes back to its rate, which is soon.
const LITTLE_LATER: f64 = 0.01;

/// What is lost at once ([`BURST`]), with less in flight than this share of what the path holds, was lost in no full queue of its link.
/// So they were in 14 transfers of drawn captures with a policer, and in three of 459 others whose losses were as unknown.
const FAR_FROM_FULL: f64 = 0.3;

/// The segments that were lost at once, and the share of what the path holds that was in flight, where that is far from full at every loss.
fn burst_far_from_full(case: &Case<'_>, path: &ObservedPath) -> Option<(u32, f64)> {
    let episodes = case.data().loss_episodes.as_slice();
    let largest = episodes.iter().max_by_key(|episode| episode.lost)?;
    let filled = |bytes: u64| bytes as f64 / path.bdp_bytes().max(1.0);
    let usual = median(episodes.iter().map(|episode| filled(episode.in_flight)).collect())?;
    let is_far = largest.lost >= BURST && usual < FAR_FROM_FULL;
    let share = filled(largest.in_flight);
    (is_far && share < 2.0 * FAR_FROM_FULL).then_some((largest.lost, share))
}

/// Whether a full window passed at more than this rate for a good part of the time: no policer of that rate lets it.
fn passes_more_by_window(case: &Case<'_>, path: &ObservedPath, rate_bps: f64) -> bool {
    let windows = [LimitedBy::ReceiveWindow, LimitedBy::SendBuffer];
    let full_bps = case.data().in_flight_max_bytes as f64 * 8.0 / path.rtt_s.value;
    outlasts_bucket(windows.map(|limit| case.share(limit)).iter().sum(), full_bps / rate_bps)
}

/// Whether so many times a policer's rate, for such a share of a transfer, are more than a bucket of tokens lets pass.
fn outlasts_bucket(share: f64, times: f64) -> bool {
    share >= LONG_FULL && times >= ABOVE
}

/// A bucket of tokens is empty within less of a transfer than this share, at so many times its rate.
const LONG_FULL: f64 = 0.1;
const ABOVE: f64 = 1.1;

/// Where the capture does not show what drops packets, what a path without loss would carry is no gain of one with a policer.
fn not_policed(
    case: &Case<'_>,
    path: &ObservedPath,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    let (data, lost_by) = (case.data(), case.diagnosis.loss.cause);
    let is_open = matches!(lost_by, LossCause::Unknown | LossCause::Errors);
    // What gains too little is told of anyway.
    if !mend_losses(changes) || !is_open || gain.missing().is_some() {
        return Ok(gain);
    }
    if let Some(passed_bps) =
        rate_of_possible_policer(data).filter(|_| lost_by == LossCause::Unknown)
        && !passes_more_by_window(case, path, passed_bps)
    {
        return Err(NoGain::MayBePoliced { passed_bps });
    }
    if lost_by == LossCause::Unknown
        && let Some((lost, share)) = burst_far_from_full(case, path)
    {
        return Err(NoGain::BurstFarFromFull { lost, share });
    }
    if lost_by == LossCause::Unknown
        && let Some(lost) = queues::burst_without_wait(data)
    {
        return Err(NoGain::BurstWithoutWait { lost });
    }
    let lost = data.needed_retransmissions();
    let share = lost as f64 / data.segments().max(1) as f64;
    let is_of_start = path.overflow.as_ref().is_some_and(|overflow| {
        overflow.later_loss.as_ref().is_none_or(|later| later.value <= LITTLE_LATER)
    });
    if lost >= LEAST_LOST && share > MUCH_LOST && !is_of_start {
        return Err(NoGain::LosesMuch { share });
    }
    Ok(gain)
}

/// A prediction below what removing the stalled time alone gives contradicts the evidence.
pub(super) fn at_least_the_stall(
    case: &Case<'_>,
    subject: Option<Subject>,
    gain: Gain,
) -> Result<Gain, NoGain> {
    let Some(limit) = subject.and_then(stalls) else { return Ok(gain) };
    let without_stall = gain.observed_whole_bps() / (1.0 - case.share(limit)).max(1e-6);
    match gain.expected() {
        Some(expected) if expected.goodput_bps < (1.0 - CLOSE) * without_stall => {
            Err(NoGain::BelowStalled)
        }
        _ => Ok(gain),
    }
}

/// The first flight, sent at once, has the rate of the link. One that came out so many times as fast as the trains since shows that they did
/// not have it for themselves, where they are trains: so many times as fast as the goodput. Of 93 gains that simulated captures of links with other
/// traffic promised, 50 did not come: 21 of these had such a first flight, and 16 of the others.
const FIRST_FASTER: f64 = 1.33;
const TRAINS: f64 = 1.3;
/// Trains as slow as the goodput are segments that come evenly. A window that is full sends each flight as it was released, in trains of the rate
/// of the link: at half of the first flight's rate, others' packets spread them, or a sender paces. Neither shows what is left of the link.
const SPREAD: f64 = 2.0;

/// A lower bound of a window's gain below this share says next to nothing: until the path is full, twice the window brings twice as much.
const LITTLE: f64 = 0.25;

/// What a larger window brings is not known where the rate of the path is known to be hardly more than what was used of it.
fn beyond_what_was_used(changes: &[Change], gain: Gain) -> Result<Gain, NoGain> {
    let is_little = gain.relative().is_some_and(|relative| relative < LITTLE);
    if gain.is_bound && lifts_window(changes) && is_little && gain.missing().is_none() {
        return Err(NoGain::RateUnknown { is_window: true });
    }
    Ok(gain)
}

/// What the rest of a link brings is not known where trains show that others have a part of it.
fn on_own_link(case: &Case<'_>, changes: &[Change], gain: Gain) -> Result<Gain, NoGain> {
    let data = case.data();
    let needs_room = mend_losses(changes) || lifts_window(changes);
    // What such a sender paces below the link's rate comes out as it was sent.
    let is_paced = case.diagnosis.congestion_control.name == CongestionAlgorithm::Bbr;
    let known = data.first_flight_bps.zip(data.capacity_bps).zip(data.goodput_bps);
    let are_slower = |first_bps: f64, since_bps: f64, goodput_bps: f64| {
        let are_trains = since_bps >= TRAINS * goodput_bps;
        first_bps >= FIRST_FASTER * since_bps && are_trains
            || first_bps >= SPREAD * since_bps && lifts_window(changes)
    };
    match known {
        Some(((first_bps, since_bps), goodput_bps))
            if needs_room
                && !is_paced
                && are_slower(first_bps, since_bps, goodput_bps)
                && gain.missing().is_none() =>
        {
            Err(NoGain::LinkSlowedDown { first_bps, since_bps })
        }
        _ => Ok(gain),
    }
}

/// What a window or a buffer brings while nothing is lost is in no run with losses all along: neither how much, nor that it is little.
fn while_lost(
    case: &Case<'_>,
    path: &ObservedPath,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    let is_all_along = gain.loss == LossModel::Errors && !gain.loses_as_observed;
    let stretch = path.lossy_stretch(case.data()).filter(|_| is_all_along);
    match stretch.filter(|_| !changes.is_empty() && !mend_losses(changes)) {
        Some(stretch) => {
            let [from_s, to_s] =
                stretch.span().map(|at| at.since(case.evidence.begin).as_secs_f64());
            Err(NoGain::LossesOfAPart { from_s, to_s })
        }
        None => Ok(gain),
    }
}

/// A sender that takes what is overtaken for lost reduces a larger flight more often. BBR with SACK does not reduce its flight for it, and
/// with SACK a rerun in which as many are overtaken has what it costs.
fn in_order(
    case: &Case<'_>,
    path: &ObservedPath,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    let data = case.data();
    if path.reorder.is_some() && data.sack_permitted && gain.explains() {
        return Ok(gain);
    }
    let is_overtaken = case.diagnosis.loss.cause == LossCause::Reordering || is_overtaken(data);
    let bears_it =
        data.sack_permitted && case.diagnosis.congestion_control.name == CongestionAlgorithm::Bbr;
    if lifts_window(changes) && is_overtaken && !bears_it && gain.missing().is_none() {
        return Err(NoGain::Overtaken);
    }
    Ok(gain)
}

/// A link is often full that is for this share of the time.
const OFTEN_FULL: f64 = 0.4;

/// A longer queue in front of a link that is often full brings what losses cost, where it is short: near the receiver, and where hardly a packet was
/// seen to queue, it may be longer than it seems.
fn with_known_queue(
    case: &Case<'_>,
    path: &ObservedPath,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    let is_of_queue = matches!(changes, [Change::Queue(_)]);
    let is_full = case.share(LimitedBy::Bandwidth) >= OFTEN_FULL;
    if is_of_queue && is_full && !path.shows_queue(case) && gain.missing().is_none() {
        return Err(NoGain::QueueUnseen);
    }
    Ok(gain)
}

/// What a queue, a window or the end of losses brings is not known where other connections of the file, of one of the hosts, may fill the same
/// link: what this one leaves of it is theirs.
fn in_own_queue(case: &Case<'_>, changes: &[Change], gain: Gain) -> Result<Gain, NoGain> {
    let needs_room = mend_losses(changes)
        || lifts_window(changes)
        || changes.iter().any(|change| change.is_of_queue());
    match case.data().nearby.filter(|_| needs_room && gain.missing().is_none()) {
        Some(nearby) => Err(NoGain::SharedInPart(nearby)),
        None => Ok(gain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 64 KiB over 80 ms, full for a fifth of the time, and 4.91 Mbit/s between losses.
    #[test]
    fn a_window_that_passes_more_is_no_policers() {
        assert!(outlasts_bucket(0.21, 6.55e6 / 4.91e6));
        assert!(!outlasts_bucket(0.05, 6.55e6 / 4.91e6), "as long as a bucket lasts");
        assert!(!outlasts_bucket(0.21, 1.0), "at its rate");
    }
}
