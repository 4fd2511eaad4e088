//! The two ends of a connection: the lower and the higher of its key.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// One of two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Endpoint {
    Low,
    High,
}

/// Something for each of two ends.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Pair<T> {
    pub(crate) low: T,
    pub(crate) high: T,
}

impl Pair<SocketAddr> {
    /// The likely client where no SYN was seen: servers have the smaller port.
    pub(crate) fn likely_client(&self) -> Endpoint {
        if self.low.port() > self.high.port() { Endpoint::Low } else { Endpoint::High }
    }
}

impl<T> Pair<T> {
    pub(crate) const fn of(&self, end: Endpoint) -> &T {
        match end {
            Endpoint::Low => &self.low,
            Endpoint::High => &self.high,
        }
    }

    pub(crate) const fn of_mut(&mut self, end: Endpoint) -> &mut T {
        match end {
            Endpoint::Low => &mut self.low,
            Endpoint::High => &mut self.high,
        }
    }

    /// An end's, and the other's.
    pub(crate) const fn both_mut(&mut self, end: Endpoint) -> (&mut T, &mut T) {
        match end {
            Endpoint::Low => (&mut self.low, &mut self.high),
            Endpoint::High => (&mut self.high, &mut self.low),
        }
    }
}

impl Endpoint {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Low => Self::High,
            Self::High => Self::Low,
        }
    }
}
