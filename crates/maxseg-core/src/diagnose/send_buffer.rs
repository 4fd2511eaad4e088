//! Whether a send buffer holds the flight: at a ceiling that explains the rate, below an ample window. A congestion window
//! grows, or falls at a loss.

use super::full_link::{AS_TRAINS, FASTER, is_at, trains_bps};
use super::host_system::System;
use super::intervals::{busy_bins, decile, share_of_time};
use super::pauses::{
    FEW_REFILLS, LATE_PERCENT, REFILLS, are_mostly_even, comes_evenly, has_no_more, is_by_clock,
    writes_late,
};
use super::stops::goodput_while_read;
use super::trip_view::{BUSY, RoundTripView, flight_by_trips, is_flat};
use super::windows::full_share;
use crate::evidence::{Bin, Direction, DirectionStats, Evidence};
use crate::units::Time;

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
/// Or it comes so near to its highest value in so many of them.
const CUT_OFF: f64 = 0.95;
const OFTEN: f64 = 0.4;
/// And it grows by no more than this, from the first half of the time to the second.
const GROWN: f64 = 1.15;
/// From this share of the ceiling on it is reached.
const REACHED: f64 = 0.8;
/// The window was ample where it had room for this share of the flight more.
const AMPLE: f64 = 0.2;
/// A ceiling of the flight limits the rate to a ceiling in each round trip: it is no more than so many times the goodput.
const CEILING: f64 = 2.0;

/// Linux wakes a program that waits for room in the buffer when a third of it is free (`sk_stream_is_writeable`): between two
/// thirds and all of it, the flight is five sixths on the average. A congestion window is full whenever something is sent.
const REFILLED: f64 = 5.0 / 6.0;
/// Two segments more may be in flight for a moment: what one acknowledgement in two lets go, and what was sent on the way of it.
const BURST_SEGMENTS: f64 = 2.0;
/// The intervals of slow start, and those behind a loss in which it is repaired.
const OPENING: usize = 4;
const REPAIR: usize = 2;
/// Losses that come again so often keep the window down, whatever else does.
const MANY_EPISODES: u64 = 6;
/// Between losses every so many segments Reno's window grows to the root of so many times their number, from half of it (Mathis et al.,
/// Computer Communication Review 27(3), 1997); CUBIC's to no more in small windows, and in large ones to this times the cube of the seconds
/// between (RFC 9438 §4.2).
const GROWS: f64 = 8.0 / 3.0;
const GROWS_BY_CUBE: f64 = 0.4 / 0.3;
/// Losses come as chance has it, and segments that go out together are fewer than the window has room for (`tcp_tso_should_defer`,
/// `net/ipv4/tcp_output.c`, waits for a third of it): flights within this factor of the law's window are of that window.
const ABOUT_GROWN: f64 = 1.3;
/// What has so many times as much in flight is reduced by no loss: BBR.
const NOT_REDUCED: f64 = 2.5;
/// A buffer that is always full leaves no segment short and no pause behind one, but for this share of the time.
const SHORT: f64 = 0.02;

/// A program fills at least half of the buffer when it is woken.
const HALF: f64 = 0.5;
/// A short segment ends a flight, and the next acknowledgement brings the rest, for this share of the time at least: the buffer
/// had no room for a whole one.
const CUT_SEGMENTS: f64 = 0.01;
/// Of a link that is busier than this, bursts of any sender may wait for their turn.
const IDLE_LINK: f64 = 0.6;

/// Bursts of a send buffer fill the link for so much of the time that a faster link brings more than a larger buffer, which brings
/// half as much again at most.
const IN_TURNS: f64 = 0.65;
/// Where it is sure that the sender waits for room, they fill it for so much of the time, by its fastest trains: in the lab a larger buffer
/// brought more up to two thirds of it, a faster link from 0.73 on.
const FOR_ROOM: f64 = 0.7;
/// But where the window is reduced more than once in so many segments, it takes long to fill a faster link again (Reno's).
const SEGMENTS_BETWEEN: u64 = 150;

/// Pauses alike in this share, in which so much of the payload was acknowledged, are of a sender that waits for room.
const ALIKE_PERCENT: u32 = 75;
const ACKED_IN_PAUSES: f64 = 0.3;
/// A few of them may be, in which so much was acknowledged.
const ACKED_IN_FEW: f64 = 0.2;
/// A path keeps the order of packets where no more than one in so many is overtaken.
const OVERTAKEN: u64 = 100;
/// A receive window that has no room for so much of the time ends the flights: a smaller buffer would end them before.
const FULL_WINDOW: f64 = 0.5;
/// What was sent after one pause is acknowledged before the next: a program that writes by a clock waits for no acknowledgement.
const ROUND_TRIPS: f64 = 0.95;

