//! When an acknowledgement goes: at once, later, or with data (`net/ipv4/tcp_input.c`, `tcp_output.c`,
//! `tcp_timer.c`).

use super::Socket;
use super::constants::{MIN_MSS, MSS_DEFAULT, OPENS_WINDOW, STAMPS_LEN};
use crate::units::Time;

/// `TCP_MAX_QUICKACKS`.
pub(super) const MAX_QUICK: u64 = 16;
/// `TCP_FASTRETRANS_THRESH`: so many duplicate acknowledgements are never held back.
const DUPLICATES_AT_ONCE: u64 = 3;

/// What a receiver knows of its acknowledgements (`icsk_ack`).
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of flags")]
pub(super) struct DelayedAck {
    /// One is owed (`ICSK_ACK_SCHED`).
    pub(super) scheduled: bool,
    /// Its timer runs (`ICSK_ACK_TIMER`).
    timer: bool,
    /// A pushed or small packet came (`ICSK_ACK_PUSHED`), and a second small one (`ICSK_ACK_PUSHED2`).
    pushed: bool,
    pushed_twice: bool,
    /// It goes at once (`ICSK_ACK_NOW`).
    pub(super) now: bool,
    /// There was no room for the data (`ICSK_ACK_NOMEM`).
    pub(super) no_memory: bool,
    /// So many more go at once.
    pub(super) quick: u64,
    /// Answers to what came, which make the end one that answers; from 1 on its acknowledgements wait for them
    /// (`tcp_pingpong_thresh`).
    pub(super) pingpong: u8,
    /// How long one waits, in jiffies; 0 before the first data.
    pub(super) ato: u64,
    /// When data came last, in jiffies (`lrcvtime`).
    pub(super) received_at: u64,
    last_segment: u64,
    /// The largest segment seen.
    pub(super) rcv_mss: u64,
    /// Acknowledgements held back while packets come out of order, and for which gap (`compressed_ack`).
    compressed: u64,
    compressed_gap: u64,
    duplicates: u64,
}

impl DelayedAck {
    /// `inet_csk_in_pingpong_mode`.
    const fn answers(&self) -> bool {
        self.pingpong >= 1
    }

    /// `tcp_in_quickack_mode`.
    const fn is_quick(&self) -> bool {
        self.quick > 0 && !self.answers()
    }
}

impl Socket {
    /// The next acknowledgements go at once (`tcp_incr_quickack`).
    fn raise_quick(&mut self, most: u64) {
        let quick = match self.buffer.rcv_wnd / (2 * self.ack.rcv_mss.max(1)) {
            0 => 2,
            segments => segments,
        };
        self.ack.quick = self.ack.quick.max(quick.min(most));
    }

    /// So many acknowledgements at most go at once (`tcp_enter_quickack_mode`).
    pub(super) fn enter_quick_mode(&mut self, most: u64) {
        self.raise_quick(most);
        self.buffer.offered = None;
        self.ack.pingpong = 0;
        self.ack.ato = self.clock.ato_min;
    }

    /// How large segments are, and whether this one was pushed (`tcp_measure_rcv_mss`).
    #[inline]
    pub(super) fn measure_segment(&mut self, len: u64, push: bool, truesize: u64) {
        if len == self.ack.rcv_mss {
            self.ack.last_segment = 0;
            self.ack.rcv_mss = len.min(self.advmss);
            self.ack.pushed |= push;
        } else {
            self.measure_odd_segment(len, push, truesize);
        }
    }

    /// One that is longer or shorter than those before.
    fn measure_odd_segment(&mut self, len: u64, push: bool, truesize: u64) {
        let last = self.ack.last_segment;
        self.ack.last_segment = 0;
        if len > self.ack.rcv_mss {
            self.measure_ratio(len, truesize);
            self.ack.rcv_mss = len.min(self.advmss);
            self.ack.pushed |= push;
            return;
        }
        // Segments of that size twice in a row: that is how large they are, if they are not tiny (`TCP_MIN_MSS`).
        let with_stamps = len + if self.stamps_ok { STAMPS_LEN } else { 0 };
        if with_stamps >= MSS_DEFAULT || (with_stamps >= MIN_MSS && !push) {
            self.ack.last_segment = len;
            if len == last {
                self.ack.rcv_mss = len;
                return;
            }
        }
        self.ack.pushed_twice |= self.ack.pushed;
        self.ack.pushed = true;
    }

