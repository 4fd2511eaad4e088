//! Segments before the highest: overtaken, or sent again, and why.

use maxseg_core::evidence::{Cause, EventKind};

use super::super::gaps::Gap;
use super::super::passing::Data;
use super::super::resent::{Resend, Verdict};
use super::super::round_trips::LEAST_RTO;
use super::super::sent::Segment;
use super::super::vantage::is_later;
use super::{Stream, segment};

/// Without a round trip to compare with, what comes so late was not overtaken but sent again: tcptrace's and
/// Wireshark's 3 ms.
const REORDERED_WITHIN: u64 = 3_000_000;

impl Stream {
    /// Some or all of it lies before what has been seen already. Gives whether it was sent again.
    pub(super) fn on_old(&mut self, data: &Data) -> bool {
        if self.follows_probe(data) {
            self.on_new(&Data { start: self.nxt, ..*data });
            return false;
        }
        let below = data.end.min(self.nxt);
        let filled = self.gaps.fill(data.start, below);
        let seen_before = below - data.start - filled.map_or(0, |(_, bytes)| bytes);
        let is_overtaken =
            seen_before <= 0 && filled.is_some_and(|(gap, _)| self.was_overtaken(data, &gap));
        if let Some((_, bytes)) = filled {
            self.counts.unique_bytes += bytes.cast_unsigned();
        }
        if data.end > self.nxt {
            self.counts.unique_bytes += (data.end - self.nxt).cast_unsigned();
        }
        if is_overtaken {
            self.counts.out_of_order += 1;
            self.note(EventKind::OutOfOrder, data, 0);
            self.sent.insert(segment(&Data { end: below, ..*data }));
        } else {
            self.resend(data, below - data.start, seen_before == data.end - data.start);
        }
        if data.end > self.nxt {
            let new = Data { start: self.nxt, ..*data };
            self.nxt = data.end;
            self.depart(&new);
            self.sent.push(Segment { resent: u16::from(!is_overtaken), ..segment(&new) });
        }
        !is_overtaken
    }

    /// A segment from the byte on that a probe had carried alone is none of the sender's retransmissions.
    fn follows_probe(&mut self, data: &Data) -> bool {
        let before = data.start == self.nxt - 1 && data.end > self.nxt;
        before && self.sent.holding(data.start).is_some_and(|probe| probe.end - probe.start == 1)
    }

    /// Whether a segment that fills a gap was sent before what lies behind the gap.
    fn was_overtaken(&self, data: &Data, gap: &Gap) -> bool {
        if let (Some(stamp), Some(behind)) = (data.stamp, gap.stamp)
            && stamp != behind
        {
            return is_later(behind, stamp);
        }
        let late = data.at.saturating_sub(gap.at);
        let round_trip = match self.round_trips.path_least {
            Some(least) => least.saturating_mul(3) / 4,
            None => REORDERED_WITHIN,
        };
        if late >= round_trip {
            return false;
        }
        match (data.ip_id, gap.ip_id) {
            // Identifications that count: the earlier one is the smaller.
            (Some(id), Some(behind)) if id != 0 && behind != 0 && id.abs_diff(behind) < 512 => {
                id < behind
            }
            _ => true,
        }
    }

    fn resend(&mut self, data: &Data, bytes: i64, was_seen: bool) {
        let cause = self.cause(data);
        self.counts.retransmitted_packets += 1;
        self.counts.retransmitted_bytes += bytes.max(0).cast_unsigned();
        let waited = data.at.saturating_sub(self.last_send);
        self.note(EventKind::Retransmission(cause), data, waited);
        self.sender.on_resend(data.at, bytes, cause == Cause::Rto);
        if cause == Cause::Rto {
            self.stuck.on_timeout(data, self.sent.holding(data.start).map(|segment| segment.at));
        } else {
            self.stuck.on_other(data);
        }
        let verdict = if data.end <= self.una {
            Some(Verdict::Acknowledged)
        } else if was_seen && self.is_at_receiver && data.end <= self.edge {
            Some(Verdict::Arrived)
        } else {
            None
        };
        self.resends.push(Resend {
            start: data.start,
            end: data.end,
            at: data.at,
            frame: data.frame,
            stamp: data.stamp,
            cause,
            verdict,
            is_acknowledged: false,
        });
        if verdict.is_some() {
            self.note(EventKind::Spurious(cause), data, 0);
        }
        for segment in self.sent.within(data.start, data.end) {
            segment.at = data.at;
            segment.stamp = data.stamp.unwrap_or(0);
            segment.resent = segment.resent.saturating_add(1);
        }
    }

    /// What made the sender repeat.
    fn cause(&mut self, data: &Data) -> Cause {
        let rto = self.round_trips.rto();
        let before = self.sent.holding(data.start).map(|segment| (segment.at, segment.resent));
        let waited = data.at.saturating_sub(before.map_or(self.last_send, |(at, _)| at));
        let quiet = data.at.saturating_sub(self.last_send.max(self.resends.last_progress()));
        // The timer waits longer than anything else, and runs from the last that brought the sender on.
        let by_timer = waited >= rto / 4 * 3 && quiet >= (rto / 2).min(LEAST_RTO * 9 / 10);
        if by_timer && (data.start <= self.una || before.is_some_and(|(_, resent)| resent > 0)) {
            self.counts.timeouts += 1;
            self.resends.begin_recovery(self.nxt, Cause::Rto);
            return Cause::Rto;
        }
        if let Some(cause) = self.resends.recovering(data.start) {
            return cause;
        }
        let cause = if self.duplicates >= 3 && self.sacked <= self.una {
            Cause::Fast
        } else if self.sacked > data.start || self.duplicates >= 3 {
            if self.duplicates >= 3 && data.start == self.una { Cause::Fast } else { Cause::Sack }
        } else if data.end >= self.nxt && waited < rto && self.duplicates == 0 {
            Cause::TailProbe
        } else if by_timer {
            self.counts.timeouts += 1;
            Cause::Rto
        } else {
            Cause::Unknown
        };
        if cause != Cause::TailProbe {
            self.resends.begin_recovery(self.nxt, cause);
        }
        cause
    }
}
