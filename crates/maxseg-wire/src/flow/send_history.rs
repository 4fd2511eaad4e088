//! The payload of one direction: sent, retransmitted and acknowledged.

mod near;
mod overdue;
mod recovery;
mod repeats;
mod resumed;
mod sack;
mod samples;
mod traced;
mod window_scale;

use maxseg_core::evidence::{
    Event, EventKind, Events, LoadedRoundTrips, LossEpisodes, Trace, Unseen,
};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::ack_clock::AckClock;
use super::ack_gaps::AckGaps;
use super::black_hole::BlackHoleDetector;
use super::departures::Departures;
use super::gaps::{Gap, Gaps};
use super::in_flight::{InFlight, InFlightSegment};
use super::intervals::Intervals;
use super::payload_counts::PayloadCounts;
use super::retransmissions::Retransmissions;
use super::round_trips::{RoundTrips, Sample};
use super::segments::{AckSegment, DataSegment, HistoryStart};
use super::sender_replay::{AckUpdate, NewSegment, SenderReplay};
use super::sizes::Sizes;
use super::trains::Trains;
use super::vantage::{Distance, Passed};
use near::is_near;
pub(super) use near::is_nearer;
use overdue::LONGEST_TIMER;
use repeats::Refusal;

/// What one direction's sender sent and what was acknowledged, from its first byte of payload on.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SendHistory {
    sent: InFlight,
    pub(super) gaps: Gaps,
    pub(super) retransmissions: Retransmissions,
    pub(super) sender: SenderReplay,
    pub(super) sizes: Sizes,
    pub(super) trains: Option<Box<Trains>>,
    pub(super) intervals: Option<Box<Intervals>>,
    pub(super) departures: Option<Box<Departures>>,
    /// The round trip to the sender; `None` where the capture point is at the sender.
    distance: Option<Distance>,
    /// Whether the round trip to it is known: in mid-stream it may be measured later.
    way_is_known: bool,
    pub(super) ack_gaps: Option<Box<AckGaps>>,
    clock: AckClock,
    /// Whether the capture point is nearer to the receiver: packet trains are then measured on segments, otherwise on
    /// acknowledgements.
    is_nearer_receiver: bool,
    /// Whether the capture point is at the receiver: a segment that was seen has arrived, if the window had room for it.
    is_at_receiver: bool,
    /// The right edge of the largest window that was seen.
    edge: i64,
    /// Segments that were sent up to here give no round trips: the clock was set then.
    untimed_until: u64,
    pub(super) black_hole: BlackHoleDetector,
    refusal: Option<Box<Refusal>>,
    pub(super) events: Events,
    pub(super) trace: Option<Box<Trace>>,
    /// Highest byte sent, first not acknowledged, highest selectively acknowledged.
    nxt: i64,
    una: i64,
    sacked: i64,
    /// Before this an acknowledgement that passed covers everything. A capture that begins late takes its first segment for the first that is not
    /// acknowledged; in a recovery it is not.
    covered: i64,
    /// Behind the byte of the last zero window probe: a receiver may take it (RFC 9293 §3.8.6.1).
    probed: i64,
    /// Behind what may have been sent before the capture: any byte while it begins in a recovery, and the sender sends nothing but what is
    /// missing (RFC 6582); then what its first segment beyond that leaves out.
    earlier: i64,
    /// Duplicate acknowledgements since the last that brought something new.
    duplicates: u32,
    /// When anything was last sent, and when an acknowledgement last passed.
    last_send: u64,
    last_ack: u64,
    /// How long before the last acknowledgement the newest of what it covers passed, in nanoseconds; 0 where that was sent again.
    pub(super) newest_trip: u64,
    /// Bytes that have arrived, cumulatively or selectively acknowledged, since the last acknowledgement.
    delivered: i64,
    /// Round trips at the point of capture.
    pub(super) round_trips: RoundTrips,
    pub(super) loaded: LoadedRoundTrips,
    pub(super) losses: LossEpisodes,
    /// New segments since the last loss.
    since_loss: u32,
    arrivals: u32,
    pub(super) counts: PayloadCounts,
    /// Holes in the capture through which it went on, in order.
    pub(super) holes: Vec<Unseen>,
}

