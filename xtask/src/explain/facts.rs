//! What hosts and links counted of a run, and which limit that tells far from borders: for each there is a rate that the
//! transfer would have had if nothing else held it back, the link's, a window per round trip, what the application asks
//! for. The least of them holds; where the transfer falls short of all of them, what its sender lost does.

use maxseg_core::diagnose::LossCause;
use maxseg_core::outcome::LimitedBy;
use serde::Serialize;

/// What is known of a run. Rates count payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Facts {
    /// From the first data to the last acknowledgement.
    pub lasted_s: f64,
    /// Payload acknowledged.
    pub payload_bytes: f64,
    /// The payload that the link carries at most.
    pub link_bps: f64,
    /// The round trip of a full segment through empty queues.
    pub base_rtt_s: f64,
    /// How long slow start takes until the path is full.
    pub slow_start_s: f64,
    /// What the kernel sends before the first acknowledgement.
    pub initial_window_bytes: f64,
    /// Payload of a full segment.
    pub segment_bytes: f64,
    /// The window that the receiver keeps to: what it offers before the first segment may be more.
    pub window_bytes: f64,
    /// How fast the receiving application reads, where that is not at once.
    pub read_bps: Option<f64>,
    /// Whether the send buffer was made small.
    pub has_send_buffer: bool,
    /// Payload of each reply, where the application answers requests.
    pub reply_bytes: Option<f64>,
    /// Whether the application ended the transfer.
    pub ended_itself: bool,
    /// Packets that links damaged,
    pub damaged_packets: u64,
    /// that found a queue full,
    pub refused_packets: u64,
    /// and that a policer dropped.
    pub policed_packets: u64,
    /// How busy the line was, with all traffic on it, from 0 to 1.
    pub line_share: f64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// By `tcp_info`: the time with data to send or to be acknowledged,
    pub busy_s: f64,
    /// the part of it stopped by the receiver's window,
    pub window_limited_s: f64,
    /// and the part stopped by the send buffer.
    pub buffer_limited_s: f64,
}

/// From this share of what a limit allows on, it is the one that holds.
const HOLDS: f64 = 0.9;
/// From this share on it may be.
const IN_REACH: f64 = 0.8;
/// A window is never used to the last byte all the time: acknowledgements are delayed, and windows opened by whole
/// segments. From this share of window per round trip on, it holds.
const WINDOW_HOLDS: f64 = 0.75;
/// From this share on it may, where something was lost as well.
const WINDOW_IN_REACH: f64 = 0.6;
/// The kernel counts the send buffer only while the sender was stopped, and wakes the application when a third of it
/// is free: a buffer that holds back all the time stops it for about half of it.
const BUFFER_HOLDS: f64 = 0.25;
/// From this share of the time on the buffer may hold.
const BUFFER_IN_REACH: f64 = 0.1;
/// From this share of idle time on the application alone is it; below the second it may be.
const IDLE: f64 = 0.6;
const HALF_IDLE: f64 = 0.35;
/// Linux's least retransmission timeout, which is about what a timeout costs.
const TIMEOUT_S: f64 = 0.2;
/// From this share of the time on, waiting for the timer may be called the limit.
const WAITING: f64 = 0.15;

impl Facts {
    /// Payload acknowledged over the time.
    pub fn goodput_bps(&self) -> f64 {
        if self.lasted_s > 0.0 { self.payload_bytes * 8.0 / self.lasted_s } else { 0.0 }
    }

    /// Packets that any link dropped.
    pub const fn dropped_packets(&self) -> u64 {
        self.damaged_packets + self.refused_packets + self.policed_packets
    }

    /// Why packets were lost: several where links dropped for several reasons, or it is open whose packets those were.
    pub(super) fn causes(&self, is_alone: bool) -> Vec<LossCause> {
        let counts = [
            (LossCause::Errors, self.damaged_packets),
            (LossCause::Queue, self.refused_packets),
            (LossCause::Policer, self.policed_packets),
        ];
        let mut causes: Vec<LossCause> =
            counts.into_iter().filter(|(_, count)| *count > 0).map(|(cause, _)| cause).collect();
        if causes.is_empty() || !is_alone {
            causes.extend([LossCause::None, LossCause::Reordering, LossCause::Needless]);
        }
        causes
    }

