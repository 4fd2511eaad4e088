//! What the whole of a transfer shows of its sender and its path, before single intervals are judged: whether the rate of
//! packet trains is that of the path, and whether acknowledgements or the sender itself space the segments.

use super::intervals::round_trips;
use crate::evidence::{Bin, DirectionStats};
use crate::stats::Summary;
use crate::units::Time;

/// Round trips are flat while nine of ten under load are within so many times the least,
const FLAT: f64 = 1.15;
/// and a step of a coarse clock.
const CLOCK_STEP: Time = Time::from_millis(1);
/// A queue is seen where one round trip of twenty under load is so many times the least.
const QUEUED: f64 = 1.3;
/// A queue stands where half of the round trips under load are so many times the least.
const STANDING: f64 = 1.5;
/// What the path carries at once is faster than what the sender sends, by so much at least.
const FASTER: f64 = 1.5;
/// Segments fill the time evenly where their trains are about as slow as the goodput.
const SMOOTH: f64 = 0.7;
/// A rate is even where it varies by less than this share of itself between stretches of time,
const EVEN: f64 = 0.05;
/// and pauses are even with this.
const EVEN_PAUSES: f64 = 0.1;
/// Fewer stretches of time show no evenness.
const LEAST_STRETCHES: usize = 8;
/// A stretch has so many seconds or two round trips: single writes of video, or of a minute's job, are not even;
const STRETCH_S: f64 = 0.1;
/// and so many segments: one more or less in it is no variation.
const STRETCH_SEGMENTS: f64 = 40.0;
/// The share of payload that acknowledgements clock out, beyond what chance explains, from which they are the clock.
const CLOCKED: f64 = 0.3;
/// Where more than this share of the time is at once after an acknowledgement, chance explains everything.
const CROWDED: f64 = 0.6;
/// A dialogue: the other side sends at least so much payload for each packet of this side.
const DIALOGUE: f64 = 0.02;
/// Replies that come in pauses of more than this share of the time are a dialogue, however long each is.
const PAUSED: f64 = 0.5;
/// Fewer messages of the other side show no window of a program.
const MESSAGES: u64 = 8;
/// And it stays there where so many after the first do.
const PLATEAU: f64 = 0.8;
/// A buffer holds the flight at a ceiling: so many round trips, of at least so many since it was reached, come as near to it as
/// a twentieth or two segments;
const CAPPED: f64 = 0.8;
const CAPPED_TRIPS: usize = 8;
const NEAR: f64 = 0.05;
const NEAR_SEGMENTS: f64 = 2.0;
/// (of a flight of few, no more than a tenth of it);
const NEAR_FEW: f64 = 0.1;
/// or a quarter, where acknowledgements clock the sender: Linux waits until a third of the buffer is free.
const NEAR_CLOCKED: f64 = 0.25;
/// And it grows by no more than this, from the first half of the time to the second.
const GROWN: f64 = 1.15;
/// From this share of the ceiling on it is reached.
const REACHED: f64 = 0.8;
/// The window was ample where it had room for this share of the flight more.
const AMPLE: f64 = 0.2;
/// The send buffer was full for this share of the time, as far as single pauses show it.
const FULL_BUFFER: f64 = 0.25;
/// A ceiling of the flight limits the rate to a ceiling in each round trip: it is no more than so many times the goodput.
const CEILING: f64 = 2.0;
/// A sender that is mostly without data has no use for a buffer.
const WITHOUT_DATA: f64 = 0.1;