/// No host takes so long to answer but to delay an acknowledgement, in nanoseconds.
const BEYOND_THE_HOST: u64 = 1_000_000;
/// Before every offset, and short when packed.
const BEFORE_ALL: i64 = i32::MIN as i64;
/// Beyond any offset that a capture begins with.
const ANY: i64 = 1 << 31;
/// Packet trains are measured from this arrival on, so that short connections need no memory for them.
const BULK: u32 = 2;
/// And gaps between acknowledgements, and intervals between arrivals, from this one on.
const MANY: u32 = 4;

impl SendHistory {
    pub(super) fn new(begin: &HistoryStart) -> Self {
        let near = is_near(begin.to_sender, begin.to_receiver, begin.has_stamps);
        let rtt = begin.to_sender.unwrap_or(0).saturating_add(begin.to_receiver.unwrap_or(0));
        Self {
            sent: InFlight::default(),
            gaps: Gaps::default(),
            retransmissions: Retransmissions::default(),
            sender: SenderReplay::new(begin.at, rtt, begin.full, begin.nxt, begin.edge),
            sizes: Sizes::default(),
            trains: None,
            intervals: None,
            departures: None,
            distance: (!near).then(|| Distance::new(begin.to_sender)),
            way_is_known: near || begin.to_sender.is_some(),
            clock: AckClock::default(),
            ack_gaps: None,
            is_nearer_receiver: begin.to_sender > begin.to_receiver,
            is_at_receiver: is_nearer(begin.to_receiver, begin.to_sender),
            edge: begin.edge.unwrap_or(i64::MIN),
            untimed_until: 0,
            black_hole: BlackHoleDetector::new(begin),
            refusal: None,
            events: Events::default(),
            trace: traced::begun(begin),
            nxt: begin.nxt,
            una: begin.nxt,
            sacked: BEFORE_ALL,
            covered: if begin.begins_late { BEFORE_ALL } else { begin.nxt },
            probed: begin.nxt,
            earlier: if begin.begins_late { ANY } else { begin.nxt },
            duplicates: 0,
            last_send: begin.at,
            last_ack: 0,
            newest_trip: 0,
            delivered: 0,
            round_trips: RoundTrips::since_handshake(rtt),
            loaded: LoadedRoundTrips::default(),
            losses: LossEpisodes::default(),
            since_loss: 0,
            arrivals: 0,
            counts: PayloadCounts::default(),
            holes: Vec::new(),
        }
    }

    /// Whether the capture point is at the sender, where what is in flight is seen.
    pub(super) const fn is_at_sender(&self) -> bool {
        self.distance.is_none()
    }

    /// Whether round trips at the point of capture tell those of the path. In mid-stream without timestamps the way to
    /// the sender is not known, and at the receiver it is nearly all of the path: what is seen there is how long
    /// acknowledgements are delayed.
    pub(super) fn is_path_timed(&self) -> bool {
        let is_measured = self.distance.as_ref().is_none_or(Distance::is_known);
        is_measured || self.round_trips.least.is_some_and(|least| least >= BEYOND_THE_HOST)
    }

    /// A segment of the sender passes, which begins at `start`: the timestamp that it echoes measures the round trip to the sender.
    pub(super) fn on_echo(&mut self, at: u64, echo: u32, start: i64) {
        if let Some(distance) = &mut self.distance {
            let was_known = distance.is_known();
            let paused = at.saturating_sub(self.last_send);
            let is_busy = self.sender.in_flight() > 0;
            let is_ahead = start > self.nxt || !self.gaps.is_empty();
            distance.on_segment(at, echo, Passed { is_busy, is_ahead, paused });
            if !was_known && distance.is_known() {
                // What was taken for round trips of the path so far were those behind the capture point.
                self.round_trips.forget_path();
                self.loaded = LoadedRoundTrips::default();
            }
        }
    }

