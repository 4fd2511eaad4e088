//! The receive buffer and the window that it leaves (`net/ipv4/tcp_input.c`, `tcp_output.c`).

use super::Socket;
use super::constants::INITIAL_CWND;
use super::receive::Unread;
use super::settings::Host;
use super::short_queue::ShortQueue;
use crate::settings::RMEM_MAX;

/// `TCP_RMEM_TO_WIN_SCALE`: ratios are in 1/256.
const RATIO_SHIFT: u32 = 8;
/// `TCP_DEFAULT_SCALING_RATIO`: half of the buffer is window until packets show how large they are.
const DEFAULT_RATIO: u64 = 1 << (RATIO_SHIFT - 1);
/// `TCP_MAX_WSCALE`.
const MAX_WINDOW_SCALE: u32 = 14;

/// What a receiver keeps of its buffer.
#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    /// `sk_rcvbuf`, in bytes.
    size: u64,
    /// The application set it (`SOCK_RCVBUF_LOCK`).
    is_locked: bool,
    /// `sk_rmem_alloc`: what the packets in it count.
    pub(super) used: u64,
    /// `scaling_ratio`: the payload's share of what packets count.
    ratio: u64,
    pub(super) window_clamp: u64,
    /// `rcv_ssthresh`: how far the window has been opened.
    pub(super) rcv_ssthresh: u64,
    /// The window that was offered last.
    pub(super) rcv_wnd: u64,
    /// The same as a header has it; `None` once anything has come that it depends on.
    pub(super) offered: Option<u64>,
    /// `rcvq_space`: bytes that the application read in a round trip, since when, and from where.
    space: u64,
    space_since: u64,
    space_seq: u64,
    /// `rcv_rtt_est`: eight times the round trip in microseconds as a receiver sees it.
    pub(super) rtt8: u64,
    rtt_seq: u64,
    rtt_since: u64,
    pub(super) last_tsecr: u64,
    /// Packets in order that are not read (`sk_receive_queue`).
    unread: ShortQueue<Unread>,
}

impl ReceiveBuffer {
    pub(super) fn new(host: &Host) -> Self {
        let asked = host.rcvbuf.map(|bytes| 2 * bytes.min(RMEM_MAX));
        Self {
            // SOCK_MIN_RCVBUF: the `truesize` of one packet of the least size (include/net/sock.h).
            size: asked.map_or(host.tcp_rmem[1], |bytes| bytes.max(2048 + 256)),
            is_locked: asked.is_some(),
            used: 0,
            ratio: DEFAULT_RATIO,
            window_clamp: 0,
            rcv_ssthresh: 0,
            rcv_wnd: 0,
            offered: None,
            space: 0,
            space_since: 0,
            space_seq: 0,
            rtt8: 0,
            rtt_seq: 0,
            rtt_since: 0,
            last_tsecr: u64::MAX,
            unread: ShortQueue::default(),
        }
    }

    /// `tcp_win_from_space`.
    const fn window_of(&self, space: u64) -> u64 {
        (space * self.ratio) >> RATIO_SHIFT
    }

    /// `tcp_full_space`.
    pub(super) const fn full_space(&self) -> u64 {
        self.window_of(self.size)
    }

    /// `tcp_space`.
    const fn free_space(&self) -> u64 {
        self.window_of(self.size.saturating_sub(self.used))
    }

    /// Takes a packet in order that ends there; it is copied behind the last where there is room
    /// (`tcp_queue_rcv`, `skb_try_coalesce`).
    #[inline(always)]
    pub(super) fn queue(&mut self, end: u64, len: u64, truesize: u64, room: u64) {
        if let Some(last) = self.unread.last_mut().filter(|last| last.room >= len) {
            last.end = end;
            last.room -= len;
            return;
        }
        self.used += truesize;
        self.unread.push(Unread { end, truesize, room });
    }

