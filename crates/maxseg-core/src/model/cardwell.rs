//! How long a short transfer takes: handshake, slow start, its first loss, and what remains.
//!
//! Cardwell, Savage, Anderson, "Modeling TCP Latency", INFOCOM 2000. The remainder goes at PFTK's rate.

use super::pftk::Pftk;

/// What the model needs to know. Times in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cardwell {
    /// Segments to send, at least 1.
    pub segments: f64,
    /// Chance that a packet is lost, in the handshake in either direction; below ½.
    pub loss: f64,
    /// Round trip.
    pub rtt: f64,
    /// The first retransmission timeout of data, T₀.
    pub first_timeout: f64,
    /// Segments of the first window, w₁; at most the largest.
    pub initial_window: f64,
    /// Segments per acknowledgement, b.
    pub per_ack: f64,
    /// The largest window in segments; infinite for none.
    pub largest_window: f64,
    /// The first timeout of a SYN, Tₛ.
    pub syn_timeout: f64,
    /// The mean wait for the acknowledgement of a lone first segment.
    pub delayed_ack: f64,
}

/// Where the time of a transfer goes, on average, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// SYN and SYN+ACK, repeated until both arrive.
    pub handshake: f64,
    /// The window grows until the first loss, the largest window, or the end.
    pub slow_start: f64,
    /// Recovery from the first loss, if there is one.
    pub first_loss: f64,
    /// Congestion avoidance: all data after the first loss.
    pub remainder: f64,
    /// The delayed acknowledgement of the first segment.
    pub delayed_ack: f64,
}

impl Latency {
    /// From the SYN to the last acknowledgement.
    pub fn total(&self) -> f64 {
        self.handshake + self.slow_start + self.first_loss + self.remainder + self.delayed_ack
    }
}

impl Cardwell {
    /// What each part of the transfer takes.
    pub fn latency(&self) -> Latency {
        let (first_loss, remainder) =
            if self.loss > 0.0 { self.after_first_loss() } else { (0.0, 0.0) };
        Latency {
            handshake: self.handshake(),
            slow_start: self.slow_start(),
            first_loss,
            remainder,
            delayed_ack: self.delayed_ack,
        }
    }

    /// Each direction repeats its packet after Tₛ, 2·Tₛ, 4·Tₛ …: on average that converges below a loss
    /// of ½ only.
    fn handshake(&self) -> f64 {
        let p = self.loss;
        if p >= 0.5 {
            return f64::INFINITY;
        }
        self.rtt + self.syn_timeout * (2.0 * (1.0 - p) / (1.0 - 2.0 * p) - 2.0)
    }

    /// γ: by what factor the window grows each round, 1 + 1/b.
    fn growth(&self) -> f64 {
        1.0 + 1.0 / self.per_ack
    }

    /// The chance that any segment is lost: 1 − (1 − p)ᵈ, with the digits of a tiny `p`.
    fn any_loss(&self) -> f64 {
        -libm::expm1(self.segments * libm::log1p(-self.loss))
    }

    /// Segments that slow start sends up to its first loss, `E[d_ss]`. The paper's form exceeds the whole
    /// transfer by up to one segment; there is no more than the whole.
    pub fn sent_in_slow_start(&self) -> f64 {
        let p = self.loss;
        if p <= 0.0 {
            return self.segments;
        }
        (self.any_loss() * (1.0 - p) / p + 1.0).min(self.segments)
    }

    /// The window that slow start would reach with nothing to bound it, `E[W_ss]`.
    pub fn slow_start_window(&self) -> f64 {
        let growth = self.growth();
        self.sent_in_slow_start() * (growth - 1.0) / growth + self.initial_window / growth
    }

    fn slow_start(&self) -> f64 {
        let growth = self.growth();
        let (sent, first, largest) =
            (self.sent_in_slow_start(), self.initial_window, self.largest_window);
        let rounds_to_grow = |factor: f64| libm::log(factor) / libm::log(growth);
        let rounds = if self.slow_start_window() <= largest {
            rounds_to_grow(sent * (growth - 1.0) / first + 1.0)
        } else {
            let while_growing = (growth * largest - first) / (growth - 1.0);
            rounds_to_grow(largest / first) + 1.0 + (sent - while_growing) / largest
        };
        self.rtt * rounds
    }

    /// The first loss ends in a timeout or in fast recovery, which takes a round trip; the rest follows
    /// in congestion avoidance.
    fn after_first_loss(&self) -> (f64, f64) {
        let pftk = Pftk {
            loss: self.loss,
            rtt: self.rtt,
            first_timeout: self.first_timeout,
            per_ack: self.per_ack,
            largest_window: self.largest_window,
        };
        let by_timeout = pftk.timeout_share(self.slow_start_window());
        let timeouts = pftk.back_off() * self.first_timeout / (1.0 - self.loss);
        let recovery = by_timeout * timeouts + (1.0 - by_timeout) * self.rtt;
        let left = self.segments - self.sent_in_slow_start();
        (self.any_loss() * recovery, left / pftk.goodput())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Cardwell = Cardwell {
        segments: 14.0,
        loss: 0.0,
        rtt: 0.1,
        first_timeout: 1.0,
        initial_window: 2.0,
        per_ack: 1.0,
        largest_window: f64::INFINITY,
        syn_timeout: 3.0,
        delayed_ack: 0.0,
    };

    #[test]
    fn a_clean_transfer_doubles_its_window_each_round() {
        // 2 + 4 + 8 segments: three rounds after the handshake's one.
        let latency = CLEAN.latency();
        assert!((latency.slow_start - 0.3).abs() < 1e-12);
        assert!((latency.total() - 0.4).abs() < 1e-12);
        assert!((CLEAN.slow_start_window() - 8.0).abs() < 1e-12);
    }

    #[test]
    fn a_bounded_window_goes_on_at_a_window_a_round() {
        let bounded = Cardwell { segments: 14.0 + 80.0, largest_window: 8.0, ..CLEAN };
        assert!((bounded.latency().slow_start - (0.3 + 10.0 * 0.1)).abs() < 1e-12);
    }

    #[test]
    fn the_sum_is_continuous_where_losses_vanish() {
        let rare = Cardwell { loss: 1e-12, ..CLEAN };
        assert!((rare.latency().total() - CLEAN.latency().total()).abs() < 1e-9);
    }

    #[test]
    fn a_handshake_through_half_loss_never_ends_on_average() {
        assert!(Cardwell { loss: 0.5, ..CLEAN }.latency().total().is_infinite());
        // At 10% each way a ninth of all SYNs' first timeouts, and more for repeats: 2·(0.9/0.8 − 1)·3 s.
        let lossy = Cardwell { loss: 0.1, ..CLEAN }.latency();
        assert!((lossy.handshake - 0.85).abs() < 1e-12);
    }
}
