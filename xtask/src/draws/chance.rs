//! Numbers by chance.

use std::ops::Range;

use maxseg_core::rng::Rng;

pub(crate) fn uniform(rng: &mut Rng, range: Range<f64>) -> f64 {
    range.start + (range.end - range.start) * rng.uniform()
}

pub(crate) fn log_uniform(rng: &mut Rng, range: Range<f64>) -> f64 {
    uniform(rng, range.start.ln()..range.end.ln()).exp()
}

#[expect(clippy::cast_possible_truncation, reason = "below a small number")]
pub(crate) fn below(rng: &mut Rng, count: u64) -> usize {
    (rng.next_u64() % count) as usize
}

pub(crate) fn pick<T: Copy>(rng: &mut Rng, weighted: &[(T, u64)]) -> T {
    let all: u64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut left = rng.next_u64() % all;
    for (item, weight) in weighted {
        if left < *weight {
            return *item;
        }
        left -= weight;
    }
    weighted[0].0
}

/// The nearest whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative")]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}
