//! What the whole of a transfer shows of its sender and its path, before single intervals are judged: whether the rate of
//! packet trains is that of the path, and whether acknowledgements or the sender itself space the segments.

use std::cell::LazyCell;

use super::ack_path::come_by_clock;
use super::clock::{CLOCKED, clocked_share, is_idle_between, may_have_clock, ticks};
use super::full_link::{
    AS_TRAINS, FASTER, has_no_trains, is_as_fast_as_first, is_at_trains, is_of_link,
    is_opening_faster, keeps_link_full, needs_queue,
};
use super::intervals::{busy_bins, decile, round_trips, share_of_time};
use super::messages::{asks, is_admitted, is_dialogue, may_wait_for_messages, out_of_data};
use super::pauses::{may_be_refilled, writes_late};
use super::send_buffer::{
    drains_as_buffer, is_capped, is_cut_off, may_be_of_program, runs_out, unused_window,
    waits_for_room,
};
use super::stops::{Stops, goodput_while_read};
use super::trip_view::{CLOCK_STEP, RoundTripView, is_at_sender};
use crate::evidence::{Bin, DirectionStats};
use crate::stats::{Summary, median};
use crate::units::Time;

/// A queue stands where half of them are beyond so many times the least, and a clock step.
const EMPTY: f64 = 1.05;
/// A program that writes a little at a time has nothing to send for this share of the time.
const OUT_OF_DATA: f64 = 0.1;
/// The default of a socket's send buffer in Linux, in bytes (tcp(7)).
const LEAST_BUFFER: f64 = 16_384.0;
/// A queue stands where half of the round trips under load are so many times the least.
const STANDING: f64 = 1.5;
/// Where the rest is even, what the path carries at once is faster than what the sender sends by so much: trains are told apart by an eighth of an octave, and slow start costs some goodput.
const ABOVE: f64 = 1.2;
/// Segments fill the time evenly where their trains are about as slow as the goodput,
const SMOOTH: f64 = 0.7;
/// Losses are few up to one packet in so many.
const FEW_LOSSES: u64 = 100;
/// A rate is even where it varies by less than this share of itself between stretches of time,
const EVEN: f64 = 0.05;
/// and pauses are even with this.
const EVEN_PAUSES: f64 = 0.1;
/// What a clock releases varies by less than this; what acknowledgements release varies with their delays.
const BY_CLOCK: f64 = 0.01;
/// The window of CUBIC falls to 0.7 of what it was at a loss and grows back (RFC 9438 §4.6): a rate that follows it varies by a
/// tenth, the standard deviation of what is even between 0.7 and 1.
const SAW_TOOTH: f64 = 0.1;
/// Fewer stretches of time show no evenness.
const LEAST_STRETCHES: usize = 8;
/// A stretch has so many seconds or two round trips: single writes of video, or of a minute's job, are not even;
const STRETCH_S: f64 = 0.1;
/// and so many segments: one more or less in it is no variation. Where that leaves too few stretches, fewer segments will do.
const STRETCH_SEGMENTS: f64 = 40.0;
const FEWEST_SEGMENTS: f64 = 12.0;
const STRETCHES: f64 = 14.0;
/// Start-up takes this part of them at most.
const LONGEST_START: usize = 4;
/// A sender that paces sends so many segments at once (`net.ipv4.tcp_min_tso_segs`).
const BURST_SEGMENTS: f64 = 2.0;
/// The send buffer was full for this share of the time, as far as single pauses show it.
const FULL_BUFFER: f64 = 0.25;

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
    /// Acknowledgements come as far apart as on a full link, and nothing shows that it carries more: no round trip that holds a queue, and no
    /// train. What seems to be in flight is less than what waits then.
    pub(super) may_fill_unseen: bool,
    /// Each side waits for the other's payload.
    pub(super) is_dialogue: bool,
    /// The sender waits for messages of the other side's program while data is in flight, and sends on at each: a window of
    /// their own protocol, as SSH's channels have.
    pub(super) has_application_window: bool,
    /// Messages of the other side's program come as often as the sender would wait for them.
    pub(super) may_wait_for_messages: bool,
    /// Single pauses show a full send buffer for much of the time, and it is not a program that writes evenly.
    pub(super) is_buffered: bool,
    /// In a bulk transfer without loss, mark or queue the flight stays at a ceiling, and what spaces the segments is not somebody else.
    pub(super) is_level: bool,
    /// And its program waits for room in the send buffer.
    pub(super) may_be_buffered: bool,
    /// Acknowledgements clock the sender.
    pub(super) is_clocked: bool,
    /// They come without a pause, as far apart as what they cover took on a full link of the data, and clock the sender, or
    /// more is in flight than the path holds without a queue; or that queue never empties. A larger window makes it longer.
    pub(super) fills_link: bool,
    /// Acknowledgements come as far apart as what they cover took on a full link.
    pub(super) gaps_are_of_link: bool,
    /// In spite of losses the goodput is about the rate of the trains: without them it would be little more. Where no round
    /// trip can be measured, times of the two directions do not belong together, and neither do trains.
    pub(super) is_at_rate_of_link: bool,
    /// The goodput is that of the trains,
    pub(super) is_as_trains: bool,
    /// even, and about that of the first flight, which a sender sends at once: the path carries no more.
    pub(super) is_as_first: bool,
    /// Losses leave the rate as it is, and no round trip is seen: a queue bridges them, in front of a full link.
    pub(super) keeps_rate: bool,
    /// Apart from losses the sender uses less of its congestion window than acknowledgements open.
    pub(super) leaves_window_unused: bool,
    /// Its program waits for room in the send buffer while acknowledgements come.
    pub(super) waits_for_room: bool,
    /// And it does so as behind a send buffer.
    pub(super) drains_as_buffer: bool,
    /// Its program writes by a clock of its own, later than acknowledgements make room.
    pub(super) writes_late: bool,
    /// Somebody spaces the segments below what the path carried at first: the sender, a shaper, or a slow path of the
    /// acknowledgements.
    pub(super) is_spaced: bool,
}

