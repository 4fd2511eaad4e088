use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;
use std::time::Duration;

use super::quantity::{Kind, UnitError, write_exactly};

/// A span of time in whole nanoseconds, and at once a point on a run's own clock: the span since the
/// run began, or that since 1970 in a capture. Nothing here reads a clock; a run of 584 years fits.
///
/// One type serves both because the points of a run are counted from zero, and the simulator's
/// inner loop pays for each conversion (`std::time::Duration` takes 12 bytes and a division).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

const KIND: Kind = Kind {
    what: "a time",
    base: "nanoseconds",
    fits: "ns, us, ms, s, min, h",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000), // the micro sign
        ("μs", 1_000), // the Greek letter
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("sec", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    max: 100 * 365 * 86_400 * 1_000_000_000,
    range: "from 0 s to 100 years",
};

impl Time {
    /// The beginning of a run; no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// `n` milliseconds; what does not fit gives [`Time::NEVER`].
    pub const fn from_millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// `n` seconds; what does not fit gives [`Time::NEVER`].
    pub const fn from_secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }

    /// The nearest whole nanosecond to `seconds`; negative and undefined values give zero, and what
    /// does not fit gives [`Time::NEVER`].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "float to integer casts saturate, which is what the documentation promises"
    )]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(libm::round(seconds * 1e9) as u64)
    }

    /// In nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded up.
    pub const fn as_millis_up(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }

    /// In seconds, rounded to what an `f64` holds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to here, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// `n` times as long; at most [`Time::NEVER`].
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }

    /// The sum, or [`Time::NEVER`] where it does not fit.
    #[must_use]
    pub const fn saturating_add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Self) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, span: Self) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, earlier: Self) -> Self {
        Self(self.0 - earlier.0)
    }
}

impl From<Duration> for Time {
    /// What a clock measured; all that is beyond 584 years is 584 years.
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        KIND.parse(text).map(Self)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
        match self.0 {
            0 => f.pad("0 s"),
            n => write_exactly(f, n, &units),
        }
    }
}

super::quantity_as_text!(Time, "a time", "200 ms");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_their_unit() {
        let cases = [
            ("200 ms", Some(200_000_000)),
            ("200ms", Some(200_000_000)),
            ("0.5 s", Some(500_000_000)),
            ("2 min", Some(120_000_000_000)),
            ("0 s", Some(0)),
            ("1.5 ns", None),      // finer than the clock
            ("200", None),         // no unit: 200 what?
            ("200 MB", None),      // not a time
            ("-1 s", None),        // nothing happens before the run
            ("1000 y", None),      // no such unit
            ("900000000 h", None), // longer than 100 years
        ];
        for (text, want) in cases {
            assert_eq!(text.parse().ok().map(Time::as_nanos), want, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_never() {
        assert_eq!(Time::from_secs(u64::MAX), Time::NEVER);
        assert_eq!(Time::from_millis(u64::MAX), Time::NEVER);
    }

    #[test]
    fn prints_in_the_unit_that_reads_shortest() {
        let cases = [
            (2_304_000, "2.304 ms"),
            (2_304_001, "2304.001 us"),
            (440_000_000, "440 ms"),
            (500_000_000_000, "500 s"),
            (1, "1 ns"),
            (0, "0 s"),
        ];
        for (nanos, want) in cases {
            assert_eq!(Time::from_nanos(nanos).to_string(), want);
        }
    }

    #[test]
    fn a_missing_unit_names_those_that_fit() {
        let error = "200".parse::<Time>().unwrap_err().to_string();
        assert_eq!(error, "`200` has no unit; a time needs one of: ns, us, ms, s, min, h");
    }
}
