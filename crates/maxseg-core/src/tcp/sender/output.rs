//! Output: the segments that the windows allow.

use super::{
    CongestionControl, Limit, OptionsPool, PendingControl, SackBlocks, Segment, SegmentOptions,
    Sender, Time, Timestamps, loss,
};

impl Sender {
    /// The next segment to send, if any may be sent.
    pub fn poll_transmit(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        self.poll_control(now, options_pool).or_else(|| self.poll_data(now, options_pool))
    }

    /// Whether [`Sender::poll_control`] must come before [`Sender::poll_data`].
    #[inline(always)]
    pub fn has_control(&self) -> bool {
        self.pending_control != PendingControl::Nothing
    }

    /// The pending segment outside the order of data: SYN, first retransmission, probe.
    #[cold]
    pub fn poll_control(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        match std::mem::replace(&mut self.pending_control, PendingControl::Nothing) {
            PendingControl::Nothing => None,
            PendingControl::Syn => Some(self.send_syn(now, options_pool)),
            PendingControl::HandshakeAck => {
                self.stats.packets += 1;
                let options = self.options(now, options_pool);
                Some(Segment { options, ..Segment::ack(1, 0) })
            }
            PendingControl::Unacknowledged => {
                let len = self.first_unreceived();
                Some(self.transmit(now, self.una, len, options_pool))
            }
            PendingControl::Probe => Some(self.send_probe(now, options_pool)),
        }
    }

    /// The next segment in order, if the windows allow it.
    #[inline(always)]
    pub fn poll_data(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        if self.burst == 0 {
            return None;
        }
        let (seq, len) = match &self.sack {
            Some(_) if self.recovering => self.next_by_pipe(),
            Some(_) | None => self.next_by_window(now),
        }?;
        Some(self.transmit(now, seq, len, options_pool))
    }

    /// Sequence number and length of the next segment by the window.
    #[inline(always)]
    fn next_by_window(&mut self, now: Time) -> Option<(u64, u64)> {
        let mut most = self.mss;
        if let Some(sack) = &self.sack {
            (self.nxt, most) = sack.not_yet_received(self.nxt, self.mss);
        }
        let mut len = most.min(self.end - self.nxt);
        if len == 0 || self.nxt + len > self.edge {
            len = self.fit(now)?;
        }
        self.burst -= 1;
        let seq = self.nxt;
        self.nxt += len;
        if self.duplicate_acks > 0 && self.duplicate_acks < loss::DUPLICATES {
            self.limited_sent += self.nxt.saturating_sub(self.max);
        }
        if self.burst > 0 && self.sack.is_none() {
            self.stop_after_last();
        }
        Some((seq, len))
    }

    /// Called where the next segment exceeds the window. Returns the length that fits if the whole window is smaller
    /// than a segment, since nothing would ever be sent otherwise.
    #[cold]
    fn fit(&mut self, now: Time) -> Option<u64> {
        let left = self.end - self.nxt;
        let room = self.edge.saturating_sub(self.nxt);
        if self.nxt == self.una && left > 0 && room > 0 {
            return Some(room);
        }
        self.stop();
        if self.una == self.max && room == 0 && left > 0 {
            self.begin_persist(now);
        }
        None
    }

    /// Stops at the last segment that may be sent, which saves another poll.
    #[inline(always)]
    fn stop_after_last(&mut self) {
        let next = self.mss.min(self.end - self.nxt);
        if next == 0 || self.edge < self.nxt + next {
            self.stop();
        }
    }

    /// Sends no more until the next event.
    #[inline(always)]
    fn stop(&mut self) {
        self.burst = 0;
        self.limit = self.what_limits();
    }

    /// Allows up to `burst` segments after an event, `extra` bytes beyond the congestion window.
    #[inline(always)]
    pub(super) fn open_up(&mut self, burst: u32, extra: u64) {
        self.cwnd = self.cc.cwnd().get();
        let window = (self.cwnd + extra).min(self.peer_window).min(self.send_buffer);
        self.edge = self.una + window;
        self.burst = burst;
    }

    #[inline(always)]
    fn what_limits(&self) -> Limit {
        if self.nxt >= self.end {
            Limit::Application
        } else if self.send_buffer < self.cwnd.min(self.peer_window) {
            Limit::SendBuffer
        } else if self.peer_window < self.cwnd {
            Limit::ReceiveWindow
        } else if self.recover.is_none() && self.cc.ssthresh().get() > self.cwnd {
            Limit::StartUp
        } else {
            Limit::Congestion
        }
    }

    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        now: Time,
        seq: u64,
        len: u64,
        options_pool: &mut OptionsPool,
    ) -> Segment {
        let end = seq + len;
        let repeated = seq < self.max;
        self.stats.packets += 1;
        self.stats.data_packets += 1;
        if repeated {
            self.on_resend(len);
        } else if self.timed.is_none() && !self.timestamps {
            self.timed = Some((end, now));
        }
        self.max = self.max.max(end);
        if self.timer == Time::NEVER {
            self.start_timer(now);
        }
        let len = u16::try_from(len).expect("a segment is at most an MSS long");
        // RFC 3168 §6.1.5: retransmissions are not ECN-capable.
        let markable = self.ecn && !repeated;
        let reduced = markable && std::mem::take(&mut self.reduced);
        let options = self.options(now, options_pool);
        Segment { seq, ack: 1, len, repeated, markable, reduced, options, ..Segment::EMPTY }
    }

    fn on_resend(&mut self, len: u64) {
        self.stats.retransmitted_packets += 1;
        self.stats.retransmitted_bytes += len;
        if let Some(undo_state) = &mut self.undo_state {
            undo_state.on_resent();
        }
    }

    /// The options of a segment sent at `now`.
    #[inline(always)]
    pub(super) fn options(
        &self,
        now: Time,
        options_pool: &mut OptionsPool,
    ) -> Option<Box<SegmentOptions>> {
        if !self.timestamps {
            return None;
        }
        let timestamps = Timestamps { value: now, echo: self.peer_timestamp };
        options_pool.fill(SackBlocks::NONE, Some(timestamps))
    }
}