impl Pace {
    /// `acks` is the direction of the acknowledgements.
    pub(super) fn of(data: &DirectionStats, acks: &DirectionStats) -> Self {
        Self::over(&round_trips(data), data, acks)
    }

    /// The same; `bins` are those of the data, joined to [`round_trips`].
    #[expect(clippy::too_many_lines, reason = "facts, one after the other")]
    pub(super) fn over(bins: &[Bin], data: &DirectionStats, acks: &DirectionStats) -> Self {
        let goodput = goodput_while_read(data).unwrap_or(0.0);
        let has_losses = data.resent_data() > 0 || data.congestion_marks > 0;
        let trips = RoundTripView::of(data, acks);
        let faster_first = data.first_flight_bps.is_some_and(|first| first >= FASTER * goodput);
        let has_first = !data.begins_late;
        let clock = clocked_share(data);
        // Most transfers are known without it.
        let variation = LazyCell::new(|| variation(data));
        let is_clocked = clock.is_some_and(|share| share >= CLOCKED);
        let has_own_clock = clock.is_some_and(|share| share < CLOCKED);
        let varies_below = |most| variation.is_some_and(|variation| variation < most);
        let is_even = || varies_below(EVEN);
        // Single losses leave the rate of a sender with a clock of its own as it was.
        let is_disturbed = has_losses
            && !(data.congestion_marks == 0
                && data.needed_retransmissions() <= data.data_packets / FEW_LOSSES
                && trips == RoundTripView::Flat
                && faster_first
                && has_own_clock
                && is_even());
        let trains_are_of_path = is_disturbed
            || trips == RoundTripView::Queued
            || goodput <= 0.0
            || has_first && !faster_first && trips != RoundTripView::Flat && !runs_out(data);
        let is_dialogue = is_dialogue(data, acks);
        let carries =
            |share: f64| data.capacity_bps.is_some_and(|capacity| goodput >= share * capacity);
        let (is_smooth, is_as_trains) = (carries(SMOOTH), carries(AS_TRAINS));
        let has_application_window = has_own_clock
            && trips != RoundTripView::Queued
            && is_admitted(data, acks)
            && asks(data, acks)
            && data.needed_retransmissions() == 0;
        let may_wait_for_messages = may_wait_for_messages(data, acks);
        let is_undisturbed = has_first && !has_losses;
        let is_by_ticks =
            ticks(data) && is_even() && trips != RoundTripView::Queued && !needs_queue(data);
        let by_clock = is_undisturbed
            && (is_by_ticks
                || varies_below(BY_CLOCK)
                    && faster_first
                    && is_smooth
                    && may_have_clock(data, acks, trips));
        let may_fill_unseen = trips == RoundTripView::Unseen
            && data.capacity_bps.is_none()
            && !faster_first
            && data.ack_gaps.is_some_and(is_of_link);
        let pauses_are_paced = !is_dialogue
            && !may_fill_unseen
            && !has_application_window
            && varies_below(EVEN_PAUSES)
            && pauses_follow_full_segments(data);
        let rests = is_undisturbed && pauses_are_paced && rests(data);
        // A full buffer is drained and filled in bursts.
        let is_written = trips != RoundTripView::Queued && runs_out(data);
        let writes_evenly =
            is_undisturbed && (faster_first || is_out_of_data(data)) && is_even() && is_written;
        let is_spaced_by_itself = trips == RoundTripView::Flat
            && !is_disturbed
            && !is_dialogue
            && !has_application_window
            && has_first
            && sees_whole_path(data, acks)
            && varies_below(EVEN_PAUSES)
            && is_short_of_queue(data)
            && (is_smooth && (faster_first || has_own_clock && is_even() && is_out_of_data(data))
                || is_as_trains && (is_first_faster(data) || is_out_of_data(data))
                || faster_first && has_own_clock && is_even() && writes_little(data));
        let is_paced = !may_wait_for_messages
            && !may_fill_unseen
            && (is_spaced_by_itself
                || (by_clock || rests || writes_evenly) && !is_dialogue && !has_application_window);
        let writes_late = writes_late(data);
        let is_asked = is_dialogue || may_wait_for_messages;
        let waits_for_room =
            !is_asked && !is_paced && !has_application_window && waits_for_room(data);
        let may_be_unused = has_losses && !is_asked && !data.was_cut_off();
        let is_level = !is_asked
            && !has_losses
            && (trips == RoundTripView::Flat || is_clocked && trips != RoundTripView::Queued)
            && !is_smooth
            && data.capacity_bps.is_some()
            && !runs_out(data)
            && (is_capped(bins, data, is_clocked)
                || has_own_clock && !is_even() && is_cut_off(bins, data));
        let used = may_be_unused.then(|| unused_window(bins, data)).flatten();
        Self {
            trains_are_of_path: trains_are_of_path && !is_paced,
            has_standing_queue: trips == RoundTripView::Queued
                && !is_paced
                && !runs_out(data)
                && is_long_under_load(data)
                && (has_losses || is_clocked)
                && varies_below(EVEN_PAUSES),
            is_paced,
            pauses_are_paced,
            may_fill_unseen,
            is_dialogue,
            has_application_window,
            may_wait_for_messages,
            is_buffered: !is_asked
                && !writes_late
                && !may_be_of_program(data)
                && !is_even()
                && buffered_share(data) >= FULL_BUFFER,
            writes_late,
            may_be_buffered: is_level && may_be_refilled(data),
            is_level,
            is_clocked,
            // A program's even messages are acknowledged as evenly.
            fills_link: !(is_dialogue && trips == RoundTripView::Flat)
                && (keeps_link_full(data, is_clocked)
                    || is_as_trains && data.begins_late && is_clocked && !acks.has_slow_reader()
                    || has_first
                        && is_as_fast_as_first(data)
                        && is_even()
                        && !is_out_of_data(data)
                        && !come_by_clock(data)),
            gaps_are_of_link: data.ack_gaps.is_some_and(is_of_link),
            is_at_rate_of_link: has_losses
                && !(trips == RoundTripView::Flat && has_no_trains(data))
                && !(faster_first && (trips == RoundTripView::Flat || data.begins_late))
                && is_at_trains(data, || *variation),
            is_as_trains,
            is_as_first: is_undisturbed
                && is_as_trains
                && is_even()
                && is_first_as_fast(data)
                && !come_by_clock(data),
            keeps_rate: data.needed_retransmissions() > 0
                && !waits_for_room
                && trips == RoundTripView::Unseen
                && !is_idle_between(data)
                && varies_below(SAW_TOOTH),
            leaves_window_unused: used.is_some(),
            waits_for_room,
            drains_as_buffer: used.is_some_and(|used| drains_as_buffer(used, data)),
            is_spaced: is_smooth && !trains_are_of_path,
        }
    }

