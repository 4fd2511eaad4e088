use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use super::quantity::{Kind, UnitError, write_exactly};
use super::{Bytes, Time};

/// A rate in bits per second: decimal (`10 Mbit/s` is 10 000 000) and never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitsPerSec(NonZeroU64);

const MAX: u64 = 100_000_000_000_000;

const KIND: Kind = Kind {
    what: "a rate",
    base: "bits per second",
    fits: "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s",
    units: &[
        ("bit/s", 1),
        ("bit", 1),
        ("bps", 1),
        ("b/s", 1),
        ("kbit/s", 1_000),
        ("kbit", 1_000),
        ("kbps", 1_000),
        ("kb/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Mbit", 1_000_000),
        ("mbit", 1_000_000),
        ("Mbps", 1_000_000),
        ("Mb/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Gbit", 1_000_000_000),
        ("gbit", 1_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("Tbit", 1_000_000_000_000),
    ],
    max: MAX,
    range: "from 1 bit/s to 100 Tbit/s, and never zero",
};

impl BitsPerSec {
    /// `n` bits per second; `None` for zero, which is no rate.
    pub const fn new(n: u64) -> Option<Self> {
        match NonZeroU64::new(n) {
            Some(n) => Some(Self(n)),
            None => None,
        }
    }

    /// In bits per second.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// How long `bytes` take on the wire at this rate, to the nearest nanosecond below.
    pub fn time_for(self, bytes: Bytes) -> Time {
        self.time_for_bits(bytes.bits())
    }

    /// How long so many bits take, likewise.
    pub fn time_for_bits(self, bits: u64) -> Time {
        let nanos = u128::from(bits) * 1_000_000_000 / u128::from(self.get());
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// How many bytes this rate carries in `span`, rounded down: the bandwidth-delay product.
    pub fn bytes_in(self, span: Time) -> Bytes {
        let bits = u128::from(self.get()) * u128::from(span.as_nanos()) / 1_000_000_000;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

impl FromStr for BitsPerSec {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::new(KIND.parse(text)?).ok_or_else(|| KIND.out_of_range(text))
    }
}

impl fmt::Display for BitsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units =
            [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
        write_exactly(f, self.get(), &units)
    }
}

super::quantity_as_text!(BitsPerSec, "a rate", "10 Mbit/s");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal_and_carry_their_unit() {
        let cases = [
            ("10Mbit/s", Some(10_000_000)),
            ("10 Mbit", Some(10_000_000)), // as `tc` writes it
            ("28.8 kbit/s", Some(28_800)),
            ("10", None),          // no unit: 10 what?
            ("10 MB/s", None),     // bytes are not bits
            ("0 bit/s", None),     // never zero
            ("0.5 bit/s", None),   // not a whole number of bits
            ("1000 Tbit/s", None), // beyond any wire
        ];
        for (text, want) in cases {
            assert_eq!(text.parse().ok().map(BitsPerSec::get), want, "{text}");
        }
    }

    #[test]
    fn a_packet_takes_its_time() {
        let rate: BitsPerSec = "2 Mbit/s".parse().unwrap();
        assert_eq!(rate.time_for(Bytes::new(576)), Time::from_nanos(2_304_000));
        assert_eq!(rate.bytes_in(Time::from_millis(440)), Bytes::new(110_000));
    }
}