    /// Data came in order (`tcp_event_data_recv`).
    #[inline(always)]
    pub(super) fn note_data_received(&mut self, len: u64, push: bool, truesize: u64) {
        self.ack.scheduled = true;
        self.measure_segment(len, push, truesize);
        self.measure_receive_rtt();
        let now = self.clock.jiffies;
        let least = self.clock.ato_min;
        if self.ack.ato == 0 {
            self.raise_quick(MAX_QUICK);
            self.ack.ato = least;
        } else {
            let gap = now - self.ack.received_at;
            if gap <= least / 2 {
                self.ack.ato = self.ack.ato / 2 + least / 2;
            } else if gap < self.ack.ato {
                self.ack.ato = (self.ack.ato / 2 + gap).min(self.rto).min(self.clock.delack_max);
            } else if gap > self.rto {
                // The sender may be in slow start again.
                self.raise_quick(MAX_QUICK);
            }
        }
        self.ack.received_at = now;
        if len >= OPENS_WINDOW {
            self.grow_window(len, truesize);
        }
    }

    /// What came is acknowledged now, or will be (`__tcp_ack_snd_check`).
    #[inline(always)]
    pub(super) fn check_ack(&mut self) {
        if !self.ack.scheduled {
            return;
        }
        let is_due = self.rcv_nxt - self.rcv_wup > self.ack.rcv_mss
            && (self.rcv_nxt == self.copied_seq || self.wanted_window() >= self.buffer.rcv_wnd);
        if is_due || self.host.quickack || self.ack.is_quick() || self.ack.now {
            self.send_ack();
        } else if self.out_of_order.is_empty() {
            self.delay_ack();
        } else {
            self.compress_ack();
        }
    }

    /// Duplicate acknowledgements beyond the third are held back a little, because the next says more.
    fn compress_ack(&mut self) {
        if !self.sack_ok || self.ack.compressed >= self.host.tcp_comp_sack_nr.into() {
            return self.send_ack();
        }
        if self.ack.compressed_gap != self.rcv_nxt {
            self.ack.compressed_gap = self.rcv_nxt;
            self.ack.duplicates = 0;
        }
        if self.ack.duplicates < DUPLICATES_AT_ONCE {
            self.ack.duplicates += 1;
            return self.send_ack();
        }
        self.ack.compressed += 1;
        if self.timers.compressed_until != Time::NEVER {
            return;
        }
        let mut rtt8 = self.buffer.rtt8;
        if self.rtt.srtt8 > 0 {
            rtt8 = rtt8.min(self.rtt.srtt8);
        }
        // A twentieth of the round trip.
        let delay = (rtt8 * 125 / 20).min(self.host.tcp_comp_sack_delay_ns);
        let from = self.clock.nanos + delay;
        self.timers.compressed_from = self.clock.time_of_nanos(from);
        self.timers.compressed_until =
            self.clock.time_of_nanos(from + self.host.tcp_comp_sack_slack_ns);
    }

    /// What was held back goes (`tcp_sack_compress_send_ack`).
    pub(super) fn send_compressed_ack(&mut self) {
        self.stop_compressing();
        if self.ack.compressed > 0 {
            self.send_ack();
        }
    }

    fn stop_compressing(&mut self) {
        self.timers.compressed_from = Time::NEVER;
        self.timers.compressed_until = Time::NEVER;
    }