    /// The time of an interval in which the program had nothing to send, though something was in flight. Acknowledgements come by chance
    /// when a program writes that does not wait for them.
    pub(super) const fn late(&self, bin: &Bin) -> Time {
        let by_chance = if self.writes_late { bin.sndbuf_limited } else { Time::ZERO };
        bin.app_limited.saturating_add(by_chance)
    }
}

/// Whether nothing is in flight again and again, after full segments: no window holds that sender back.
fn rests(data: &DirectionStats) -> bool {
    share_of_time(data, |bin| bin.idle_after_full) >= OUT_OF_DATA
}

/// Whether the first flight was no faster than the rest, which is no program's writing.
fn is_first_as_fast(data: &DirectionStats) -> bool {
    let is_faster = is_first_faster(data) || is_opening_faster(data);
    data.first_flight_bps.is_some() && !is_faster && !runs_out(data)
}

/// Whether the median round trip under load is that of a queue.
fn is_long_under_load(data: &DirectionStats) -> bool {
    let median = data.loaded_round_trips.quantile(0.5).map(Time::as_secs_f64);
    median.zip(data.path_rtt_min_s).is_some_and(|(median, least)| median > STANDING * least)
}

/// Whether half of the round trips under load are about the least: a sender that paces to what a link carries (BBR) keeps
/// a small queue there.
fn is_short_of_queue(data: &DirectionStats) -> bool {
    let half = data.loaded_round_trips.quantile(0.5).map(Time::as_secs_f64);
    let segment = f64::from(data.full_segment()) * 8.0;
    // Two segments at once, the usual burst of a paced sender, take their own time.
    let burst = data.first_flight_bps.map_or(0.0, |rate| 2.0 * segment / rate);
    half.zip(data.path_rtt_min_s)
        .is_none_or(|(half, least)| half <= EMPTY * least + CLOCK_STEP.as_secs_f64() + burst)
}

