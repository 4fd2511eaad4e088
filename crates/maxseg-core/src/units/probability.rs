use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A share of one, from 0 to 1: written `0.01` or `"1%"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Probability(f64);

/// A number that is no probability.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ProbabilityError {
    /// Outside 0 to 1.
    #[error("`{0}` is not a probability: it must lie between 0 and 1 (or 0% and 100%)")]
    OutOfRange(String),
    /// Not a number at all.
    #[error("`{0}` is not a probability: write a number such as 0.01, or \"1%\"")]
    NotANumber(String),
}

impl Probability {
    /// It never happens.
    pub const NEVER: Self = Self(0.0);
    /// It always happens.
    pub const ALWAYS: Self = Self(1.0);

    /// `p`, unless it lies outside 0 to 1.
    ///
    /// # Errors
    /// [`ProbabilityError::OutOfRange`], also for what is not a number.
    pub fn new(p: f64) -> Result<Self, ProbabilityError> {
        if (0.0..=1.0).contains(&p) {
            Ok(Self(p))
        } else {
            Err(ProbabilityError::OutOfRange(p.to_string()))
        }
    }

    /// `p` brought into 0 to 1; for results of arithmetic, not for input.
    pub(crate) fn clamped(p: f64) -> Self {
        Self(p.clamp(0.0, 1.0))
    }

    /// As a plain number from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The chance that it does not happen, as a plain number.
    pub fn complement(self) -> f64 {
        1.0 - self.0
    }

    /// That it happens at least once in `n` independent tries: 1 − (1 − p)ⁿ, formed so that a tiny
    /// `p` keeps its digits.
    #[must_use]
    pub fn at_least_once_in(self, n: u64) -> Self {
        if self.0 >= 1.0 {
            return if n == 0 { Self::NEVER } else { Self::ALWAYS };
        }
        Self::clamped(-libm::expm1(n as f64 * libm::log1p(-self.0)))
    }

    /// That this or `other` happens, independent of each other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::clamped(self.0 + other.0 - self.0 * other.0)
    }
}

impl FromStr for Probability {
    type Err = ProbabilityError;
    fn from_str(text: &str) -> Result<Self, ProbabilityError> {
        let trimmed = text.trim();
        let (number, scale) = match trimmed.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (trimmed, 1.0),
        };
        let value: f64 =
            number.parse().map_err(|_| ProbabilityError::NotANumber(text.to_owned()))?;
        Self::new(value / scale).map_err(|_| ProbabilityError::OutOfRange(text.to_owned()))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Through twelve significant digits: 0.07 × 100 is 7.000000000000001 in binary.
        let percent: f64 = format!("{:.11e}", self.0 * 100.0).parse().unwrap_or(self.0 * 100.0);
        f.pad(&format!("{percent}%"))
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Share;
        impl serde::de::Visitor<'_> for Share {
            type Value = Probability;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability, such as 0.01 or \"1%\"")
            }
            fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<Probability, E> {
                Probability::new(n).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Probability, E> {
                self.visit_f64(n as f64)
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Probability, E> {
                self.visit_f64(n as f64)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Probability, E> {
                text.parse().map_err(E::custom)
            }
        }
        from.deserialize_any(Share)
    }
}

impl schemars::JsonSchema for Probability {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "a share: a number from 0 to 1, or text such as \"1%\"",
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?\s*%?\s*$" },
            ],
            "examples": [0.01, "1%"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_or_a_percentage() {
        let cases = [
            ("0.01", Some(0.01)),
            ("1%", Some(0.01)),
            ("100 %", Some(1.0)),
            ("1.5", None), // more than always
            ("-1%", None), // less than never
            ("NaN", None),
            ("often", None),
        ];
        for (text, want) in cases {
            assert_eq!(text.parse().ok().map(Probability::get), want, "{text}");
        }
    }

    #[test]
    fn equation_2_of_the_cellular_paper() {
        // 12 frames at 1% each: "about 11.4%".
        let p = Probability::new(0.01).unwrap().at_least_once_in(12).get();
        assert!((p - 0.113_615_128).abs() < 1e-9, "{p}");
        // A tiny chance keeps its digits, where 1 − (1 − p)ⁿ would lose eight of them.
        let tiny = Probability::new(1e-12).unwrap().at_least_once_in(3).get();
        assert!((tiny / 3e-12 - 1.0).abs() < 1e-11, "{tiny}");
    }

    #[test]
    fn prints_as_a_percentage() {
        let cases = [(0.07, "7%"), (0.0005, "0.05%"), (0.0, "0%"), (1.0, "100%")];
        for (p, want) in cases {
            assert_eq!(Probability::new(p).unwrap().to_string(), want);
        }
    }
}
