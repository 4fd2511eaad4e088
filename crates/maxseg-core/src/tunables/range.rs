//! The values that a tunable takes.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::excerpt::shortened;

/// Numbers from `min` to `max`, words, or what only a machine can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The least number; `None` where there are no numbers.
    pub min: Option<i64>,
    /// The largest number.
    pub max: Option<i64>,
    /// Words beside the numbers.
    #[serde(default)]
    pub words: Vec<String>,
    /// In words, where the values depend on the machine.
    pub described: Option<String>,
}

/// A value that a tunable does not take.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ValueError {
    /// It has too few or too many numbers.
    #[error("it takes {}, not {got}", numbers(.items))]
    Items {
        /// What each number is.
        items: Vec<String>,
        /// How many were given.
        got: usize,
    },
    /// It is neither a number nor one of the words.
    #[error("`{value}` is not {range}")]
    NotOne {
        /// The value.
        value: String,
        /// What it takes.
        range: Range,
    },
    /// The number is outside of the range.
    #[error("{value} is not in the range {range}")]
    Outside {
        /// The number.
        value: String,
        /// What it takes.
        range: Range,
    },
    /// The numbers go down, where each must be at least the one before.
    #[error("the numbers {value} go down: {} in this order", .items.join(" ≤ "))]
    Order {
        /// The numbers.
        value: String,
        /// What each number is.
        items: Vec<String>,
    },
}

fn numbers(items: &[String]) -> String {
    if items.is_empty() {
        "one value".to_owned()
    } else {
        format!("{} numbers ({})", items.len(), items.join(", "))
    }
}

impl Range {
    pub(super) fn check(&self, value: &str, items: &[String]) -> Result<(), ValueError> {
        let range = || self.clone();
        let given = || shortened(value.trim(), 60).into_owned();
        if self.words.iter().any(|word| word == value.trim()) {
            return Ok(());
        }
        let words: Vec<&str> = value.split_whitespace().collect();
        if words.len() != items.len().max(1) {
            return Err(ValueError::Items { items: items.to_vec(), got: words.len() });
        }
        let (Some(min), Some(max)) = (self.min, self.max) else {
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            let is_one = self.described.is_some() && value.trim().chars().all(is_name);
            return if is_one {
                Ok(())
            } else {
                Err(ValueError::NotOne { value: given(), range: range() })
            };
        };
        let mut before = i64::MIN;
        for word in words {
            let not_one = || ValueError::NotOne { value: given(), range: range() };
            let is_number =
                word.strip_prefix('-').unwrap_or(word).bytes().all(|c| c.is_ascii_digit());
            let number: i64 = match word.parse() {
                Ok(number) => number,
                Err(_) if is_number && word != "-" => i64::MAX,
                Err(_) => return Err(not_one()),
            };
            if number < min || number > max || word.parse::<i64>().is_err() {
                return Err(ValueError::Outside {
                    value: shortened(word, 60).into_owned(),
                    range: range(),
                });
            }
            if number < before {
                return Err(ValueError::Order { value: given(), items: items.to_vec() });
            }
            before = number;
        }
        Ok(())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match (self.min, self.max) {
            (Some(0), Some(1)) => parts.push("0 or 1".to_owned()),
            (Some(min), Some(i64::MAX)) => parts.push(format!("{min} or more")),
            (Some(min), Some(max)) => parts.push(format!("{min} to {max}")),
            _ => {}
        }
        parts.extend(self.words.iter().map(|word| format!("`{word}`")));
        parts.extend(self.described.clone());
        f.write_str(&parts.join(" or "))
    }
}
