//! The two ends of a connection: the lower and the higher of its key.

use serde::{Deserialize, Serialize};

/// One of two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Endpoint {
    Low,
    High,
}

/// Something for each of two ends.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Pair<T> {
    pub(super) low: T,
    pub(super) high: T,
}

impl<T> Pair<T> {
    pub(super) const fn of(&self, end: Endpoint) -> &T {
        match end {
            Endpoint::Low => &self.low,
            Endpoint::High => &self.high,
        }
    }

    pub(super) const fn of_mut(&mut self, end: Endpoint) -> &mut T {
        match end {
            Endpoint::Low => &mut self.low,
            Endpoint::High => &mut self.high,
        }
    }

    /// An end's, and the other's.
    pub(super) const fn both_mut(&mut self, end: Endpoint) -> (&mut T, &mut T) {
        match end {
            Endpoint::Low => (&mut self.low, &mut self.high),
            Endpoint::High => (&mut self.high, &mut self.low),
        }
    }
}

impl Endpoint {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Low => Self::High,
            Self::High => Self::Low,
        }
    }
}
