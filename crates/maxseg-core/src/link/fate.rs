//! What becomes of a packet on a link.

use crate::units::{Mtu, Time};

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the far end whole, then.
    Arrives(Time),
    /// It reaches the far end whole, then, marked as having met congestion (RFC 3168 §5).
    Marked(Time),
    /// It reaches the far end damaged, then, and vanishes.
    Damaged(Time),
    /// It never went on the wire: the queue was full then, or policer or queue discipline dropped it.
    Refused(Time),
    /// It is too large for a hop, and must not be fragmented.
    TooBig {
        /// When it came there.
        at: Time,
        /// The hop, in the order in which packets of this direction meet them, from 0.
        hop: u16,
        /// What would fit.
        mtu: Mtu,
    },
}

impl Fate {
    /// When it was decided, or will be.
    pub const fn at(&self) -> Time {
        match self {
            Self::Arrives(at)
            | Self::Marked(at)
            | Self::Damaged(at)
            | Self::Refused(at)
            | Self::TooBig { at, .. } => *at,
        }
    }
}
