//! Segments below the highest sequence number seen: out of order or retransmitted, and by what cause.

use maxseg_core::evidence::{Cause, EventKind, LossEpisode};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::super::ack_clock::AckClock;
use super::super::drop_lines::DropLines;
use super::super::gaps::Gap;
use super::super::in_flight::InFlightSegment;
use super::super::recovery_rounds::THRESHOLD;
use super::super::retransmissions::{Retransmission, SpuriousProof};
use super::super::round_trips::LEAST_RTO;
use super::super::segments::DataSegment;
use super::super::vantage::is_later;
use super::{BEFORE_ALL, SendHistory, segment};

/// Without a round-trip sample, a segment that is at most so late is out of order and a later one a retransmission:
/// the 3 ms of tcptrace and Wireshark.
const REORDERED_WITHIN: u64 = 3_000_000;

/// Most hosts delay no acknowledgement for so long, in nanoseconds.
const DELAYED_ACK: u64 = 200_000_000;

/// Two expiries of a timer that doubles take so many times the first.
const TWICE: u64 = 3;
/// From 200 ms on it has doubled to Linux's most, 120 s (`TCP_RTO_MAX`), when it has expired so often.
const MOST_DOUBLED: usize = 10;

/// IP identifications that are so near to each other count up.
const COUNTING: u16 = 512;

/// A hop's refusal of a segment as too large (RFC 1191 §4). All that was in flight then is sent again at once in smaller segments,
/// and the congestion window stays (`tcp_simple_retransmit`, `net/ipv4/tcp_input.c`).
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Refusal {
    at: u64,
    /// The end of what was in flight.
    until: i64,
    /// Where the last segment ended that was sent again for it: the next may be the rest of one that was in flight.
    next: i64,
}

impl Refusal {
    /// Whether it is the cause that a segment is sent again whose bytes were last sent at `sent_at`.
    fn explains(&mut self, data: &DataSegment, sent_at: Option<u64>) -> bool {
        let was_in_flight = sent_at.is_some_and(|sent_at| sent_at <= self.at);
        let explains = data.start < self.until && (was_in_flight || data.start == self.next);
        if explains {
            self.next = data.end;
        }
        explains
    }
}

impl SendHistory {
    /// A hop refused the segment at `start` as too large.
    pub(in crate::flow) fn on_too_large(&mut self, at: u64, start: i64) {
        let sent_at = self.sent.holding(start).map(|segment| segment.at);
        let Some(sent_at) = sent_at.filter(|sent_at| *sent_at <= at) else { return };
        // Further messages about the same flight say nothing new; the next hop's are about what was sent again.
        let is_known = self.refusal.as_ref().is_some_and(|it| start < it.until && sent_at <= it.at);
        if !is_known {
            self.refusal = Some(Box::new(Refusal { at, until: self.nxt, next: start }));
        }
    }

    /// A segment with bytes below the highest seen. Gives whether it is a retransmission.
    #[inline(never)]
    pub(super) fn on_old(&mut self, data: &DataSegment) -> bool {
        if self.begins_with_probe(data) {
            self.on_new(&DataSegment { start: self.nxt, ..*data });
            return false;
        }
        let below = data.end.min(self.nxt);
        let filled = self.gaps.fill(data.start, below);
        let seen_before = below - data.start - filled.map_or(0, |(_, bytes)| bytes);
        let is_reordered =
            seen_before <= 0 && filled.is_some_and(|(gap, _)| self.is_out_of_order(data, &gap));
        if let Some((_, bytes)) = filled {
            self.counts.unique_bytes += bytes.cast_unsigned();
        }
        if data.end > self.nxt {
            self.counts.unique_bytes += (data.end - self.nxt).cast_unsigned();
        }
        if is_reordered {
            self.counts.out_of_order += 1;
            if let Some(lines) = self.drop_lines() {
                lines.on_overtaken();
            }
            let is_last =
                filled.is_some_and(|(gap, _)| gap.start >= data.start && gap.end <= below);
            if let Some(epochs) = &mut self.sender.epochs {
                epochs.on_overtaken(data.at, (data.end - data.start).cast_unsigned(), is_last);
            }
            self.note(EventKind::OutOfOrder, data, 0);
            self.sent.insert(segment(&DataSegment { end: below, ..*data }));
        } else {
            self.note_drop(data, filled.is_some());
            self.on_retransmission(data, below - data.start, seen_before == data.end - data.start);
        }
        if data.end > self.nxt {
            let new = DataSegment { start: self.nxt, ..*data };
            self.nxt = data.end;
            self.depart(&new);
            self.sent.push(InFlightSegment { resent: u16::from(!is_reordered), ..segment(&new) });
        }
        !is_reordered
    }

    /// Where a segment repeats what was sent once, or fills a gap: since when it is missing, and the new payload that passed since.
    pub(in crate::flow) fn missing(&mut self, start: i64, end: i64) -> Option<(u64, i64)> {
        if end > self.nxt {
            return None;
        }
        let (at, behind) = if let Some(gap) = self.gaps.at(start) {
            (gap.at, gap.end)
        } else {
            let sent = self.sent.holding(start).filter(|segment| segment.resent == 0)?;
            (sent.at, sent.end)
        };
        Some((at, self.nxt - behind - self.gaps.missing_behind(behind)))
    }

