//! One parser for every quantity: a decimal number and a unit, exact to the base unit.

use thiserror::Error;

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// A number stands alone.
    #[error("`{number}` has no unit; {what} needs one of: {fits}")]
    MissingUnit {
        /// The number as written.
        number: String,
        /// What was to be read, with its article ("a rate").
        what: &'static str,
        /// The units that fit, separated by commas.
        fits: &'static str,
    },
    /// The unit is not one of this quantity's.
    #[error("`{unit}` is not a unit of {what}; use one of: {fits}")]
    WrongUnit {
        /// The unit as written.
        unit: String,
        /// What was to be read, with its article.
        what: &'static str,
        /// The units that fit, separated by commas.
        fits: &'static str,
    },
    /// The number has more digits than any value in range.
    #[error("`{text}` is too large: {what} is {range}")]
    TooLarge {
        /// The text as written.
        text: String,
        /// What was to be read, with its article.
        what: &'static str,
        /// The allowed range in words.
        range: &'static str,
    },
    /// There is no number in front.
    #[error("`{text}` is not {what}: it does not begin with a number")]
    NoNumber {
        /// The text as written.
        text: String,
        /// What was to be read, with its article.
        what: &'static str,
    },
    /// The value falls between two whole base units.
    #[error("`{text}` is not a whole number of {base}")]
    NotWhole {
        /// The text as written.
        text: String,
        /// The base unit ("nanoseconds").
        base: &'static str,
    },
    /// The value is outside what the quantity may be.
    #[error("`{text}` is out of range: {what} is {range}")]
    OutOfRange {
        /// The text as written.
        text: String,
        /// What was to be read, with its article.
        what: &'static str,
        /// The allowed range in words.
        range: &'static str,
    },
}

/// A kind of quantity: its units, largest last, each with its size in base units.
pub(super) struct Kind {
    /// With its article: "a rate".
    pub(super) what: &'static str,
    /// The base unit in the plural: "nanoseconds".
    pub(super) base: &'static str,
    /// The units to suggest, separated by commas.
    pub(super) fits: &'static str,
    /// Every accepted spelling.
    pub(super) units: &'static [(&'static str, u64)],
    /// The largest value, in base units.
    pub(super) max: u64,
    /// The range in words.
    pub(super) range: &'static str,
}

impl Kind {
    /// `text` in base units, exactly.
    pub(super) fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let trimmed = text.trim();
        let split =
            trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..split], trimmed[split..].trim());
        let negative = trimmed
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if negative {
            return Err(self.out_of_range(text));
        }
        let (mantissa, decimals) = match digits(number) {
            Digits::Of { mantissa, decimals } => (mantissa, decimals),
            Digits::None => {
                return Err(UnitError::NoNumber { text: text.to_owned(), what: self.what });
            }
            Digits::TooLarge => return Err(self.too_large(text)),
            Digits::TooFine => {
                return Err(UnitError::NotWhole { text: text.to_owned(), base: self.base });
            }
        };
        if unit.is_empty() {
            return Err(UnitError::MissingUnit {
                number: number.to_owned(),
                what: self.what,
                fits: self.fits,
            });
        }
        let Some(&(_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(UnitError::WrongUnit {
                unit: unit.to_owned(),
                what: self.what,
                fits: self.fits,
            });
        };
        let scaled = mantissa.checked_mul(u128::from(scale));
        let divisor = 10_u128.pow(decimals);
        match scaled {
            Some(value) if value % divisor != 0 => {
                Err(UnitError::NotWhole { text: text.to_owned(), base: self.base })
            }
            Some(value) if value / divisor <= u128::from(self.max) => {
                Ok(u64::try_from(value / divisor).expect("max is a u64"))
            }
            Some(_) | None => Err(self.too_large(text)),
        }
    }

    /// Below zero, or zero where that is no value.
    pub(super) fn out_of_range(&self, text: &str) -> UnitError {
        UnitError::OutOfRange { text: text.to_owned(), what: self.what, range: self.range }
    }

    fn too_large(&self, text: &str) -> UnitError {
        UnitError::TooLarge { text: text.to_owned(), what: self.what, range: self.range }
    }
}

/// A decimal number as digits.
enum Digits {
    /// A whole number, of which so many digits stand behind the point.
    Of { mantissa: u128, decimals: u32 },
    /// No number.
    None,
    /// More than 18 digits before the point.
    TooLarge,
    /// More than 18 digits behind it.
    TooFine,
}

fn digits(number: &str) -> Digits {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return Digits::None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    if whole.len() > 18 {
        return Digits::TooLarge;
    }
    if fraction.len() > 18 {
        return Digits::TooFine;
    }
    let digits = format!("0{whole}{fraction}");
    match (digits.parse(), u32::try_from(fraction.len())) {
        (Ok(mantissa), Ok(decimals)) => Digits::Of { mantissa, decimals },
        (Err(_), _) | (_, Err(_)) => Digits::None,
    }
}

/// Writes `value` in the largest of `units` (smallest first) that needs at most three decimals, so
/// that it reads short and parses back to the same value.
pub(super) fn write_exactly(
    f: &mut std::fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
) -> std::fmt::Result {
    let fits = |scale: u64| value >= scale && value.is_multiple_of((scale / 1000).max(1));
    let &(name, scale) = units.iter().rev().find(|(_, scale)| fits(*scale)).unwrap_or(&units[0]);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return f.pad(&format!("{whole} {name}"));
    }
    let thousandths = format!("{:03}", rest / (scale / 1000));
    f.pad(&format!("{whole}.{} {name}", thousandths.trim_end_matches('0')))
}
