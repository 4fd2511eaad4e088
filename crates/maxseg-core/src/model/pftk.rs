//! PFTK: the throughput of Reno under loss, timeouts included.
//!
//! Padhye, Firoiu, Towsley, Kurose, "Modeling TCP Throughput: A Simple Model and its Empirical
//! Validation", SIGCOMM 1998.

use super::measured::{Measured, around};

/// What the model needs to know. Rates come out in segments per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pftk {
    /// Chance that a segment is lost, above 0 and below 1.
    pub loss: f64,
    /// Round trip in seconds.
    pub rtt: f64,
    /// The first retransmission timeout in seconds, T₀.
    pub first_timeout: f64,
    /// Segments per acknowledgement, b.
    pub per_ack: f64,
    /// The largest window in segments; infinite for none.
    pub largest_window: f64,
}

impl Pftk {
    /// The mean window at a loss when nothing bounds it, E\[Wᵤ\] (equation 13).
    pub fn unbounded_window(&self) -> f64 {
        let (p, b) = (self.loss, self.per_ack);
        let k = (2.0 + b) / (3.0 * b);
        k + libm::sqrt(8.0 * (1.0 - p) / (3.0 * b * p) + k * k)
    }

    /// Whether the largest window, not loss, bounds the window.
    pub fn is_window_limited(&self) -> bool {
        self.unbounded_window() >= self.largest_window
    }

    /// The window at a loss: unbounded, or the largest.
    pub fn window(&self) -> f64 {
        self.unbounded_window().min(self.largest_window)
    }

    /// The chance that a loss in a window of `window` segments ends in a timeout, Q̂ (equation 22).
    pub fn timeout_share(&self, window: f64) -> f64 {
        if window <= 3.0 {
            return 1.0;
        }
        let q = 1.0 - self.loss;
        let q3 = q * q * q;
        let numerator = (1.0 - q3) * (1.0 + q3 * (1.0 - libm::pow(q, window - 3.0)));
        (numerator / (1.0 - libm::pow(q, window))).min(1.0)
    }

    /// How many first timeouts a sequence of timeouts takes, before its division by 1 − p: f(p)
    /// (equation 29).
    pub fn back_off(&self) -> f64 {
        let p = self.loss;
        1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))))
    }

    /// Seconds from loss to loss: in rounds, and in timeouts.
    fn period(&self) -> (f64, f64) {
        let (p, b) = (self.loss, self.per_ack);
        let q = 1.0 - p;
        let rounds = if self.is_window_limited() {
            b * self.largest_window / 8.0 + q / (p * self.largest_window) + 2.0
        } else {
            b * self.unbounded_window() / 2.0 + 1.0
        };
        let timeouts = self.timeout_share(self.window()) * self.first_timeout * self.back_off() / q;
        (self.rtt * rounds, timeouts)
    }

    /// Share of the time spent waiting for the timer.
    pub fn timeout_time_share(&self) -> f64 {
        let (rounds, timeouts) = self.period();
        timeouts / (rounds + timeouts)
    }

    /// Segments sent per second, B(p) (equation 32).
    pub fn send_rate(&self) -> f64 {
        let q = 1.0 - self.loss;
        self.rate(self.window(), self.timeout_share(self.window()) / q)
    }

    /// Segments that arrive per second, T(p) (section V): half of the last round's window is lost, and
    /// of each sequence of timeouts one segment arrives.
    pub fn goodput(&self) -> f64 {
        self.rate(self.window() / 2.0, self.timeout_share(self.window()))
    }

    /// Segments from loss to loss (before it, in its last round, in timeouts) by the time they take.
    fn rate(&self, last_round: f64, in_timeouts: f64) -> f64 {
        let (rounds, waiting) = self.period();
        ((1.0 - self.loss) / self.loss + last_round + in_timeouts) / (rounds + waiting)
    }

    /// The simpler approximation of the send rate (equation 33).
    pub fn approximate_send_rate(&self) -> f64 {
        let (p, b) = (self.loss, self.per_ack);
        let rounds = self.rtt * libm::sqrt(2.0 * b * p / 3.0);
        let timeout_share = (3.0 * libm::sqrt(3.0 * b * p / 8.0)).min(1.0);
        let timeouts = self.first_timeout * timeout_share * p * (1.0 + 32.0 * p * p);
        (self.largest_window / self.rtt).min(1.0 / (rounds + timeouts))
    }
}

