//! The bottleneck link of a path: rate and queue.

use super::{Confidence, Known, LEAST_QUEUE, Overflow, QUEUED, ROOM, whole};
use crate::advise::Case;
use crate::diagnose::{CongestionAlgorithm, FULL_LINK, LossCause};
use crate::evidence::{Bin, DirectionStats};
use crate::outcome::LimitedBy;
use crate::stats::median;
use crate::units::{Time, approx};

/// Trains that are faster than the connection ever was by more than this are batches: of interrupts that wait, of radio
/// frames, of compressed acknowledgements (Mogul, SIGCOMM 1992).
const CREDIBLE: f64 = 10.0;

/// Batches average out over so many round trips, queues included: what a link repeats holds up all that is behind it.
const BATCHED_TRIPS: f64 = 8.0;
/// An interval has so many full segments at least: one more or less is no other rate.
const LEAST_SEGMENTS: u64 = 16;

/// Trains are told apart by eighths of an octave: what differs by less is about the same interval.
const SAME_TRAINS: f64 = 1.08;
/// Fewer stretches of a full link tell no usual rate.
const LEAST_FULL: usize = 10;
/// What is about as much.
const ABOUT: f64 = 1.1;
/// Trains of a full link against what the connection reached meanwhile: they are told in eighths of an octave, so that faster ones are
/// arrivals in batches. Slower ones may be it, where acknowledgements jump over what was repaired.
const OF_FULL: std::ops::RangeInclusive<f64> = 0.7..=1.2;
/// Payload of the largest joined packet, in bytes, which arrives and is acknowledged at once: a shorter interval may hold one more
/// than the link carried in it.
const LARGEST_JOINED: u64 = 1 << 16;

/// The rate of the bottleneck link, headers included, and whether it was measured. `busy_bps` is what the data of requests had while
/// neither end waited for the other.
pub(super) fn rate(
    case: &Case<'_>,
    segment: u32,
    headers: u32,
    busy_bps: Option<f64>,
) -> (Known<f64>, bool) {
    let data = case.data();
    let with_headers = f64::from(segment + headers) / f64::from(segment.max(1));
    // No link carries less than the connection reached.
    let goodput = data.goodput_bps.unwrap_or(0.0);
    let of_first = first_flight_of_link(data).filter(|_| near_receiver(case));
    // A sender that waits for room in its buffer fills the link in turns.
    let full = case.share(LimitedBy::Bandwidth) > 0.5 && !case.diagnosis.waits_for_room;
    let is_batched = data.capacity_bps.is_none_or(|trains| trains > CREDIBLE * goodput);
    let sustained = if is_batched { peak_of_batches(data) } else { peak(data) };
    if full && let Some(peak) = sustained {
        let how = "sustained rate of acknowledgements while the link was full, headers included";
        // A link that is full for most of the time carries no more than the connection did meanwhile: acknowledgements that jump over
        // what was repaired, or of joined packets, are faster for a short while.
        let reached = peak.min(ABOUT * goodput / case.share(LimitedBy::Bandwidth));
        let is_of_full = |trains: &f64| OF_FULL.contains(&(*trains / reached));
        let off = |trains: &f64| libm::log(*trains / reached).abs();
        let trains = [data.capacity_bps, data.train_mode_bps].into_iter().flatten();
        let trains = trains.filter(is_of_full).min_by(|a, b| off(a).total_cmp(&off(b)));
        let rate = trains
            .map_or(reached, |trains| of_first.or_else(|| usual(data, trains)).unwrap_or(trains));
        let rate = rate.max(goodput) * with_headers;
        if case.others_send().is_some() {
            let how = "at least: its share of a full link, headers included; others sent meanwhile";
            return (Known::new(rate, Confidence::Low, how), false);
        }
        return (Known::new(rate, Confidence::High, how), true);
    }
    // Behind a receiver that joins segments acknowledgements come in bursts: near the sender their spacing is no bound.
    // Near such a receiver joined segments come at once.
    // Where a quarter of them are, most trains have one.
    let is_joined = 4 * data.offloaded_packets > data.data_packets;
    let is_bunched = data.offloaded_packets > 0 && (is_joined || !near_receiver(case));
    let fastest = [data.capacity_bps, data.first_flight_bps].into_iter().flatten().reduce(f64::max);
    let while_busy = busy_bps.or_else(|| in_largest_flight(case)).unwrap_or(0.0).max(goodput);
    let reached = peak(data).unwrap_or(0.0).max(while_busy);
    // A mode above what the connection reached is no pace of the sender, unless that has one and waits for a window.
    let is_paced = near_receiver(case) && paces_within_window(case);
    let is_mode = |mode: &f64| *mode >= ROOM * goodput && !is_paced;
    let fastest = of_first.or(data.train_mode_bps.filter(is_mode)).or(fastest);
    let is_credible = |rate: &f64| !is_bunched && *rate <= CREDIBLE * reached;
    if let Some(capacity) = fastest.filter(is_credible) {
        // Where the first flight had the rate of the trains as well, acknowledgements that were faster jumped over what was repaired, or came
        // together.
        let reached = first_flight_of_link(data).map_or(reached, |_| goodput);
        let rate = capacity.max(reached) * with_headers;
        // A paced sender spaces its segments itself, and acknowledgements arrive in groups: only near the receiver do
        // trains keep the spacing of the bottleneck link, unless the first flight had it as well.
        let paced = capacity < ROOM * goodput && of_first.is_none() || is_paced_behind_buffer(case);
        let is_exceeded = data.first_flight_bps.is_some_and(|first| first > ROOM * capacity);
        if near_receiver(case) && is_exceeded {
            let how = "at least: spacing of segment trains, slower than the first flight, headers included";
            return (Known::new(rate, Confidence::Low, how), false);
        }
        if near_receiver(case) && !paced {
            let how = "spacing of segment trains behind the bottleneck link, headers included";
            return (Known::new(rate, Confidence::Medium, how), true);
        }
        let how = "at least: spacing of segment trains near the sender, headers included";
        return (Known::new(rate, Confidence::Low, how), false);
    }
    // No trains tell the link: what arrives in batches, or waits for a link that repeats what it loses, is faster for a round trip.
    let reached = peak_of_batches(data).map_or(while_busy, |peak| peak.max(while_busy));
    let how = "at least: the highest rate that the connection reached, headers included";
    (Known::new(reached * with_headers, Confidence::Low, how), false)
}

