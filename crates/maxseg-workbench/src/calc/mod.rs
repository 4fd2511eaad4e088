//! One formula at a time: what `maxseg calc` knows of each, and how it is asked and told.
//!
//! An [`Entry`] is a constant in a file of its own under `entries`; the arithmetic is the core's.

mod answer;
mod document;
mod entries;
mod inputs;
mod parameter;
mod quantity;

pub use answer::{Answer, Figure, Unit};
pub use document::{answered_json, described_json, list_json};
pub use entries::ENTRIES;
pub use inputs::Inputs;
pub use parameter::{Described, Presence};

use crate::error::{Error, FormulaError};

/// A formula with everything that is to be known about it.
pub struct Entry {
    /// How it is called on the command line.
    pub name: &'static str,
    /// With which others it is listed.
    pub group: Group,
    /// What it says, in one line.
    pub about: &'static str,
    /// What it needs to know.
    pub parameters: &'static [Described],
    /// The formula, in the parameters' and results' words.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Where it holds, and how far it may be off.
    range: fn() -> String,
    /// Values that run.
    pub example: &'static str,
    /// Computes.
    compute: fn(&Inputs<'_>) -> Result<Answer, Error>,
}

/// What formulas are about, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What packets cost.
    Sizes,
    /// What a connection holds, and what it waits for.
    WindowsAndTimers,
    /// What losses leave.
    Loss,
    /// Links of error-prone frames.
    Frames,
}

impl Group {
    /// In the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Sizes, Self::WindowsAndTimers, Self::Loss, Self::Frames];

    /// As a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sizes => "Sizes",
            Self::WindowsAndTimers => "Windows and timers",
            Self::Loss => "Throughput under loss",
            Self::Frames => "Frames with errors",
        }
    }
}

impl Entry {
    /// Where the formula holds, and how far it may be off.
    pub fn range(&self) -> String {
        (self.range)()
    }

    /// Computes with the values of a command line.
    ///
    /// # Errors
    /// Values that do not go together.
    pub fn answer(&self, inputs: &Inputs<'_>) -> Result<Answer, Error> {
        (self.compute)(inputs)
    }
}

/// The entry of this name.
///
/// # Errors
/// There is none.
pub fn entry(name: &str) -> Result<&'static Entry, Error> {
    ENTRIES.iter().copied().find(|entry| entry.name == name).ok_or_else(|| {
        let names = ENTRIES.iter().map(|entry| entry.name);
        let similar = maxseg_core::similar::closest(name, names);
        FormulaError::Unknown { name: name.to_owned(), similar }.into()
    })
}

#[cfg(test)]
mod tests;