    /// How much of what came out of order goes at least where there is no room.
    pub(super) const fn prune_goal(&self) -> u64 {
        if self.size < 8 { 1 } else { self.size >> 3 }
    }

    /// Whether it is more than full.
    pub(super) const fn overflows(&self) -> bool {
        self.used > self.size
    }
}

/// To a multiple of a power of two (`ALIGN`).
#[inline]
const fn rounded_up(window: u64, unit: u64) -> u64 {
    (window + unit - 1) & !(unit - 1)
}

/// A window within what the route and the program allow.
fn clamped(host: &Host, window: u64) -> u64 {
    host.window_clamp.map_or(window, |clamp| window.min(u64::from(clamp)))
}

impl Socket {
    /// The first window and its scale (`tcp_select_initial_window`); `mss` is what a segment holds.
    pub(super) fn select_initial_window(&mut self, mss: u64) {
        let scaling = self.host.tcp_window_scaling;
        let rmem_most = self.host.tcp_rmem[2];
        let buffer = &mut self.buffer;
        buffer.offered = None;
        let full = buffer.full_space();
        let most = clamped(&self.host, 65_535 << MAX_WINDOW_SCALE);
        let clamp = if buffer.is_locked { full.min(most) } else { most };
        let space = clamp.min(full);
        let rcv_wnd = if space > mss { space - space % mss } else { space };
        self.rcv_wscale = 0;
        if scaling {
            let space = space.max(rmem_most).max(RMEM_MAX).min(clamp);
            self.rcv_wscale = space.ilog2().saturating_sub(15).min(MAX_WINDOW_SCALE);
        }
        buffer.rcv_wnd = rcv_wnd;
        buffer.window_clamp = clamp.min(65_535 << self.rcv_wscale);
        buffer.rcv_ssthresh = rcv_wnd;
    }

    /// The connection is open: buffers are what they begin with (`tcp_init_buffer_space`).
    pub(super) fn init_buffer_space(&mut self) {
        self.expand_send_buffer();
        let advmss = self.advmss;
        let buffer = &mut self.buffer;
        buffer.offered = None;
        buffer.space_since = self.clock.micros;
        buffer.space_seq = self.copied_seq;
        let most = buffer.full_space();
        buffer.window_clamp = buffer.window_clamp.min(most);
        if buffer.window_clamp > 2 * advmss && buffer.window_clamp + advmss > most {
            buffer.window_clamp = (2 * advmss).max(most - advmss);
        }
        buffer.rcv_ssthresh = buffer.rcv_ssthresh.min(buffer.window_clamp);
        self.snd_cwnd_stamp = self.clock.jiffies;
        buffer.space = buffer.rcv_ssthresh.min(buffer.rcv_wnd).min(INITIAL_CWND * advmss);
    }

    /// What is left of the window offered (`tcp_receive_window`).
    #[inline]
    pub(super) const fn receive_window(&self) -> u64 {
        (self.rcv_wup + self.buffer.rcv_wnd).saturating_sub(self.rcv_nxt)
    }

    /// The window to offer now (`__tcp_select_window`).
    #[inline]
    pub(super) fn wanted_window(&mut self) -> u64 {
        let unit = 1 << self.rcv_wscale;
        let buffer = &self.buffer;
        let mut free = buffer.free_space();
        let allowed = buffer.full_space();
        let full = buffer.window_clamp.min(allowed);
        let mss = self.ack.rcv_mss.min(full);
        if mss == 0 {
            return 0;
        }
        if free < full / 2 {
            self.ack.quick = 0;
            free &= !(unit - 1);
            if free < allowed / 16 || free < mss {
                return 0;
            }
        }
        free = free.min(buffer.rcv_ssthresh);
        if self.rcv_wscale > 0 {
            return rounded_up(free, unit);
        }
        let window = buffer.rcv_wnd;
        if window + mss <= free || window > free {
            return free - free % mss;
        }
        if mss == full && free > window + full / 2 {
            return free;
        }
        window
    }

