//! A narrow link of the acknowledgements (RFC 3449): they queue on their way, the data does not, and the sender is clocked
//! by what comes through. Behind that link they come at equal distances, whatever they cover; behind a full link of the
//! data, those of two segments take twice as long as those of one. At the receiver the bursts that they release begin at
//! equal distances, however many segments each has: a link of the data, or a sender with a clock of its own, spaces segments
//! by their bytes. Elsewhere timestamps tell the two ways apart (RFC 7323 §4): in what an end sends, its own time less what it
//! echoes grows with the delay of the way to it.

use super::data_queue::DRIFT;
use super::finding::{Finding, FindingKind, Severity, number};
use super::full_link::{FASTER, held_s};
use super::intervals::{OFTEN_OUT_OF_DATA, share_out_of_data};
use super::joined::acks_may_wait;
use super::send_buffer::runs_out;
use super::trip_view::{is_at_sender, sees_round_trips};
use crate::evidence::{Direction, DirectionStats, Evidence, WayDelay};
use crate::units::{Time, approx};

/// A queue is longer than this, and than this share of a round trip.
const QUEUE_S: f64 = 0.005;
const QUEUE_SHARE: f64 = 0.1;
/// It stands where three of four wait for so long beyond the least, and half of them for so many times that.
const MEDIAN: f64 = 2.0;
/// The data's way has less than this share of their queue.
const OTHER_WAY: f64 = 0.5;
/// The queue is part of the round trips where these have grown by this share of what three of four wait for.
const IN_ROUND_TRIPS: f64 = 0.5;
/// And where the delays of the acknowledgements are not known, nearly all of the data waits for less than this share of what the
/// round trips do.
const REST: f64 = 0.25;
/// What makes acknowledgements queue is sent in spite of losses; a larger share of them, again and again, limits the sender itself:
/// slow start overflows a queue once.
const LIMITING_LOSS: f64 = 0.1;
const AGAIN: u64 = 2;
/// Acknowledgements wait for each other where two of them are on their way, each of two segments (RFC 5681 §4.2). With less in flight
/// each waits for the receiver's timer at most.
const LEAST_FLIGHT: u64 = 4;
/// A sender that paces to what comes back fills the queue when it probes for more (BBR): then one in twenty waits so many
/// times as long as the data, and the rate is about that of the trains of acknowledgements.
const PROBED: f64 = 2.0;
const FULL: f64 = 0.8;

/// So much of the link of the data is used at most where that of the acknowledgements holds a transfer down that repairs its losses by SACK. Of 34
/// captures of simulated transfers that lost what overflowed in slow start, and used less since, all but one were held down by it; of 16 that
/// used more, five.
const LEFT_BY_ACKS: f64 = 0.57;

/// Gaps before acknowledgements of one segment and of more are equal within these ratios, and vary by no more than this
/// (the standard deviation of their logarithms); fewer gaps may be chance.
const EQUAL: std::ops::Range<f64> = 0.9..1.15;
const STEADY: f64 = 0.4;
const ENOUGH_GAPS: u32 = 30;
/// Behind a link that is always busy nearly all intervals are equal, and most of those in which another number of segments came
/// than in the others; fewer of these may be chance.
const NEARLY_ALL: f64 = 0.9;
const MOST: f64 = 0.75;
const ENOUGH_OTHERS: u32 = 8;
/// The capture is at the receiver where the path behind it has less than this share of the round trip.
const AT_RECEIVER: f64 = 0.125;
/// A window that is sent at once comes at intervals of a round trip, whatever it holds: within these multiples of it. It comes no
/// sooner, but for what a histogram rounds.
const ROUND_TRIPS: std::ops::Range<f64> = 0.8..2.0;
/// Start-up filled a queue of theirs where one in twenty waits for longer than the whole path takes, and so many times as long as
/// the data. A sender that waits by itself for as long would leave the path idle.
const START_UP: f64 = 4.0;

/// The link of the acknowledgements, as it shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AckPath {
    /// Whether they come at equal distances.
    is_even: bool,
    /// And that link is never idle, while they wait for longer than the path takes without a queue, by the round trips.
    outlasts: bool,
    /// It was overflowed or filled in start-up, as the receiver's side shows it.
    was_filled: bool,
    /// What they wait for on their way, and what the data waits for, where that is known.
    acks: Option<WayDelay>,
    data: Option<WayDelay>,
}

