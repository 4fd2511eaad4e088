//! One direction of a request flow: so many bytes at a time, in slow start.

use super::super::bulk::first_timeout;
use super::super::cardwell::Cardwell;
use super::super::flow_path::FlowPath;
use super::super::slow_start::{Course, Growth, SlowStart};
use crate::framing::{Headers, IpPacket};
use crate::scenario::{Flow, Scenario};
use crate::settings::{CongestionName, Settings};
use crate::units::Bytes;

/// One way of the data: so many bytes at a time.
pub(super) struct Transfer<'a> {
    pub(super) flow_path: FlowPath<'a>,
    pub(super) sender: &'a Settings,
    pub(super) mss: Bytes,
    pub(super) segments: f64,
    /// A full segment's packet, the last one's, and one without payload.
    pub(super) full: IpPacket,
    pub(super) last: IpPacket,
    pub(super) ack: IpPacket,
    /// A full packet's time on the slowest link, or at the slower host with its part of an acknowledgement.
    pub(super) each: f64,
    pub(super) first_window: f64,
    pub(super) largest_window: f64,
    pub(super) per_ack: f64,
    pub(super) ack_timeout: f64,
    /// Seconds that a segment's part of an acknowledgement takes on the slowest link back.
    pub(super) ack_each: f64,
    pub(super) loss: f64,
    growth: Growth,
    /// A pause makes the window small again (`tcp_slow_start_after_idle_check`, which leaves BBR's alone).
    restarts: bool,
}

/// Pauses of so many timeouts may be longer than one or not: it goes by round trips that vary.
const NEAR_TIMEOUT: std::ops::Range<f64> = 0.6..1.5;

/// What a pause leaves of a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pause {
    /// The window of the next transfer: what is not sent for longer than the timeout halves it for each, down to the first
    /// (`tcp_cwnd_restart`, `net/ipv4/tcp_output.c`).
    pub(super) window: f64,
    /// Whether it was about as long as the timeout.
    pub(super) is_near_timeout: bool,
}

/// Where the time of one request goes, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parts {
    /// The handshake, and the packets on their way once.
    pub(super) on_the_way: f64,
    /// The server's.
    pub(super) think: f64,
    /// Rounds of slow start.
    pub(super) rounds: f64,
    /// Packets one after the other on the slowest link, or at the slower host.
    pub(super) in_line: f64,
    /// What losses add, on average.
    pub(super) losses: f64,
}

impl Parts {
    /// All of them.
    pub(super) fn sum(&self) -> f64 {
        self.on_the_way + self.think + self.rounds + self.in_line + self.losses
    }
}

impl<'a> Transfer<'a> {
    pub(super) fn new(scenario: &'a Scenario, flow: &Flow, payload: Bytes) -> Self {
        let (sender, _) = scenario.endpoints(flow);
        let (sending, receiver) = scenario.agreed_settings(flow);
        let flow_path = FlowPath::of(scenario, flow);
        let decision = scenario.mss(flow);
        let mss = decision.effective.bytes();
        let headers = Headers { ip: scenario.ip, tcp_options: decision.options };
        let segments = payload.get().div_ceil(mss.get());
        let full = headers.packet(mss.min(payload));
        let in_segments =
            |bytes: Bytes| libm::floor(bytes.get() as f64 / mss.get() as f64).max(1.0);
        let offered = in_segments(receiver.offered_window(decision.unbound.bytes()));
        let buffer = sending.largest_send_buffer().map_or(f64::INFINITY, in_segments);
        Self {
            sender,
            mss,
            segments: segments as f64,
            full,
            last: headers.packet(payload.saturating_sub(Bytes::new((segments - 1) * mss.get()))),
            ack: headers.packet(Bytes::ZERO),
            each: flow_path.bottleneck(full).seconds.max(flow_path.host_pace()),
            first_window: in_segments(sender.initial_window.bytes(mss)),
            largest_window: offered.min(buffer),
            per_ack: match receiver.delayed_ack {
                // Linux acknowledges the first segments one by one (`tcp_enter_quickack_mode`, net/ipv4/tcp_input.c).
                Some(rule) if !scenario.runs_linux(flow) => f64::from(rule.every),
                _ => 1.0,
            },
            ack_timeout: receiver.delayed_ack.map_or(0.0, |rule| rule.timeout.as_secs_f64()),
            ack_each: flow_path.bottleneck_back_of(headers.packet(Bytes::ZERO), |_| 1.0).seconds
                / receiver.delayed_ack.map_or(1.0, |rule| f64::from(rule.every)),
            loss: flow_path.loss(full).get(),
            growth: match sender.congestion {
                CongestionName::Ns2Reno => Growth::Unused,
                _ if scenario.runs_linux(flow) => Growth::TwiceUsed,
                CongestionName::Reno | CongestionName::Cubic | CongestionName::Bbr => {
                    Growth::AsUsed
                }
            },
            restarts: scenario.runs_linux(flow)
                && sender.congestion != CongestionName::Bbr
                && sender.linux.is_some_and(|rules| rules.tcp_slow_start_after_idle),
            flow_path,
        }
    }