    /// Which answers are right, the likeliest first; more than one where two limits are within reach of each other,
    /// and none where these facts do not tell.
    pub fn limits(&self) -> Vec<LimitedBy> {
        if let Some(limits) = self.application() {
            return limits;
        }
        if let Some(limits) = self.start_up() {
            return limits;
        }
        let link = self.share_of(self.link_bps);
        let window = self.share_of_window();
        let lost = self.dropped_packets() > 0;
        let mut limits = Vec::new();
        if link >= HOLDS {
            limits.push(LimitedBy::Bandwidth);
            return limits;
        }
        if link >= IN_REACH {
            limits.push(LimitedBy::Bandwidth);
        }
        if window >= WINDOW_HOLDS {
            limits.push(LimitedBy::ReceiveWindow);
        } else if self.buffer_share() >= BUFFER_HOLDS {
            limits.push(LimitedBy::SendBuffer);
        } else if lost {
            limits.push(LimitedBy::Congestion);
            if window >= WINDOW_IN_REACH {
                limits.push(LimitedBy::ReceiveWindow);
            }
            if self.buffer_share() >= BUFFER_IN_REACH {
                limits.push(LimitedBy::SendBuffer);
            }
        }
        limits
    }

    /// Whether so much time went by until the timer expired that it may be called the limit, where losses are.
    pub(super) fn waits_for_timer(&self) -> bool {
        self.timeouts as f64 * TIMEOUT_S >= WAITING * self.lasted_s
    }

    /// Replies that fit the first window are sent at once: then only the application can be faster. Larger ones are
    /// its fault where the sender had nothing to send most of the time.
    fn application(&self) -> Option<Vec<LimitedBy>> {
        let reply = self.reply_bytes?;
        let idle = 1.0 - (self.busy_s / self.lasted_s).clamp(0.0, 1.0);
        if reply <= self.initial_window_bytes || idle >= IDLE {
            return Some(vec![LimitedBy::Application]);
        }
        (idle >= HALF_IDLE).then(|| vec![LimitedBy::Application, LimitedBy::StartUp])
    }

    /// It ended while slow start was still doubling what is in flight: nothing was lost, and less was sent than the
    /// path or the window holds.
    fn start_up(&self) -> Option<Vec<LimitedBy>> {
        /// The last round of slow start carries half of all.
        const LAST_ROUND: f64 = 0.5;
        let room = (self.link_bps * self.base_rtt_s / 8.0).min(self.window_bytes);
        if !self.ended_itself || self.dropped_packets() > 0 || self.has_send_buffer {
            return None;
        }
        let in_flight = LAST_ROUND * self.payload_bytes;
        if in_flight <= 0.5 * room {
            return Some(vec![LimitedBy::StartUp]);
        }
        (in_flight <= 1.5 * room).then(|| vec![LimitedBy::StartUp, LimitedBy::Bandwidth])
    }

    /// How near the transfer came to a rate, slow start apart.
    fn share_of(&self, bps: f64) -> f64 {
        self.payload_bytes * 8.0 / (bps * (self.lasted_s - self.slow_start_s))
    }

    /// How near the transfer came to a window per round trip, in whole segments; or to what is read, where that is
    /// slow: what is sent at first, into the receiver's empty memory, can only make it more.
    fn share_of_window(&self) -> f64 {
        let window = (self.window_bytes / self.segment_bytes).floor() * self.segment_bytes;
        let bps = self.read_bps.unwrap_or(window * 8.0 / self.base_rtt_s);
        if bps > 0.0 { self.share_of(bps) } else { 0.0 }
    }