impl AckPath {
    /// Looks at a direction, whose acknowledgements are `acks`; `None` where they do not queue, or that is not known.
    pub(super) fn of(data: &DirectionStats, acks: &DirectionStats) -> Option<Self> {
        let loses = data.loss_episodes.count() >= AGAIN
            && data.needed_retransmissions() as f64
                > LIMITING_LOSS * data.data_packets_once() as f64;
        // Whoever answers payload with payload thinks in between.
        let is_dialogue = acks.data_packets_once() >= 3;
        // Without the handshake a program's pauses are a part of the way of the acknowledgements.
        let writes_in_steps = data.begins_late && share_out_of_data(data) >= OFTEN_OUT_OF_DATA;
        if loses || is_dialogue || writes_in_steps || has_few_in_flight(data) {
            return None;
        }
        let gaps = data.ack_gaps.filter(|gaps| gaps.count >= ENOUGH_GAPS);
        let is_even = gaps
            .is_some_and(|gaps| EQUAL.contains(&gaps.ratio) && gaps.deviation < STEADY)
            && !waits_alone(data, acks);
        let lasted = data.last_ack?.since(data.first_data?).as_secs_f64();
        // A sender with a clock of its own echoes an acknowledgement with its next segments.
        let longer = QUEUE_S
            .max(QUEUE_SHARE * data.path_rtt_min_s.unwrap_or(0.0))
            .max(DRIFT * lasted)
            .max(held_s(data));
        let seen = LoadedTrips::of(data, acks);
        let is_busy = is_always_busy(data, seen)
            && !waits_alone(data, acks)
            && seen
                .is_none_or(|seen| seen.median.as_secs_f64() >= longer || seen.was_filled(longer));
        let outlasts = is_busy && seen.is_some_and(|seen| seen.low >= seen.least);
        let is_even = is_even || is_busy;
        let was_filled =
            data.needed_retransmissions() == 0 && is_filled_at_first(data, acks, longer);
        let ways = (acks.way_delay, data.way_delay);
        let path = Self { is_even, outlasts, was_filled, acks: ways.0, data: ways.1 };
        let waits = match acks.way_delay {
            Some(way) => path.stands(way, data, acks, longer) || path.is_probed(way, data, longer),
            None => path.is_rest(data, acks, longer),
        };
        (is_even || waits || was_filled).then_some(path)
    }

    fn stands(
        &self,
        way: WayDelay,
        data: &DirectionStats,
        acks: &DirectionStats,
        longer: f64,
    ) -> bool {
        let least = data.path_rtt_min_s.unwrap_or(0.0);
        let is_other = self.data.is_some_and(|data| data.median_s >= OTHER_WAY * way.median_s);
        let loaded = data.path_rtt_loaded_s.filter(|_| sees_round_trips(data, acks));
        // At the sender round trips hold all of that queue: a program's next segment may echo what came long before it.
        let held = if is_at_sender(data) { way.median_s } else { way.low_s };
        let is_unseen = loaded.is_some_and(|loaded| loaded - least < IN_ROUND_TRIPS * held);
        let is_long = way.low_s >= longer && way.median_s >= MEDIAN * longer;
        is_long && !is_other && !is_unseen
    }

    /// Whether nearly all of them wait for longer than the path takes without a queue: a larger window makes that longer still.
    pub(super) fn outlasts(self, least_s: Option<f64>) -> bool {
        self.outlasts || self.acks.zip(least_s).is_some_and(|(way, least)| way.low_s >= least)
    }

    /// Whether round trips hold a queue that the way of the data has not: it is on the way back.
    fn is_rest(&self, data: &DirectionStats, acks: &DirectionStats, longer: f64) -> bool {
        let trips = data.path_rtt_loaded_s.filter(|_| sees_round_trips(data, acks));
        let Some((trips, least)) = trips.zip(data.path_rtt_min_s) else { return false };
        trips - least >= MEDIAN * longer.max(held_s(data))
            && self.data.is_some_and(|data| data.high_s < REST * (trips - least))
    }

