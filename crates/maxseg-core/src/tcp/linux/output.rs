//! Sending what the window allows (`tcp_write_xmit`, `__tcp_transmit_skb`; `net/ipv4/tcp_output.c`).

use super::Socket;
use super::cc::CongestionControl;
use super::chrono::Limit;
use super::clock::Clock;
use super::constants::{MIN_MSS, MSS_DEFAULT, Nagle, OPTION_SPACE, Push, STAMPS_LEN};
use super::packet::{Blocks, Flags, Packet, Stamps};
use super::segmentation::Defer;
use super::skb::{ANY_RETRANSMISSION, Skb};
use super::timers::Retransmit;

impl Socket {
    /// The sender's setting (`tp->nonagle`).
    pub(super) const fn nagle(&self) -> Nagle {
        self.writer.nagle()
    }

    /// Half of the peer's window at most (`tcp_bound_to_half_wnd`, `include/net/tcp.h`).
    pub(super) fn bound_to_half_window(&self, len: u64) -> u64 {
        let cutoff =
            if self.max_window > MSS_DEFAULT { self.max_window / 2 } else { self.max_window };
        if cutoff > 0 && len > cutoff { cutoff.max(68 - 20 - STAMPS_LEN) } else { len }
    }

    /// `tcp_sync_mss`.
    pub(super) fn sync_mss(&mut self) {
        let stamps = if self.uses_stamps() { STAMPS_LEN } else { 0 };
        let mss = self.host.mtu.saturating_sub(self.host.headers).min(self.mss_clamp).max(MIN_MSS)
            - stamps;
        self.mss_cache = self.bound_to_half_window(mss);
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
    #[inline]
    pub(super) fn send_pending(&mut self) {
        if !self.write_queue.is_empty() {
            let mss = self.current_mss();
            self.push_pending(mss, self.nagle(), Push::All);
        }
        self.check_space();
    }

    /// `__tcp_push_pending_frames`.
    pub(super) fn push_pending(&mut self, mss: u64, nagle: Nagle, push: Push) {
        if self.write_xmit(mss, nagle, push) {
            self.check_window_probe();
        }
    }

    /// Sends as much of the send queue as windows allow; gives whether nothing is out though data wait.
    pub(super) fn write_xmit(&mut self, mss: u64, nagle: Nagle, push: Push) -> bool {
        let most = self.most_segments(mss);
        let mut is_cwnd_limited = false;
        let mut is_window_limited = false;
        let mut sent = 0;
        while !self.write_queue.is_empty() {
            if self.must_wait_for_pace() {
                break;
            }
            let mut quota = self.cwnd_quota();
            if quota == 0 {
                if push != Push::Probe {
                    break;
                }
                quota = 1;
            }
            quota = quota.min(most);
            self.grow_head(quota * mss);
            let is_last = self.write_queue.len() == 1;
            let head = &mut self.write_queue[0];
            head.count_segments(mss);
            let skb = *head;
            if !self.fits_send_window(&skb, mss) {
                is_window_limited = true;
                break;
            }
            let mut limit = mss;
            if skb.segments == 1 {
                let nagle = if is_last && !skb.is_fin { nagle } else { Nagle::Push };
                if self.nagle_holds(skb.len() < mss, nagle) {
                    break;
                }
            } else {
                if push == Push::All {
                    match self.should_defer(&skb, is_last, most) {
                        Defer::No => {}
                        Defer::ByCwnd => {
                            is_cwnd_limited = true;
                            break;
                        }
                        Defer::ByWindow => {
                            is_window_limited = true;
                            break;
                        }
                        Defer::Yes => break,
                    }
                }
                limit = self.split_point(&skb, is_last, mss, quota, nagle);
            }
            if self.host.fq {
                let truesize = skb.truesize - skb.len().saturating_sub(limit);
                if self.is_queue_full(truesize, false) {
                    break;
                }
            }
            let gone = self.send_head(limit, mss);
            sent += gone;
            if gone == 0 {
                break;
            }
            if push != Push::All {
                break;
            }
        }
        if is_window_limited {
            self.begin_limit(Limit::Window);
        } else {
            self.end_limit(Limit::Window);
        }
        is_cwnd_limited |= self.in_flight() >= self.window.cwnd;
        if sent > 0 || is_cwnd_limited {
            self.validate_cwnd(is_cwnd_limited);
        }
        if sent > 0 {
            if self.in_cwnd_reduction() {
                self.prr_out += sent;
            }
            if push != Push::Probe {
                self.schedule_loss_probe(false);
            }
            return false;
        }
        self.packets_out == 0 && !self.write_queue.is_empty()
    }

    /// Sends `limit` bytes of the first packet that waits, which is cut if it is longer.
    #[inline(always)]
    fn send_head(&mut self, limit: u64, mss: u64) -> u64 {
        let overhead = self.host.skb_overhead();
        let Some(mut skb) = self.write_queue.pop_front() else { return 0 };
        if skb.len() > limit {
            let rest = skb.split(limit, mss, overhead);
            self.writer.queued += overhead;
            self.write_queue.push_front(rest);
        }
        if !self.transmit(&mut skb) {
            self.write_queue.push_front(skb);
            return 0;
        }
        let segments = skb.segments;
        self.queue_as_sent(skb);
        if skb.len() < segments * mss {
            self.snd_sml = skb.end_seq;
        }
        segments
    }

    /// New data are out (`tcp_event_new_data_sent`).
    #[inline(always)]
    fn queue_as_sent(&mut self, skb: Skb) {
        let was_idle = self.packets_out == 0;
        self.snd_nxt = skb.end_seq;
        self.packets_out += skb.segments;
        self.rtx_queue.push_back(skb);
        if was_idle || self.timers.pending == Some(Retransmit::LossProbe) {
            self.rearm_rto();
        }
        self.check_space();
    }

    /// How many segments the congestion window lets go at once: half of it at most (`tcp_cwnd_test`).
    #[inline]
    fn cwnd_quota(&self) -> u64 {
        let room = self.window.cwnd.saturating_sub(self.in_flight());
        room.min((self.window.cwnd / 2).max(1))
    }

    /// Whether the peer's window has room for the first segment of a packet (`tcp_snd_wnd_test`).
    #[inline]
    pub(super) fn fits_send_window(&self, skb: &Skb, mss: u64) -> bool {
        let end = if skb.len() > mss { skb.seq + mss } else { skb.end_seq };
        end <= self.window_end()
    }

    /// The first packet takes bytes of the second, up to this length (`tcp_grow_skb`).
    fn grow_head(&mut self, len: u64) {
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
            self.emit_probe();
            return;
        }
        self.pushed_seq = self.pushed_seq.max(head.end_seq);
        head.push = true;
        head.count_segments(mss);
        let limit = (window_end - head.seq).min(if head.len() > mss { mss } else { head.len() });
        self.send_head(limit, mss);
    }

