//! TFRC's throughput equation, RFC 5348 §3.1: PFTK's approximation without its bound on the share of
//! timeouts.

/// What the equation needs to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tfrc {
    /// Segment size s in bytes, headers excluded.
    pub segment: f64,
    /// Round trip R in seconds.
    pub rtt: f64,
    /// Loss *events* as a share of packets, p; above 0 and at most 1. Losses within one round trip are
    /// one event.
    pub loss_events: f64,
    /// The retransmission timeout `t_RTO` in seconds.
    pub timeout: f64,
    /// Packets per acknowledgement, b.
    pub per_ack: f64,
}

impl Tfrc {
    /// With what RFC 5348 recommends: one packet per acknowledgement, and a timeout of four round trips.
    pub const fn recommended(segment: f64, rtt: f64, loss_events: f64) -> Self {
        Self { segment, rtt, loss_events, timeout: 4.0 * rtt, per_ack: 1.0 }
    }

    /// The rate that a TCP would have, `X_Bps`, in bytes per second.
    pub fn rate(&self) -> f64 {
        let (p, b) = (self.loss_events, self.per_ack);
        let rounds = self.rtt * libm::sqrt(2.0 * b * p / 3.0);
        let timeouts = self.timeout * self.timeouts_per_loss() * p * (1.0 + 32.0 * p * p);
        self.segment / (rounds + timeouts)
    }

    /// How many timeouts the equation counts for each loss, 3·√(3bp/8): a share while it is below 1, which
    /// PFTK takes for its most.
    pub fn timeouts_per_loss(&self) -> f64 {
        3.0 * libm::sqrt(3.0 * self.per_ack * self.loss_events / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pftk::Pftk;

    #[test]
    fn it_is_pftks_approximation_while_timeouts_are_rare() {
        for per_ack in [1.0, 2.0] {
            let pftk = Pftk {
                loss: 0.01,
                rtt: 0.1,
                first_timeout: 0.4,
                per_ack,
                largest_window: f64::INFINITY,
            };
            let tfrc = Tfrc { per_ack, ..Tfrc::recommended(1460.0, 0.1, 0.01) };
            assert!((tfrc.rate() / (1460.0 * pftk.approximate_send_rate()) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn and_less_where_every_loss_is_a_timeout() {
        let tfrc = Tfrc::recommended(1460.0, 0.1, 0.5);
        let pftk = Pftk {
            loss: 0.5,
            rtt: 0.1,
            first_timeout: 0.4,
            per_ack: 1.0,
            largest_window: f64::INFINITY,
        };
        assert!(tfrc.rate() < 1460.0 * pftk.approximate_send_rate());
    }
}