    /// The clock was set, and time goes on at `at`: what was sent before gives no round trips.
    pub(super) fn on_clock_set(&mut self, at: u64) {
        self.untimed_until = at;
        if let Some(distance) = &mut self.distance {
            distance.forget_stamps();
        }
        if let Some(trains) = &mut self.trains {
            trains.end();
        }
    }

    /// A segment with payload passes. Gives whether it is a retransmission.
    #[inline(always)]
    pub(super) fn on_data(&mut self, data: &DataSegment) -> bool {
        self.on_arrived_by(data.at);
        let gap = data.at.saturating_sub(self.last_send);
        self.counts.longest_gap = self.counts.longest_gap.max(gap);
        if data.start > self.una && self.earlier == ANY {
            self.on_first_beyond(data.start);
        }
        let payload = data.end - data.start;
        self.sizes.add(payload, data.is_pushed);
        self.black_hole.on_data(data);
        let is_resent = if data.end > self.nxt && data.start >= self.nxt {
            self.on_new(data);
            false
        } else {
            self.on_old(data)
        };
        self.last_send = data.at;
        if self.trace.is_some() {
            self.trace_segment(data, is_resent);
        }
        is_resent
    }

    #[inline(always)]
    fn on_new(&mut self, data: &DataSegment) {
        if data.start > self.nxt.max(self.earlier) {
            self.on_hole(data);
            self.gaps.open(Gap {
                start: self.nxt,
                end: data.start,
                at: data.at,
                stamp: data.stamp,
                ip_id: data.ip_id,
            });
        }
        let payload = data.end - data.start;
        self.nxt = data.end;
        self.counts.unique_bytes += payload.cast_unsigned();
        self.depart(data);
        self.sent.push(segment(data));
        if self.is_nearer_receiver {
            self.arrive(data.at, payload, self.sender.in_flight() <= payload);
        }
    }

    /// Replays the sending of a new segment.
    #[inline(always)]
    fn depart(&mut self, data: &DataSegment) {
        let full = self.sender.full();
        let away = self.distance.as_ref().map_or(0, Distance::empty);
        let at_once = AckClock::at_once(self.distance.is_some(), self.round_trips.least_of_path());
        let since = self.clock.since(data.at, away, at_once, &mut self.sender.bins);
        self.since_loss = self.since_loss.saturating_add(1);
        let is_recovering = self.retransmissions.recovering(self.una).is_some();
        let known = self.distance.as_ref().and_then(Distance::echoed);
        let waited =
            known.map_or(since, |echo| data.at.saturating_sub(echo.at.saturating_add(away)));
        let has_filled_window = self.sender.on_send(NewSegment {
            at: data.at,
            end: data.end,
            payload: data.end - data.start,
            is_pushed: data.is_pushed,
            is_recovering,
            known,
            ip_id: data.ip_id,
            is_clocked: since <= at_once,
            at_once,
            waited,
        });
        if !is_recovering && self.arrivals >= MANY {
            self.note_departure(data);
        }
        self.note_in_flight();
        if data.end > self.edge.saturating_add(full) && self.edge > i64::MIN {
            self.counts.beyond_window += 1;
        }
        if data.at.saturating_sub(self.last_ack) > LONGEST_TIMER {
            self.on_overdue(data);
        }
        if has_filled_window {
            self.counts.window_full += 1;
            self.note(EventKind::WindowFull, data, 0);
        }
    }