    /// The window of a packet that goes. While nothing comes and nothing is read it is what it was.
    #[inline]
    pub(super) fn select_window(&mut self) -> u64 {
        if let Some(offered) = self.buffer.offered {
            return offered;
        }
        let window = self.select_new_window();
        // A window that is not scaled depends on the one before.
        self.buffer.offered = (self.rcv_wscale > 0).then_some(window);
        window
    }

    /// It never shrinks what was offered (`tcp_select_window`).
    #[inline]
    fn select_new_window(&mut self) -> u64 {
        let unit = 1 << self.rcv_wscale;
        if self.ack.no_memory {
            self.buffer.rcv_wnd = 0;
            self.rcv_wup = self.rcv_nxt;
            return 0;
        }
        let current = self.receive_window();
        let mut window = self.wanted_window();
        if window < current {
            window = rounded_up(current, unit);
        }
        self.buffer.rcv_wnd = window;
        self.rcv_wup = self.rcv_nxt;
        let window = window.min(65_535 << self.rcv_wscale);
        window & !(unit - 1)
    }

    /// Packets show what share of the buffer is payload (in `tcp_measure_rcv_mss`).
    pub(super) fn measure_ratio(&mut self, len: u64, truesize: u64) {
        let buffer = &mut self.buffer;
        let before = buffer.ratio;
        buffer.ratio = ((len << RATIO_SHIFT) / truesize).max(1);
        if buffer.ratio != before {
            buffer.window_clamp = clamped(&self.host, buffer.full_space());
            buffer.space = buffer.space.min(buffer.window_clamp);
        }
    }

    /// Each packet opens the window further (`tcp_grow_window`).
    #[inline]
    pub(super) fn grow_window(&mut self, len: u64, truesize: u64) {
        // Most often it is open as far as it may be.
        if self.buffer.rcv_ssthresh < self.buffer.window_clamp {
            self.open_window(len, truesize);
        }
    }

    fn open_window(&mut self, len: u64, truesize: u64) {
        let buffer = &mut self.buffer;
        // Small packets waste the buffer: the further it is open, the larger they have to be (`__tcp_grow_window`).
        let is_wasteful = buffer.window_of(truesize) > len;
        let mut window = buffer.window_of(self.host.tcp_rmem[2]) / 2;
        if is_wasteful && buffer.rcv_ssthresh > window {
            return;
        }
        let most = buffer.window_clamp.min(buffer.free_space());
        let Some(room) = most.checked_sub(buffer.rcv_ssthresh).filter(|room| *room > 0) else {
            return;
        };
        let mut step = 2 * self.advmss;
        if is_wasteful {
            let mut share = buffer.window_of(truesize) / 2;
            while share > len {
                share /= 2;
                window /= 2;
                if buffer.rcv_ssthresh > window {
                    return;
                }
            }
            step = 2 * self.ack.rcv_mss;
        }
        buffer.rcv_ssthresh += room.min(step.max(2 * len));
        self.ack.quick |= 1;
    }

    /// A round trip as the receiver sees it: a window of data took so long (`tcp_rcv_rtt_measure`).
    #[inline(always)]
    pub(super) fn measure_receive_rtt(&mut self) {
        if self.buffer.rtt_since > 0 {
            if self.rcv_nxt < self.buffer.rtt_seq {
                return;
            }
            let micros = (self.clock.micros - self.buffer.rtt_since).max(1);
            self.update_receive_rtt(micros, true);
        }
        self.buffer.rtt_seq = self.rcv_nxt + self.buffer.rcv_wnd;
        self.buffer.rtt_since = self.clock.micros;
    }

