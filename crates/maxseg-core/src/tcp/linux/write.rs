//! The application writes, and waits where the send buffer is full (`tcp_sendmsg_locked`,
//! `net/ipv4/tcp.c`; `sk_stream_write_space`, `net/core/stream.c`).

use std::collections::VecDeque;

use super::Socket;
use super::chrono::Limit;
use super::constants::{INITIAL_CWND, Nagle, Push};
use super::settings::Host;
use super::skb::Skb;
use crate::units::Time;

/// Bytes of one write of an application that sends without end, as the usual tools have it.
const WRITE_SIZE: u64 = 131_072;

/// What the application still has to write, and the buffer that it fills.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what an application sets are switches")]
pub(super) struct Writer {
    /// `sk_sndbuf`, in bytes.
    pub(super) sndbuf: u64,
    /// `sk_wmem_queued`: what both send queues count.
    pub(super) queued: u64,
    /// The application does not wait within a write (`O_NONBLOCK`).
    is_nonblocking: bool,
    /// It waits for room (`SOCK_NOSPACE`).
    pub(super) no_space: bool,
    is_woken: bool,
    /// What was found last that a segment takes of it, with this payload.
    per_segment: (u64, u64),
    /// The application set the size (`SOCK_SNDBUF_LOCK`).
    pub(super) is_locked: bool,
    /// `TCP_NODELAY`, `TCP_CORK`, and what `TCP_NAGLE_PUSH` asks for once.
    pub(super) nodelay: bool,
    pub(super) corked: bool,
    pub(super) push_once: bool,
    /// More is to come behind the write at hand (`MSG_MORE`).
    pub(super) more: bool,
    /// Writes that are to come, each of so many bytes; larger ones are cut.
    writes: VecDeque<u64>,
    /// What is left of the one at hand; `None` between two.
    left: Option<u64>,
    /// How many have begun.
    begun: u64,
    /// Bytes of the one at hand that are queued.
    copied: u64,
}

impl Writer {
    pub(super) fn new(host: &Host) -> Self {
        Self {
            sndbuf: host.tcp_wmem[1],
            queued: 0,
            is_nonblocking: false,
            no_space: false,
            is_woken: false,
            per_segment: (0, 0),
            is_locked: false,
            nodelay: host.nodelay,
            corked: false,
            push_once: false,
            more: false,
            writes: VecDeque::new(),
            left: None,
            begun: 0,
            copied: 0,
        }
    }

    /// What a write did not take.
    fn put_back(&mut self, bytes: u64) {
        match self.writes.front_mut() {
            Some(next) => *next = next.saturating_add(bytes),
            None => self.writes.push_front(bytes),
        }
    }

    /// `tp->nonagle`.
    #[inline]
    pub(super) const fn nagle(&self) -> Nagle {
        if self.push_once {
            Nagle::Push
        } else if self.corked {
            Nagle::Cork
        } else if self.nodelay {
            Nagle::Off
        } else {
            Nagle::On
        }
    }

    /// Bytes that the application has written and that wait for room.
    pub(super) fn waiting(&self) -> u64 {
        self.left.unwrap_or(0) + self.writes.iter().sum::<u64>()
    }

    /// The next write, at most [`WRITE_SIZE`] of it.
    fn next_write(&mut self) -> Option<u64> {
        let bytes = self.writes.front_mut()?;
        let write = (*bytes).min(WRITE_SIZE);
        *bytes -= write;
        self.begun += 1;
        if *bytes == 0 {
            self.writes.pop_front();
        }
        Some(write)
    }
}

impl Socket {
    /// The application writes so many bytes more, as soon as there is room for them.
    pub fn write(&mut self, now: Time, bytes: u64) {
        self.clock.refresh(now);
        if bytes > 0 {
            self.writer.writes.push_back(bytes);
        }
        if !self.writer.no_space {
            self.run_writer();
        }
    }

    /// How many writes have begun: one waits for the one before.
    pub const fn writes_begun(&self) -> u64 {
        self.writer.begun
    }

    /// The application does not wait within a write: what the buffer does not take is the next write's
    /// (`O_NONBLOCK`).
    pub fn set_nonblocking(&mut self) {
        self.writer.is_nonblocking = true;
    }

    /// The application runs again, if there is room for it.
    pub(super) fn wake_writer(&mut self) {
        if self.writer.is_woken {
            self.writer.is_woken = false;
            if self.writer.is_nonblocking
                && let Some(left) = self.writer.left.take()
            {
                self.writer.put_back(left);
            }
            self.run_writer();
        }
    }

    /// The application writes until it has to wait, or has nothing more.
    fn run_writer(&mut self) {
        if !self.is_established() {
            return;
        }
        loop {
            if self.writer.left.is_none() {
                let Some(bytes) = self.writer.next_write() else { return };
                self.check_app_limited();
                self.writer.left = Some(bytes);
                self.writer.copied = 0;
            }
            if !self.send_message() {
                return;
            }
        }
    }

