use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use super::quantity::{Kind, UnitError, write_exactly};

/// A number of bytes: `64 KiB` is 65 536, `64 kB` is 64 000.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

const KIND: Kind = Kind {
    what: "a size",
    base: "bytes",
    fits: "B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024)",
    units: &[
        ("B", 1),
        ("byte", 1),
        ("bytes", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
        ("TB", 1_000_000_000_000),
        ("TiB", 1 << 40),
    ],
    max: 1 << 60,
    range: "from 0 B to 2^60 bytes",
};

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// As a plain number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// In bits; what does not fit gives the largest number.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// The difference, or zero where `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        KIND.parse(text).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
        let decimal = [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
        let whole = |scale: u64| self.0 >= scale && self.0.is_multiple_of(scale);
        match binary.iter().rev().find(|(_, scale)| whole(*scale)) {
            Some(&(name, scale)) if scale > 1 => f.pad(&format!("{} {name}", self.0 / scale)),
            Some(_) | None if self.0.is_multiple_of(100) => write_exactly(f, self.0, &decimal),
            Some(_) | None => f.pad(&format!("{} B", self.0)),
        }
    }
}

super::quantity_as_text!(Bytes, "a size", "64 KiB");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_or_decimal_and_say_which() {
        let cases = [
            ("64 KiB", Some(65_536)),
            ("1 MiB", Some(1_048_576)),
            ("64 kB", Some(64_000)),
            ("1.5 KiB", Some(1_536)),
            ("64 KB", None),     // 1000 or 1024?
            ("0.3 B", None),     // not a whole byte
            ("64", None),        // no unit
            ("10 Mbit/s", None), // a rate
        ];
        for (text, want) in cases {
            assert_eq!(text.parse().ok().map(Bytes::get), want, "{text}");
        }
    }

    #[test]
    fn prints_what_it_would_read() {
        let cases = [(65_536, "64 KiB"), (64_000, "64 kB"), (1_460, "1460 B"), (0, "0 B")];
        for (bytes, want) in cases {
            assert_eq!(Bytes::new(bytes).to_string(), want);
        }
    }
}
