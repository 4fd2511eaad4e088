//! What a link that repeats lost frames makes of its errors.

use serde::Serialize;

use crate::units::{Probability, Time};

/// Automatic repeat request: what is lost on the link is sent again there, and nobody above knows but
/// for the time that it took.
///
/// The unit is a frame, or a packet on a link without frames. A repeat errs independently of the try
/// before it: the feedback takes `delay`, by which time the channel is taken to have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Arq {
    /// Repeats of a unit, after which its packet dies.
    pub retries: u32,
    /// From a try to the next, on top of the airtime.
    pub delay: Time,
}

impl Arq {
    /// The chance that a unit is lost for good when each try is with chance `e`: e^(R+1).
    #[must_use]
    pub fn residual(&self, e: Probability) -> Probability {
        Probability::clamped(libm::pow(e.get(), f64::from(self.retries) + 1.0))
    }

    /// How often a unit is on the wire on average: (1 − e^(R+1)) ÷ (1 − e).
    pub fn mean_tries(&self, e: Probability) -> f64 {
        if e.get() >= 1.0 {
            return f64::from(self.retries) + 1.0;
        }
        self.residual(e).complement() / e.complement()
    }

    /// The share of tries that bring a unit across, 1 − e: what repeats leave of the channel, whatever
    /// the segment size and however many there may be.
    pub fn channel_efficiency(e: Probability) -> f64 {
        e.complement()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_leave_little_and_cost_as_much_as_they_mend() {
        let arq = |retries| Arq { retries, delay: Time::ZERO };
        let p = |p| Probability::new(p).unwrap();
        // Choi's frames with three repeats: 5% become 6.25·10⁻⁶, at 1.0526 tries a frame.
        assert!((arq(3).residual(p(0.05)).get() - 6.25e-6).abs() < 1e-18);
        assert!((arq(3).mean_tries(p(0.05)) - (1.0 - 6.25e-6) / 0.95).abs() < 1e-15);
        // No repeat changes nothing, and on a dead channel all are used.
        assert!((arq(0).residual(p(0.05)).get() - 0.05).abs() < 1e-15);
        assert!((arq(3).mean_tries(p(1.0)) - 4.0).abs() < 1e-15);
        // Tries times the share of them that bring a unit across are the units that come across.
        for e in [0.0, 0.05, 0.5] {
            let across = arq(3).mean_tries(p(e)) * Arq::channel_efficiency(p(e));
            assert!((across - (1.0 - arq(3).residual(p(e)).get())).abs() < 1e-15, "{e}");
        }
    }
}
