//! How far a number of one point is above that of another.

use crate::stats::Summary;

/// The ratio of the means of a number at two points, by pairs of runs with the same draws: of the means that tables show, not the
/// mean of ratios, which runs that differ by chance move away from it.
#[derive(Debug, Clone)]
pub(super) struct Ratio {
    /// Its logarithm.
    log: f64,
    /// What each pair adds to its error: how far both are from their means, as shares of these.
    asides: Vec<f64>,
}

impl Ratio {
    /// Of a number at the second point over the same at the first; `None` without pairs, or where one of the means is 0.
    pub(super) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let mean = |of: fn(&(f64, f64)) -> f64| {
            Summary::of(&pairs.iter().map(of).collect::<Vec<_>>()).mean
        };
        let (before, after) = (mean(|pair| pair.0), mean(|pair| pair.1));
        (before > 0.0 && after > 0.0).then(|| Self {
            log: libm::log(after / before),
            asides: pairs.iter().map(|(a, b)| b / after - a / before).collect(),
        })
    }

    /// This ratio over another of the same pairs.
    pub(super) fn over(mut self, other: &Self) -> Self {
        self.log -= other.log;
        for (aside, of_other) in self.asides.iter_mut().zip(&other.asides) {
            *aside -= of_other;
        }
        self
    }

    /// What is below 1 above it, and the other way round.
    pub(super) fn inverse(mut self) -> Self {
        self.log = -self.log;
        for aside in &mut self.asides {
            *aside = -*aside;
        }
        self
    }

    /// Its logarithm, with the spread of the pairs.
    pub(super) fn log(&self) -> Summary {
        let around: Vec<f64> = self.asides.iter().map(|aside| self.log + aside).collect();
        Summary::of(&around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_ratio_of_the_means_that_a_table_shows() {
        let ratio = Ratio::of(&[(10.0, 40.0), (30.0, 40.0)]).unwrap().log();
        assert!((libm::exp(ratio.mean) - 2.0).abs() < 1e-12, "the mean of 4 and 4/3 is 2.67");
        assert!(ratio.ci95().unwrap() > 1.0);
        let alike = Ratio::of(&[(10.0, 20.0), (30.0, 60.0)]).unwrap().log();
        assert!(alike.ci95().unwrap() < 1e-9, "pairs that go together leave no doubt");
    }

    #[test]
    fn over_nothing_there_is_none() {
        assert!(Ratio::of(&[(0.0, 5.0)]).is_none() && Ratio::of(&[]).is_none());
    }

    #[test]
    fn one_over_another_has_the_error_of_both() {
        let rate = Ratio::of(&[(1.0, 2.0), (1.0, 2.0)]).unwrap();
        let ping = Ratio::of(&[(1.0, 4.0), (1.0, 4.0)]).unwrap();
        let power = rate.clone().over(&ping).log();
        assert!((libm::exp(power.mean) - 0.5).abs() < 1e-12);
        assert!((libm::exp(rate.inverse().log().mean) - 0.5).abs() < 1e-12);
    }
}
