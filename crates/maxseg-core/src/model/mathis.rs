//! The square-root law: Mathis, Semke, Mahdavi, Ott, "The Macroscopic Behavior of the TCP Congestion
//! Avoidance Algorithm", CCR 1997.

/// √(3 / 2b): the constant for periodic losses and `per_ack` segments per acknowledgement.
pub fn constant(per_ack: f64) -> f64 {
    libm::sqrt(3.0 / (2.0 * per_ack))
}

/// Segments per second at a chance of loss and a round trip in seconds. Knows neither timeouts nor a
/// largest window.
pub fn rate(loss: f64, rtt: f64, per_ack: f64) -> f64 {
    constant(per_ack) / (rtt * libm::sqrt(loss))
}

/// How this law fares at a loss and a window in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Loss up to 1% and a window of at least 10 segments: within a tenth.
    Good,
    /// Loss up to 3%: up to a fifth too high.
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