    fn buffer_share(&self) -> f64 {
        if self.has_send_buffer { self.buffer_limited_s / self.lasted_s } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use LimitedBy::{Application, Bandwidth, Congestion, ReceiveWindow, SendBuffer, StartUp};

    use super::*;

    /// 10 Mbit/s of payload over 100 ms, five seconds of it, full.
    const FULL: Facts = Facts {
        lasted_s: 5.3,
        payload_bytes: 6.2e6,
        link_bps: 10e6,
        base_rtt_s: 0.1,
        slow_start_s: 0.3,
        initial_window_bytes: 14_480.0,
        segment_bytes: 1448.0,
        window_bytes: 8e6,
        read_bps: None,
        has_send_buffer: false,
        reply_bytes: None,
        ended_itself: false,
        damaged_packets: 0,
        refused_packets: 0,
        policed_packets: 0,
        line_share: 0.95,
        timeouts: 0,
        busy_s: 5.3,
        window_limited_s: 0.0,
        buffer_limited_s: 0.0,
    };

    #[test]
    fn a_full_link_is_the_limit_whatever_else_the_kernel_counts() {
        assert_eq!(FULL.limits(), [Bandwidth]);
        let by_window = Facts { window_bytes: 200e3, window_limited_s: 4.0, ..FULL };
        assert_eq!(by_window.limits(), [Bandwidth]);
        assert_eq!(Facts { damaged_packets: 200, ..FULL }.limits(), [Bandwidth]);
    }

    #[test]
    fn a_window_per_round_trip_is_the_limit_where_the_link_has_room() {
        // 50 kB per 100 ms are 4 Mbit/s: 2.5 MB in five seconds.
        let small = Facts { window_bytes: 50e3, payload_bytes: 2.4e6, ..FULL };
        assert_eq!(small.limits(), [ReceiveWindow]);
        let lossy = Facts { payload_bytes: 1.0e6, damaged_packets: 9, ..small };
        assert_eq!(lossy.limits(), [Congestion]);
        let either = Facts { payload_bytes: 1.7e6, ..lossy };
        assert_eq!(either.limits(), [Congestion, ReceiveWindow]);
    }

    #[test]
    fn a_slow_reader_is_the_windows_doing() {
        let slow = Facts { read_bps: Some(3e6), payload_bytes: 3.1e6, ..FULL };
        assert_eq!(slow.limits(), [ReceiveWindow]);
        // Losses that keep it below what is read are what limits it.
        let lossy = Facts { payload_bytes: 1e6, damaged_packets: 30, ..slow };
        assert_eq!(lossy.limits(), [Congestion]);
    }

    #[test]
    fn the_kernel_tells_of_its_buffer() {
        let small =
            Facts { has_send_buffer: true, payload_bytes: 2e6, buffer_limited_s: 2.5, ..FULL };
        assert_eq!(small.limits(), [SendBuffer]);
        // A large one with losses is not it.
        let large = Facts { buffer_limited_s: 0.1, damaged_packets: 40, ..small };
        assert_eq!(large.limits(), [Congestion]);
        let either = Facts { buffer_limited_s: 0.7, ..large };
        assert_eq!(either.limits(), [Congestion, SendBuffer]);
    }

    #[test]
    fn losses_are_the_limit_below_the_others() {
        let lossy = Facts { payload_bytes: 2e6, damaged_packets: 30, ..FULL };
        assert_eq!(lossy.limits(), [Congestion]);
        let nearly_full = Facts { payload_bytes: 5.3e6, ..lossy };
        assert_eq!(nearly_full.limits(), [Bandwidth, Congestion]);
        assert!(Facts { timeouts: 10, ..lossy }.waits_for_timer());
        // Without a loss there is no telling.
        assert_eq!(
            Facts { damaged_packets: 0, refused_packets: 0, policed_packets: 0, ..lossy }.limits(),
            []
        );
    }

    #[test]
    fn a_flow_that_ends_in_slow_start_is_limited_by_start_up() {
        let short = Facts { ended_itself: true, payload_bytes: 60e3, lasted_s: 0.35, ..FULL };
        assert_eq!(short.limits(), [StartUp]);
        let longer = Facts { payload_bytes: 250e3, lasted_s: 0.6, ..short };
        assert_eq!(longer.limits(), [StartUp, Bandwidth]);
        let long = Facts { payload_bytes: 5.9e6, lasted_s: 5.0, ..short };
        assert_eq!(long.limits(), [Bandwidth]);
    }

    #[test]
    fn whoever_waits_for_requests_is_limited_by_them() {
        let small = Facts { reply_bytes: Some(5e3), payload_bytes: 100e3, ..FULL };
        assert_eq!(small.limits(), [Application]);
        let large = Facts { reply_bytes: Some(100e3), busy_s: 1.5, ..small };
        assert_eq!(large.limits(), [Application]);
        let half = Facts { busy_s: 3.0, ..large };
        assert_eq!(half.limits(), [Application, StartUp]);
    }
}
