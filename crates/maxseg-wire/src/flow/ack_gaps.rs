//! Gaps between acknowledgements, by how much they cover. Behind a full link of the data they come as far apart as what they
//! cover took on it: two segments take twice as long as one. Behind a full link of their own they come at equal distances,
//! whatever they cover.

use maxseg_core::evidence::AckGaps as Found;
use serde::{Deserialize, Serialize};

/// Gaps before acknowledgements of one segment, and of more.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AckGaps {
    last: u64,
    one: Logarithms,
    more: Logarithms,
}

/// Gaps as logarithms, so that single pauses do not matter.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Logarithms {
    count: u32,
    sum: f64,
    squares: f64,
}

/// Fewer of each tell nothing.
const LEAST: u32 = 8;

impl AckGaps {
    /// An acknowledgement of new data passes at `at`; it covers so many bytes, in segments of `full`.
    pub(super) fn on_ack(&mut self, at: u64, covered: i64, full: i64) {
        let gap = at.saturating_sub(self.last);
        let is_first = self.last == 0;
        self.last = at;
        if gap == 0 || is_first {
            return;
        }
        let kind = if covered <= full { &mut self.one } else { &mut self.more };
        kind.add(logarithm(gap));
    }

    pub(super) fn found(&self) -> Option<Found> {
        if self.one.count < LEAST || self.more.count < LEAST {
            return None;
        }
        let (one, one_varies) = self.one.mean_and_deviation();
        let (more, more_varies) = self.more.mean_and_deviation();
        Some(Found {
            count: self.one.count.saturating_add(self.more.count),
            ratio: (more - one).exp(),
            deviation: one_varies.max(more_varies),
        })
    }
}

/// The natural logarithm, to a hundredth: of a number's exponent and a parabola for the rest, for every acknowledgement
/// passes here.
fn logarithm(value: u64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    const BEND: f64 = 0.3432;
    let bits = (value as f64).to_bits();
    let exponent = (bits >> 52) as f64 - 1023.0;
    let rest = (bits & MANTISSA) as f64 / (MANTISSA + 1) as f64;
    (exponent + rest + BEND * rest * (1.0 - rest)) * std::f64::consts::LN_2
}

impl Logarithms {
    fn add(&mut self, value: f64) {
        self.count = self.count.saturating_add(1);
        self.sum += value;
        self.squares += value * value;
    }

    fn mean_and_deviation(&self) -> (f64, f64) {
        let count = f64::from(self.count.max(1));
        let mean = self.sum / count;
        (mean, (self.squares / count - mean * mean).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: i64 = 1448;

    /// Acknowledgements of one segment and of two in turn; `gap` gives the microseconds before one of so many.
    fn gaps(gap: impl Fn(i64) -> u64) -> Found {
        let (mut gaps, mut at) = (AckGaps::default(), 1);
        for n in 0..100 {
            let segments = 1 + n % 2;
            at += 1000 * gap(segments);
            gaps.on_ack(at, segments * FULL, FULL);
        }
        gaps.found().unwrap()
    }

    #[test]
    fn logarithms_are_right_to_a_hundredth() {
        for value in [1_u64, 2, 3, 7, 1000, 1449, 123_456, 86_400_000_000_000] {
            assert!((logarithm(value) - (value as f64).ln()).abs() < 0.01, "{value}");
        }
    }

    #[test]
    fn a_link_of_the_data_spaces_by_bytes_and_one_of_the_acknowledgements_does_not() {
        let of_data = gaps(|segments| 600 * segments.unsigned_abs());
        assert!((of_data.ratio - 2.0).abs() < 0.01 && of_data.deviation < 0.01, "{of_data:?}");
        let of_acks = gaps(|_| 2400);
        assert!((of_acks.ratio - 1.0).abs() < 0.01 && of_acks.count == 99, "{of_acks:?}");
        assert_eq!(AckGaps::default().found(), None);
    }
}