    /// An acknowledgement passes, with or without payload of its own.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, ack: &AckSegment) {
        self.last_ack = ack.at;
        let is_progress = ack.una > self.una;
        if is_progress {
            self.on_progress(ack);
        }
        // What is out of order releases segments as well (RFC 3042, RFC 6675 §5).
        if ack.has_payload {
            self.clock.on_question();
        } else if is_progress || self.delivered > 0 || ack.is_duplicate {
            self.clock.on_ack(ack.at);
        }
        self.covered = self.covered.max(ack.una);
        if ack.una < self.una {
            // Out of order: its window is outdated (RFC 9293 §3.10.7.4).
            return;
        }
        self.edge = self.edge.max(ack.edge.unwrap_or(i64::MIN));
        let delivered = std::mem::take(&mut self.delivered);
        if delivered > 0 {
            self.deliver(ack.at, delivered, self.sent.is_empty());
        }
        let news = AckUpdate {
            una: ack.una.max(self.una),
            edge: ack.edge,
            delivered: delivered.cast_unsigned(),
        };
        self.duplicates += u32::from(ack.is_duplicate);
        if self.trace.is_some() {
            self.trace_ack(ack);
        }
        if let Some(distance) = &mut self.distance {
            distance.on_ack(ack.at, ack.stamp, news);
        } else {
            self.on_arrived(ack.at, &news);
        }
    }

    fn on_progress(&mut self, ack: &AckSegment) {
        let acked = ack.una - self.una;
        self.una = ack.una;
        if self.arrivals >= MANY {
            self.ack_gaps.get_or_insert_default().on_ack(ack.at, acked, self.sender.full());
        }
        let duplicates = std::mem::take(&mut self.duplicates);
        self.end_first_round(ack.una, duplicates);
        if !self.gaps.is_empty() {
            self.counts.unseen_bytes += self.gaps.pass(ack.una).max(0).cast_unsigned();
        }
        if ack.una > self.nxt {
            let seen = self.nxt.max(self.probed.max(self.earlier).min(ack.una));
            self.counts.unseen_bytes += (ack.una - seen).cast_unsigned();
            self.nxt = ack.una;
        }
        let done = self.sent.acknowledge(ack.una);
        let newest = done.newest.filter(|sent_at| *sent_at > self.untimed_until);
        self.newest_trip = newest.map_or(0, |sent_at| ack.at.saturating_sub(sent_at));
        self.delivered += (acked - done.sacked).max(0);
        self.black_hole.on_acknowledged(ack, done.largest);
        if let Some(sent_at) = done.timed.filter(|sent_at| self.is_timed(*sent_at, ack.at)) {
            let is_single = acked <= self.sender.full();
            let how = Sample { is_single, fills_gap: duplicates > 0, known: None };
            self.on_sample(ack, sent_at, how);
        }
        let soonest = self.round_trips.soonest();
        let spurious = self.retransmissions.on_acknowledged(ack.una, ack.echo, ack.at, soonest);
        if let Some(spurious) = spurious {
            self.note_spurious(&spurious);
        }
    }

    /// A zero window probe with a byte that ends here.
    pub(super) const fn on_probe(&mut self, end: i64) {
        self.probed = end;
    }

    fn note(&mut self, kind: EventKind, data: &DataSegment, lasted: u64) {
        self.events.note(Event {
            kind,
            at: Time::from_nanos(data.at),
            frame: data.frame,
            offset: data.start.max(0).cast_unsigned(),
            bytes: u32::try_from(data.end - data.start).unwrap_or(0),
            lasted: Time::from_nanos(lasted),
        });
    }

    /// The capture ends; the connection's last packet passed at `end`.
    pub(super) fn finish(&mut self, end: u64) {
        self.on_arrived_by(u64::MAX);
        self.sender.finish(end);
        self.black_hole.finish(end);
        self.sent.forget_all();
    }
}

fn segment(data: &DataSegment) -> InFlightSegment {
    InFlightSegment {
        start: data.start,
        end: data.end,
        at: data.at,
        stamp: data.stamp.unwrap_or(0),
        resent: 0,
        sacked: false,
    }
}