/// Beyond this loss the model is not to be used: its timeouts forget that TCP keeps its timer backed
/// off until a segment gets through that was sent once (Karn).
pub const VALID_UP_TO: f64 = 0.2;

/// Loss, and the range of the model's goodput ÷ the simulator's: RTT 0.1 s, `rfc` stack with one
/// acknowledgement per segment; Reno and NewReno, with and without limited transmit, minimum RTO 0.2 s
/// and 1 s. The low end is NewReno with limited transmit, which avoids timeouts that the model counts.
/// `tests/agreement.rs` measures it again.
pub const MEASURED: [Measured; 8] = [
    (0.001, 0.91, 0.95),
    (0.003, 0.87, 0.96),
    (0.01, 0.79, 0.99),
    (0.03, 0.65, 1.02),
    (0.05, 0.60, 1.01),
    (0.1, 0.63, 1.09),
    (0.2, 1.05, 1.75),
    (0.3, 2.6, 4.0),
];

/// The same for [`Pftk::approximate_send_rate`] ÷ the simulator's goodput, T₀ at the minimum RTO and no
/// largest window: the same runs.
pub const MEASURED_APPROXIMATION: [Measured; 8] = [
    (0.001, 0.94, 0.98),
    (0.003, 0.92, 1.01),
    (0.01, 0.86, 1.08),
    (0.03, 0.74, 1.16),
    (0.05, 0.67, 1.17),
    (0.1, 0.61, 1.14),
    (0.2, 0.65, 1.2),
    (0.3, 1.1, 2.2),
];

/// How far the model's goodput is from a packet-level simulation at this loss; `None` where nothing was
/// measured.
pub fn ratio_to_simulation(loss: f64) -> Option<(f64, f64)> {
    around(&MEASURED, loss)
}

/// The same for [`Pftk::approximate_send_rate`].
pub fn approximation_to_simulation(loss: f64) -> Option<(f64, f64)> {
    around(&MEASURED_APPROXIMATION, loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Pftk =
        Pftk { loss: 0.02, rtt: 0.1, first_timeout: 1.0, per_ack: 2.0, largest_window: 20.0 };

    #[test]
    fn timeouts_are_sure_with_three_segments_or_fewer() {
        assert!((BASE.timeout_share(3.0) - 1.0).abs() < 1e-12);
        assert!((BASE.timeout_share(3.000_001) - 1.0).abs() < 1e-4, "continuous there");
        let seldom = Pftk { loss: 1e-4, ..BASE }.timeout_share(20.0);
        assert!((seldom - 3.0 / 20.0).abs() < 1e-3, "3/w for rare losses: {seldom}");
    }

    #[test]
    fn the_two_regimes_meet() {
        let meeting = Pftk { largest_window: BASE.unbounded_window(), ..BASE };
        let above = Pftk { largest_window: f64::INFINITY, ..BASE };
        let ratio = meeting.goodput() / above.goodput();
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn without_loss_to_speak_of_it_is_a_window_per_round_trip() {
        let rare = Pftk { loss: 1e-9, ..BASE };
        assert!((rare.goodput() / (20.0 / 0.1) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn more_loss_is_never_faster() {
        let rates: Vec<f64> =
            (1..60).map(|n| Pftk { loss: f64::from(n) / 100.0, ..BASE }.goodput()).collect();
        assert!(rates.is_sorted_by(|a, b| a >= b), "{rates:?}");
    }
}