    /// An acknowledgement waits for the next packet or for the timer (`tcp_send_delayed_ack`).
    #[inline(always)]
    fn delay_ack(&mut self) {
        let mut ato = self.ack.ato;
        if ato > self.clock.ato_min {
            let mut most = if self.ack.answers() || self.ack.pushed {
                self.clock.delack_max
            } else {
                self.clock.seconds(1, 2)
            };
            if self.rtt.srtt8 > 0 {
                let rtt = self.clock.jiffies_of_micros(self.rtt.srtt8 >> 3).max(self.clock.ato_min);
                most = most.min(rtt);
            }
            ato = ato.min(most).min(self.clock.delack_max);
        }
        // A tick less than the sender's least timeout (`tcp_delack_max`).
        ato = ato.min(self.rto_min.max(2) - 1);
        let now = self.clock.jiffies;
        let mut at = now + ato;
        if self.ack.timer {
            if self.timers.delayed_ack_jiffy <= now + ato / 4 {
                return self.send_ack();
            }
            at = at.min(self.timers.delayed_ack_jiffy);
            if at == self.timers.delayed_ack_jiffy {
                return; // it runs then anyway (`__mod_timer`, `kernel/time/timer.c`)
            }
        }
        self.ack.scheduled = true;
        self.ack.timer = true;
        self.timers.set_delayed_ack(&self.clock, at);
    }

    /// The timer has expired (`tcp_delack_timer_handler`). It is never stopped, so that it may expire for
    /// nothing.
    pub(super) fn on_delayed_ack_timer(&mut self) {
        if self.ack.compressed > 0 {
            return self.send_compressed_ack();
        }
        if !self.ack.timer {
            return;
        }
        if self.timers.delayed_ack_jiffy > self.clock.jiffies {
            let at = self.timers.delayed_ack_jiffy;
            return self.timers.set_delayed_ack(&self.clock, at);
        }
        self.ack.timer = false;
        if !self.ack.scheduled {
            return;
        }
        if self.ack.answers() {
            self.ack.pingpong = 0;
            self.ack.ato = self.clock.ato_min;
        } else {
            self.ack.ato = (self.ack.ato * 2).min(self.rto).min(self.clock.delack_max);
        }
        self.send_ack();
    }

    /// A packet took the acknowledgement along (`tcp_event_ack_sent`).
    #[inline]
    pub(super) fn note_ack_sent(&mut self) {
        if self.ack.compressed > 0 {
            self.ack.compressed = 0;
            self.stop_compressing();
        }
        if self.ack.quick > 0 && self.ack.scheduled {
            if self.ack.quick == 1 {
                self.ack.ato = self.clock.ato_min;
            }
            self.ack.quick -= 1;
        }
        self.ack.scheduled = false;
        self.ack.timer = false;
        self.ack.pushed = false;
        self.ack.pushed_twice = false;
        self.ack.now = false;
        self.ack.no_memory = false;
    }

    /// The application reads so many bytes at most; gives how many it got. Reading may be what an
    /// acknowledgement or a wider window waited for (`tcp_cleanup_rbuf`).
    #[inline(always)]
    pub fn read(&mut self, now: Time, most: u64) -> u64 {
        self.clock.refresh(now);
        let copied = self.copy_out(most);
        if copied > 0 {
            self.check_ack_after_read();
        } else if self.ack.scheduled && self.rcv_nxt - self.rcv_wup > self.ack.rcv_mss {
            self.send_ack();
        }
        copied
    }

    /// The same once it has read.
    #[inline(always)]
    pub(super) fn check_ack_after_read(&mut self) {
        let mut is_due = false;
        if self.ack.scheduled {
            let emptied = (self.ack.pushed_twice || (self.ack.pushed && !self.ack.answers()))
                && self.buffer.used == 0;
            is_due = self.rcv_nxt - self.rcv_wup > self.ack.rcv_mss || emptied;
        }
        if !is_due {
            let window = self.receive_window();
            if 2 * window <= self.buffer.window_clamp {
                let wanted = self.wanted_window();
                is_due = wanted > 0 && wanted >= 2 * window;
            }
        }
        if is_due {
            self.send_ack();
        }
    }

    /// What has come is acknowledged now if it is not yet, as the FIN of a program that closes would.
    pub(crate) fn acknowledge_at_once(&mut self) {
        if self.ack.scheduled {
            self.send_ack();
        }
    }

    /// Bytes that wait to be read.
    pub const fn readable(&self) -> u64 {
        self.rcv_nxt - self.copied_seq - self.ending.is_heard as u64
    }
}
