//! What repeating lost frames on the link leaves of their losses.

use crate::units::Probability;

/// Automatic repeat request: a lost frame is sent again, each try independent of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arq {
    /// Repeats of a frame, after which its packet dies.
    pub retries: u32,
}

impl Arq {
    /// The chance that a frame is lost for good when each try is with chance `e`: e^(R+1).
    #[must_use]
    pub fn residual(&self, e: Probability) -> Probability {
        Probability::clamped(libm::pow(e.get(), f64::from(self.retries) + 1.0))
    }

    /// How often a frame is on the air on average: (1 − e^(R+1)) / (1 − e).
    pub fn mean_tries(&self, e: Probability) -> f64 {
        if e.get() >= 1.0 {
            return f64::from(self.retries) + 1.0;
        }
        self.residual(e).complement() / e.complement()
    }
}

/// The share of tries that bring a frame across, 1 − e: what repeats leave of the channel, whatever the
/// segment size and however many there may be.
pub fn channel_efficiency(e: Probability) -> f64 {
    e.complement()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_repeats_make_a_radio_link_clean() {
        let e = Probability::new(0.05).unwrap();
        let arq = Arq { retries: 3 };
        assert!((arq.residual(e).get() - 6.25e-6).abs() < 1e-15);
        // A segment of twelve such frames: 7.5e-5, where one in two was lost.
        assert!((arq.residual(e).at_least_once_in(12).get() - 7.5e-5).abs() < 1e-8);
        // A frame that gives up still used all its tries; the rest share what 1 − e leaves.
        let delivered_per_try = arq.residual(e).complement() / arq.mean_tries(e);
        assert!((delivered_per_try - channel_efficiency(e)).abs() < 1e-12);
        assert!((arq.mean_tries(Probability::ALWAYS) - 4.0).abs() < 1e-12);
    }
}
