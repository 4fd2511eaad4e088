//! Chance: named streams of random numbers, all from one seed.
//!
//! A number is a hash of (stream, position), not the next state of a generator. So every component
//! draws from a stream named after itself, and a new component, or one that draws more often, changes
//! no other's numbers; any draw can be repeated alone; and all machines agree to the bit.
//! The tests put the hash through batteries in the manner of Knuth and Marsaglia.

use crate::units::{Probability, Time};

/// An endless sequence of random numbers, addressed by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

/// 2⁶⁴ ÷ the golden ratio, odd: consecutive positions land far apart.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Pelle Evensen's `moremur` finaliser: every input bit reaches every output bit.
#[inline]
pub(crate) const fn mix(mut x: u64) -> u64 {
    x ^= x >> 27;
    x = x.wrapping_mul(0x3c79_ac49_2ba7_b653);
    x ^= x >> 33;
    x = x.wrapping_mul(0x1c69_b3f7_4ac4_ae35);
    x ^ (x >> 27)
}

impl Stream {
    /// The stream of this `name` under `seed`. Names are paths such as `"hop.radio.errors"`.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a keeps names apart; `mix` spreads that over the key.
        let named = name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| {
            (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { key: mix(mix(seed.wrapping_add(GOLDEN)) ^ named.rotate_left(32)) }
    }

    /// The number at `position`.
    #[inline]
    pub const fn at(&self, position: u64) -> u64 {
        mix(mix(position.wrapping_mul(GOLDEN) ^ self.key).wrapping_add(self.key))
    }

    /// Read from the beginning, one number after the other.
    pub const fn reader(self) -> Rng {
        Rng { stream: self, position: 0 }
    }
}

/// Reads a [`Stream`] from position to position.
#[derive(Debug, Clone)]
pub struct Rng {
    stream: Stream,
    position: u64,
}

impl Rng {
    /// The next number.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let number = self.stream.at(self.position);
        self.position += 1;
        number
    }

    /// Whether something with this chance happens.
    #[inline]
    pub fn happens(&mut self, chance: Threshold) -> bool {
        chance.admits(self.next_u64())
    }

    /// From 0 (included) to 1 (excluded), in steps of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: Time) -> Time {
        Time::from_secs_f64(-mean.as_secs_f64() * libm::log1p(-self.uniform()))
    }

    /// How many tries until the first success, at least one, when each succeeds with chance `p`
    /// (mean 1/p).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "never negative, and saturation at 2^64 tries is what is wanted"
    )]
    pub fn tries_until(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 1;
        }
        if p <= 0.0 {
            return u64::MAX;
        }
        let failures = libm::floor(libm::log1p(-self.uniform()) / libm::log1p(-p));
        (failures as u64).saturating_add(1)
    }
}

/// A probability as a bound on a random 64-bit number, so that a draw is one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold(Option<u64>);

impl Threshold {
    /// True for this share of all numbers, to within 2⁻⁵³.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product is below 2^64 and not negative: 1 is told apart before"
    )]
    pub fn of(p: Probability) -> Self {
        if p.get() >= 1.0 {
            return Self(None);
        }
        Self(Some((p.get() * 18_446_744_073_709_551_616.0) as u64))
    }

    /// Whether `number` lies below the bound.
    #[inline]
    pub const fn admits(self, number: u64) -> bool {
        match self.0 {
            Some(bound) => number < bound,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests;
