//! The limits of a sender, as shares of its time.
//!
//! The time is cut into intervals of at least a round trip. In each, what the sender's pauses show comes first: the retransmission timer,
//! an application with nothing to send. What is left of the interval goes to the first of these that holds: a black hole, a full send
//! buffer, a full receive window, a full link, slow start, losses. The order is that of T-RAT (Zhang, Breslau, Paxson, Shenker, SIGCOMM
//! 2002) and Siekkinen et al. (Computer Networks 52(9), 2008); the words are RFC 4898's, and the factors were calibrated on runs of the
//! real kernel (docs/validation-explain.md).

use super::ack_path::{AckPath, leaves_link};
use super::data_queue;
use super::full_link::{FULL_LINK, held_s, is_at, trains_bps};
use super::intervals::{round_trips, unseen};
use super::known::Known;
use super::loss_cause::Loss;
use super::lossy_stretch::WindowOrLosses;
use super::one_way::is_always_behind;
use super::pace::Pace;
use super::queueing::{Course, QUEUEING, Surroundings};
use super::send_buffer::{
    fills_in_turns, leaves_path_idle, leaves_room, lets_flight_drain, may_be_late,
};
use super::since_loss::SinceLoss;
use super::stops::{Stops, stops_in};
use super::windows::{WINDOW_LEFT, marks_take};
use crate::evidence::{Bin, BlackHole, DirectionStats};
use crate::outcome::{LimitShare, LimitedBy};
use crate::units::Time;

/// Where round trips are long the link is full from this share on: what else they show is another's queue, or slow hosts.
const BUSY_LINK: f64 = 0.6;
/// Slow start grows by half in a round trip, or doubles (RFC 5681 §3.1); what grows by less does not.
const GROWING: f64 = 1.25;
/// A buffer is what holds the sender back when it does so for this share of an interval.
const BUFFER_SHARE: f64 = 0.1;
/// Intervals in which a connection begins, whatever they look like: the first flight, and its answer.
const OPENING: usize = 2;
/// So few losses keep no congestion window down where each side waits for the other.
const FEW_LOSSES: u64 = 2;

/// A stretch of time with one limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitSpan {
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// What limited most of it.
    pub kind: LimitedBy,
}

/// The limits of a direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Shares of the time from first data to last acknowledgement, the largest first.
    pub shares: Vec<LimitShare>,
    /// What limited it when: neighbours with the same limit are one.
    pub spans: Vec<LimitSpan>,
}

impl Limits {
    /// Looks at a direction.
    pub(super) fn of(stats: &DirectionStats, acks: &DirectionStats, known: Known) -> Self {
        let all = round_trips(stats);
        let bins = stats.seen_of(&all);
        let mut judge = Judge::new(stats, acks, &bins, known);
        let (mut limits, mut times) = (Self::default(), Vec::<(LimitedBy, f64)>::new());
        for bin in &all {
            let parts = if stats.has_seen(bin) { judge.parts(bin) } else { unseen(bin) };
            let parts = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0);
            if let Some((kind, _)) = parts.clone().max_by(|a, b| a.1.total_cmp(&b.1)) {
                limits.extend(bin, kind);
            }
            for (kind, seconds) in parts {
                match times.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, sum)) => *sum += seconds,
                    None => times.push((kind, seconds)),
                }
            }
        }
        limits.shares = shares(times);
        limits
    }

    fn extend(&mut self, bin: &Bin, kind: LimitedBy) {
        match self.spans.last_mut() {
            Some(last) if last.kind == kind => last.to = bin.end(),
            _ => self.spans.push(LimitSpan { from: bin.at, to: bin.end(), kind }),
        }
    }
}

fn shares(mut times: Vec<(LimitedBy, f64)>) -> Vec<LimitShare> {
    let all: f64 = times.iter().map(|(_, seconds)| seconds).sum();
    times.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    times.into_iter().map(|(kind, seconds)| LimitShare { kind, share: seconds / all }).collect()
}