    /// A packet goes, new or again (`__tcp_transmit_skb`). What it counts and when it was sent is noted in
    /// it. Gives whether the link took it.
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
    #[inline]
    fn note_data_sent(&mut self) {
        if self.in_flight() == 0 {
            let flow = self.flow();
            self.congestion.on_restart(&mut self.window, &flow);
            if self.congestion.is_rate_based() {
                self.update_pacing_rate();
            }
        }
        self.last_sent_jiffies = self.clock.jiffies;
        // A reply to what has just come: this end is asked and answers.
        if self.clock.jiffies - self.ack.received_at < self.ack.ato {
            self.ack.pingpong = self.ack.pingpong.saturating_add(1);
        }
    }

    /// Puts the segments of a packet on the wire.
    #[inline(always)]
    fn emit(&mut self, skb: &Skb, window: u64) {
        let mut packet = self.header(skb.seq, window, skb.sent_nanos);
        let size = if skb.segments > 1 { skb.gso_size } else { skb.len() };
        let repeated = skb.is(ANY_RETRANSMISSION) || skb.seq < self.snd_nxt;
        packet.flags = self.flags_of_data(repeated);
        packet.repeated = repeated;
        packet.alone = skb.segments == 1;
        let data_end = skb.seq + skb.len();
        loop {
            let len = size.min(data_end - packet.seq);
            let is_last = packet.seq + len == data_end;
            packet.len = len;
            packet.flags.fin = is_last && skb.is_fin;
            packet.push = is_last && (skb.push || skb.segments > 1);
            self.put(packet);
            packet.flags.cwr = false;
            packet.seq += len;
            if is_last {
                return;
            }
        }
    }

    /// An acknowledgement goes by itself (`tcp_send_ack`).
    pub(super) fn send_ack(&mut self) {
        let ack = self.header_now(self.snd_nxt);
        self.put(ack);
        self.note_ack_sent();
    }

    /// A probe that the peer answers because it is out of its window.
    fn emit_probe(&mut self) {
        let probe = self.header_now(self.snd_una.saturating_sub(1));
        self.put(probe);
        self.note_ack_sent();
    }

    /// An acknowledgement with that number, as it would go now.
    #[inline(always)]
    pub(super) fn header_now(&mut self, seq: u64) -> Packet {
        let window = self.select_window();
        self.last_sent_nanos = self.last_sent_nanos.max(self.clock.nanos);
        self.header(seq, window, self.last_sent_nanos)
    }

    #[inline(always)]
    fn header(&self, seq: u64, window: u64, nanos: u64) -> Packet {
        let mut sack = Blocks::default();
        if self.sack_ok {
            let most = usize::try_from(self.most_blocks()).unwrap_or(Blocks::MOST);
            let blocks = self.dsack.iter().chain(&self.out_of_order.sacks);
            for &block in blocks.take(most) {
                sack.push(block);
            }
        }
        Packet {
            seq,
            ack: self.rcv_nxt,
            len: 0,
            window,
            push: false,
            flags: Flags { ece: self.ecn.echoes, ..Flags::default() },
            syn: None,
            stamps: self
                .stamps_ok
                .then(|| Stamps { value: Clock::millis_of(nanos), echo: self.ts_recent }),
            sack,
            repeated: false,
            alone: true,
        }
    }

    #[inline]
    pub(super) fn put(&mut self, packet: Packet) {
        self.counters.packets += 1;
        if self.host.fq {
            if let Some(leaves) = self.hold(packet) {
                self.out.push(leaves);
            }
            return;
        }
        self.out.push(packet);
    }
}
