//! The congestion window of Reno and of CUBIC in whole segments, as acknowledgements and time make it grow.

use super::{CUBIC_FACTOR, FASTEST, RENO_LEAVES};

/// The algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Reno,
    Cubic,
}

/// `beta` ÷ `BICTCP_BETA_SCALE` of `net/ipv4/tcp_cubic.c`.
const CUBIC_LEAVES: f64 = 717.0 / 1024.0;
/// `beta_scale` ÷ 8 of `net/ipv4/tcp_cubic.c`: for each window and so much that is acknowledged, what Reno would have grows by a segment.
const PER_RENO_SEGMENT: f64 = 1.875;
/// Until it knows a maximum, CUBIC grows by a segment for so many (`bictcp_update` there: 5% in a round trip).
const SLOWEST_START: f64 = 20.0;
/// At the curve's height, it takes so many windows for a segment.
const AT_CURVE: f64 = 100.0;
/// Acknowledgements of a round trip, as far as the order of growth matters.
const STEPS: u32 = 4;
const LEAST_WINDOW: f64 = 2.0;

/// A window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    rule: Rule,
    cwnd: f64,
    ssthresh: f64,
    /// Acknowledged segments that have made it grow by none yet.
    credit: f64,
    /// The largest window before the loss; 0 where it is not known.
    last_max: f64,
    trip_s: f64,
    curve: Option<Curve>,
}

/// CUBIC's curve, from the first acknowledgement in congestion avoidance on.
#[derive(Debug, Clone, Copy)]
struct Curve {
    origin: f64,
    until_origin_s: f64,
    since_s: f64,
    /// What Reno's window would be.
    as_reno: f64,
}

impl Window {
    /// That which a loss leaves of `window`; CUBIC takes `last_max` for the largest before.
    pub(super) fn after_loss(rule: Rule, window: f64, last_max: f64, trip_s: f64) -> Self {
        let leaves = if rule == Rule::Reno { RENO_LEAVES } else { CUBIC_LEAVES };
        let ssthresh = (leaves * window).floor().max(LEAST_WINDOW);
        Self { rule, cwnd: ssthresh, ssthresh, credit: 0.0, last_max, trip_s, curve: None }
    }

    /// An expiry of the retransmission timer: slow start from a segment on.
    pub(super) const fn restart(&mut self) {
        self.cwnd = 1.0;
    }

    pub(super) const fn segments(&self) -> f64 {
        self.cwnd
    }

    /// So many segments are acknowledged in so many seconds.
    pub(super) fn on_round(&mut self, acked: f64, lasted_s: f64) {
        let steps = f64::from(STEPS);
        for _ in 0..STEPS {
            if let Some(curve) = &mut self.curve {
                curve.since_s += lasted_s / steps;
            }
            self.on_ack(acked / steps);
        }
    }

    /// So many segments are acknowledged at once.
    pub(super) fn on_ack(&mut self, mut acked: f64) {
        if self.cwnd < self.ssthresh {
            let slow = acked.min(self.ssthresh - self.cwnd);
            self.cwnd += slow;
            acked -= slow;
        }
        if acked > 0.0 {
            let each = if self.rule == Rule::Reno { self.cwnd } else { self.per_segment(acked) };
            self.grow(acked, each);
        }
    }

    /// By a segment for so many (`tcp_cong_avoid_ai` in `net/ipv4/tcp_cong.c`).
    fn grow(&mut self, acked: f64, each: f64) {
        if self.credit >= each {
            self.credit = 0.0;
            self.cwnd += 1.0;
        }
        self.credit += acked;
        let grown = (self.credit / each).floor();
        self.credit -= grown * each;
        self.cwnd += grown;
    }

    /// How many are to be acknowledged for each that CUBIC's window grows by (`bictcp_update`).
    fn per_segment(&mut self, acked: f64) -> f64 {
        let (cwnd, last_max) = (self.cwnd, self.last_max);
        let curve = self.curve.get_or_insert_with(|| Curve {
            origin: last_max.max(cwnd),
            until_origin_s: libm::cbrt((last_max - cwnd).max(0.0) / CUBIC_FACTOR),
            since_s: 0.0,
            as_reno: cwnd,
        });
        curve.as_reno += acked / (PER_RENO_SEGMENT * cwnd);
        let off = curve.since_s + self.trip_s - curve.until_origin_s;
        let target = curve.origin + CUBIC_FACTOR * off * off * off;
        let mut each = if target > cwnd { cwnd / (target - cwnd) } else { AT_CURVE * cwnd };
        if last_max <= 0.0 {
            each = each.min(SLOWEST_START);
        }
        let behind_reno = (curve.as_reno - cwnd).floor();
        if behind_reno >= 1.0 {
            each = each.min(cwnd / behind_reno);
        }
        each.max(FASTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_grows_by_a_segment_a_round_trip() {
        let mut window = Window::after_loss(Rule::Reno, 41.0, 0.0, 0.1);
        assert!((window.segments() - 20.0).abs() < 1e-9);
        for _ in 0..5 {
            window.on_round(window.segments(), 0.1);
        }
        assert!((window.segments() - 25.0).abs() < 1e-9, "{window:?}");
    }

    /// RFC 9438 §4.2: after K seconds, with 0.4 K³ = 30, it is that before the loss.
    #[test]
    fn cubic_is_at_its_maximum_after_k() {
        let mut window = Window::after_loss(Rule::Cubic, 100.0, 100.0, 0.1);
        assert!((window.segments() - 70.0).abs() < 1e-9);
        for _ in 0..42 {
            window.on_round(window.segments(), 0.1);
        }
        assert!((window.segments() - 100.0).abs() <= 2.0, "{window:?}");
    }

    /// Small windows grow by half a segment a round trip; large ones that know no maximum by a twentieth of themselves.
    #[test]
    fn cubic_is_not_slower_than_reno_would_be() {
        let grown = |from: f64| {
            let mut window = Window::after_loss(Rule::Cubic, from, 0.0, 0.01);
            let first = window.segments();
            for _ in 0..8 {
                window.on_round(window.segments(), 0.01);
            }
            window.segments() - first
        };
        assert!((3.0..=5.0).contains(&grown(12.0)), "{}", grown(12.0));
        assert!(grown(100.0) > 25.0, "{}", grown(100.0));
    }

    #[test]
    fn slow_start_ends_at_what_the_loss_left() {
        let mut window = Window::after_loss(Rule::Reno, 14.0, 0.0, 0.01);
        window.restart();
        window.on_round(4.0, 0.0);
        assert!((window.segments() - 5.0).abs() < 1e-9);
        window.on_round(9.0, 0.0);
        assert!((window.segments() - 8.0).abs() < 1e-9, "{window:?}");
    }
}