/// Looks at intervals in order.
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which holds or not")]
struct Judge<'a> {
    stats: &'a DirectionStats,
    pace: Pace,
    stops: Stops,
    course: Course<'a>,
    /// How long an acknowledgement waits for a second segment.
    held_s: f64,
    /// The rate does not follow the flight.
    has_ceiling: bool,
    ack_path: Option<AckPath>,
    /// They look like it, or a sender with a clock of its own makes them.
    acks_may_queue: bool,
    /// The reader is behind for most of the time, whatever is lost on the way.
    is_read_slowly: bool,
    /// The data queues for what spaces its segments, or drops some of them.
    data_queues: bool,
    /// Others queue in front of a link that carries more than the transfer gets.
    others_queue: bool,
    /// Which of the receive window and losses limits more, where both do.
    window_or_losses: WindowOrLosses,
    /// Pauses with data in flight are of a full send buffer, or of a program that is late.
    may_be_late: bool,
    segment: u64,
    has_lost: bool,
    since_loss: SinceLoss,
    /// Without SACK: something was lost, and acknowledgements do not yet cover what was sent since.
    has_hole: bool,
    /// The transfer gets a good part of the link.
    is_busy: bool,
    /// A sender that seems to wait for room in its buffer, for requests or for its pace fills the link meanwhile.
    fills_in_turns: bool,
    /// The flight falls to the same low mark a few times: its program may wait for room in its buffer.
    may_wait: bool,
    /// And that buffer holds less than the path does.
    leaves_path_idle: bool,
    /// Most that was in flight before.
    in_flight: u64,
    /// What limited the interval before.
    before: LimitedBy,
    count: usize,
}

impl<'a> Judge<'a> {
    fn new(stats: &'a DirectionStats, acks: &DirectionStats, bins: &'a [Bin], also: Known) -> Self {
        let (course, pace) = (Course::of(bins, stats, acks), Pace::over(bins, stats, acks));
        let is_busy = is_at(stats, trains_bps(stats), BUSY_LINK);
        let ack_path = AckPath::of(stats, acks).filter(|_| also.acks_may_wait);
        let may_wait = !pace.is_dialogue && lets_flight_drain(stats);
        let may_fill = if pace.waits_for_room { !leaves_room(stats, acks) } else { may_wait };
        Self {
            stats,
            pace,
            stops: Stops::of(stats),
            held_s: held_s(stats),
            has_ceiling: course.has_ceiling(stats),
            course,
            // A sender with a clock of its own whose flight is at a ceiling answers late by itself.
            ack_path: ack_path.filter(|_| !pace.may_be_buffered && !pace.waits_for_room),
            acks_may_queue: ack_path.is_some(),
            others_queue: data_queue::is_of_others(stats, acks),
            window_or_losses: WindowOrLosses::of(stats, acks),
            may_be_late: !pace.is_dialogue && (may_be_late(stats, acks) || pace.may_fill_unseen),
            data_queues: (pace.is_spaced || is_busy && stats.needed_retransmissions() > 0)
                && data_queue::stands(stats, acks),
            is_read_slowly: is_always_behind(acks),
            segment: u64::from(stats.full_segment()),
            has_lost: false,
            since_loss: SinceLoss::of(stats, pace.is_clocked),
            has_hole: false,
            is_busy,
            fills_in_turns: may_fill && fills_in_turns(stats, acks)
                || also.messages_fill_link
                || pace.pauses_are_paced && data_queue::stands_overflowed(stats, acks),
            may_wait,
            leaves_path_idle: may_wait && leaves_path_idle(stats, acks),
            in_flight: 0,
            before: LimitedBy::StartUp,
            count: 0,
        }
    }

    /// The limits of an interval, with seconds, which may be none.
    fn parts(&mut self, bin: &Bin) -> [(LimitedBy, f64); 4] {
        let all = bin.duration.as_secs_f64();
        let black_hole = self.black_hole(bin);
        let stalled = bin.rto_wait.as_secs_f64().min(all - black_hole).max(0.0);
        // A pause costs nothing while the link is busy with what was sent before.
        let late = if self.fills_link_in(bin) { Time::ZERO } else { self.pace.late(bin) };
        let paused = bin.idle.saturating_add(late).as_secs_f64();
        let paused = paused.min(all - black_hole - stalled).max(0.0);
        let rest = all - black_hole - stalled - paused;
        // One loss in a dialogue is repaired before the window matters again.
        let matters = !self.pace.is_dialogue || self.stats.needed_retransmissions() > FEW_LOSSES;
        self.has_lost |= bin.losses > 0 && matters && Loss::reduces_window(self.stats);
        self.since_loss.pass(bin, self.stats.path_rtt_loaded_s.or(self.stats.path_rtt_min_s));
        let covers = 2 * bin.acked_bytes >= bin.sent_bytes;
        self.has_hole = !self.stats.sack_permitted && (bin.losses > 0 || self.has_hole && !covers);
        let kind = self.network(bin);
        self.in_flight = self.in_flight.max(bin.in_flight_max);
        self.before = kind;
        self.count += 1;
        [
            (LimitedBy::PathMtu, black_hole),
            (LimitedBy::Rto, stalled),
            (self.pauses(), paused),
            (kind, rest),
        ]
    }

