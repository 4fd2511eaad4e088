//! How a bulk transfer begins: the handshake, the search for the path MTU, slow start.

use super::super::{cubic, whole};
use super::{SMALL_QUEUE, ThroughputBound, Transfer, first_timeout};
use crate::settings::CongestionName;
use crate::units::Bytes;

/// Slow start: its rounds, the handshake's among them, the first window in bytes, and by how many times that grows in a round.
pub(super) struct Opening {
    pub(super) rounds: f64,
    initial: f64,
    growth: f64,
}

/// How a path is filled where slow start may overflow a queue before.
pub(super) struct LateFill {
    /// The window then, in segments.
    pub(super) window: f64,
    /// Seconds from there to a full path.
    pub(super) seconds: f64,
    /// As many seconds of a full path are lost meanwhile.
    pub(super) lost: f64,
}

impl Transfer<'_> {
    /// Slow start sends two segments for each that is acknowledged (RFC 5681 §3.1): half of its window waits in the queue of the
    /// slowest link. `None` where that has room for half of a full path, or the sender paces (BBR).
    pub(super) fn late_fill(&self) -> Option<LateFill> {
        let tooth = self.saw_tooth();
        let window = (2.0 * tooth.queue).max(SMALL_QUEUE);
        let left = tooth.left * window;
        if window >= tooth.path || self.sender.congestion == CongestionName::Bbr {
            return None;
        }
        let each_round = |growth: f64| {
            ((tooth.path - left) / growth * self.rtt, f64::midpoint(tooth.path, left))
        };
        let (seconds, mean) = if self.sender.congestion == CongestionName::Cubic {
            let friendly = each_round(cubic::FRIENDLY_GROWTH);
            let own = cubic::climb_of_cubic(window, tooth.path);
            if own.0 < friendly.0 { own } else { friendly }
        } else {
            each_round(1.0 / self.growth_per_ack())
        };
        Some(LateFill { window, seconds, lost: seconds * (1.0 - mean / tooth.path) })
    }

    /// What so many bytes take: the handshake, slow start in whole rounds, and the rest at the rate of the bound.
    pub(super) fn transfer_seconds(&self, bytes: Bytes, bound: &ThroughputBound) -> f64 {
        let Opening { rounds, initial, growth } = self.opening(bound);
        let bytes = bytes.get() as f64;
        let carried = initial * (libm::pow(growth, rounds - 1.0) - 1.0) / (growth - 1.0);
        let (rounds, rest) = if bytes <= carried {
            let needed = libm::log(1.0 + bytes * (growth - 1.0) / initial) / libm::log(growth);
            (1.0 + libm::ceil(needed), 0.0)
        } else {
            // The last of them comes a round trip after it was sent.
            (rounds + 1.0, 8.0 * (bytes - carried) / bound.goodput_bps)
        };
        self.probing() + rounds * self.rtt + rest
    }

    /// Slow start up to the window of the bound.
    pub(super) fn opening(&self, bound: &ThroughputBound) -> Opening {
        let initial = self.sender.initial_window.bytes(Bytes::new(whole(self.mss))).get() as f64;
        let growth = 1.0 + 1.0 / self.growth_per_ack();
        let target = bound.goodput_bps * self.rtt / 8.0;
        let rounds = 1.0 + (libm::log(target / initial) / libm::log(growth)).max(0.0);
        Opening { rounds, initial, growth }
    }

    /// How long it searches for the path MTU: the timer doubles with each timeout.
    pub(super) fn probing(&self) -> f64 {
        let timeouts = self.scenario.mss(self.flow).timeouts;
        first_timeout(&self.sender.rto, self.rtt) * (libm::exp2(f64::from(timeouts)) - 1.0)
    }
}