/// What may hold a sender back as a full send buffer of Linux does, where its host is none: a clause. Only Linux waits until a third of the
/// buffer is free; others go on as soon as a little is (`sowwakeup`, FreeBSD `sys/kern/uipc_sockbuf.c`), or take a whole write.
pub(super) fn of_other(evidence: &Evidence, direction: Direction, system: System) -> String {
    let host = evidence.sender(direction).ip().to_canonical().to_string();
    format!(
        "the sender goes on as behind a full send buffer of Linux, and {host} is probably {}: its program may write by a clock of its own, \
         its congestion window may be held, or its buffer be full; {} shows which",
        system.word(),
        system.sender_state(&host)
    )
}

/// Whether the sender lets acknowledgements pass until its flight has fallen to the same low mark, again and again: its program waits
/// for room in the send buffer. Without SACK each lost segment takes a round trip (RFC 6582): losses may cost more than the pauses.
pub(super) fn waits_for_room(data: &DirectionStats) -> bool {
    // Without the first flight a program's clock is not told from that of a path which empties the buffer evenly.
    if !repairs_at_once(data) || data.begins_late && are_mostly_even(data) {
        return false;
    }
    let times = data.first_data.zip(data.last_ack).zip(data.path_rtt_loaded_s);
    let Some(((first, last), round_trip)) = times else { return false };
    let lasted = last.since(first).as_secs_f64();
    drains(data, REFILLS, ACKED_IN_PAUSES)
        && !losses_let_less(data)
        && data
            .refills
            .is_some_and(|refills| lasted >= ROUND_TRIPS * f64::from(refills.count) * round_trip)
}

/// Payload of a full segment, in bytes.
fn segment(data: &DirectionStats) -> u64 {
    u64::from(data.full_segment())
}

/// Whether losses come so often that a congestion window grows to less than what is in flight when the program has written again: then it is
/// not the program that acknowledgements pass for.
fn losses_let_less(data: &DirectionStats) -> bool {
    let episodes = data.loss_episodes.count();
    data.refills.is_some_and(|refills| {
        let full = (refills.low_bytes + refills.burst_bytes) as f64 / segment(data) as f64;
        let losses = episodes.max(1) as f64;
        let span = data.first_data.zip(data.last_ack);
        let seconds = span.map_or(0.0, |(first, last)| last.since(first).as_secs_f64()) / losses;
        let by_reno = libm::sqrt(GROWS * data.segments() as f64 / losses);
        let grown = by_reno.max(GROWS_BY_CUBE * seconds * seconds * seconds);
        episodes >= MANY_EPISODES && grown < ABOUT_GROWN * full && full < NOT_REDUCED * grown
    })
}

/// Whether pauses end with less than a segment: Nagle's algorithm held the tail of a write until the tail of the one before was
/// acknowledged (RFC 9293 §3.7.4; `tcp_minshall_check`, `net/ipv4/tcp_output.c`). Who finds room in a buffer fills more.
pub(super) fn holds_tails(data: &DirectionStats) -> bool {
    let full = segment(data);
    data.refills.is_some_and(|refills| {
        refills.count >= FEW_REFILLS && (1..full).contains(&refills.burst_bytes)
    })
}

/// Whether pauses are those of a program, or may be: single ones show no full buffer then.
pub(super) fn may_be_of_program(data: &DirectionStats) -> bool {
    holds_tails(data) || is_by_clock(data) || comes_evenly(data) || has_no_more(data)
}

/// Whether nothing is lost, or SACK tells what is.
fn repairs_at_once(data: &DirectionStats) -> bool {
    data.needed_retransmissions() == 0 || data.sack_permitted || data.resent.sack > 0
}

/// Whether a sender that waits for room in its buffer fills the link whenever the buffer is full, and that for most of the time: a
/// faster link brings more than a larger buffer. Losses show it, for then path and queue were full; else what is in flight on the
/// average is more than the path holds, or all of it is while a larger buffer brings no more than a tenth.
///
/// Where the beginning was not captured, acknowledgements may come at the pace of the program's writes: only round trips show a full link.
pub(super) fn fills_in_turns(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let rates = goodput_while_read(data).zip(trains_bps(data));
    let Some((goodput, link)) = rates else { return false };
    let carries_more = data.first_flight_bps.is_some_and(|first| first >= FASTER * link);
    // A faster link carries the flight in each round trip without a queue, which is more than this one carries where the flight is more
    // than the path holds; a larger buffer brings no more than this one carries.
    let holds_more = data.needed_retransmissions() > 0
        && usual_flight(data, acks).is_some_and(|flight| flight >= 1.0);
    let least = if holds_more { BUSY } else { IN_TURNS };
    if goodput < least * link || carries_more || !repairs_at_once(data) {
        return false;
    }
    if data.needed_retransmissions() > 0 {
        return data.loss_episodes.count() * SEGMENTS_BETWEEN <= data.segments();
    }
    if data.begins_late && RoundTripView::of(data, acks) != RoundTripView::Queued {
        return false;
    }
    most_of_path(data)
        .is_some_and(|most| REFILLED * most >= 1.0 || goodput >= AS_TRAINS * link && most >= 1.0)
}