    /// The limit while nothing more was there to send.
    const fn pauses(&self) -> LimitedBy {
        if self.pace.waits_for_room && !self.fills_in_turns {
            LimitedBy::SendBuffer
        } else if self.fills_in_turns {
            LimitedBy::Bandwidth
        } else if self.pace.pauses_are_paced {
            LimitedBy::Paced
        } else if self.may_be_late {
            LimitedBy::Unknown
        } else {
            LimitedBy::Application
        }
    }

    /// Seconds in which segments vanished because of their size.
    fn black_hole(&self, bin: &Bin) -> f64 {
        // Where segments of this size arrived before, it may be the other host that is gone.
        let proved = self.stats.black_hole.filter(BlackHole::is_by_size);
        proved.map_or(0.0, |it| bin.end().min(it.to).since(bin.at.max(it.from)).as_secs_f64())
    }

    /// Bytes that came through, as the sender learns it. Without SACK nothing of what arrives behind a hole is acknowledged
    /// until it is repaired, but each duplicate acknowledgement lets a segment go (RFC 5681 §3.2): what is sent then is what
    /// arrives. Where holes keep it waiting for most of the time, that is not what the transfer gets.
    fn delivered(&self, bin: &Bin) -> u64 {
        let sent = bin.sent_bytes.saturating_add(bin.resent_bytes);
        if self.has_hole && self.is_busy { bin.acked_bytes.max(sent) } else { bin.acked_bytes }
    }

    /// The rate of the link, in bits per second. Behind a hole single acknowledgements cover much at once.
    fn link_bps(&self) -> Option<f64> {
        if self.has_hole { trains_bps(self.stats) } else { self.stats.capacity_bps }
    }

    /// Payload that comes through in an interval, in bits per second.
    fn rate_bps(&self, bin: &Bin) -> f64 {
        let seconds = bin.duration.as_secs_f64();
        if seconds > 0.0 { self.delivered(bin) as f64 * 8.0 / seconds } else { 0.0 }
    }

    /// Whether that is what the link carries.
    fn fills_link_in(&self, bin: &Bin) -> bool {
        let rate = self.rate_bps(bin);
        self.pace.trains_are_of_path && self.link_bps().is_some_and(|link| rate >= FULL_LINK * link)
    }

    /// The limit where a loss keeps the congestion window down.
    fn losses(&self, bin: &Bin) -> LimitedBy {
        if self.is_read_slowly || self.window_or_losses.window_outlasts {
            LimitedBy::ReceiveWindow
        } else if self.fills_in_turns {
            LimitedBy::Bandwidth
        } else if self.pace.drains_as_buffer && self.stats.sack_permitted {
            LimitedBy::SendBuffer
        } else if self.pace.leaves_window_unused
            || self.pace.waits_for_room
            || self.may_wait && self.stats.sack_permitted
            || self.fills_in_vain(bin)
            || self.since_loss.is_past(bin, self.segment)
        {
            LimitedBy::Unknown
        } else {
            LimitedBy::Congestion
        }
    }

    /// Whether what is sent fills the link, while a hole keeps most of it waiting up to the end: a faster link would carry more of
    /// it, and without the loss all of it would count.
    fn fills_in_vain(&self, bin: &Bin) -> bool {
        let sent = bin.sent_bytes as f64 * 8.0;
        let link = self.link_bps().map(|link| FULL_LINK * link * bin.duration.as_secs_f64());
        self.has_hole && !self.is_busy && link.is_some_and(|link| sent >= link)
    }

    /// Whether packets waited in a queue that this connection filled.
    fn is_queueing(
        &self,
        bin: &Bin,
        around: Option<&Surroundings>,
        rate: f64,
        window_is_full: bool,
    ) -> bool {
        let Some(least) = self.course.least().filter(|_| !self.pace.is_paced) else { return false };
        let is_long = bin.rtt_mean().map(Time::as_secs_f64).is_some_and(|mean| {
            mean > QUEUEING * least && (window_is_full || mean > least + self.held_s)
        });
        let is_busy = self.pace.has_standing_queue
            || self.stats.capacity_bps.is_none_or(|link| rate >= BUSY_LINK * link);
        // What was overtaken or late, and sent again for it, has filled nothing.
        let has_lost = self.has_lost && self.stats.needed_retransmissions() > 0;
        let has_filled = has_lost || marks_take(self.stats);
        is_long && is_busy
            || has_lost && self.course.is_overfull(bin)
            || around.is_some_and(|around| around.queues(bin, has_filled, self.pace.is_clocked))
    }

