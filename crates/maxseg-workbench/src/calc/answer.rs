//! What a formula gives: named figures with their units, and warnings.

use maxseg_core::units::approx;
use serde_json::{Value, json};

/// What came out.
#[derive(Debug, Default)]
pub struct Answer {
    /// In the order in which they are shown.
    pub figures: Vec<Figure>,
    /// Where the formula does not hold, and what else to beware of.
    pub warnings: Vec<String>,
}

/// One result.
#[derive(Debug)]
pub struct Figure {
    /// Its key in JSON.
    pub name: String,
    pub(super) amount: Amount,
}

#[derive(Debug)]
pub(super) enum Amount {
    Number(f64, Unit),
    Whole(u64, Unit),
    Word(String),
}

/// What a number counts; as JSON names it, always the base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// bit/s.
    BitsPerSec,
    /// bit/s².
    BitsPerSecSquared,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// TCP segments.
    Segments,
    /// Acknowledgements per second.
    AcksPerSec,
    /// Packets per second.
    PacketsPerSec,
    /// Frames of the link layer.
    Frames,
    /// Round trips.
    Rounds,
    /// From 0 to 1.
    Share,
    /// A quotient of like quantities.
    Ratio,
    /// A number of something that the name says.
    Count,
}

impl Unit {
    /// As JSON names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BitsPerSec => "bit/s",
            Self::BitsPerSecSquared => "bit/s^2",
            Self::Bytes => "byte",
            Self::Seconds => "s",
            Self::Segments => "segment",
            Self::AcksPerSec => "ack/s",
            Self::PacketsPerSec => "packet/s",
            Self::Frames => "frame",
            Self::Rounds => "round",
            Self::Share | Self::Ratio | Self::Count => "1",
        }
    }

    /// A value for people.
    fn text(self, value: f64) -> String {
        match self {
            Self::BitsPerSec => approx::rate(value),
            Self::BitsPerSecSquared => format!("{} per second", approx::rate(value)),
            Self::Seconds => approx::time(value),
            Self::Share => approx::percent(value),
            Self::Ratio | Self::Count => whole_or_short(value),
            Self::Bytes if value >= 1e10 => format!("{} GB", approx::digits(value / 1e9)),
            Self::Bytes => format!("{} B", whole_or_short(value)),
            Self::Segments | Self::Frames | Self::Rounds => {
                format!("{} {}s", whole_or_short(value), self.word())
            }
            Self::AcksPerSec | Self::PacketsPerSec => {
                let things = self.word().trim_end_matches("/s");
                format!("{} {things}s/s", approx::digits(value))
            }
        }
    }
}

impl Answer {
    pub(super) fn number(mut self, name: impl Into<String>, value: f64, unit: Unit) -> Self {
        self.figures.push(Figure { name: name.into(), amount: Amount::Number(value, unit) });
        self
    }

    pub(super) fn count(mut self, name: &str, value: u64, unit: Unit) -> Self {
        self.figures.push(Figure { name: name.to_owned(), amount: Amount::Whole(value, unit) });
        self
    }

    pub(super) fn word(mut self, name: &str, word: &str) -> Self {
        let amount = Amount::Word(word.to_owned());
        self.figures.push(Figure { name: name.to_owned(), amount });
        self
    }

    pub(super) fn warn(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }

    pub(super) fn warn_if(self, condition: bool, text: &str) -> Self {
        if condition { self.warn(text) } else { self }
    }
}

impl Figure {
    /// The number, in the base unit of its [`unit`](Self::unit); infinite where there is no limit, `None` of a word.
    pub fn value(&self) -> Option<f64> {
        match self.amount {
            Amount::Word(_) => None,
            Amount::Whole(value, _) => Some(value as f64),
            Amount::Number(value, _) => Some(value),
        }
    }

    /// What the number counts; `None` of a word.
    pub const fn unit(&self) -> Option<Unit> {
        match self.amount {
            Amount::Word(_) => None,
            Amount::Whole(_, unit) | Amount::Number(_, unit) => Some(unit),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        match &self.amount {
            Amount::Word(word) => word.clone(),
            Amount::Whole(value, unit) => unit.text(*value as f64),
            Amount::Number(value, _) if !value.is_finite() => "without limit".to_owned(),
            Amount::Number(value, unit) => unit.text(*value),
        }
    }

    /// For programs: what is not finite is `null`.
    pub(super) fn json(&self) -> Value {
        let (value, unit) = match &self.amount {
            Amount::Word(word) => (json!(word), None),
            Amount::Whole(value, unit) => (json!(value), Some(unit.word())),
            Amount::Number(value, unit) => (json!(value), Some(unit.word())),
        };
        json!({ "name": self.name, "value": value, "unit": unit })
    }
}

/// A whole number in full, another with three digits.
fn whole_or_short(value: f64) -> String {
    if value.fract().abs() < 1e-9 { format!("{value:.0}") } else { approx::digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_get_short_numbers_and_programs_all_of_them() {
        let answer = Answer::default()
            .count("bdp", 100_000, Unit::Bytes)
            .number("rate", 6_424_000.0, Unit::BitsPerSec)
            .number("window", f64::INFINITY, Unit::Segments)
            .number("window", 8.25, Unit::Segments)
            .word("region", "cubic");
        let texts: Vec<String> = answer.figures.iter().map(Figure::text).collect();
        assert_eq!(texts, ["100000 B", "6.42 Mbit/s", "without limit", "8.25 segments", "cubic"]);
        assert!(answer.figures[0].json()["value"].is_u64());
        assert_eq!(answer.figures[1].json()["value"], 6_424_000.0);
        assert!(answer.figures[2].json()["value"].is_null());
        assert!(answer.figures[4].json()["unit"].is_null());
    }

    #[test]
    fn a_figure_gives_its_number_and_unit() {
        let answer = Answer::default()
            .count("bdp", 100_000, Unit::Bytes)
            .number("rate", 722_000.0, Unit::BitsPerSec)
            .word("region", "cubic");
        let of = |figure: &Figure| (figure.value().map(|value| format!("{value}")), figure.unit());
        let figures: Vec<_> = answer.figures.iter().map(of).collect();
        let want = [
            (Some("100000".to_owned()), Some(Unit::Bytes)),
            (Some("722000".to_owned()), Some(Unit::BitsPerSec)),
            (None, None),
        ];
        assert_eq!(figures, want);
    }
}