/// Facts about a whole transfer.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which holds or not")]
pub(super) struct Pace {
    /// The rate of trains is that of the path: it queued, lost or marked, or its first flight was no faster and no round
    /// trip shows that nothing queued. Whoever fills a link for long makes it queue or lose.
    pub(super) trains_are_of_path: bool,
    /// A queue stands for most of the time while the rate is even: what the path carries, whatever single trains show.
    pub(super) has_standing_queue: bool,
    /// The sender spaces its segments below what the path carries.
    pub(super) is_paced: bool,
    /// Pauses with nothing in flight are the sender's pace, not want of data.
    pub(super) pauses_are_paced: bool,
    /// Each side waits for the other's payload.
    pub(super) is_dialogue: bool,
    /// The sender waits for messages of the other side's program while data is in flight, and sends on at each: a window of
    /// their own protocol, as SSH's channels have.
    pub(super) has_application_window: bool,
    /// Single pauses show a full send buffer for much of the time.
    pub(super) is_buffered: bool,
    /// A full send buffer would look like this: in a bulk transfer without loss, mark or queue the flight stays at a ceiling,
    /// and what spaces the segments is not somebody else.
    pub(super) may_be_buffered: bool,
    /// Acknowledgements clock the sender.
    pub(super) is_clocked: bool,
    /// Somebody spaces the segments below what the path carried at first: the sender, a shaper, or a slow path of the
    /// acknowledgements.
    pub(super) is_spaced: bool,
}

impl Pace {
    /// `acks` is the direction of the acknowledgements.
    pub(super) fn of(data: &DirectionStats, acks: &DirectionStats) -> Self {
        let goodput = data.goodput_bps.unwrap_or(0.0);
        let has_losses =
            data.retransmitted_packets > data.resent.control || data.congestion_marks > 0;
        let trips = RoundTripView::of(data, acks);
        let faster_first = data.first_flight_bps.is_some_and(|first| first >= FASTER * goodput);
        let trains_are_of_path = has_losses
            || trips == RoundTripView::Queued
            || goodput <= 0.0
            || !faster_first && trips != RoundTripView::Flat;
        let clock = clocked_share(data);
        let variation = variation(data);
        let is_dialogue = acks.data_packets >= 3
            && (acks.data_packets as f64 > DIALOGUE * data.data_packets as f64
                || is_mostly_idle(data));
        let is_smooth = data.capacity_bps.is_some_and(|capacity| goodput >= SMOOTH * capacity);
        let is_clocked = clock.is_some_and(|share| share >= CLOCKED);
        let has_own_clock = clock.is_some_and(|share| share < CLOCKED);
        let is_even = variation.is_some_and(|variation| variation < EVEN);
        let has_application_window = has_own_clock
            && trips != RoundTripView::Queued
            && is_admitted(data, acks)
            && data.needed_retransmissions() == 0;
        let is_paced = trips == RoundTripView::Flat
            && !has_losses
            && !is_dialogue
            && !has_application_window
            && (faster_first || is_smooth)
            && variation.is_some_and(|variation| variation < EVEN_PAUSES)
            && (is_smooth || has_own_clock && is_even);
        Self {
            trains_are_of_path,
            has_standing_queue: trips == RoundTripView::Queued
                && is_long_under_load(data)
                && (has_losses || is_clocked)
                && variation.is_some_and(|variation| variation < EVEN_PAUSES),
            is_paced,
            pauses_are_paced: !is_dialogue
                && !has_application_window
                && variation.is_some_and(|variation| variation < EVEN_PAUSES)
                && pauses_follow_full_segments(data),
            is_dialogue,
            has_application_window,
            is_buffered: !is_dialogue && buffered_share(data) >= FULL_BUFFER,
            may_be_buffered: !is_dialogue
                && !has_losses
                && (trips == RoundTripView::Flat || is_clocked && trips != RoundTripView::Queued)
                && !is_smooth
                && has_data(data)
                && is_capped(data, is_clocked),
            is_clocked,
            is_spaced: is_smooth && !trains_are_of_path,
        }
    }
}

/// Whether the median round trip under load is that of a queue.
fn is_long_under_load(data: &DirectionStats) -> bool {
    let median = data.loaded_round_trips.quantile(0.5).map(Time::as_secs_f64);
    median.zip(data.path_rtt_min_s).is_some_and(|(median, least)| median > STANDING * least)
}

/// Whether the sender had nothing in flight for most of the time.
fn is_mostly_idle(data: &DirectionStats) -> bool {
    let span = data.first_data.zip(data.limits_end.or(data.last_ack));
    span.is_some_and(|(first, last)| data.idle_s > PAUSED * last.since(first).as_secs_f64())
}

