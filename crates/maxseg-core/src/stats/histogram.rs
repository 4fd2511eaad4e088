//! Times in buckets that are narrow everywhere: percentiles to 1.6% without keeping the samples.

use crate::units::Time;

/// A histogram of times with 64 buckets to each doubling.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    buckets: Vec<u32>,
    count: u64,
    total_nanos: u128,
    min: Option<Time>,
    max: Time,
}

const STEPS: u32 = 64;

impl Histogram {
    /// Count one.
    #[inline]
    pub fn record(&mut self, time: Time) {
        let bucket = bucket(time.as_nanos());
        match self.buckets.get_mut(bucket) {
            Some(count) => *count = count.saturating_add(1),
            None => self.begin(bucket),
        }
        self.count += 1;
        self.total_nanos += u128::from(time.as_nanos());
        self.min = Some(self.min.map_or(time, |min| min.min(time)));
        self.max = self.max.max(time);
    }

    /// The first in a bucket beyond all that there were.
    #[cold]
    fn begin(&mut self, bucket: usize) {
        self.buckets.resize(bucket, 0);
        self.buckets.push(1);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest; `None` before the first.
    pub fn min(&self) -> Option<Time> {
        self.min
    }

    /// The mean; `None` before the first.
    pub fn mean(&self) -> Option<Time> {
        let mean = self.total_nanos.checked_div(u128::from(self.count))?;
        u64::try_from(mean).ok().map(Time::from_nanos)
    }

    /// The time below or at which `share` of all lie, to 1.6%; `None` before the first.
    pub fn quantile(&self, share: f64) -> Option<Time> {
        let wanted = libm::ceil(share * self.count as f64).max(1.0);
        let mut seen = 0.0;
        let found = self.buckets.iter().position(|&n| {
            seen += f64::from(n);
            seen >= wanted
        })?;
        Some(Time::from_nanos(upper_edge(found)).min(self.max))
    }

    /// Count what `other` counted as well.
    pub fn merge(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count += other.count;
        self.total_nanos += other.total_nanos;
        self.min = [self.min, other.min].into_iter().flatten().min();
        self.max = self.max.max(other.max);
    }
}

/// Exact below 128 ns, then 64 buckets to each power of two.
fn bucket(nanos: u64) -> usize {
    let magnitude = (64 - nanos.leading_zeros()).saturating_sub(7);
    let step = usize::try_from(nanos >> magnitude).expect("below twice the steps");
    (magnitude * STEPS) as usize + step
}

/// The largest time of a bucket, in nanoseconds.
fn upper_edge(bucket: usize) -> u64 {
    let (bucket, steps) = (bucket as u64, u64::from(STEPS));
    if bucket < 2 * steps {
        return bucket;
    }
    let magnitude = bucket / steps - 1;
    let step = bucket - magnitude * steps;
    ((step + 1) << magnitude) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bucket_is_narrow_and_holds_its_times(nanos in 0..u64::MAX / 4) {
            let edge = upper_edge(bucket(nanos));
            prop_assert!(edge >= nanos);
            prop_assert!((edge - nanos) as f64 <= nanos as f64 / 64.0);
        }
    }

    #[test]
    fn quantiles_mean_and_least() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|ms| histogram.record(Time::from_millis(ms)));
        let near = |got: Option<Time>, ms: f64| {
            let got = got.unwrap().as_secs_f64() * 1000.0;
            assert!((got / ms - 1.0).abs() < 0.02, "{got} is not {ms}");
        };
        near(histogram.quantile(0.5), 50.0);
        near(histogram.quantile(0.99), 99.0);
        near(histogram.quantile(1.0), 100.0);
        near(histogram.mean(), 50.5);
        assert_eq!(histogram.min(), Some(Time::from_millis(1)));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
