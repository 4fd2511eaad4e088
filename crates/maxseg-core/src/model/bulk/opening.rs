//! How a bulk transfer begins: the handshake, the search for the path MTU, slow start.

use super::super::{Formula, cubic, whole};
use super::{SMALL_QUEUE, ThroughputBound, Transfer, first_timeout};
use crate::framing::Headers;
use crate::mss::black_hole;
use crate::settings::CongestionName;
use crate::tcp::Config;
use crate::units::Bytes;

/// Slow start: its rounds, the handshake's among them, the first window in bytes, and by how many times that grows in a round.
pub(super) struct Opening {
    pub(super) rounds: f64,
    pub(super) initial: f64,
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
        if bytes <= initial.min(self.window) {
            return self.probing() + self.first_window_seconds(bytes);
        }
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

    /// What a transfer takes that the first window holds: the handshake, its segments one behind the other, and the acknowledgement of the
    /// last. That waits where it is not one of `per_ack`; Linux acknowledges the first segments one by one
    /// (`tcp_enter_quickack_mode`, `net/ipv4/tcp_input.c`).
    fn first_window_seconds(&self, bytes: f64) -> f64 {
        let segments = libm::ceil(bytes / self.mss).max(1.0);
        let rest = whole(bytes - (segments - 1.0) * self.mss);
        let last = self.ack.with_payload(u16::try_from(rest).unwrap_or(u16::MAX));
        let (path, packet, ack) = (&self.flow_path, self.packet, self.ack);
        let back = path.round_trip(ack, ack).as_secs_f64() - path.train(ack, 1.0, ack);
        let is_odd = segments % self.per_ack != 0.0;
        let waits = is_odd && !self.scenario.runs_linux(self.flow);
        let wait = if waits { self.ack_timeout } else { 0.0 };
        self.handshake_seconds() + path.train(packet, segments, last) + back + wait
    }

    /// SYN, SYN-ACK, and what the last packet of the handshake takes before the first segment.
    fn handshake_seconds(&self) -> f64 {
        let (config, _) = Config::both_ways(self.scenario, self.flow);
        let header = Headers::plain(self.scenario.ip);
        let [syn, syn_ack] =
            [&config.sender, &config.receiver].map(|host| header.packet(config.syn_options(host)));
        let (path, first) = (&self.flow_path, self.packet);
        let ack = if self.sender.handshake_ack {
            path.train(self.ack, 2.0, first) - path.train(first, 1.0, first)
        } else {
            0.0
        };
        path.round_trip(syn, syn_ack).as_secs_f64() + ack
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
        self.ends_before_window(tooth.path + tooth.queue, bound)
    }

    /// Whether a transfer of so many bytes ends before slow start has more than a window of so many segments in flight.
    pub(super) fn ends_before_window(&self, segments: f64, bound: &ThroughputBound) -> bool {
        let initial = self.opening(bound).initial;
        let sent = 2.0 * segments * self.mss - initial;
        self.scenario.until.bytes.is_some_and(|bytes| bytes.get() as f64 <= sent)
    }
}