/// Whether the flight has a ceiling within which the other side's program sends several messages: each admits a part. In a
/// dialogue, where each side waits for the whole of the other's payload, no more is in flight than what one message asked
/// for.
pub(super) fn is_admitted(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.data_packets >= MESSAGES
        && data.unique_bytes / acks.data_packets < data.in_flight_max_bytes / 2
        && has_plateau(data)
}

/// Whether the flight, once it has come near its maximum, stays there.
fn has_plateau(data: &DirectionStats) -> bool {
    let flights: Vec<u64> = busy_bins(data).map(|bin| bin.in_flight_max).collect();
    let is_near = |flight: &u64| *flight * 5 >= data.in_flight_max_bytes * 4;
    let from = flights.iter().position(is_near).unwrap_or(0);
    let level = flights.get(from..).unwrap_or_default();
    let near = level.iter().filter(|flight| is_near(flight)).count();
    level.len() >= LEAST_STRETCHES && near as f64 >= PLATEAU * level.len() as f64
}

/// What is seen of the round trips of the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundTripView {
    /// They are measured elsewhere than where the queue is, or not at all.
    Unseen,
    Flat,
    /// Longer under load, but no queue for sure.
    Varied,
    Queued,
}

impl RoundTripView {
    fn of(data: &DirectionStats, acks: &DirectionStats) -> Self {
        let Some(least) = data.path_rtt_min_s else { return Self::Unseen };
        if !sees_round_trips(data, acks) {
            return Self::Unseen;
        }
        let seconds = |share| data.loaded_round_trips.quantile(share).map(Time::as_secs_f64);
        match (seconds(0.9), seconds(0.95)) {
            (Some(most), _) if most <= FLAT * least + CLOCK_STEP.as_secs_f64() => Self::Flat,
            (_, Some(most)) if most > QUEUED * least + CLOCK_STEP.as_secs_f64() => Self::Queued,
            _ => Self::Varied,
        }
    }
}

/// Whether round trips of the whole path are seen: near the sender, or by timestamps.
pub(super) fn sees_round_trips(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let Some((least, behind)) = data.path_rtt_min_s.zip(data.rtt_min_s) else { return false };
    behind >= 0.5 * least || data.timestamps && acks.timestamps
}

/// The share of new payload that acknowledgements clocked out, beyond what chance explains: 1 is all, 0 is chance. `None`
/// where that was not measured, or acknowledgements come too thick for it.
fn clocked_share(data: &DirectionStats) -> Option<f64> {
    let (mut sent, mut clocked, mut at_once, mut busy) = (0.0, 0.0, 0.0, 0.0);
    for bin in data.bins.as_slice() {
        sent += bin.sent_bytes as f64;
        clocked += bin.clocked_bytes as f64;
        at_once += bin.clock_time.as_secs_f64();
        busy += bin.duration.as_secs_f64() - bin.idle.as_secs_f64();
    }
    if at_once <= 0.0 || busy <= 0.0 || sent <= 0.0 {
        return None;
    }
    let by_chance = at_once / busy;
    (by_chance < CROWDED).then(|| (clocked / sent - by_chance) / (1.0 - by_chance))
}

/// By how much the rate of new payload varies between stretches of time, as a share of itself; the beginning and the end
/// are left out.
fn variation(data: &DirectionStats) -> Option<f64> {
    let segment = f64::from(data.mss_used_bytes.unwrap_or(1460));
    let segments_s =
        data.goodput_bps.map_or(0.0, |goodput| 8.0 * STRETCH_SEGMENTS * segment / goodput);
    let stretch = STRETCH_S.max(2.0 * data.path_rtt_min_s.unwrap_or(0.0)).max(segments_s);
    let mut rates: Vec<f64> = Vec::new();
    let (mut seconds, mut sent) = (0.0, 0.0);
    for bin in data.bins.as_slice() {
        seconds += bin.duration.as_secs_f64();
        sent += bin.sent_bytes as f64;
        if seconds >= stretch {
            rates.push(sent / seconds);
            (seconds, sent) = (0.0, 0.0);
        }
    }
    let within = rates.get(2..rates.len().saturating_sub(1)).unwrap_or_default();
    let is_long = within.len() >= LEAST_STRETCHES;
    Summary::of(within).coefficient_of_variation().filter(|_| is_long)
}

