//! The square-root law: Mathis, Semke, Mahdavi, Ott, "The Macroscopic Behavior of the TCP Congestion
//! Avoidance Algorithm", CCR 1997.

use super::measured::{Measured, around};

/// √(3 / 2b): the constant for periodic losses and `per_ack` segments per acknowledgement.
pub fn constant(per_ack: f64) -> f64 {
    libm::sqrt(3.0 / (2.0 * per_ack))
}

/// Segments per second at a chance of loss and a round trip in seconds. Knows neither timeouts nor a
/// largest window.
pub fn rate(loss: f64, rtt: f64, per_ack: f64) -> f64 {
    constant(per_ack) / (rtt * libm::sqrt(loss))
}

/// Where a loss and a window in segments stand to this law's assumptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Loss up to 1% and a window of at least 10 segments: timeouts are rare.
    Good,
    /// Loss up to 3%: timeouts begin to count, and the law knows none.
    Doubtful,
    /// Timeouts rule, or the window does: it says nothing.
    Outside,
}

/// Where the law holds.
pub fn range(loss: f64, window: f64, largest_window: f64) -> Range {
    if loss > 0.03 || window >= largest_window {
        Range::Outside
    } else if loss <= 0.01 && window >= 10.0 {
        Range::Good
    } else {
        Range::Doubtful
    }
}

/// Loss, and the range of this law ÷ the simulator's goodput, in the runs of
/// [`pftk::MEASURED`](super::pftk::MEASURED). The high end is Reno without limited transmit and with a
/// minimum RTO of 1 s, which waits for its timer most.
pub const MEASURED: [Measured; 8] = [
    (0.001, 0.96, 1.0),
    (0.003, 0.99, 1.07),
    (0.01, 1.05, 1.26),
    (0.03, 1.19, 1.76),
    (0.05, 1.29, 2.32),
    (0.1, 1.59, 4.2),
    (0.2, 3.2, 12.0),
    (0.3, 11.0, 34.6),
];

/// Beyond this loss timeouts count with SACK as well.
pub const VALID_WITH_SACK_UP_TO: f64 = 0.05;

/// The same for Reno with SACK, stack `linux`, which repairs losses without its timer: 1 Gbit/s, round trips of 20, 100 and
/// 300 ms, 200 s. The low end is the longest round trip, the high end the shortest.
pub const MEASURED_SACK: [Measured; 8] = [
    (0.001, 0.73, 0.95),
    (0.003, 0.79, 0.98),
    (0.01, 0.96, 1.04),
    (0.03, 1.1, 1.13),
    (0.05, 1.2, 1.24),
    (0.1, 1.26, 1.48),
    (0.2, 1.43, 2.6),
    (0.3, 1.85, 5.4),
];

/// How far the law is from a packet-level simulation of Reno with SACK; `None` where nothing was measured.
pub fn ratio_to_simulation_with_sack(loss: f64) -> Option<(f64, f64)> {
    around(&MEASURED_SACK, loss)
}

/// How far the law is from a packet-level simulation at this loss; `None` where nothing was measured.
pub fn ratio_to_simulation(loss: f64) -> Option<(f64, f64)> {
    around(&MEASURED, loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_of_the_paper() {
        assert!((constant(1.0) - 1.224_744_871).abs() < 1e-9);
        assert!((constant(2.0) - 0.866_025_404).abs() < 1e-9);
    }

    #[test]
    fn four_times_the_loss_is_half_the_rate() {
        assert!((rate(0.001, 0.1, 1.0) / rate(0.004, 0.1, 1.0) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn its_range_ends_where_timeouts_begin() {
        assert_eq!(range(0.005, 15.0, 100.0), Range::Good);
        assert_eq!(range(0.02, 8.0, 100.0), Range::Doubtful);
        assert_eq!(range(0.05, 5.0, 100.0), Range::Outside);
        assert_eq!(range(0.005, 15.0, 15.0), Range::Outside);
    }
}
