//! The waiting room before a wire: how much it holds, and who keeps it short.

use serde::Serialize;

use crate::units::{Bytes, Probability, Time};

/// How much may wait; what arrives beyond is dropped (tail drop). The packet on the wire does not
/// count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// Packets.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(Bytes),
}

impl QueueLimit {
    /// Whether `waiting` packets of `bytes` on the wire together fit.
    pub fn holds(self, waiting: usize, bytes: Bytes) -> bool {
        match self {
            Self::Packets(limit) => waiting <= limit as usize,
            Self::Bytes(limit) => bytes <= limit,
        }
    }
}

/// What drops packets, or marks them, before the waiting room is full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(tag = "discipline", rename_all = "kebab-case")]
pub enum Discipline {
    /// Nothing.
    #[default]
    TailDrop,
    /// By the time that packets have waited, when they leave (RFC 8289).
    Codel(CodelSettings),
    /// By the average length of the queue, when they come (Floyd and Jacobson 1993).
    Red(RedSettings),
}

/// `CoDel`'s two parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CodelSettings {
    /// The wait that a standing queue may cause.
    pub target: Time,
    /// How long a wait must stay above it before the first drop: a worst round trip.
    pub interval: Time,
}

impl Default for CodelSettings {
    /// RFC 8289 §4.2 and §4.3: 5 ms and 100 ms.
    fn default() -> Self {
        Self { target: Time::from_millis(5), interval: Time::from_millis(100) }
    }
}

/// RED's parameters, in the paper's names.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RedSettings {
    /// Average length below which nothing is dropped; packets or bytes, as `max`.
    pub min: QueueLimit,
    /// Average length from which on everything is dropped.
    pub max: QueueLimit,
    /// The chance of a drop just below `max`, before the count since the last one raises it.
    pub max_p: Probability,
    /// The weight of a new sample in the average, `w_q`.
    pub weight: Probability,
}

impl Default for RedSettings {
    /// Floyd and Jacobson 1993 §4 to §6: 5 and 15 packets, 1/50, 0.002.
    fn default() -> Self {
        Self {
            min: QueueLimit::Packets(5),
            max: QueueLimit::Packets(15),
            max_p: Probability::clamped(0.02),
            weight: Probability::clamped(0.002),
        }
    }
}