    /// The limit while data was in flight.
    fn network(&self, bin: &Bin) -> LimitedBy {
        let seconds = bin.duration.as_secs_f64();
        let (rate, is_full) = (self.rate_bps(bin), self.fills_link_in(bin));
        let around = self.course.around(self.count, bin);
        let is_shut = bin.rwnd_limited.as_secs_f64() > 0.5 * seconds;
        let window_is_full =
            is_shut || bin.window_left_min.is_some_and(|left| left < WINDOW_LEFT * self.segment);
        let is_queueing = self.is_queueing(bin, around.as_ref(), rate, window_is_full);
        let grows = bin.in_flight_max as f64 >= GROWING * self.in_flight as f64;
        let is_buffered = bin.sndbuf_limited.as_secs_f64() > BUFFER_SHARE * seconds
            && !self.pace.is_paced
            && self.pace.is_buffered
            && !self.pace.has_application_window
            && !marks_take(self.stats);
        let fills_link = is_full && is_queueing
            || self.pace.fills_link
            || !is_shut && around.is_some_and(|around| around.is_filled_by_window(bin))
            || !self.acks_may_queue && self.course.is_held_full(bin);
        // While a hole is open the right edge of the window stands still: it is full because of the loss.
        let is_repairing = bin.losses > 0 && self.before != LimitedBy::ReceiveWindow && !is_shut;
        let path = self.stats.path_rtt_min_s;
        let acks_queue = self.ack_path.is_some_and(|queue| queue.is_in(bin.rtt_mean(), path));
        let outlasts_path = self.ack_path.is_some_and(|queue| queue.outlasts(path));
        if self.stops.have(bin) || !self.has_hole && stops_in(bin, self.stats) {
            LimitedBy::ReceiveWindow
        } else if acks_queue && (!window_is_full || outlasts_path) {
            // What was lost overflowed the queue of the data: either link may be what limits since. Without SACK it is sent again
            // one by one, long after.
            let is_since = self.has_lost || !self.stats.sack_permitted;
            let has_lost = self.stats.needed_retransmissions() > 0 && !leaves_link(self.stats);
            if is_since && has_lost { LimitedBy::Unknown } else { LimitedBy::Bandwidth }
        } else if self.pace.waits_for_room
            && !self.fills_in_turns
            && (!is_shut || self.stats.begins_late)
            || is_buffered && !is_full && !is_queueing
        {
            LimitedBy::SendBuffer
        } else if self.stats.begins_late
            && self.may_wait
            && !self.pace.waits_for_room
            && self.stats.needed_retransmissions() > 0
        {
            // Whether it has SACK, and what it lost before, is not known.
            LimitedBy::Unknown
        } else if window_is_full
            && self.stats.begins_late
            && self.pace.is_as_trains
            && !self.pace.gaps_are_of_link
        {
            // Without the beginning neither the scale of the window nor the round trip without a queue is sure.
            LimitedBy::Unknown
        } else if window_is_full && !fills_link && !is_repairing && self.others_queue {
            // The window as well as the queue may be what limits: without either the transfer is faster.
            LimitedBy::Unknown
        } else if window_is_full && !fills_link && !is_repairing {
            self.window_or_losses.shown_by_full(bin)
        } else if is_full
            || is_queueing
            || window_is_full && fills_link
            || self.has_lost && (self.has_ceiling || self.pace.is_at_rate_of_link)
            || self.data_queues && !grows
            || self.pace.keeps_rate && !self.is_read_slowly
            || self.pace.is_as_first && !grows
            || self.pace.fills_link && (self.stats.begins_late || self.pace.is_as_trains && !grows)
        {
            LimitedBy::Bandwidth
        } else if (self.has_lost || is_repairing) && !self.pace.is_paced {
            self.losses(bin)
        } else if bin.segments == 0 {
            self.before
        } else if grows || self.count < OPENING {
            LimitedBy::StartUp
        } else if marks_take(self.stats) {
            LimitedBy::Congestion
        } else if self.pace.has_application_window {
            LimitedBy::Application
        } else if self.pace.is_paced {
            LimitedBy::Paced
        } else {
            // Nothing was lost, no window is full, no round trip long, and yet the flight does not grow, if all was seen.
            let is_seen = bin.window_left_min.is_some() && self.stats.path_rtt_min_s.is_some();
            if self.fills_in_turns {
                LimitedBy::Bandwidth
            } else if is_seen
                && (self.pace.may_be_buffered || self.leaves_path_idle)
                && !self.acks_may_queue
            {
                LimitedBy::SendBuffer
            } else {
                LimitedBy::Unknown
            }
        }
    }
}
