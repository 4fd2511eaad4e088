//! The strata of the runs, in equal shares: where the capture stands, and what the path or the sender does.

use serde::{Deserialize, Serialize};

/// A stratum.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Stratum {
    /// Captures at both ends, runs far from the borders between limits.
    FarEnds,
    /// Captures at both ends, runs near those borders.
    NearEnds,
    /// Captures at the router between two hops.
    Router,
    /// Captures at one of the ends that begin after the connection.
    MidStream,
    /// Captures at one of the ends with one direction only.
    OneWay,
    /// The application writes at a rate, the kernel paces, or a shaper at the host holds back.
    Paced,
    /// Packets above a rate are dropped without a queue.
    Policer,
    /// The link of the acknowledgements is narrow.
    AckPath,
    /// Packets are reordered.
    Reordering,
    /// Two hops, with other traffic on the slower one.
    CrossTraffic,
}

impl Stratum {
    /// All.
    pub const ALL: [Self; 10] = [
        Self::FarEnds,
        Self::NearEnds,
        Self::Router,
        Self::MidStream,
        Self::OneWay,
        Self::Paced,
        Self::Policer,
        Self::AckPath,
        Self::Reordering,
        Self::CrossTraffic,
    ];

    /// In options, folders and tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::FarEnds => "far-ends",
            Self::NearEnds => "near-ends",
            Self::Router => "router",
            Self::MidStream => "mid-stream",
            Self::OneWay => "one-way",
            Self::Paced => "paced",
            Self::Policer => "policer",
            Self::AckPath => "ack-path",
            Self::Reordering => "reordering",
            Self::CrossTraffic => "cross-traffic",
        }
    }

    /// For a table's reader.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::FarEnds => "captures at both ends, far from the borders between limits",
            Self::NearEnds => "captures at both ends, near those borders",
            Self::Router => {
                "capture at the router between two hops, at one or both of its interfaces"
            }
            Self::MidStream => "capture at one end that begins after 10% to 50% of the time",
            Self::OneWay => "capture at one end of one direction, data or acknowledgements",
            Self::Paced => {
                "the application writes at a rate, SO_MAX_PACING_RATE, or a shaper at the host"
            }
            Self::Policer => "packets above a rate are dropped without a queue",
            Self::AckPath => "a narrow link for the acknowledgements",
            Self::Reordering => "packets are reordered",
            Self::CrossTraffic => "two hops, other traffic on the slower one",
        }
    }

    /// The least share of verdicts that must be right.
    pub const fn bar(self) -> f64 {
        match self {
            Self::FarEnds | Self::NearEnds => 0.88,
            Self::Router
            | Self::MidStream
            | Self::OneWay
            | Self::Paced
            | Self::Policer
            | Self::AckPath
            | Self::Reordering
            | Self::CrossTraffic => 0.65,
        }
    }
}
