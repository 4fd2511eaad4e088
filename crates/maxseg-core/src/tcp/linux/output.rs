//! Sending what the window allows (`tcp_write_xmit`, `__tcp_transmit_skb`; `net/ipv4/tcp_output.c`).

use super::Socket;
use super::cc::CongestionControl;
use super::chrono::Limit;
use super::clock::Clock;
use super::constants::{Nagle, OPTION_SPACE, Push, STAMPS_LEN};
use super::mtu_probing::Probing;
use super::packet::{Blocks, Flags, Packet, Stamps};
use super::segmentation::{BurstSize, Hold};
use super::skb::{ANY_RETRANSMISSION, Skb};
use super::timers::Retransmit;

impl Socket {
    /// The sender's setting (`tp->nonagle`).
    pub(super) const fn nagle(&self) -> Nagle {
        self.writer.nagle()
    }

    /// Payload of a segment sent now, which SACK blocks make smaller (`tcp_current_mss`).
    pub(super) fn current_mss(&self) -> u64 {
        let blocks = self.out_of_order.sacks.len() + usize::from(self.dsack.is_some());
        if blocks == 0 {
            return self.mss_cache;
        }
        self.mss_cache - (4 + 8 * (blocks as u64).min(self.most_blocks()))
    }

    /// How many SACK blocks fit a header (`tcp_established_options`).
    fn most_blocks(&self) -> u64 {
        let room = OPTION_SPACE - if self.stamps_ok { STAMPS_LEN } else { 0 };
        (room - 4) / 8
    }

    /// `tcp_push_pending_frames` and `tcp_check_space`: after an acknowledgement.
    #[inline(always)]
    pub(super) fn send_pending(&mut self) {
        if !self.write_queue.is_empty() {
            let mss = self.current_mss();
            self.push_pending(mss, self.nagle(), Push::All);
        }
        self.check_space();
    }

    /// `__tcp_push_pending_frames`.
    #[inline]
    pub(super) fn push_pending(&mut self, mss: u64, nagle: Nagle, push: Push) {
        if self.write_xmit(mss, nagle, push) {
            self.check_window_probe();
        }
    }

    /// Sends as much of the send queue as windows allow; gives whether nothing is out though data wait.
    pub(super) fn write_xmit(&mut self, mss: u64, nagle: Nagle, push: Push) -> bool {
        let size = self.burst_size(mss);
        // The probe's timer replaces that for retransmissions, once all that may go is out.
        let probes_tail = push != Push::Probe && self.may_probe_tail();
        let mut sent = 0;
        if push == Push::All && self.mtu_probing.is_some() {
            match self.probe_mtu() {
                Probing::NotNow => {}
                Probing::Waits => return false,
                Probing::Sent => sent = 1,
            }
        }
        let hold = loop {
            let limit = match self.next_burst(mss, size, nagle, push) {
                Ok(limit) => limit,
                Err(hold) => break hold,
            };
            let gone = self.send_head(limit, mss, probes_tail);
            sent += gone;
            if gone == 0 || push != Push::All {
                break Hold::Other;
            }
        };
        if hold == Hold::ByWindow {
            self.begin_limit(Limit::Window);
        } else {
            self.end_limit(Limit::Window);
        }
        let is_cwnd_limited = hold == Hold::ByCwnd || self.in_flight() >= self.window.cwnd;
        if sent > 0 || is_cwnd_limited {
            self.validate_cwnd(is_cwnd_limited);
        }
        if sent > 0 {
            if self.in_cwnd_reduction() {
                self.prr_out += sent;
            }
            if probes_tail {
                self.set_probe_timer(false);
            }
            return false;
        }
        self.packets_out == 0 && !self.write_queue.is_empty()
    }

    /// How many bytes of the send queue go next as one packet, or why none do.
    #[inline(always)]
    fn next_burst(
        &mut self,
        mss: u64,
        size: BurstSize,
        nagle: Nagle,
        push: Push,
    ) -> Result<u64, Hold> {
        if self.write_queue.is_empty() || self.must_wait_for_pace() {
            return Err(Hold::Other);
        }
        let quota = if self.in_flight() < self.window.cwnd {
            self.within_burst(self.cwnd_quota(), size)
        } else if push == Push::Probe {
            1
        } else {
            return Err(Hold::Other);
        };
        self.grow_head(quota * mss);
        let is_last = self.write_queue.len() == 1;
        let head = &self.write_queue[0];
        if !self.fits_send_window(head, mss) {
            return Err(Hold::ByWindow);
        }
        let mut limit = mss;
        if head.len() <= mss {
            let nagle = if is_last && !head.is_fin { nagle } else { Nagle::Push };
            if self.nagle_holds(head.len() < mss, nagle) {
                return Err(Hold::Other);
            }
        } else {
            if push == Push::All {
                self.may_defer(head, is_last, size)?;
            }
            limit = self.split_point(head, is_last, mss, quota, nagle);
        }
        if self.host.fq {
            let truesize = head.truesize - head.len().saturating_sub(limit);
            if self.is_queue_full(truesize, false) {
                return Err(Hold::Other);
            }
        }
        Ok(limit)
    }