/// Whether the sender is out of data for a part of the time, as a program that writes a little at a time is, or has less
/// in flight than any buffer holds: one whose full buffer is drained in bursts (BBR with a small one) is and has not.
fn writes_little(data: &DirectionStats) -> bool {
    let flights = busy_bins(data).map(|bin| bin.in_flight_max as f64).collect();
    is_out_of_data(data) || decile(flights, 9).is_some_and(|most| most < LEAST_BUFFER)
}

/// Whether the sender is out of data for a part of the time.
fn is_out_of_data(data: &DirectionStats) -> bool {
    out_of_data(data) >= OUT_OF_DATA
}

/// Whether the first flight was faster than the rest for sure: a sender that paces to what a full link carries (BBR) keeps
/// its queue about as short as one that paces below it.
fn is_first_faster(data: &DirectionStats) -> bool {
    let rates = data.first_flight_bps.zip(goodput_while_read(data));
    rates.is_some_and(|(first, rest)| first >= ABOVE * rest)
}

/// Whether a queue anywhere on the path would show in the round trips: one before a capture point that is away from the sender
/// shows in timestamps alone.
fn sees_whole_path(data: &DirectionStats, acks: &DirectionStats) -> bool {
    is_at_sender(data) || data.timestamps && acks.timestamps
}

/// By how much the rate of new payload varies between stretches of time, as a share of itself; start-up and the end are left out.
pub(super) fn variation(data: &DirectionStats) -> Option<f64> {
    let segment = f64::from(data.full_segment());
    let each = data.goodput_bps.map_or(0.0, |goodput| 8.0 * segment / goodput);
    let all = data.bins.as_slice().iter().map(|bin| bin.duration.as_secs_f64()).sum::<f64>();
    let segments_s = (STRETCH_SEGMENTS * each).min(all / STRETCHES).max(FEWEST_SEGMENTS * each);
    let stretch = STRETCH_S.max(2.0 * data.path_rtt_min_s.unwrap_or(0.0)).max(segments_s);
    let mut rates: Vec<f64> = Vec::new();
    let (mut seconds, mut sent) = (0.0, 0.0);
    // What was captured as one packet left at once.
    let packet = data.payload_bytes as f64 / (data.data_packets as f64).max(1.0);
    let bursts = BURST_SEGMENTS.max(packet / segment) * each / stretch;
    let stops = Stops::of(data);
    for bin in data.bins.as_slice().iter().filter(|bin| !stops.have(bin)) {
        seconds += bin.duration.as_secs_f64();
        sent += bin.sent_bytes as f64;
        if seconds >= stretch {
            rates.push(sent / seconds);
            (seconds, sent) = (0.0, 0.0);
        }
    }
    let within = rates.get(started(&rates)..rates.len().saturating_sub(1)).unwrap_or_default();
    let is_long = within.len() >= LEAST_STRETCHES;
    let varies = Summary::of(within).coefficient_of_variation().filter(|_| is_long)?;
    // Bursts that come evenly fall into a stretch once more or less: the count of what is cut anywhere has a mean variance of a
    // sixth of a burst squared.
    Some(libm::sqrt((varies * varies - bursts * bursts / 6.0).max(0.0)))
}

/// How many stretches belong to the start: slow start comes to the usual rate, and what waited behind it leaves at once.
fn started(rates: &[f64]) -> usize {
    let usual = median(rates.to_vec()).unwrap_or(0.0);
    let reached = rates.iter().position(|rate| *rate >= usual).unwrap_or(0);
    (reached + 2).min(rates.len() / LONGEST_START).max(2)
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

/// The share of the time in which single pauses show a full send buffer.
fn buffered_share(data: &DirectionStats) -> f64 {
    share_of_time(data, |bin| bin.sndbuf_limited)
}

#[cfg(test)]
mod tests;
