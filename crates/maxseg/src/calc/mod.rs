//! One formula at a time: what `maxseg calc` knows of each, and how it is asked and told.
//!
//! An [`Entry`] is a constant in a file of its own under `entries`; the arithmetic is the core's.

mod answer;
mod entries;
mod inputs;
mod page;
mod parameter;
mod quantity;

pub(crate) use answer::{Answer, Unit};
pub(crate) use entries::ENTRIES;
pub(crate) use inputs::Inputs;
pub(crate) use page::{answered, answered_json, described, described_json, list, list_json};
use parameter::Described;

use crate::failure::Failure;

/// A formula with everything that is to be known about it.
pub(crate) struct Entry {
    /// How it is called on the command line.
    pub(crate) name: &'static str,
    /// With which others it is listed.
    pub(crate) group: Group,
    /// What it says, in one line.
    pub(crate) about: &'static str,
    /// What it needs to know.
    parameters: &'static [Described],
    /// The formula, in the parameters' and results' words.
    formula: &'static str,
    /// Where it comes from.
    source: &'static str,
    /// Where it holds, and how far it may be off.
    range: fn() -> String,
    /// Values that run.
    pub(crate) example: &'static str,
    /// Computes.
    compute: fn(&Inputs<'_>) -> Result<Answer, Failure>,
}

/// What formulas are about, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
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
    const ALL: [Self; 4] = [Self::Sizes, Self::WindowsAndTimers, Self::Loss, Self::Frames];

    const fn title(self) -> &'static str {
        match self {
            Self::Sizes => "Sizes",
            Self::WindowsAndTimers => "Windows and timers",
            Self::Loss => "Throughput under loss",
            Self::Frames => "Frames with errors",
        }
    }
}

impl Entry {
    /// Computes with the values of a command line.
    pub(crate) fn answer(&self, inputs: &Inputs<'_>) -> Result<Answer, Failure> {
        (self.compute)(inputs)
    }
}

/// The entry of this name.
pub(crate) fn entry(name: &str) -> Result<&'static Entry, Failure> {
    ENTRIES.iter().copied().find(|entry| entry.name == name).ok_or_else(|| {
        let names = ENTRIES.iter().map(|entry| entry.name);
        let hint = match maxseg_core::similar::closest(name, names) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "`maxseg calc --list` lists them".to_owned(),
        };
        Failure::with_hint(format!("there is no formula `{name}`"), hint)
    })
}

#[cfg(test)]
mod tests;