    /// The same from the timestamp that a full segment echoes (`tcp_rcv_rtt_measure_ts`).
    #[inline(always)]
    pub(super) fn measure_receive_rtt_by_stamp(&mut self, len: u64) {
        if !self.stamps_ok || self.rcv_tsecr == self.buffer.last_tsecr {
            return;
        }
        self.buffer.last_tsecr = self.rcv_tsecr;
        if len >= self.ack.rcv_mss {
            self.take_receive_rtt_of_stamps();
        }
    }

    fn take_receive_rtt_of_stamps(&mut self) {
        if let Some(micros) = self.round_trip_of_stamps(0).filter(|micros| *micros > 0) {
            self.update_receive_rtt(micros, false);
        }
    }

    /// `tcp_rcv_rtt_update`.
    fn update_receive_rtt(&mut self, micros: u64, depends_on_window: bool) {
        let old = self.buffer.rtt8;
        let sample = micros << 3;
        if old == 0 || sample < old {
            self.buffer.rtt8 = sample;
        } else if !depends_on_window {
            self.buffer.rtt8 = old - (old >> 3) + micros;
        }
    }

    /// The application has read: the buffer is to hold twice what it reads in a round trip, and more while
    /// that grows (`tcp_rcv_space_adjust`).
    #[inline(always)]
    pub(super) fn adjust_receive_space(&mut self) {
        let elapsed = self.clock.micros - self.buffer.space_since;
        if self.buffer.rtt8 > 0 && elapsed >= self.buffer.rtt8 >> 3 {
            self.end_round_of_reading();
        }
    }

    /// A round trip of reading is over.
    fn end_round_of_reading(&mut self) {
        let (rmem_most, advmss) = (self.host.tcp_rmem[2], self.advmss);
        let buffer = &mut self.buffer;
        let unread = self.rcv_nxt - self.copied_seq;
        let copied = (self.copied_seq - buffer.space_seq).saturating_sub(unread);
        if copied > buffer.space {
            if self.host.tcp_moderate_rcvbuf && !buffer.is_locked {
                let mut window = 2 * copied + 16 * advmss;
                let grow = window * (copied - buffer.space) / buffer.space.max(1);
                window += 2 * grow;
                let size = ((window << RATIO_SHIFT) / buffer.ratio).min(rmem_most);
                if size > buffer.size {
                    buffer.size = size;
                    buffer.window_clamp = clamped(&self.host, buffer.full_space());
                }
            }
            buffer.space = copied;
        }
        buffer.space_seq = self.copied_seq;
        buffer.space_since = self.clock.micros;
    }

    /// The application reads so many bytes at most; gives how many there were (`tcp_recvmsg_locked`).
    #[inline(always)]
    pub(super) fn copy_out(&mut self, most: u64) -> u64 {
        let begin = self.copied_seq;
        self.buffer.offered = None;
        let limit = begin.saturating_add(most);
        while self.copied_seq < limit
            && let Some(&Unread { end, truesize, .. }) = self.buffer.unread.first()
        {
            self.copied_seq = end.min(limit);
            self.adjust_receive_space();
            if self.copied_seq < end {
                break;
            }
            self.buffer.used -= truesize;
            self.buffer.unread.pop();
        }
        self.copied_seq - begin
    }

    /// There is room for a packet, or no room: then the buffer grows, or what came out of order goes
    /// (`tcp_try_rmem_schedule`, `tcp_prune_queue`, `tcp_clamp_window`).
    #[inline]
    pub(super) fn make_room(&mut self, seq: u64) -> bool {
        !self.buffer.overflows() || self.make_room_in_full(seq)
    }

    fn make_room_in_full(&mut self, seq: u64) -> bool {
        self.ack.quick = 0;
        let buffer = &mut self.buffer;
        let most = self.host.tcp_rmem[2];
        if buffer.size < most && !buffer.is_locked {
            buffer.size = buffer.used.min(most);
        }
        if buffer.overflows() {
            buffer.rcv_ssthresh = buffer.window_clamp.min(2 * self.advmss);
            self.prune_out_of_order(seq);
        }
        !self.buffer.overflows()
    }
}
