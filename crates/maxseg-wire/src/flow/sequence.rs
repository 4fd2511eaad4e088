//! Sequence numbers that wrap, as offsets that do not.

use serde::{Deserialize, Serialize};

/// Turns 32-bit sequence numbers into offsets from the first byte of payload: the byte behind a SYN has
/// offset 0, the SYN itself −1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Sequence {
    /// The number of the byte with offset 0.
    base: u32,
}

impl Sequence {
    /// Offsets are counted from the byte with this number.
    pub(crate) const fn from(base: u32) -> Self {
        Self { base }
    }

    /// The number of the byte at an offset.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2³²")]
    pub(crate) const fn number(self, offset: i64) -> u32 {
        self.base.wrapping_add(offset as u32)
    }

    /// The offset with this number that lies nearest to `near`: within 2³¹ of it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2³²")]
    #[expect(clippy::cast_possible_wrap, reason = "the nearer way round")]
    pub(crate) const fn offset(self, number: u32, near: i64) -> i64 {
        let there = self.base.wrapping_add(near as u32);
        near + number.wrapping_sub(there) as i32 as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_offsets_do_not() {
        let sequence = Sequence::from(u32::MAX - 9);
        let cases = [
            (u32::MAX - 9, 0, 0),
            (u32::MAX - 10, 0, -1),         // the SYN
            (90, 0, 100),                   // behind the wrap
            (90, 1 << 32, (1 << 32) + 100), // the second time round
            (u32::MAX - 9, (1 << 32) + 50, 1 << 32),
        ];
        for (number, near, want) in cases {
            assert_eq!(sequence.offset(number, near), want, "{number} near {near}");
        }
    }
}
