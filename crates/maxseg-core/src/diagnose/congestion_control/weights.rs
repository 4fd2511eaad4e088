//! How much all clues together favour each algorithm.

use super::CongestionAlgorithm;

/// Those that are told apart, in the order of the weights.
const TOLD_APART: [CongestionAlgorithm; 3] =
    [CongestionAlgorithm::Reno, CongestionAlgorithm::Cubic, CongestionAlgorithm::Bbr];

/// Logarithms of likelihoods: of Reno, CUBIC and BBR.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Weights([f64; 3]);

impl Weights {
    /// A clue with these likelihoods, not all zero; it speaks against an algorithm with a weight of `most` at most.
    pub(super) fn add(&mut self, likelihoods: [f64; 3], most: f64) {
        let best = likelihoods.iter().fold(f64::MIN_POSITIVE, |best, one| best.max(*one));
        for (sum, one) in self.0.iter_mut().zip(likelihoods) {
            *sum += libm::log(one.max(f64::MIN_POSITIVE) / best).max(-most);
        }
    }

    /// Others, of which this share counts.
    pub(super) fn join(&mut self, others: &Self, share: f64) {
        for (sum, other) in self.0.iter_mut().zip(others.0) {
            *sum += share * other;
        }
    }

    /// The probability of each, if all were equally frequent.
    fn probabilities(self) -> [f64; 3] {
        let best = self.0.iter().fold(f64::MIN, |best, one| best.max(*one));
        let odds = self.0.map(|one| libm::exp(one - best));
        let all: f64 = odds.iter().sum();
        odds.map(|one| one / all)
    }

    /// The likeliest, and its probability.
    pub(super) fn best(self) -> (CongestionAlgorithm, f64) {
        let pairs = TOLD_APART.into_iter().zip(self.probabilities());
        let none = (CongestionAlgorithm::Unknown, 0.0);
        pairs.fold(none, |best, one| if one.1 > best.1 { one } else { best })
    }

    /// `reno 50%, cubic 45%, bbr 5%`.
    pub(super) fn words(self) -> String {
        let pairs = TOLD_APART.into_iter().zip(self.probabilities());
        let words = pairs.map(|(name, share)| format!("{} {:.0}%", name.word(), 100.0 * share));
        words.collect::<Vec<String>>().join(", ")
    }
}

/// The density of the normal distribution.
pub(super) fn normal(value: f64, mean: f64, deviation: f64) -> f64 {
    const ROOT_OF_TWO_PI: f64 = 2.506_628_3;
    let off = (value - mean) / deviation;
    libm::exp(-0.5 * off * off) / (deviation * ROOT_OF_TWO_PI)
}