/// Whether a sender that waits for room in its buffer leaves the link idle for a good part of the time. Where it overflows a queue it does
/// not, unless less is in flight on the average than the path holds.
pub(super) fn leaves_room(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let is_over = || usual_flight(data, acks).is_none_or(|flight| flight >= 1.0);
    let fills_path = data.needed_retransmissions() > 0 && is_over();
    !fills_path && !is_at(data, data.capacity_bps, FOR_ROOM)
}

/// What is in flight on the average, in what the path holds without a queue (Little's law): by round trips, or where these lack what waits
/// before the capture point, by timestamps.
fn usual_flight(data: &DirectionStats, acks: &DirectionStats) -> Option<f64> {
    let by_stamps = || {
        let (least, way) = data.path_rtt_min_s.filter(|least| *least > 0.0).zip(data.way_delay)?;
        let (goodput, link) = goodput_while_read(data).zip(trains_bps(data))?;
        Some(goodput / link * (1.0 + way.median_s / least))
    };
    flight_by_trips(data, acks).into_iter().chain(by_stamps()).reduce(f64::max)
}

/// Whether the buffer that a program may wait for holds less than the path, as it is refilled: nothing is lost, and by round trips
/// and timestamps nothing waits on the way.
pub(super) fn leaves_path_idle(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let is_flat_there =
        data.way_delay.zip(data.path_rtt_min_s).is_none_or(|(way, least)| is_flat(way, least));
    data.needed_retransmissions() + data.congestion_marks == 0
        && RoundTripView::of(data, acks) == RoundTripView::Flat
        && is_flat_there
        && most_of_path(data).is_some_and(|most| REFILLED * most < 1.0)
}

/// What nine of ten flights do not exceed, in what the path holds at the rate of its trains.
fn most_of_path(data: &DirectionStats) -> Option<f64> {
    let most = decile(busy_bins(data).map(flight).collect(), 9)?;
    let holds = trains_bps(data)? * data.path_rtt_min_s? / 8.0;
    (holds > 0.0).then(|| most / holds)
}

/// Whether it may: a loss that takes most of the time to repair leaves few pauses. Losses that come again leave pauses themselves.
pub(super) fn lets_flight_drain(data: &DirectionStats) -> bool {
    data.loss_episodes.count() < MANY_EPISODES && drains(data, FEW_REFILLS, ACKED_IN_FEW)
}

/// Whether the flight fell to the same low mark so many times, while this share of the payload was acknowledged. What is overtaken on
/// the way lets acknowledgements pass as well.
fn drains(data: &DirectionStats, least: u32, acked: f64) -> bool {
    data.capacity_bps.is_some()
        && full_share(data) < FULL_WINDOW
        && data.out_of_order_packets * OVERTAKEN <= data.data_packets
        && !holds_tails(data)
        && !is_by_clock(data)
        && !has_no_more(data)
        && !writes_late(data)
        && data.refills.is_some_and(|refills| {
            refills.count >= least
                && refills.alike_percent >= ALIKE_PERCENT
                && refills.late_percent <= LATE_PERCENT
                && refills.acked_bytes as f64 >= acked * data.acked_bytes as f64
        })
}

/// Whether the flight drains as behind a send buffer, which cuts segments short, in front of a link that is idle for a good part
/// of the time.
pub(super) fn drains_as_buffer(used: f64, data: &DirectionStats) -> bool {
    let rates = data.goodput_bps.zip(data.capacity_bps);
    used >= HALF
        && !may_be_of_program(data)
        && share_of_time(data, |bin| bin.sndbuf_limited) >= CUT_SEGMENTS
        && rates.is_some_and(|(goodput, link)| goodput < IDLE_LINK * link)
}

/// The share of its flights that the sender sends in a round trip, apart from losses, where that is less than a congestion window
/// allows: acknowledgements open that segment by segment, and whoever waits for it sends at each (RFC 5681 §3.1). This sender
/// waits for its program or for room in its buffer.
pub(super) fn unused_window(bins: &[Bin], data: &DirectionStats) -> Option<f64> {
    if data.loss_episodes.count() >= MANY_EPISODES {
        return None;
    }
    let (mut sent, mut flights, mut trips) = (0.0, 0.0, 0);
    let burst = BURST_SEGMENTS * segment(data) as f64;
    let until = bins.len().saturating_sub(1);
    for place in OPENING..until {
        let bin = &bins[place];
        let repairs = bins[place - REPAIR..=place].iter().any(|bin| bin.losses > 0);
        let round_trip = bin.rtt_mean().map(Time::as_secs_f64).or(data.path_rtt_min_s);
        let Some(round_trip) = round_trip.filter(|seconds| *seconds > 0.0) else { continue };
        if repairs || bin.segments == 0 || bin.idle.times(2) > bin.duration {
            continue;
        }
        sent += bin.sent_bytes as f64;
        flights += (flight(bin) - burst).max(0.0) * bin.duration.as_secs_f64() / round_trip;
        trips += 1;
    }
    (trips >= CAPPED_TRIPS && sent < REFILLED * flights).then(|| sent / flights)
}