    /// Sends `limit` bytes of the first packet that waits, which is cut if it is longer. `sets_timer_later` says that
    /// the caller sets the timer for a probe behind it.
    #[inline(always)]
    pub(super) fn send_head(&mut self, limit: u64, mss: u64, sets_timer_later: bool) -> u64 {
        let Some(head) = self.write_queue.front_mut() else { return 0 };
        let mut skb;
        if head.len() > limit {
            let overhead = self.skb_overhead;
            skb = head.take_front(limit, mss, overhead);
            self.writer.queued += overhead;
        } else {
            head.count_segments(mss);
            skb = *head;
            self.write_queue.pop_front();
        }
        if !self.transmit(&mut skb) {
            self.write_queue.push_front(skb);
            return 0;
        }
        let segments = skb.segments;
        if skb.len() < segments * mss {
            self.snd_sml = skb.end_seq;
        }
        self.queue_as_sent(skb, sets_timer_later);
        segments
    }

    /// New data are out (`tcp_event_new_data_sent`).
    #[inline(always)]
    fn queue_as_sent(&mut self, skb: Skb, sets_timer_later: bool) {
        let was_idle = self.packets_out == 0;
        self.snd_nxt = skb.end_seq;
        self.packets_out += skb.segments;
        self.rtx_queue.push_back(skb);
        if !sets_timer_later && (was_idle || self.timers.pending == Some(Retransmit::LossProbe)) {
            self.rearm_rto();
        }
        self.check_space();
    }

    /// How many segments a congestion window that is not full lets go at once: half of it at most (`tcp_cwnd_test`).
    #[inline]
    fn cwnd_quota(&self) -> u64 {
        let room = self.window.cwnd - self.in_flight();
        room.min((self.window.cwnd / 2).max(1))
    }

    /// Whether the peer's window has room for the first segment of a packet (`tcp_snd_wnd_test`).
    #[inline]
    pub(super) fn fits_send_window(&self, skb: &Skb, mss: u64) -> bool {
        let end = if skb.len() > mss { skb.seq + mss } else { skb.end_seq };
        end <= self.window_end()
    }

    /// The first packet takes bytes of the second, up to this length (`tcp_grow_skb`).
    pub(super) fn grow_head(&mut self, len: u64) {
        let missing = len.saturating_sub(self.write_queue[0].len());
        if missing == 0 || self.write_queue.len() < 2 {
            return;
        }
        let next = &mut self.write_queue[1];
        let moved = missing.min(next.len());
        next.seq += moved;
        next.truesize -= moved;
        let next = *next;
        let head = &mut self.write_queue[0];
        head.end_seq += moved;
        head.truesize += moved;
        if next.len() == 0 {
            head.push |= next.push;
            head.is_fin = next.is_fin;
            head.end_seq = next.end_seq;
            self.writer.queued -= next.truesize;
            self.write_queue.remove(1);
        }
    }

    /// Into a closed window one segment as long as the window, or a probe without data
    /// (`tcp_write_wakeup`, `tcp_xmit_probe_skb`).
    pub(super) fn write_wakeup(&mut self) {
        let mss = self.current_mss();
        let Some(head) = self.write_queue.front_mut() else { return };
        let window_end = self.snd_una + self.snd_wnd;
        if head.seq >= window_end {
            if self.is_refused {
                self.enter_cwr();
            } else {
                self.emit_probe();
            }
            return;
        }
        self.pushed_seq = self.pushed_seq.max(head.end_seq);
        head.push = true;
        head.count_segments(mss);
        let limit = (window_end - head.seq).min(if head.len() > mss { mss } else { head.len() });
        if head.len() > limit {
            // Both parts are pushed.
            let front = Skb { push: true, ..head.take_front(limit, mss, self.skb_overhead) };
            self.write_queue.push_front(front);
            self.writer.queued += self.skb_overhead;
        }
        self.send_head(limit, mss, false);
    }