/// What a transfer that ended in slow start had in its largest flight, in bits per second: it passed in a round trip.
fn in_largest_flight(case: &Case<'_>) -> Option<f64> {
    let data = case.data();
    let round_trip = data.path_rtt_mean_s.filter(|trip| *trip > 0.0)?;
    let is_of_start = case.diagnosis.limited_by == LimitedBy::StartUp;
    is_of_start.then(|| 8.0 * data.in_flight_max_bytes as f64 / round_trip)
}

/// A sender that paces sends no more segments at once than an initial window has (RFC 6928).
const BURST_SEGMENTS: u64 = 10;

/// Whether a sender behind a small buffer paces what it sends: the distances of its segments are not the link's.
fn is_paced_behind_buffer(case: &Case<'_>) -> bool {
    let data = case.data();
    let burst = BURST_SEGMENTS * u64::from(data.full_segment());
    case.diagnosis.limited_by == LimitedBy::SendBuffer
        && data.needed_retransmissions() == 0
        && data.refills.is_none_or(|refills| refills.burst_bytes < burst)
}

/// The rate of the first flight, where later trains came out as fast: what was sent at once, before any pace was known, has the rate of the
/// link, which the trains tell in intervals of an eighth.
pub(super) fn first_flight_of_link(data: &DirectionStats) -> Option<f64> {
    let (first, trains) = (data.first_flight_bps?, data.capacity_bps?);
    is_same(first, trains).then_some(first)
}

/// Whether the sender spaces its segments at a rate that follows from its window, which the path would not have kept it to.
fn paces_within_window(case: &Case<'_>) -> bool {
    let diagnosis = &case.diagnosis;
    diagnosis.congestion_control.name == CongestionAlgorithm::Bbr
        && matches!(diagnosis.limited_by, LimitedBy::ReceiveWindow | LimitedBy::SendBuffer)
}

/// Whether most of the path lay before the point of capture, as seen from the sender.
pub(super) fn near_receiver(case: &Case<'_>) -> bool {
    let data = case.data();
    match (data.rtt_min_s, data.path_rtt_min_s) {
        (Some(behind), Some(whole)) => behind < 0.5 * whole,
        _ => false,
    }
}

/// The highest sustained rate of acknowledged payload, in bits per second: the 95th percentile, so that no single burst decides.
fn peak(data: &DirectionStats) -> Option<f64> {
    peak_over(data, data.path_rtt_min_s.unwrap_or(0.0))
}

/// The same where packets come in batches.
fn peak_of_batches(data: &DirectionStats) -> Option<f64> {
    let round_trip = data.path_rtt_loaded_s.or(data.path_rtt_min_s);
    peak_over(data, BATCHED_TRIPS * round_trip.unwrap_or(0.0))
}

/// Likewise, over intervals of at least so many seconds.
fn peak_over(data: &DirectionStats, seconds: f64) -> Option<f64> {
    let rates = sustained(data, seconds);
    rates.get(rates.len().saturating_sub(1 + rates.len() / 20)).copied().filter(|rate| *rate > 0.0)
}

