//! What a sender hands over at once, and where the queue of the slowest link has no room for it.

use super::super::Formula;
use super::{LEAST_SHARE, SMALL_QUEUE, ThroughputBound, Transfer};
use crate::engine::Caveat;
use crate::outcome::LimitedBy;
use crate::settings::CongestionName;
use crate::units::{Bytes, approx};

/// Linux hands over what its pacing rate, 1.2 windows a round trip, sends in 1/1024 s, and no more than 64 KiB (`tcp_tso_autosize`).
const PACED: f64 = 1.2;
const BURST_SECONDS: f64 = 1.0 / 1024.0;
const LARGEST_BURST: f64 = 65536.0;
/// Linux's send buffer counts memory, and what a write brings may go beyond a smaller one than this, in bytes.
const SMALL_SEND_BUFFER: f64 = 1_048_576.0;

/// The model's goodput ÷ the simulator's, at least and at most, where a formula is outside its range and nothing else is said of it: stack
/// `linux` with CUBIC and Reno, 10 Mbit/s to 3 Gbit/s, round trips of 6 to 240 ms, queues of 10 to 20000 packets, 20, 60 and 300 s.
/// `model/tests/long_fat.rs` measures some of it again, and where nothing is said: 0.97 to 1.2.
pub(in crate::model) mod measured {
    /// A send buffer that writes go beyond (`is_written_beyond`).
    pub(in crate::model) const BEYOND: (f64, f64) = (0.03, 1.2);
    /// What a program writes at once overflows the queue (`writes_overflow`).
    pub(in crate::model) const WRITES: (f64, f64) = (0.95, 3.6);
    /// No room behind a loss (`stalls`).
    pub(in crate::model) const STALLS: (f64, f64) = (0.95, 5.2);
    /// A start beyond which the queue overflows again (`LateFill::is_repeated`).
    pub(in crate::model) const REPEATED: (f64, f64) = (0.95, 5.5);
    /// A late start: less what that is said to take. 550 drawn paths had 0.56 to 1.14: 10 Mbit/s to 1 Gbit/s, 6 to 600 ms, MTUs of 576 to
    /// 9000, queues of 2.5% to 50% of what the path holds, 20 to 300 s.
    pub(in crate::model) const LATE: (f64, f64) = (0.55, 1.15);
    /// Losses that outlast the timer without SACK (`is_late_again`): stack `rfc`.
    pub(in crate::model) const WITHOUT_SACK: (f64, f64) = (0.9, 33.0);
}

