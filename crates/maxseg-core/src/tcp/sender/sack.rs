//! Loss recovery by selective acknowledgements: RFC 6675, or ns-2's `Sack1` agent.
//!
//! A scoreboard holds the ranges received above the cumulative acknowledgement. In recovery the *pipe*, an
//! estimate of the bytes in flight, is compared with the congestion window before each segment.

use super::loss::DUPLICATES;
use super::{Congestion, CongestionControl, Limit, PendingControl, Segment, Sender, Time};
use crate::tcp::ranges::Ranges;

/// The scoreboard and the progress of recovery.
#[derive(Debug)]
pub(super) struct SackRecovery {
    /// Ranges received above the cumulative acknowledgement.
    received: Ranges,
    /// End of the highest byte retransmitted in this recovery (`HighRxt`).
    resent: u64,
    /// Estimate of the bytes in flight; ns-2's may be negative.
    pipe: i64,
    /// Whether the rescue retransmission of the highest gap was sent (`RescueRxt`, RFC 6675 §4).
    rescued: bool,
    rules: Rules,
}

/// The rules of recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// RFC 6675.
    Rfc6675,
    /// ns-2's `tcp-sack1.cc`: acknowledgements decrement the pipe, every gap counts as lost, and a timeout clears
    /// the scoreboard and ignores duplicate acknowledgements until new data is acknowledged.
    Ns2 { deaf: bool },
}

impl SackRecovery {
    pub(super) fn new(like_ns2: bool) -> Self {
        Self {
            received: Ranges::default(),
            resent: 0,
            pipe: 0,
            rescued: false,
            rules: if like_ns2 { Rules::Ns2 { deaf: false } } else { Rules::Rfc6675 },
        }
    }

    /// Estimate of the bytes in flight, maintained in recovery only.
    pub(super) fn pipe(&self) -> u64 {
        self.pipe.max(0).unsigned_abs()
    }

    /// Called at a timeout. RFC 6675 §5.1: received ranges are not retransmitted.
    pub(super) fn on_timeout(&mut self) {
        if let Rules::Ns2 { deaf } = &mut self.rules {
            *deaf = true;
            self.received.clear();
        }
    }

    /// The first byte from `nxt` on that is not known to be received, and the missing bytes there, at most a segment.
    /// ns-2 consults the scoreboard in recovery only.
    #[inline]
    pub(super) fn not_yet_received(&self, nxt: u64, mss: u64) -> (u64, u64) {
        if self.received.is_empty() || self.rules != Rules::Rfc6675 {
            return (nxt, mss);
        }
        let start = self.received.containing(nxt).map_or(nxt, |(_, end)| end);
        let gap = self.received.gap_from(start).map_or(mss, |(_, end)| end - start);
        (start, gap.min(mss))
    }

    /// Adds the blocks of `segment`; returns whether any is new.
    fn learn(&mut self, segment: &Segment) -> bool {
        let mut new = 0;
        for (start, end) in segment.sack().iter(segment.ack) {
            // A block below the cumulative acknowledgement is a DSACK (RFC 2883 §4).
            if start >= segment.ack {
                new += self.received.insert(start, end);
            }
        }
        new > 0
    }

    /// The end of the bytes taken for lost: three ranges, or more than two segments, were received above them
    /// (`IsLost`, RFC 6675 §4).
    fn lost_below(&self, mss: u64) -> u64 {
        let mut above = 0;
        for (count, &(start, end)) in self.received.as_slice().iter().rev().enumerate() {
            above += end - start;
            if count + 1 >= DUPLICATES as usize || above > u64::from(DUPLICATES - 1) * mss {
                return start;
            }
        }
        0
    }