    fn is_probed(&self, way: WayDelay, data: &DirectionStats, longer: f64) -> bool {
        let is_full = data
            .goodput_bps
            .zip(data.capacity_bps)
            .is_some_and(|(goodput, capacity)| goodput >= FULL * capacity);
        let is_near = data
            .rtt_min_s
            .zip(data.path_rtt_min_s)
            .is_some_and(|(behind, whole)| behind >= 0.5 * whole);
        let is_other = self.data.is_none_or(|data| PROBED * data.high_s >= way.high_s);
        let longest = data.loaded_round_trips.quantile(0.95).map(Time::as_secs_f64);
        let least = data.path_rtt_min_s.unwrap_or(0.0);
        let is_seen = longest.is_none_or(|longest| longest - least >= IN_ROUND_TRIPS * way.high_s);
        is_full && is_near && !is_other && is_seen && way.high_s >= MEDIAN * longer
    }

    /// Whether a round trip, where one was measured, holds the queue.
    pub(super) fn is_in(self, round_trip: Option<Time>, least_s: Option<f64>) -> bool {
        match (round_trip, least_s, self.acks) {
            (Some(mean), Some(least), Some(way)) if !self.is_even && !self.was_filled => {
                mean.as_secs_f64() - least >= 0.5 * way.low_s
            }
            _ => true,
        }
    }

    /// What shows it.
    fn signs(self) -> String {
        let mut signs = Vec::new();
        if self.is_even {
            signs.push("they arrive at equal distances, whatever they cover".to_owned());
        }
        if let Some(way) = self.acks {
            let of = |way: WayDelay| if way.low_s > 0.0 { way.median_s } else { way.high_s };
            let other = self
                .data
                .map_or_else(String::new, |data| format!(", the data {}", approx::time(of(data))));
            signs.push(format!(
                "by the timestamps they wait {} more than the least on their way{other}",
                approx::time(of(way))
            ));
        }
        if signs.is_empty() {
            let of_data = self.data.map_or_else(String::new, |data| {
                format!(", and the way of the data by no more than {}", approx::time(data.high_s))
            });
            signs.push(format!("round trips grow under load{of_data}"));
        }
        signs.join("; ")
    }
}

/// Whether a transfer leaves a good part of the link of the data, and what it lost was repaired within a few round trips (RFC 6675).
pub(super) fn leaves_link(data: &DirectionStats) -> bool {
    let known = data.goodput_bps.zip(data.capacity_bps);
    data.sack_permitted
        && known.is_some_and(|(goodput, capacity)| goodput < LEFT_BY_ACKS * capacity)
}

/// Whether no two acknowledgements were ever on their way at once, as far as flights are known.
fn has_few_in_flight(data: &DirectionStats) -> bool {
    let segment = u64::from(data.full_segment());
    (1..LEAST_FLIGHT * segment).contains(&data.in_flight_max_bytes)
}

/// Round trips under load, where those of the whole path are seen.
#[derive(Debug, Clone, Copy)]
struct LoadedTrips {
    /// The least of the path.
    least: Time,
    /// A quarter is longer than it by no more than this,
    low: Time,
    /// and a half by no more than this.
    median: Time,
    /// One in twenty is longer by more than this.
    high: Time,
}

impl LoadedTrips {
    fn of(data: &DirectionStats, acks: &DirectionStats) -> Option<Self> {
        let least = data.path_rtt_min_s.filter(|_| sees_round_trips(data, acks))?;
        let least = Time::from_secs_f64(least);
        let beyond = |share| Some(data.loaded_round_trips.quantile(share)?.since(least));
        Some(Self { least, low: beyond(0.25)?, median: beyond(0.5)?, high: beyond(0.95)? })
    }

    /// Whether a queue was longer than the path for a while, and than twice this many seconds, as start-up fills it before a sender paces
    /// to what comes back (BBR).
    fn was_filled(self, longer: f64) -> bool {
        self.high >= self.least.max(Time::from_secs_f64(MEDIAN * longer))
    }
}