impl Transfer<'_> {
    /// What the bursts of this sender make of the bound.
    pub(super) fn burst_caveats(&self, bound: &ThroughputBound) -> Vec<Caveat> {
        if bound.formula == Formula::NothingArrives {
            return Vec::new();
        }
        let caveats =
            [self.short_queue_caveat(), self.send_buffer_caveat(bound), self.stall_caveat(bound)];
        caveats.into_iter().flatten().collect()
    }

    /// Whether some of what the sender hands over at once may find no room in the queue.
    pub(super) fn bursts_overflow(&self, bound: &ThroughputBound) -> bool {
        self.segments_overflow() || self.writes_overflow(bound) || self.is_written_beyond(bound)
    }

    /// Segments of the largest burst: an initial window, or what Linux's segmentation offload sends at the rate of the link.
    fn burst(&self) -> f64 {
        if !self.scenario.runs_linux(self.flow) {
            return SMALL_QUEUE;
        }
        (self.paced_burst().min(LARGEST_BURST) / self.mss).max(SMALL_QUEUE)
    }

    /// What Linux sends at once where the window is as large as the path, in bytes.
    fn paced_burst(&self) -> f64 {
        PACED * self.link_bps / 8.0 * BURST_SECONDS
    }

    /// Room in the queue of the slowest link, in packets, whoever else is there.
    fn whole_queue(&self) -> f64 {
        self.saw_tooth().queue / self.bottleneck.share.max(LEAST_SHARE)
    }

    fn segments_overflow(&self) -> bool {
        let burst = self.burst();
        self.window / self.mss >= burst && self.whole_queue() < burst
    }

    /// Whether the queue just holds a burst, or less: what comes close behind it finds no room.
    pub(super) fn has_room_for_a_burst(&self) -> bool {
        self.whole_queue() > self.burst()
    }

    fn short_queue_caveat(&self) -> Option<Caveat> {
        self.segments_overflow().then(|| {
            let text = format!(
                "a queue of {:.0} packets overflows with each burst of {:.0} segments; the formulas ignore bursts, and may be several times \
                 too high",
                self.whole_queue(),
                self.burst()
            );
            Caveat::new("outside-range", text)
        })
    }

    /// Whether Linux's send buffer is what bounds the sender.
    fn is_by_send_buffer(&self, bound: &ThroughputBound) -> bool {
        bound.formula == Formula::Window && self.has_send_buffer()
    }

    /// Whether Linux's send buffer is a narrower bound than the receiver's window.
    fn has_send_buffer(&self) -> bool {
        self.flight.limit == LimitedBy::SendBuffer && self.scenario.runs_linux(self.flow)
    }

    /// A packet that is sent in pieces has room again for more of a write, and only a new packet asks whether the buffer is full
    /// (`tcp_sendmsg_locked`): where bursts are shorter than packets of the buffer, it hardly bounds what is in flight.
    fn buffer_is_passed(&self) -> bool {
        let is_cut =
            self.sender.congestion != CongestionName::Bbr && self.paced_burst() < LARGEST_BURST;
        self.has_send_buffer() && (is_cut || self.window < SMALL_SEND_BUFFER)
    }

    /// The most that may be in flight, in bytes.
    pub(super) fn most_in_flight(&self) -> f64 {
        if self.buffer_is_passed() { self.flight.offered } else { self.flight.most }
    }

    fn is_written_beyond(&self, bound: &ThroughputBound) -> bool {
        self.is_by_send_buffer(bound) && self.buffer_is_passed()
    }

    /// What a program writes at once into a buffer that was full, in segments.
    fn written_at_once(&self) -> f64 {
        self.flight.written / self.mss
    }

    /// Whether the queue has no room for that; BBR spaces it.
    pub(super) fn writes_overflow(&self, bound: &ThroughputBound) -> bool {
        self.is_by_send_buffer(bound)
            && self.sender.congestion != CongestionName::Bbr
            && self.whole_queue() < self.written_at_once()
    }

    fn send_buffer_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let text = if self.writes_overflow(bound) {
            format!(
                "a program writes into a third of Linux's send buffer at once, {:.0} segments here: a queue of {:.0} packets overflows each \
                 time, which the formula ignores: {} times the simulator's goodput",
                self.written_at_once(),
                self.whole_queue(),
                range(measured::WRITES)
            )
        } else if self.is_written_beyond(bound) {
            format!(
                "Linux's send buffer counts memory, and a write may go beyond it where bursts are shorter than 64 KiB: many times as much may be \
                 in flight, which the formula ignores: {} times the simulator's goodput",
                range(measured::BEYOND)
            )
        } else if bound.formula == Formula::Link && self.buffer_is_passed() {
            "Linux's send buffer counts memory, and a write may go beyond it where bursts are shorter than 64 KiB: what is in flight, the queue, RTT \
             and pings may be several times as long, and the queue may overflow"
                .to_owned()
        } else {
            return None;
        };
        Some(Caveat::new("outside-range", text))
    }

    /// What follows a loss stays in the window and in the send buffer until the loss is repaired, a round trip later. Where they have
    /// no room for as much as the smaller window still sends meanwhile, the rest goes at once then, and where the queue has no room
    /// for that, it overflows again: the window falls twice and more.
    pub(super) fn stalls(&self, bound: &ThroughputBound) -> bool {
        let tooth = self.saw_tooth();
        let top = tooth.path + tooth.queue;
        let room = (self.window / self.mss - top).max(0.0);
        bound.formula == Formula::SawTooth && tooth.left * top - room > tooth.queue
    }

    fn stall_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        self.stalls(bound).then(|| {
            let tooth = self.saw_tooth();
            let is_buffer = self.flight.limit == LimitedBy::SendBuffer;
            let what = if is_buffer { "send buffer" } else { "receive window" };
            let text = format!(
                "until a loss is repaired the {what} holds what follows it, and {} have no room for the {} segments of path and queue and {:.0}% \
                 as many more: what waited goes at once and overflows the queue again, which the sawtooth ignores: {} times the simulator's goodput",
                Bytes::new(super::whole(self.window)),
                approx::digits(tooth.path + tooth.queue),
                100.0 * tooth.left,
                range(measured::STALLS)
            );
            Caveat::new("outside-range", text)
        })
    }
}

/// A measured range, as texts have it.
pub(super) fn range((least, most): (f64, f64)) -> String {
    format!("{least} to {most}")
}
