//! A token bucket that refuses.

use crate::path::PolicerSpec;
use crate::units::Time;

/// Lets packets pass as long as there are tokens for them, and delays none.
#[derive(Debug, Clone)]
pub(super) struct Policer {
    rate: u128,
    /// What the bucket holds, in bits × 10⁻⁹: what comes in a nanosecond at a bit per second.
    full: u128,
    tokens: u128,
    /// When the tokens were counted last.
    at: Time,
}

const BITS: u128 = 1_000_000_000;

impl Policer {
    pub(super) fn new(spec: PolicerSpec) -> Self {
        let full = u128::from(spec.burst.get()) * 8 * BITS;
        Self { rate: u128::from(spec.rate.get()), full, tokens: full, at: Time::ZERO }
    }

    /// The same with another bucket, which holds what was left of the tokens as far as it can.
    pub(super) fn respec(self, spec: PolicerSpec) -> Self {
        let new = Self::new(spec);
        Self { tokens: self.tokens.min(new.full), at: self.at, ..new }
    }

    /// Whether there are tokens for `bytes` at `now`; takes them if so.
    pub(super) fn passes(&mut self, now: Time, bytes: u32) -> bool {
        let come = self.rate * u128::from(now.since(self.at).as_nanos());
        self.tokens = self.full.min(self.tokens + come);
        self.at = self.at.max(now);
        let needed = u128::from(bytes) * 8 * BITS;
        let passes = needed <= self.tokens;
        if passes {
            self.tokens -= needed;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitsPerSec, Bytes};

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let rate = BitsPerSec::new(8_000_000).unwrap(); // a byte a microsecond
        let mut policer = Policer::new(PolicerSpec { rate, burst: Bytes::new(3_000) });
        let at = |micros: u64| Time::from_nanos(micros * 1_000);
        let passes = [
            (0, 1_500, true),
            (0, 1_500, true),
            (0, 40, false),  // the bucket is empty
            (39, 40, false), // a microsecond too early
            (40, 40, true),
            (10_000, 1_500, true),
            (10_000, 1_500, true), // it never holds more than 3000
            (10_000, 1, false),
        ];
        for (micros, bytes, want) in passes {
            assert_eq!(policer.passes(at(micros), bytes), want, "{bytes} bytes at {micros} us");
        }
    }
    #[test]
    fn another_bucket_has_what_was_left_as_far_as_it_holds_it() {
        let spec = |burst| PolicerSpec {
            rate: BitsPerSec::new(8_000_000).unwrap(),
            burst: Bytes::new(burst),
        };
        let left = |burst: u64| {
            let mut policer = Policer::new(spec(3_000));
            assert!(policer.passes(Time::ZERO, 2_000));
            policer.respec(spec(burst))
        };
        assert!(left(6_000).passes(Time::ZERO, 1_000));
        assert!(!left(6_000).passes(Time::ZERO, 1_001));
        assert!(!left(500).passes(Time::ZERO, 501));
        // It fills from when it was counted last.
        let mut policer = left(6_000);
        assert!(
            !policer.passes(Time::from_millis(1), 2_001)
                && policer.passes(Time::from_millis(1), 2_000)
        );
    }
}