    fn drop_lines(&mut self) -> Option<&mut DropLines> {
        Some(self.sender.epochs.as_mut()?.drop_lines.get_or_insert_default())
    }

    /// A hole opens in front of a new segment: where a whole flight was lost on its way to the capture point, the timer expired since.
    #[cold]
    pub(super) fn on_hole(&mut self, data: &DataSegment) {
        let (missing, passed_at) = ((self.nxt, data.start), self.last_send);
        let full = self.sender.full();
        if let Some(lines) = self.drop_lines() {
            lines.on_gap(passed_at, missing, full);
        }
        let round_trip = self.round_trips.least_of_path();
        if !self.is_at_sender() && self.sender.on_hole(data.at, missing, round_trip) {
            self.counts.timeouts += 1;
            self.retransmissions.begin_recovery(data.start, Cause::Rto);
        }
    }

    /// What is in flight with a new segment. Behind a hole that is unknown until the next acknowledgement: those of the hole are missing
    /// as well where the capture lost packets.
    #[inline(always)]
    pub(super) fn note_in_flight(&mut self) {
        let in_flight = self.sender.in_flight().max(0).cast_unsigned();
        if in_flight > self.counts.in_flight_max && self.gaps.newest() <= self.last_ack {
            self.counts.in_flight_max = in_flight;
        }
    }

    /// Whether the segment begins with the byte of a zero window probe: no retransmission.
    fn begins_with_probe(&mut self, data: &DataSegment) -> bool {
        let before = data.start == self.nxt - 1 && data.end > self.nxt;
        before && self.sent.holding(data.start).is_some_and(|probe| probe.end - probe.start == 1)
    }

    /// Whether a segment that fills a gap was sent before the segment behind the gap: it is out of order.
    fn is_out_of_order(&self, data: &DataSegment, gap: &Gap) -> bool {
        if let (Some(stamp), Some(behind)) = (data.stamp, gap.stamp)
            && stamp != behind
        {
            return is_later(behind, stamp);
        }
        // IP identifications that count up: the smaller was sent first.
        if let (Some(id), Some(behind)) = (data.ip_id, gap.ip_id)
            && id != 0
            && behind != 0
            && id != behind
        {
            if behind.wrapping_sub(id) < COUNTING {
                return true;
            } else if id.wrapping_sub(behind) < COUNTING {
                return false;
            }
        }
        let late = data.at.saturating_sub(gap.at);
        let round_trip = match self.round_trips.path_least {
            Some(least) => least.saturating_mul(3) / 4,
            None => REORDERED_WITHIN,
        };
        late < round_trip
    }

    /// A segment is sent again: another of the same recovery, or the first of one.
    fn note_loss(&mut self, at: u64, is_further: bool) {
        if is_further {
            return self.losses.extend();
        }
        self.losses.begin(LossEpisode {
            at: Time::from_nanos(at),
            rtt: self.round_trips.before_loss().map(Time::from_nanos),
            in_flight: self.sender.in_flight().max(0).cast_unsigned(),
            lost: 1,
            sent_bytes: self.counts.unique_bytes,
            sent_since: std::mem::take(&mut self.since_loss),
        });
    }

    /// A segment is sent again: one that passed was dropped behind the capture point, one that did not before it.
    fn note_drop(&mut self, data: &DataSegment, fills_gap: bool) {
        let sent = self.sent.holding(data.start).filter(|segment| segment.resent == 0);
        let sent_at = sent.map(|segment| segment.at);
        let full = self.sender.full();
        let Some(lines) = self.drop_lines() else { return };
        if fills_gap {
            lines.on_fill(data.at);
        } else if let Some(sent_at) = sent_at {
            lines.on_resend(data.at, sent_at, (data.start, data.end), full);
        }
    }

    fn on_retransmission(&mut self, data: &DataSegment, bytes: i64, was_seen: bool) {
        let is_further = self.retransmissions.recovering(data.start).is_some();
        let timeouts = self.counts.timeouts;
        let cause = self.cause(data);
        self.note_first_round(data, cause, is_further);
        if cause != Cause::TooLarge {
            self.note_loss(data.at, is_further);
        }
        self.counts.retransmitted_packets += 1;
        self.counts.retransmitted_bytes += bytes.max(0).cast_unsigned();
        let waited = data.at.saturating_sub(self.last_send);
        self.note(EventKind::Retransmission(cause), data, waited);
        let begins_timeout = self.counts.timeouts > timeouts;
        self.sender.on_resend(data.at, bytes, data.ip_id, (cause, begins_timeout));
        if cause == Cause::Rto {
            self.black_hole
                .on_timeout(data, self.sent.holding(data.start).map(|segment| segment.at));
        } else {
            self.black_hole.on_other(data);
        }
        let proof = if data.end <= self.covered {
            Some(SpuriousProof::Acknowledged)
        } else if was_seen && self.has_arrived(data) {
            Some(SpuriousProof::Arrived)
        } else {
            None
        };
        self.retransmissions.push(Retransmission {
            start: data.start,
            end: data.end,
            at: data.at,
            frame: data.frame,
            stamp: data.stamp,
            cause,
            begins_timeout,
            proof,
            is_acknowledged: false,
        });
        if proof.is_some() {
            self.note(EventKind::Spurious(cause), data, 0);
        }
        for segment in self.sent.within(data.start, data.end) {
            segment.at = data.at;
            segment.stamp = data.stamp.unwrap_or(0);
            segment.resent = segment.resent.saturating_add(1);
        }
    }

