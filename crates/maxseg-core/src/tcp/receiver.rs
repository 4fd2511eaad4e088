//! The receiving half of a connection: what has arrived, and when to say so.

use super::ranges::Ranges;
use super::{Config, Segment};
use crate::settings::{DelayedAck, OfferedWindow};
use crate::units::{Bytes, Time};

/// What a receiver saw so far.
#[derive(Debug, Clone, Default)]
pub struct ReceiverStats {
    /// Packets sent, all of them acknowledgements.
    pub packets: u64,
    /// Payload bytes that had come before.
    pub duplicate_bytes: u64,
    /// Repeated segments that brought nothing new: the resending was not needed.
    pub spurious_retransmissions: u64,
}

/// The receiving half of a TCP connection. Its application reads at once.
#[derive(Debug)]
pub struct Receiver {
    /// The next byte expected (RCV.NXT).
    next: u64,
    beyond: Ranges,
    window: OfferedWindow,
    delayed_ack: Option<DelayedAck>,
    /// ns-2's `DelAckSink` takes the last in-order segment, come again, for one in order.
    delays_repetitions: bool,
    /// In-order segments not yet acknowledged.
    unacknowledged: u32,
    ack_due: bool,
    syn_ack_due: bool,
    timer: Time,
    stats: ReceiverStats,
}

impl Receiver {
    /// A receiver that waits for its SYN.
    pub fn new(config: &Config) -> Self {
        let settings = &config.receiver;
        Self {
            next: 0,
            beyond: Ranges::default(),
            window: settings.window_field(config.mss()),
            delayed_ack: settings.delayed_ack,
            delays_repetitions: settings.ns2.is_some(),
            unacknowledged: 0,
            ack_due: false,
            syn_ack_due: false,
            timer: Time::NEVER,
            stats: ReceiverStats::default(),
        }
    }

    /// A segment has come.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let (start, end) = (segment.seq, segment.end());
        if segment.syn {
            self.next = self.next.max(1);
            self.syn_ack_due = true;
        } else if end == start {
            // A bare acknowledgement asks for none.
        } else if start == self.next && self.beyond.is_empty() {
            self.next = end;
            self.on_in_order(now);
        } else {
            self.on_out_of_order(now, segment, start, end);
        }
    }

    /// The delayed acknowledgement's time is up.
    pub fn on_timeout(&mut self) {
        self.ack_due = true;
    }

    /// The next acknowledgement to send, if one is due.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Segment> {
        if self.syn_ack_due {
            self.syn_ack_due = false;
            self.stats.packets += 1;
            return Some(Segment {
                seq: 0,
                syn: true,
                ..Segment::ack(self.next, self.window.in_syn)
            });
        }
        if !self.ack_due {
            return None;
        }
        self.ack_due = false;
        self.unacknowledged = 0;
        self.timer = Time::NEVER;
        self.stats.packets += 1;
        Some(Segment::ack(self.next, self.window.afterwards))
    }

    /// When a delayed acknowledgement must go; [`Time::NEVER`] while none waits.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.timer
    }

    /// Payload bytes that arrived in order.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.next.saturating_sub(1))
    }

    /// What was seen so far.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    #[inline]
    fn on_in_order(&mut self, now: Time) {
        let Some(rule) = self.delayed_ack else {
            self.ack_due = true;
            return;
        };
        self.unacknowledged += 1;
        if self.unacknowledged >= rule.every {
            self.ack_due = true;
        } else if self.timer == Time::NEVER {
            self.timer = now + rule.timeout;
        }
    }

    /// RFC 5681 §4.2: at once when a segment leaves a gap, fills one, or is not new.
    #[cold]
    fn on_out_of_order(&mut self, now: Time, segment: &Segment, start: u64, end: u64) {
        if end == self.next && self.beyond.is_empty() && self.delays_repetitions {
            self.on_in_order(now);
        } else {
            self.ack_due = true;
        }
        let mut new = 0;
        if end > self.next {
            new = self.beyond.insert(start.max(self.next), end);
            self.next = self.beyond.take_through(self.next);
        }
        self.stats.duplicate_bytes += end - start - new;
        self.stats.spurious_retransmissions += u64::from(segment.repeated && new == 0);
    }
}
