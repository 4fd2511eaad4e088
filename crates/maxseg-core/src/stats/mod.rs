//! Means of repeated runs and how far they can be trusted; histograms of times.

mod histogram;
mod seen;

pub use histogram::Histogram;
pub use seen::Seen;

/// Mean and spread of independent samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Summary {
    /// How many samples.
    pub n: usize,
    /// Their mean; 0 for none.
    pub mean: f64,
    /// Their standard deviation (n − 1); 0 below two.
    pub sd: f64,
}

impl Summary {
    /// Of these samples. Two passes, so that close samples keep their spread.
    pub fn of(samples: &[f64]) -> Self {
        let n = samples.len();
        if n == 0 {
            return Self::default();
        }
        // Equal samples have no spread; their mean may be a rounding error away from them.
        if samples.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq()) {
            return Self { n, mean: samples[0], sd: 0.0 };
        }
        let mean = samples.iter().sum::<f64>() / n as f64;
        let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
        let sd = if n < 2 { 0.0 } else { libm::sqrt(squares / (n - 1) as f64) };
        Self { n, mean, sd }
    }

    /// Coefficient of variation of the samples themselves, not of what they are drawn from: their standard deviation (n) as
    /// a share of the mean; `None` without a mean above 0.
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        let of_all = (self.n.saturating_sub(1)) as f64 / self.n.max(1) as f64;
        (self.mean > 0.0).then(|| self.sd * libm::sqrt(of_all) / self.mean)
    }

    /// Standard error of the mean; `None` below two samples.
    pub fn standard_error(&self) -> Option<f64> {
        (self.n >= 2).then(|| self.sd / libm::sqrt(self.n as f64))
    }

    /// Half-width of the 95% confidence interval of the mean (Student t); `None` below two samples.
    pub fn ci95(&self) -> Option<f64> {
        self.interval(|freedom| student_t(0.975, freedom))
    }

    /// Half-width of the confidence interval with this quantile of Student's t, by degrees of freedom: for
    /// whoever has many means of equally many samples, because finding a quantile takes long.
    pub fn interval(&self, quantile: impl FnOnce(f64) -> f64) -> Option<f64> {
        let error = self.standard_error()?;
        Some(if error > 0.0 { quantile((self.n - 1) as f64) * error } else { 0.0 })
    }
}

/// The median, the upper one of two; `None` of nothing.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Half-width of the confidence interval of the difference of two means whose spreads may differ
/// (Welch), two-sided at `confidence`; 0 where neither varies.
pub fn welch_interval(a: &Summary, b: &Summary, confidence: f64) -> f64 {
    let part = |s: &Summary| {
        if s.n < 2 { 0.0 } else { s.sd * s.sd / s.n as f64 }
    };
    let (va, vb) = (part(a), part(b));
    if va + vb <= 0.0 {
        return 0.0;
    }
    let share = |v: f64, s: &Summary| {
        if s.n < 2 { 0.0 } else { v * v / (s.n - 1) as f64 }
    };
    let freedom = (va + vb) * (va + vb) / (share(va, a) + share(vb, b));
    student_t(f64::midpoint(1.0, confidence), freedom) * libm::sqrt(va + vb)
}

/// The value below which Student's t with `freedom` degrees falls with probability `p` (above one
/// half), by bisection of the distribution function.
pub fn student_t(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_cdf(high, freedom) < p && high < 1e9 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if student_cdf(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// P(T ≤ t) for t ≥ 0.
fn student_cdf(t: f64, freedom: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The regularised incomplete beta function Iₓ(a, b), by its continued fraction (Abramowitz and
/// Stegun 26.5.8).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast only on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    let terms = (1..500).flat_map(|m| {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        [even, odd]
    });
    libm::exp(front) / (a * continued_fraction(1.0 - (a + b) * x / (a + 1.0), terms))
}

/// 1 + t₁/(1 + t₂/(1 + …)) with 1 + t₁ given as `first`, by Lentz's method.
fn continued_fraction(first: f64, terms: impl Iterator<Item = f64>) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut value = away_from_zero(first);
    let (mut numerator, mut denominator) = (1.0, 1.0 / value);
    for term in terms {
        denominator = 1.0 / away_from_zero(1.0 + term * denominator);
        numerator = away_from_zero(1.0 + term / numerator);
        value /= numerator * denominator;
        if (numerator * denominator - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_t_as_in_the_tables() {
        // p, degrees of freedom, tabulated value.
        let cases = [
            (0.975, 1.0, 12.706),
            (0.975, 4.0, 2.776),
            (0.975, 9.0, 2.262),
            (0.975, 29.0, 2.045),
            (0.975, 1e6, 1.960),
            (0.995, 10.0, 3.169),
            (0.9995, 4.0, 8.610),
        ];
        for (p, freedom, want) in cases {
            let got = student_t(p, freedom);
            assert!((got - want).abs() < 6e-4, "t({p}, {freedom}) = {got}, not {want}");
        }
    }

    #[test]
    fn mean_spread_and_interval() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((summary.mean - 5.0).abs() < 1e-12);
        assert!((summary.sd - 2.138_09).abs() < 1e-5);
        assert!((summary.ci95().unwrap() - 1.787_5).abs() < 1e-3);
        let equal = Summary::of(&[0.1; 10]);
        assert_eq!((equal.mean.to_bits(), equal.sd.to_bits()), (0.1_f64.to_bits(), 0));
        assert_eq!(Summary::of(&[3.0]).ci95(), None);
        assert_eq!(Summary::of(&[]).ci95(), None);
    }

    #[test]
    fn welch_with_one_constant_side_is_students() {
        let constant = Summary { n: 10, mean: 1.0, sd: 0.0 };
        let varying = Summary { n: 5, mean: 1.1, sd: 0.2 };
        let want = student_t(0.975, 4.0) * 0.2 / libm::sqrt(5.0);
        assert!((welch_interval(&constant, &varying, 0.95) - want).abs() < 1e-9);
        assert!(welch_interval(&constant, &constant, 0.9999).abs() < 1e-12);
    }
}
