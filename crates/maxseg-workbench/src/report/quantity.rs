//! What pictures show of a sweep: goodput, and round trips under load.

use maxseg_core::outcome::Outcome;
use maxseg_core::results::Group;

use super::chart::Shades;
use super::marks::goodput_title;
use super::words;

/// A number of an outcome that has pictures: one colour scale wherever it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Goodput,
    Ping,
}

impl Quantity {
    pub(super) fn of(self, outcome: &Outcome) -> Option<f64> {
        match self {
            Self::Goodput => outcome.headline_goodput_bps(),
            Self::Ping => outcome.ping_mean_s,
        }
    }

    /// What it is called for these.
    pub(super) fn title<'a: 'g, 'g>(
        self,
        groups: impl IntoIterator<Item = &'g Group<'a>>,
    ) -> String {
        match self {
            Self::Goodput => goodput_title(groups),
            Self::Ping => "mean ping".to_owned(),
        }
    }

    pub(super) fn write(self) -> fn(f64) -> String {
        match self {
            Self::Goodput => words::round_rate,
            Self::Ping => words::time,
        }
    }

    pub(super) const fn shades(self) -> Shades {
        match self {
            Self::Goodput => Shades::Goodput,
            Self::Ping => Shades::Ping,
        }
    }

    /// A unit for numbers about this one, in words and in base units.
    pub(super) fn unit(self, about: f64) -> (&'static str, f64) {
        match self {
            Self::Goodput => words::rate_unit(about),
            Self::Ping if about < 0.001 => ("us", 1e-6),
            Self::Ping if about < 1.0 => ("ms", 1e-3),
            Self::Ping => ("s", 1.0),
        }
    }
}