/// Whether nearly all pauses followed a full segment: whoever has no more to send ends with a short one.
fn pauses_follow_full_segments(data: &DirectionStats) -> bool {
    let (mut paused, mut after_full) = (0.0, 0.0);
    for bin in data.bins.as_slice() {
        paused += bin.idle.as_secs_f64() + bin.app_limited.as_secs_f64();
        after_full += bin.idle_after_full.as_secs_f64();
    }
    after_full > 0.8 * paused && after_full > 0.0
}

fn busy_bins(data: &DirectionStats) -> impl Iterator<Item = &Bin> {
    data.bins.as_slice().iter().filter(|bin| bin.segments > 0)
}

/// The share of the time in which single pauses show a full send buffer.
fn buffered_share(data: &DirectionStats) -> f64 {
    share_of_time(data, |bin| bin.sndbuf_limited)
}

/// Whether the sender nearly always had data to send.
fn has_data(data: &DirectionStats) -> bool {
    share_of_time(data, |bin| bin.idle.saturating_add(bin.app_limited)) < WITHOUT_DATA
}

fn share_of_time(data: &DirectionStats, part: impl Fn(&Bin) -> Time) -> f64 {
    let sum = |of: &dyn Fn(&Bin) -> Time| {
        data.bins.as_slice().iter().map(|bin| of(bin).as_secs_f64()).sum::<f64>()
    };
    let all = sum(&|bin| bin.duration);
    if all > 0.0 { sum(&part) / all } else { 0.0 }
}

/// Whether the flight stays at a level that explains the rate, below an ample window: a congestion window grows, or falls at
/// a loss.
fn is_capped(data: &DirectionStats, is_clocked: bool) -> bool {
    let bins = round_trips(data);
    let sending: Vec<&Bin> = bins.iter().filter(|bin| bin.segments > 0).collect();
    let flight = |bin: &&Bin| bin.in_flight_max as f64;
    let Some(most) = decile(sending.iter().map(flight).collect(), 9) else { return false };
    let reached = sending.iter().position(|bin| flight(bin) >= REACHED * most);
    let since = sending.get(reached.unwrap_or(0)..).unwrap_or_default();
    let median_of = |bins: &[&Bin]| decile(bins.iter().map(flight).collect(), 5);
    let (first, later) = since.split_at(since.len() / 2);
    let (Some(level), Some(before), Some(after)) =
        (median_of(since), median_of(first), median_of(later))
    else {
        return false;
    };
    let segment = f64::from(data.mss_used_bytes.unwrap_or(1460));
    let share = if is_clocked { NEAR_CLOCKED } else { NEAR };
    let margin = (share * level).max((NEAR_SEGMENTS * segment).min(NEAR_FEW * level));
    let is_near = |bin: &&&Bin| {
        let is_ample = bin.window_left_min.is_some_and(|left| left as f64 >= AMPLE * flight(bin));
        is_ample && (flight(bin) - level).abs() <= margin
    };
    let near = since.iter().filter(is_near).count();
    let explains = match data.path_rtt_loaded_s.zip(data.goodput_bps) {
        Some((rtt, goodput)) => 8.0 * level <= CEILING * rtt * goodput,
        None => true,
    };
    near >= CAPPED_TRIPS
        && near as f64 >= CAPPED * since.len() as f64
        && after <= GROWN * before
        && explains
}

/// The value that so many tenths of these do not exceed, the lower one of two; `None` of nothing.
fn decile(mut values: Vec<f64>, tenths: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? * tenths / 10).copied()
}

#[cfg(test)]
mod tests;