    /// RFC 6675 §4, `SetPipe`: bytes neither received nor lost, plus retransmitted bytes.
    fn set_pipe(&mut self, una: u64, max: u64, mss: u64) {
        let lost = self.lost_below(mss).max(una);
        let first_time = self.received.missing_in(lost, max);
        let again = self.received.missing_in(una, self.resent.max(una));
        self.pipe = signed(first_time + again);
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Sender {
    /// Processes an acknowledgement of new data; returns whether nothing is left to do, as in recovery.
    pub(super) fn on_new_sack(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(sack) = &mut self.sack else { return false };
        if let Rules::Ns2 { deaf } = &mut sack.rules {
            *deaf = false;
        }
        let is_partial = self.recovering && self.recover > Some(segment.ack);
        if is_partial || sack.rules == Rules::Rfc6675 {
            sack.received.remove_below(segment.ack);
            sack.learn(segment);
        } else {
            sack.received.clear();
        }
        if !self.recovering {
            return false;
        }
        if is_partial {
            self.on_partial_sack(now, segment);
        } else {
            self.recovering = false;
            self.recover = None;
            self.advance(now, segment);
        }
        self.open_up(u32::MAX, 0);
        true
    }

    fn on_partial_sack(&mut self, now: Time, segment: &Segment) {
        let Some(sack) = &mut self.sack else { return };
        match sack.rules {
            Rules::Ns2 { .. } => {
                // One segment caused the acknowledgement, the other is the acknowledged retransmission.
                sack.pipe -= 2 * signed(self.mss);
                self.una = segment.ack;
                self.nxt = self.nxt.max(segment.ack);
                self.rto.end_back_off();
                self.restart_timer(now);
            }
            Rules::Rfc6675 => {
                sack.set_pipe(segment.ack, self.max, self.mss);
                self.advance(now, segment);
            }
        }
    }

    pub(super) fn on_duplicate_sack(&mut self, now: Time, segment: &Segment) {
        let Some(sack) = &mut self.sack else { return };
        if self.recovering {
            sack.learn(segment);
            match sack.rules {
                Rules::Ns2 { .. } => sack.pipe -= signed(self.mss),
                Rules::Rfc6675 => sack.set_pipe(self.una, self.max, self.mss),
            }
            return self.open_up(u32::MAX, 0);
        }
        let is_deaf = sack.rules == Rules::Ns2 { deaf: true };
        if is_deaf || !sack.learn(segment) {
            if self.duplicate_acks == 0 {
                self.open_up(u32::MAX, 0);
            } else {
                self.burst = 0;
            }
            return;
        }
        self.duplicate_acks += 1;
        let lost = match sack.rules {
            Rules::Ns2 { .. } => self.duplicate_acks == DUPLICATES,
            Rules::Rfc6675 => {
                self.duplicate_acks >= DUPLICATES || sack.lost_below(self.mss) > self.una
            }
        };
        if lost && self.may_fast_retransmit() {
            self.begin_sack_recovery(now);
        } else if self.duplicate_acks < DUPLICATES && self.limited_transmit {
            self.open_up(1, u64::from(self.duplicate_acks) * self.mss);
        } else {
            self.burst = 0;
        }
    }

    /// RFC 6675 §5 step 4.
    fn begin_sack_recovery(&mut self, now: Time) {
        let first = self.first_unreceived();
        let Some(sack) = &mut self.sack else { return };
        sack.resent = self.una + first;
        sack.rescued = false;
        match sack.rules {
            Rules::Ns2 { .. } => {
                let left = u64::from(DUPLICATES) * self.mss;
                sack.pipe = signed(self.max - self.una) - signed(left);
            }
            Rules::Rfc6675 => sack.set_pipe(self.una, self.max, self.mss),
        }
        self.stats.fast_retransmits += 1;
        self.recover = Some(self.max);
        self.recovering = true;
        self.timed = None; // Karn's algorithm
        self.cc.on_congestion(Congestion::LossBySack, &self.congestion_sample());
        self.start_undo(now, false);
        self.restart_timer(now);
        self.pending_control = PendingControl::Unacknowledged;
        // ns-2 sends no further segment until the next acknowledgement.
        self.burst = if self.first_loss.is_some() { 0 } else { u32::MAX };
    }

    /// Bytes of the first unacknowledged segment that are not received.
    pub(super) fn first_unreceived(&self) -> u64 {
        let most = self.mss.min(self.max - self.una);
        match &self.sack {
            None => most,
            Some(sack) => sack.not_yet_received(self.una, most).1,
        }
    }

    /// Sequence number and length of the next segment in recovery, if the pipe allows one.
    pub(super) fn next_by_pipe(&mut self) -> Option<(u64, u64)> {
        let next = self.next_in_recovery();
        let Some((seq, len)) = next else {
            self.burst = 0;
            self.limit = Limit::Congestion;
            return None;
        };
        let end = seq + len;
        if let Some(sack) = &mut self.sack {
            sack.pipe += signed(len);
            if seq < self.max {
                sack.resent = sack.resent.max(end);
            }
        }
        self.nxt = self.nxt.max(end);
        next
    }

    /// RFC 6675 §4, `NextSeg`: lost data, new data, any gap, then the rescue retransmission.
    fn next_in_recovery(&mut self) -> Option<(u64, u64)> {
        let mss = self.mss;
        let cwnd = self.cc.cwnd().get();
        let allowed = self.una + self.peer_window.min(self.send_buffer);
        let new = (self.nxt, mss.min(self.end - self.nxt));
        let new = Some(new).filter(|(seq, len)| *len > 0 && seq + len <= allowed);
        let una = self.una;
        let (max, recover) = (self.max, self.recover);
        let sack = self.sack.as_mut()?;
        if sack.pipe + signed(mss) > signed(cwnd) {
            return None;
        }
        let gap = sack.received.gap_from(sack.resent.max(una));
        let gap = gap.map(|(start, end)| (start, mss.min(end - start)));
        match sack.rules {
            Rules::Ns2 { .. } => gap.filter(|(seq, len)| seq + len <= allowed).or(new),
            Rules::Rfc6675 => {
                let lost = sack.lost_below(mss);
                let next = gap.filter(|(seq, _)| *seq < lost).or(new).or(gap);
                if next.is_some() || sack.rescued || recover.is_none() {
                    return next;
                }
                sack.rescued = true;
                let highest = sack.received.as_slice().last().map_or(una, |&(_, end)| end);
                (highest < max).then(|| (max - mss.min(max - highest), mss.min(max - highest)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(ranges: &[(u64, u64)]) -> SackRecovery {
        let mut sack = SackRecovery::new(false);
        for (start, end) in ranges {
            sack.received.insert(*start, *end);
        }
        sack
    }

    #[test]
    fn a_gap_is_lost_below_three_ranges_or_more_than_two_segments() {
        assert_eq!(board(&[(2, 3), (4, 5)]).lost_below(10), 0, "two ranges, two bytes");
        assert_eq!(board(&[(2, 3), (4, 5), (6, 7)]).lost_below(10), 2, "three ranges");
        assert_eq!(board(&[(20, 40)]).lost_below(10), 0, "exactly two segments");
        assert_eq!(board(&[(20, 41)]).lost_below(10), 20);
    }

    #[test]
    fn the_pipe_holds_what_is_neither_received_nor_lost_and_what_was_sent_again() {
        // 0..100 sent; 10..20, 30..40, 50..60 received: all missing below 10 is lost, by three ranges.
        let mut sack = board(&[(10, 20), (30, 40), (50, 60)]);
        sack.set_pipe(0, 100, 10);
        assert_eq!(sack.pipe, 10 + 10 + 40);
        sack.resent = 10;
        sack.set_pipe(0, 100, 10);
        assert_eq!(sack.pipe, 10 + 60);
    }

    #[test]
    fn what_was_received_is_skipped() {
        let sack = board(&[(10, 20), (25, 40)]);
        assert_eq!(sack.not_yet_received(0, 10), (0, 10));
        assert_eq!(sack.not_yet_received(10, 10), (20, 5));
        assert_eq!(sack.not_yet_received(30, 10), (40, 10));
    }
}