    /// Whether the receiver had all of a segment before, as the capture point is at the receiver: its SACK blocks tell so, or it has not
    /// answered since; without any, an earlier segment may be missing. What passed there may be lost behind it all the same: then
    /// acknowledgements pass that do not cover it.
    fn has_arrived(&mut self, data: &DataSegment) -> bool {
        if !self.is_at_receiver || data.end > self.edge {
            return false;
        }
        let tells_blocks = self.sacked > BEFORE_ALL;
        let may_be_missing = !tells_blocks && self.una < data.start;
        let last_ack = self.last_ack;
        let had = |segment: &mut InFlightSegment| {
            let awaits_answer =
                segment.at >= last_ack && data.at.saturating_sub(segment.at) < DELAYED_ACK;
            segment.sacked || may_be_missing || awaits_answer
        };
        let mut segments = self.sent.within(data.start, data.end).peekable();
        segments.peek().is_some() && segments.all(had)
    }

    /// Whether an acknowledgement that has just come, at the sender, lets a segment go: SACK blocks of what was sent behind it, or the third
    /// duplicate of what was sent once. A timer that expires just then is chance.
    fn is_asked_for_now(&self, data: &DataSegment, was_resent: bool) -> bool {
        let is_now = data.at.saturating_sub(self.last_ack) <= AckClock::at_once(false, 0);
        let is_asked = self.sacked > data.start || self.duplicates >= THRESHOLD && !was_resent;
        self.is_at_sender() && is_now && is_asked
    }

    /// The retransmission timer has expired; `rto` is about when it does at first.
    /// Elsewhere than at the sender retransmissions may have been lost on their way: the timer doubles each time (RFC 6298 §5.5), and twice
    /// takes three times as long.
    fn on_expiry(&mut self, data: &DataSegment, rto: u64) {
        self.counts.timeouts += 1;
        let silent = data.at.saturating_sub(self.last_send);
        let before = self.retransmissions.expiries_of(data.start);
        let doubled = rto.saturating_mul(1 << before.min(MOST_DOUBLED));
        if !self.is_at_sender() && silent >= doubled.saturating_mul(TWICE) {
            self.sender.was_cut_off(self.last_send, data.at);
        }
    }

    /// The cause of a retransmission.
    fn cause(&mut self, data: &DataSegment) -> Cause {
        let rto = self.round_trips.rto();
        let before = self.sent.holding(data.start).map(|segment| (segment.at, segment.resent));
        let waited = data.at.saturating_sub(before.map_or(self.last_send, |(at, _)| at));
        let quiet =
            data.at.saturating_sub(self.last_send.max(self.retransmissions.last_progress()));
        // The retransmission timer waits longest, and restarts at every acknowledgement of new data (RFC 6298 §5.3): for a round trip and more.
        let least_quiet = (LEAST_RTO * 9 / 10).max(self.round_trips.least_of_path());
        let was_resent = before.is_some_and(|(_, resent)| resent > 0);
        let by_timer = waited >= rto / 4 * 3
            && quiet >= (rto / 2).min(least_quiet)
            && !self.is_asked_for_now(data, was_resent);
        if by_timer && (data.start <= self.una || was_resent) {
            self.on_expiry(data, rto);
            self.retransmissions.begin_recovery(self.nxt, Cause::Rto);
            return Cause::Rto;
        }
        let sent_at = before.map(|(at, _)| at);
        if self.refusal.as_mut().is_some_and(|refusal| refusal.explains(data, sent_at)) {
            return Cause::TooLarge;
        }
        if let Some(cause) = self.retransmissions.recovering(data.start) {
            return cause;
        }
        let cause = if self.duplicates >= 3 && self.sacked <= self.una {
            Cause::Fast
        } else if self.sacked > data.start || self.duplicates >= 3 {
            if self.duplicates >= 3 && data.start == self.una { Cause::Fast } else { Cause::Sack }
        } else if data.end >= self.nxt
            && self.duplicates == 0
            && (waited < rto || data.start > self.una)
        {
            // The timer begins with the first segment that is not acknowledged (RFC 6298 §5.4), a probe sends the last (RFC 8985 §7.3).
            Cause::TailProbe
        } else if by_timer {
            self.on_expiry(data, rto);
            Cause::Rto
        } else {
            Cause::Unknown
        };
        if cause != Cause::TailProbe {
            self.retransmissions.begin_recovery(self.nxt, cause);
        }
        cause
    }
}
