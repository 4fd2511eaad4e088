//! What was sent again, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Time;

/// A segment that was lost repeatedly while smaller ones arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlackHole {
    /// Time of the first transmission.
    pub from: Time,
    /// Time when a smaller segment arrived in its place, or of the last packet.
    pub to: Time,
    /// Packet number in the capture of the first retransmission, from 1.
    pub frame: u64,
    /// Payload of the segment.
    pub segment_bytes: u32,
    /// Retransmissions in this size; 0 where the capture is behind the narrow hop, and shows none of them.
    pub repeats: u32,
    /// Largest payload of a segment that arrived; 0 where none did.
    pub passed_bytes: u32,
    /// The largest payload of a segment that ever arrived, before or since; 0 where none did.
    pub passed_before_bytes: u32,
}

impl BlackHole {
    /// Whether the capture is behind the narrow hop: it shows that a segment came in pieces, and no transmission of it whole.
    pub const fn is_seen_behind(&self) -> bool {
        self.repeats == 0
    }

    /// Whether size is the reason: smaller segments arrived in place of it, or none of its size ever did.
    pub const fn is_by_size(&self) -> bool {
        self.passed_bytes > 0 || self.passed_before_bytes < self.segment_bytes
    }
}

/// Retransmissions by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resent {
    /// The retransmission timer expired.
    pub rto: u64,
    /// Three duplicate acknowledgements (RFC 5681 §3.2).
    pub fast: u64,
    /// Loss detected by selective acknowledgements or RACK (RFC 6675, RFC 8985).
    pub sack: u64,
    /// Tail loss probe (RFC 8985 §7).
    pub tail_probe: u64,
    /// A SYN or FIN.
    pub control: u64,
    /// A hop refused the segment as too large, and said so (RFC 1191 §4).
    #[serde(default)]
    pub too_large: u64,
    /// Unknown.
    pub unknown: u64,
}

/// Spurious retransmissions by the evidence for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spurious {
    /// The receiver reported a duplicate (DSACK, RFC 2883).
    pub dsack: u64,
    /// The acknowledgement echoes the timestamp of the first transmission (Eifel, RFC 3522).
    pub timestamps: u64,
    /// The acknowledgement came sooner after the retransmission than any round trip: the first transmission brought it
    /// about.
    pub early_ack: u64,
    /// The payload had been acknowledged before the retransmission.
    pub acknowledged: u64,
    /// The payload had arrived at the receiver, where the capture was taken.
    pub arrived: u64,
}