    /// Queues what is left of the write at hand; gives whether it is done. Waits where the buffer is full.
    fn send_message(&mut self) -> bool {
        let mss = self.current_mss();
        let goal = self.size_goal(mss);
        while let Some(left) = self.writer.left.filter(|left| *left > 0) {
            let room = self.write_queue.back().map_or(0, |tail| goal.saturating_sub(tail.len()));
            if room == 0 {
                if self.writer.queued >= self.writer.sndbuf {
                    self.wait_for_space(mss);
                    return false;
                }
                self.queue_empty();
            }
            let copy = if room == 0 { goal } else { room }.min(left);
            self.append(copy);
            self.writer.left = Some(left - copy);
            let is_full = self.write_queue.back().is_some_and(|tail| tail.len() >= goal);
            if left == copy || !is_full {
                continue;
            }
            if self.is_push_forced() {
                self.mark_push();
                self.push_pending(mss, Nagle::Push, Push::All);
            } else if self.write_queue.len() == 1 {
                self.write_xmit(mss, Nagle::Push, Push::One);
            }
        }
        self.writer.left = None;
        if !self.write_queue.is_empty() {
            if !self.writer.more || self.is_push_forced() {
                self.mark_push();
            }
            let nagle = if self.writer.more { Nagle::Cork } else { self.nagle() };
            self.push_pending(mss, nagle, Push::All);
        }
        true
    }

    /// Half of the largest window has not been pushed (`forced_push`).
    const fn is_push_forced(&self) -> bool {
        self.write_seq > self.pushed_seq + self.max_window / 2
    }

    /// How long packets of the send queue are made: whole segments, half of the peer's window at most
    /// (`tcp_xmit_size_goal`).
    fn size_goal(&self, mss: u64) -> u64 {
        let most = self.bound_to_half_window(self.host.gso_max_size());
        (most / mss * mss).max(mss)
    }

    /// An empty packet at the end of the queue (`tcp_skb_entail`).
    fn queue_empty(&mut self) {
        let truesize = self.skb_overhead;
        let (seq, end_seq) = (self.write_seq, self.write_seq);
        if self.write_queue.is_empty() {
            self.begin_limit(Limit::Busy);
        }
        self.writer.push_once = false;
        self.write_queue.push_back(Skb { seq, end_seq, truesize, ..Skb::default() });
        self.writer.queued += truesize;
        self.check_slow_start_after_idle();
    }

    fn append(&mut self, bytes: u64) {
        let is_first = self.writer.copied == 0;
        if let Some(tail) = self.write_queue.back_mut() {
            if is_first {
                tail.push = false;
            }
            tail.end_seq += bytes;
            tail.truesize += bytes;
            tail.segments = 0;
        }
        self.write_seq += bytes;
        self.writer.queued += bytes;
        self.writer.copied += bytes;
    }

    /// `tcp_mark_push`.
    fn mark_push(&mut self) {
        if let Some(tail) = self.write_queue.back_mut() {
            tail.push = true;
        }
        self.pushed_seq = self.write_seq;
    }

    /// The buffer is full: what is queued goes, the rest waits.
    fn wait_for_space(&mut self, mss: u64) {
        self.writer.no_space = true;
        if self.writer.copied > 0 && !self.write_queue.is_empty() {
            self.mark_push();
            self.push_pending(mss, Nagle::Push, Push::All);
        }
    }

    /// The application stops: what it has not written yet is not written.
    pub fn stop_writing(&mut self) {
        self.writer.writes.clear();
        self.writer.left = None;
        self.writer.no_space = false;
        self.writer.is_woken = false;
    }

    /// Acknowledgements made room: the buffer grows with the window, and the application is woken when a
    /// third of it is free (`tcp_check_space`, `tcp_new_space`, `sk_stream_write_space`).
    #[inline(always)]
    pub(super) fn check_space(&mut self) {
        if !self.writer.no_space {
            return;
        }
        if self.in_flight() < self.window.cwnd {
            self.expand_send_buffer();
            self.snd_cwnd_stamp = self.clock.jiffies;
        }
        let free = self.writer.sndbuf.saturating_sub(self.writer.queued);
        if free >= self.writer.queued / 2 {
            self.writer.no_space = false;
            self.writer.is_woken = true;
            self.end_limit(Limit::Buffer);
        }
    }

    /// What each segment of the window takes in the send buffer, for full segments as they are now.
    fn sndbuf_per_segment(&mut self) -> u64 {
        let mss = self.mss_clamp.max(self.mss_cache);
        if self.writer.per_segment.0 != mss {
            self.writer.per_segment = (mss, self.host.sndbuf_per_segment(mss));
        }
        self.writer.per_segment.1
    }

    /// Room for twice the window (`tcp_sndbuf_expand`).
    #[inline]
    pub(super) fn expand_send_buffer(&mut self) {
        if self.writer.is_locked {
            return;
        }
        let per_segment = self.sndbuf_per_segment();
        let segments = self.window.cwnd.max(INITIAL_CWND).max(self.reordering + 1);
        let wanted = self.congestion.windows_of_buffer() * segments * per_segment;
        if self.writer.sndbuf < wanted {
            self.writer.sndbuf = wanted.min(self.host.tcp_wmem[2]);
        }
    }
}