/// The usual rate while the link was full, of those about that of its trains, which are told in intervals of an eighth; `None` where bursts
/// of acknowledgements make it another.
fn usual(data: &DirectionStats, trains: f64) -> Option<f64> {
    let is_full = |rate: &f64| (FULL_LINK..1.0 / FULL_LINK).contains(&(*rate / trains));
    let rates: Vec<f64> =
        sustained(data, data.path_rtt_min_s.unwrap_or(0.0)).into_iter().filter(is_full).collect();
    let is_enough = rates.len() >= LEAST_FULL;
    median(rates).filter(|rate| is_enough && is_same(*rate, trains))
}

/// Whether two rates may be of the same interval of trains.
fn is_same(one: f64, other: f64) -> bool {
    (1.0 / SAME_TRAINS..=SAME_TRAINS).contains(&(one / other))
}

/// The rates of acknowledged payload, in bits per second, in rising order: over intervals of at least so many seconds, and of several
/// packets, joined ones where there are such.
fn sustained(data: &DirectionStats, seconds: f64) -> Vec<f64> {
    let long_enough = seconds.max(0.01);
    let few = LEAST_SEGMENTS * u64::from(data.full_segment());
    let many = if data.offloaded_packets > 0 { LARGEST_JOINED.max(few) } else { few };
    let mut rates: Vec<f64> = Vec::new();
    // From when on, and the bytes since then.
    let mut joined: Option<(Time, u64)> = None;
    for bin in data.bins.as_slice() {
        // A pause ends what came before it, however little that was.
        if let Some((from, bytes)) = joined.filter(|_| bin.acked_bytes == 0) {
            let seconds = bin.at.since(from).as_secs_f64();
            if seconds >= long_enough && bytes >= few {
                rates.push(8.0 * bytes as f64 / seconds);
                joined = None;
            }
        }
        let (from, before) = joined.unwrap_or((bin.at, 0));
        let bytes = before.saturating_add(bin.acked_bytes);
        let seconds = bin.end().since(from).as_secs_f64();
        joined = Some((from, bytes));
        if seconds >= long_enough && bytes >= many {
            rates.push(8.0 * bytes as f64 / seconds);
            joined = None;
        }
    }
    rates.sort_by(f64::total_cmp);
    rates
}

/// The longest round trip, in seconds: the highest mean of an interval.
pub(super) fn worst_round_trip(data: &DirectionStats) -> Option<f64> {
    let means = data.bins.as_slice().iter().filter_map(Bin::rtt_mean);
    means.max().map(Time::as_secs_f64)
}

/// The round trip at most losses, in seconds: a few are of segments that came late.
pub(super) fn round_trip_at_losses(data: &DirectionStats) -> Option<f64> {
    let mut trips: Vec<f64> = data
        .loss_episodes
        .as_slice()
        .iter()
        .filter_map(|episode| episode.rtt)
        .map(Time::as_secs_f64)
        .collect();
    trips.sort_by(f64::total_cmp);
    trips.get(trips.len() / 2).copied()
}

/// The queue before a link of this rate; `overflows` where packets were lost in it, so that it was full.
pub(super) fn queue(rate_bps: f64, rtt_s: f64, worst_rtt_s: f64, overflows: bool) -> Known<u64> {
    let bytes = |seconds: f64| whole(rate_bps * seconds / 8.0);
    let (seen, held) = (bytes((worst_rtt_s - rtt_s).max(0.0)), bytes(rtt_s));
    if overflows && seen > 0 {
        let how = format!(
            "packets were lost where round trips of {} had risen to {}",
            approx::time(rtt_s),
            approx::time(worst_rtt_s)
        );
        return Known::new(seen.max(LEAST_QUEUE), Confidence::Medium, how);
    }
    if worst_rtt_s > QUEUED * rtt_s {
        let how = format!(
            "twice what was queued where round trips rose from {} to {}: it did not overflow",
            approx::time(rtt_s),
            approx::time(worst_rtt_s)
        );
        return Known::new(held.max(2 * seen).max(LEAST_QUEUE), Confidence::Medium, how);
    }
    let how = "assumed to be one bandwidth-delay product: no long queue was seen";
    Known::new(held.max(2 * seen).max(LEAST_QUEUE), Confidence::Low, how)
}

/// The queue as round trips tell it, or as the overflow that ended slow start does, where that is longer and the capture is near the
/// receiver: there the last round trip before a loss is one of before the queue filled.
pub(super) fn queue_or_overflow(
    case: &Case<'_>,
    queue: Known<u64>,
    overflow: Option<&Overflow>,
) -> Known<u64> {
    let may_overflow = matches!(case.diagnosis.loss.cause, LossCause::Queue | LossCause::Unknown);
    let longer = overflow.filter(|_| may_overflow && near_receiver(case));
    let longer = longer.filter(|overflow| overflow.queue_bytes.value > queue.value);
    longer.map_or(queue, |overflow| overflow.queue_bytes.clone())
}