/// Whether a sender that pauses, though something is always in flight, and has overflowed a queue, may wait for room in its
/// buffer as well as for its program: whoever writes less than the path carries fills no queue.
pub(super) fn may_be_late(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let idle = share_of_time(data, |bin| bin.idle);
    acks.data_packets == 0
        && idle < SHORT
        && data.needed_retransmissions() > 0
        && RoundTripView::of(data, acks) == RoundTripView::Queued
}

/// Whether short segments end flights now and then, or nothing is there to send: a program that writes less than the buffer
/// holds.
pub(super) fn runs_out(data: &DirectionStats) -> bool {
    let without =
        |bin: &Bin| bin.idle.saturating_add(bin.app_limited).saturating_add(bin.sndbuf_limited);
    share_of_time(data, without) >= SHORT
}

/// Whether the flight stays at a level, by the intervals of a direction, each about a round trip long.
pub(super) fn is_capped(bins: &[Bin], data: &DirectionStats, is_clocked: bool) -> bool {
    let sending = sending(bins);
    let Some(most) = decile(sending.iter().map(|bin| flight(bin)).collect(), 9) else {
        return false;
    };
    let since = since_flight(&sending, REACHED * most);
    let median_of = |bins: &[&Bin]| decile(bins.iter().map(|bin| flight(bin)).collect(), 5);
    let (first, later) = since.split_at(since.len() / 2);
    let (Some(level), Some(before), Some(after)) =
        (median_of(since), median_of(first), median_of(later))
    else {
        return false;
    };
    let segment = segment(data) as f64;
    let share = if is_clocked { NEAR_CLOCKED } else { NEAR };
    let margin = (share * level).max((NEAR_SEGMENTS * segment).min(NEAR_FEW * level));
    let is_near = |bin: &&&Bin| has_room(bin, flight(bin)) && (flight(bin) - level).abs() <= margin;
    let near = since.iter().filter(is_near).count();
    near >= CAPPED_TRIPS
        && near as f64 >= CAPPED * since.len() as f64
        && after <= GROWN * before
        && explains(data, level) != Some(false)
}

/// Whether the flight comes to the same highest value again and again, below an ample window, and is less in between: a sender
/// that paces in cycles (BBR) runs into the end of its buffer in the faster ones.
pub(super) fn is_cut_off(bins: &[Bin], data: &DirectionStats) -> bool {
    let sending = sending(bins);
    let most = sending.iter().map(|bin| bin.in_flight_max).max().unwrap_or(0) as f64;
    let since = since_flight(&sending, CUT_OFF * most);
    let is_at_end = |bin: &&&Bin| has_room(bin, most) && flight(bin) >= CUT_OFF * most;
    let at_end = since.iter().filter(is_at_end).count();
    at_end >= CAPPED_TRIPS
        && at_end as f64 >= OFTEN * since.len() as f64
        && explains(data, most) == Some(true)
}

/// The intervals in which something was sent.
fn sending(bins: &[Bin]) -> Vec<&Bin> {
    bins.iter().filter(|bin| bin.segments > 0).collect()
}

/// Those from the first that has so much in flight on.
fn since_flight<'a, 'b>(sending: &'a [&'b Bin], bytes: f64) -> &'a [&'b Bin] {
    let reached = sending.iter().position(|bin| flight(bin) >= bytes);
    sending.get(reached.unwrap_or(0)..).unwrap_or_default()
}

fn flight(bin: &Bin) -> f64 {
    bin.in_flight_max as f64
}

/// Whether the window was ample for a flight.
fn has_room(bin: &Bin, flight: f64) -> bool {
    bin.window_left_min.is_some_and(|left| left as f64 >= AMPLE * flight)
}

/// Whether a ceiling of the flight accounts for the goodput, where the round trips under load are known.
fn explains(data: &DirectionStats, ceiling: f64) -> Option<bool> {
    let (rtt, goodput) = data.path_rtt_loaded_s.zip(data.goodput_bps)?;
    Some(8.0 * ceiling <= CEILING * rtt * goodput)
}

#[cfg(test)]
mod tests;
