//! What parity frames leave of frame losses.

use crate::units::Probability;

/// A block code that any n of its n + m frames restore (maximum distance separable, as Reed-Solomon is).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fec {
    /// Frames of data, n.
    pub data: u32,
    /// Frames of parity, m: so many losses are mended.
    pub parity: u32,
}

impl Fec {
    /// The chance that more frames are lost than the parity mends, when each is with chance `e`,
    /// independent of the others: 1 − Σ C(n+m, k)·eᵏ·(1 − e)^(n+m−k) over k = 0 … m.
    ///
    /// Summed from its largest term outwards, on the side of the mode that keeps the digits.
    #[must_use]
    pub fn segment_loss(&self, e: Probability) -> Probability {
        let sent = f64::from(self.data) + f64::from(self.parity);
        match e.get() {
            _ if self.data == 0 => Probability::NEVER,
            p if p <= 0.0 => Probability::NEVER,
            p if p >= 1.0 => Probability::ALWAYS,
            p if f64::from(self.parity) + 1.0 > p * sent => self.more_than_parity(p, sent),
            p => Probability::clamped(1.0 - self.at_most_parity(p, sent)),
        }
    }

    fn more_than_parity(self, p: f64, sent: f64) -> Probability {
        let mut lost = f64::from(self.parity) + 1.0;
        let mut term = exactly(lost, sent, p);
        let mut sum = 0.0;
        while lost <= sent && term > sum * f64::EPSILON {
            sum += term;
            term *= (sent - lost) / (lost + 1.0) * p / (1.0 - p);
            lost += 1.0;
        }
        Probability::clamped(sum)
    }

    fn at_most_parity(self, p: f64, sent: f64) -> f64 {
        let mut lost = f64::from(self.parity);
        let mut term = exactly(lost, sent, p);
        let mut sum = 0.0;
        while lost >= 0.0 && term > sum * f64::EPSILON {
            sum += term;
            term *= lost / (sent - lost + 1.0) * (1.0 - p) / p;
            lost -= 1.0;
        }
        sum
    }

    /// The share of frames that carry data.
    pub fn code_rate(&self) -> f64 {
        f64::from(self.data) / (f64::from(self.data) + f64::from(self.parity))
    }
}

/// C(n, k)·pᵏ·(1 − p)^(n−k), through logarithms: n may be large.
fn exactly(k: f64, n: f64, p: f64) -> f64 {
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    libm::exp(ways + k * libm::log(p) + (n - k) * libm::log1p(-p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(data: u32, parity: u32, e: f64) -> f64 {
        Fec { data, parity }.segment_loss(Probability::new(e).unwrap()).get()
    }

    #[test]
    fn without_parity_it_is_equation_2() {
        for e in [1e-9, 0.01, 0.3, 0.9] {
            let plain = Probability::new(e).unwrap().at_least_once_in(12).get();
            assert!((loss(12, 0, e) / plain - 1.0).abs() < 1e-12, "{e}");
        }
    }

    #[test]
    fn small_cases_by_hand() {
        // One frame and one copy of it: both must be lost.
        assert!((loss(1, 1, 0.1) - 0.01).abs() < 1e-15);
        // Two of three lost, or all.
        assert!((loss(2, 1, 0.1) - (3.0 * 0.01 * 0.9 + 0.001)).abs() < 1e-15);
    }

    #[test]
    fn both_sides_of_the_mode_and_the_ends() {
        let cases =
            [(12, 2, 0.5), (100, 60, 0.4), (100_000, 20_000, 0.15), (5, 3, 0.0), (5, 3, 1.0)];
        for (data, parity, e) in cases {
            let (less, more) = (loss(data, parity, e), loss(data, parity + 1, e));
            assert!((0.0..=1.0).contains(&less) && more <= less, "{data} {parity} {e}: {less}");
        }
        // Half of all lost, no more than half mended: one in two, whichever side is summed.
        assert!((loss(6, 5, 0.5) - 0.5).abs() < 1e-12);
        assert!((loss(1, 100_000, 0.5)).abs() < 1e-12);
        assert!((loss(100_000, 1, 0.5) - 1.0).abs() < 1e-12);
    }
}