    /// A round trip of a full segment and its acknowledgement.
    pub(super) fn round_trip(&self) -> f64 {
        self.flow_path.round_trip(self.full, self.ack).as_secs_f64()
    }

    /// What takes how long from the first bit of it to the last at the other end, beginning with a window
    /// of so many segments; with `back`, an acknowledgement's time on its way, the rounds.
    pub(super) fn clean(&self, window: f64, back: f64) -> (Course, Parts) {
        let start = SlowStart {
            segments: self.segments,
            window,
            largest: self.largest_window,
            per_ack: self.per_ack,
            ack_timeout: self.ack_timeout,
            growth: self.growth,
        };
        let train = |count| self.flow_path.train(self.full, count, self.full);
        let course = start.course(self.each, |count| train(count) + back);
        let once = self.flow_path.train(self.full, 1.0, self.last);
        let parts = Parts {
            on_the_way: once,
            rounds: course.before,
            in_line: self.flow_path.train(self.full, course.at_last, self.last) - once,
            ..Parts::default()
        };
        (course, parts)
    }

    /// How the next transfer begins, `cycle` seconds after this one did. `rounds` counts the round trips that were measured, this
    /// transfer's included.
    pub(super) fn pause_after(&self, course: &Course, cycle: f64, rounds: f64) -> Pause {
        let unchanged = Pause { window: course.window, is_near_timeout: false };
        if !self.restarts || course.window <= self.first_window {
            return unchanged;
        }
        let in_line = (course.at_last - course.window).max(0.0) * self.each;
        let timeouts = (cycle - course.before - in_line) / self.timeout_after(rounds);
        let is_near_timeout = NEAR_TIMEOUT.contains(&timeouts);
        let halvings = libm::ceil(timeouts) - 1.0;
        if halvings < 1.0 {
            return Pause { is_near_timeout, ..unchanged };
        }
        let halved = libm::floor(course.window / libm::exp2(halvings.min(63.0)));
        Pause { window: halved.max(self.first_window), is_near_timeout }
    }

    /// The timeout after so many round trips that are alike: the variation begins with twice the first, loses a sixteenth of it with the
    /// next, and a quarter of what it has above its least with each after that (`tcp_rtt_estimator`, `net/ipv4/tcp_input.c`).
    fn timeout_after(&self, rounds: f64) -> f64 {
        let (round_trip, least) = (self.round_trip(), self.sender.rto.min.as_secs_f64());
        let above = (2.0 * (15.0 / 16.0) * round_trip - least).max(0.0);
        first_timeout(&self.sender.rto, round_trip)
            + above * libm::pow(0.75, (rounds - 1.0).max(0.0))
    }

    /// By how much it may take longer, in seconds, because acknowledgements release all that is beyond the first window, and come back more
    /// slowly than it goes.
    pub(super) fn held_back(&self) -> f64 {
        (self.segments - self.first_window).max(0.0) * (self.ack_each - self.each).max(0.0)
    }

    /// Round trips that a transfer takes.
    pub(super) fn rounds_of(&self, course: &Course) -> f64 {
        1.0 + libm::round(course.before / self.round_trip())
    }

    /// What losses add to it, on average: Cardwell's formula with them, less the same without.
    pub(super) fn added_by_losses(&self, window: f64, rtt: f64, is_new: bool) -> f64 {
        if self.loss <= 0.0 {
            return 0.0;
        }
        let bounds = &self.sender.rto;
        let first_timeout = if is_new {
            // The handshake was the only sample (RFC 6298 §2.2).
            (3.0 * rtt).clamp(bounds.min.as_secs_f64(), bounds.max.as_secs_f64())
        } else {
            first_timeout(bounds, rtt)
        };
        let lossy = Cardwell {
            segments: self.segments,
            loss: self.loss,
            rtt,
            first_timeout,
            // No window shows of which there is nothing to send.
            initial_window: window.min(self.segments),
            per_ack: self.per_ack,
            largest_window: self.largest_window,
            syn_timeout: bounds.initial.as_secs_f64(),
            delayed_ack: 0.0,
        };
        let after_handshake = |transfer: Cardwell| {
            let latency = transfer.latency();
            latency.slow_start + latency.first_loss + latency.remainder
        };
        after_handshake(lossy) - after_handshake(Cardwell { loss: 0.0, ..lossy })
    }
}