/// Whether, at the receiver, start-up filled a queue of the acknowledgements and none of the data: a sender that then paces to what
/// comes back (BBR) keeps that queue short.
fn is_filled_at_first(data: &DirectionStats, acks: &DirectionStats, longer: f64) -> bool {
    let is_at_receiver = is_behind(data, AT_RECEIVER);
    let first = data.first_flight_bps.zip(data.goodput_bps);
    let is_slower = first.is_some_and(|(first, rest)| first >= FASTER * rest);
    let ways = acks.way_delay.zip(data.way_delay).zip(data.path_rtt_min_s);
    is_at_receiver
        && is_slower
        && !runs_out(data)
        && ways.is_some_and(|((back, there), least)| {
            back.high_s >= least.max(MEDIAN * longer) && back.high_s >= START_UP * there.high_s
        })
}

/// Whether the path behind the capture point has less than this share of the round trip.
fn is_behind(data: &DirectionStats, share: f64) -> bool {
    data.rtt_min_s.zip(data.path_rtt_min_s).is_some_and(|(behind, path)| behind < share * path)
}

/// Whether acknowledgements come at equal intervals, or at the receiver what they release.
fn is_always_busy(data: &DirectionStats, seen: Option<LoadedTrips>) -> bool {
    let (Some(intervals), Some((behind, path))) =
        (data.intervals, data.rtt_min_s.zip(data.path_rtt_min_s))
    else {
        return false;
    };
    let is_of_data = behind < 0.5 * path;
    // An acknowledgement that takes long on its link is most of the least round trip.
    let trip = seen.map_or(path, |seen| seen.least.saturating_add(seen.median).as_secs_f64());
    // A program's writes at equal intervals end with a short segment.
    let is_released = behind < AT_RECEIVER * path
        && !ROUND_TRIPS.contains(&(intervals.usual_s / trip))
        && !runs_out(data);
    intervals.equal >= NEARLY_ALL
        && intervals.others >= ENOUGH_OTHERS
        && intervals.others_equal >= MOST
        && (!is_of_data || is_released)
}

/// Whether acknowledgements come to the sender at equal intervals, however much each covers: something on their way lets them through by
/// a clock of its own (a radio link's frames, a cable modem's grants, a filter), or they queue. Their trains are not spaced by the link of
/// the data then: each covers what was sent meanwhile, whatever that link carries.
pub(super) fn come_by_clock(data: &DirectionStats) -> bool {
    let is_near = data.rtt_min_s.zip(data.path_rtt_min_s);
    is_near.is_some_and(|(behind, path)| behind >= 0.5 * path)
        && data.intervals.is_some_and(|intervals| {
            intervals.equal >= NEARLY_ALL
                && intervals.others >= ENOUGH_OTHERS
                && intervals.others_equal >= MOST
        })
}

/// Whether timestamps show that the data waits and its acknowledgements do not, however evenly these come.
fn waits_alone(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let ways = data.way_delay.zip(acks.way_delay);
    ways.is_some_and(|(there, back)| {
        there.median_s >= QUEUE_S && back.median_s < OTHER_WAY * there.median_s
    })
}

/// The finding of a direction whose acknowledgements queue; it tells nothing where something else limits.
pub(super) fn finding(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    let path = AckPath::of(data, acks).filter(|_| acks_may_wait(evidence, direction))?;
    let (from, to) = (evidence.receiver(direction), evidence.sender(direction));
    let gaps = data.ack_gaps.map(|gaps| number("gap_ratio", gaps.ratio));
    let ways = [("ack_queue_s", path.acks), ("data_queue_s", path.data)];
    let ways = ways.into_iter().filter_map(|(name, way)| Some(number(name, way?.median_s)));
    Some(Finding {
        kind: FindingKind::AckPath,
        severity: Severity::Problem,
        direction: Some(direction),
        from: data.first_data.unwrap_or(evidence.begin),
        to: data.last_ack.unwrap_or(evidence.end),
        evidence: ways.chain(gaps).collect(),
        frames: Vec::new(),
        text: format!(
            "The link that carries the acknowledgements, from {from} to {to}, is the bottleneck: {}",
            path.signs()
        ),
        why: "A sender gets no faster than the acknowledgements that come through",
        source: "RFC 3449 §2, RFC 7323 §4",
    })
}

#[cfg(test)]
mod tests;