    /// A packet goes, new or again (`__tcp_transmit_skb`). What it counts and when it was sent is noted in
    /// it. Gives whether the link took it.
    #[inline(always)]
    pub(super) fn transmit(&mut self, skb: &mut Skb) -> bool {
        if self.is_refused {
            self.enter_cwr();
            return false;
        }
        let before = self.last_sent_nanos;
        self.last_sent_nanos = self.last_sent_nanos.max(self.clock.nanos);
        skb.sent_nanos = self.last_sent_nanos;
        if skb.is_syn {
            self.emit_syn(skb);
        } else {
            let window = self.select_window();
            self.emit(skb, window);
            self.note_ack_sent();
        }
        if skb.len() > 0 {
            self.note_data_sent();
            self.counters.data_segments += skb.segments;
        }
        if self.host.fq {
            self.charge(skb);
        }
        self.pace(skb, before);
        self.note_rate_at_send(skb);
        true
    }

    /// `tcp_event_data_sent`.
    #[inline(always)]
    fn note_data_sent(&mut self) {
        if self.in_flight() == 0 {
            self.note_restart();
        }
        self.last_sent_jiffies = self.clock.jiffies;
        // A reply to what has just come: this end is asked and answers.
        if self.clock.jiffies - self.ack.received_at < self.ack.ato {
            self.ack.pingpong = self.ack.pingpong.saturating_add(1);
        }
    }

    /// Nothing was in flight.
    #[cold]
    fn note_restart(&mut self) {
        let flow = self.flow();
        self.congestion.on_restart(&mut self.window, &flow);
        if self.congestion.is_rate_based() {
            self.update_pacing_rate();
        }
    }

    /// Puts the segments of a packet on the wire.
    #[inline(always)]
    fn emit(&mut self, skb: &Skb, window: u64) {
        let size = if skb.segments > 1 { skb.gso_size } else { skb.len() };
        let repeated = skb.is(ANY_RETRANSMISSION) || skb.seq < self.snd_nxt;
        let mut flags = self.flags_of_data(repeated);
        let data_end = skb.seq + skb.len();
        let mut seq = skb.seq;
        loop {
            let len = size.min(data_end - seq);
            let is_last = seq + len == data_end;
            let mut packet = self.header(seq, window, skb.sent_nanos, flags);
            packet.flags = flags.with(Flags::FIN, is_last && skb.is_fin);
            packet.len = len;
            packet.push = is_last && (skb.push || skb.segments > 1);
            packet.repeated = repeated;
            packet.alone = skb.segments == 1;
            self.put_written(packet);
            flags = flags.without(Flags::CWR);
            seq += len;
            if is_last {
                return;
            }
        }
    }

    /// An acknowledgement goes by itself (`tcp_send_ack`).
    pub(super) fn send_ack(&mut self) {
        let ack = self.header_now(self.snd_nxt);
        self.put_written(ack);
        self.note_ack_sent();
    }

    /// A probe that the peer answers because it is out of its window.
    fn emit_probe(&mut self) {
        let probe = self.header_now(self.snd_una.saturating_sub(1));
        self.put_written(probe);
        self.note_ack_sent();
    }

    /// An acknowledgement with that number, as it would go now.
    #[inline(always)]
    pub(super) fn header_now(&mut self, seq: u64) -> Box<Packet> {
        let window = self.select_window();
        self.last_sent_nanos = self.last_sent_nanos.max(self.clock.nanos);
        let flags = Flags::NONE.with(Flags::ECE, self.ecn.echoes);
        self.header(seq, window, self.last_sent_nanos, flags)
    }

    /// All fields are written but SACK blocks beyond those that there are.
    #[inline(always)]
    fn header(&mut self, seq: u64, window: u64, nanos: u64, flags: Flags) -> Box<Packet> {
        let mut packet = self.out.blank();
        packet.seq = seq;
        packet.ack = self.rcv_nxt;
        packet.len = 0;
        packet.window = window;
        packet.push = false;
        packet.flags = flags;
        packet.syn = None;
        packet.stamps =
            self.stamps_ok.then(|| Stamps { value: Clock::millis_of(nanos), echo: self.ts_recent });
        packet.sack.clear();
        packet.repeated = false;
        packet.alone = true;
        if self.sack_ok && (self.dsack.is_some() || !self.out_of_order.sacks.is_empty()) {
            self.write_blocks(&mut packet.sack);
        }
        packet
    }

    /// What came twice goes before what came early, and is told once (`tcp_options_write`): the first segment of a packet has it, where the
    /// kernel copies its header to all of them.
    fn write_blocks(&mut self, sack: &mut Blocks) {
        let most = usize::try_from(self.most_blocks()).unwrap_or(Blocks::MOST);
        for &block in self.dsack.iter().chain(&self.out_of_order.sacks).take(most) {
            sack.push(block);
        }
        self.dsack = None;
    }
}
