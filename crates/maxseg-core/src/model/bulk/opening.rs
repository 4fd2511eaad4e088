//! How a bulk transfer begins: the handshake, the search for the path MTU, slow start.

use super::super::{Formula, cubic, whole};
use super::{SMALL_QUEUE, ThroughputBound, Transfer, first_timeout};
use crate::mss::black_hole;
use crate::settings::CongestionName;
use crate::units::Bytes;

/// Slow start: its rounds, the handshake's among them, the first window in bytes, and by how many times that grows in a round.
pub(super) struct Opening {
    pub(super) rounds: f64,
    initial: f64,
    growth: f64,
}

/// How a window opens where slow start may overflow a queue before.
pub(super) struct LateFill {
    /// The window then, in segments.
    pub(super) window: f64,
    /// Whether it opens until the path is full, or else as far as it may.
    pub(super) fills_path: bool,
    /// Seconds from there to that.
    pub(super) seconds: f64,
    /// As many seconds of that are lost meanwhile.
    pub(super) lost: f64,
    /// Whether the queue overflows again before: in a path that is not full the window travels as one train, and what it grows by in a
    /// round trip stands in the queue while that passes. Or whether the timer expires before the losses are repaired.
    pub(super) is_repeated: bool,
}

/// A queue that holds less than this share of a full path overflows many times before that is full: on the drawn paths that
/// [`measured::LATE`](super::bursts::measured::LATE) is of, such a start took up to three and a half times what is said of others.
const HARDLY_A_QUEUE: f64 = 0.025;

impl Transfer<'_> {
    /// Slow start sends two segments for each that is acknowledged (RFC 5681 §3.1): half of its window waits in the queue of the
    /// slowest link. `None` where that has room for half of a full path, or of the window, or the sender paces (BBR).
    fn late_fill(&self) -> Option<LateFill> {
        let tooth = self.saw_tooth();
        let window = (2.0 * tooth.queue).max(SMALL_QUEUE);
        let left = tooth.left * window;
        let largest = self.largest_window();
        let full = tooth.path.min(largest);
        if window >= full || self.sender.congestion == CongestionName::Bbr {
            return None;
        }
        let each_round =
            |growth: f64| ((full - left) / growth * self.rtt, f64::midpoint(full, left));
        let (seconds, mean, outgrown) = if self.sender.congestion == CongestionName::Cubic {
            let friendly = each_round(cubic::FRIENDLY_GROWTH);
            let own = cubic::climb_of_cubic(window, full);
            let growth = cubic::growth_each_round(full - window, self.rtt);
            if own.0 < friendly.0 {
                (own.0, own.1, growth > tooth.queue)
            } else {
                (friendly.0, friendly.1, false)
            }
        } else {
            let (seconds, mean) = each_round(1.0 / self.growth_per_ack());
            (seconds, mean, false)
        };
        Some(LateFill {
            window,
            fills_path: tooth.path <= largest,
            seconds,
            lost: seconds * (1.0 - mean / full),
            is_repeated: outgrown
                || tooth.queue < HARDLY_A_QUEUE * full
                || self.is_late_again(window, 0.5 * window, self.rtt),
        })
    }

    /// [`Self::late_fill`] where path or window are the bound.
    pub(super) fn late_fill_of(&self, bound: &ThroughputBound) -> Option<LateFill> {
        let is_of_window =
            matches!(bound.formula, Formula::SawTooth | Formula::Link | Formula::Window);
        self.late_fill().filter(|_| is_of_window)
    }

    /// Whether a queue that slow start has overflowed at a window of so many segments overflows so again after the repair of these losses,
    /// in round trips of so many seconds. Without SACK a round trip repairs one (RFC 6582 §3.2), and meanwhile new segments fill the
    /// window: where the timer, which starts anew at the first of them only (§4), expires before, slow start goes on up to half of what is in
    /// flight (RFC 5681 equation 4).
    pub(super) fn is_late_again(&self, window: f64, losses: f64, rtt: f64) -> bool {
        !self.has_sack
            && losses * rtt > first_timeout(&self.sender.rto, rtt)
            && 0.5 * self.flight.most / self.mss > window
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
        let first = first_timeout(&self.sender.rto, self.rtt);
        let timeouts = match self.scenario.mss(self.flow).timeouts {
            0 => return 0.0,
            n if self.scenario.runs_linux(self.flow) => black_hole::timeouts_of_linux(first, n),
            n => n,
        };
        first * (libm::exp2(f64::from(timeouts)) - 1.0)
    }

    /// Whether a transfer of so many bytes ends before slow start can overflow the queue: until more than path and queue hold is in
    /// flight, as much less the first window is acknowledged.
    pub(super) fn ends_before_overflow(&self, bound: &ThroughputBound) -> bool {
        let tooth = self.saw_tooth();
        let held = (tooth.path + tooth.queue) * self.mss;
        let initial = self.opening(bound).initial;
        self.scenario.until.bytes.is_some_and(|bytes| bytes.get() as f64 <= 2.0 * held - initial)
    }
}
