use crate::settings::Settings;
use crate::units::{Bytes, Mss};

/// What both ends of one connection agreed on, and the settings that each keeps to.
#[derive(Debug, Clone)]
pub struct Config {
    /// Settings of the data's sender.
    pub sender: Settings,
    /// Settings of the data's receiver.
    pub receiver: Settings,
    /// Payload of a full segment: the smaller MSS option, within the path's MTU.
    pub mss: Mss,
}

impl Config {
    /// Whether acknowledgements carry SACK blocks: both ends must be willing (RFC 2018 §2).
    pub const fn uses_sack(&self) -> bool {
        self.sender.sack && self.receiver.sack
    }

    /// Whether segments carry timestamps: both ends must be willing (RFC 7323 §3.2).
    pub const fn uses_timestamps(&self) -> bool {
        self.sender.timestamps && self.receiver.timestamps
    }

    /// Whether queues may mark packets instead of dropping them: both ends must be willing (RFC 3168
    /// §6.1.1).
    pub const fn uses_ecn(&self) -> bool {
        self.sender.ecn && self.receiver.ecn
    }

    /// How many SACK blocks fit an acknowledgement: four, or three beside timestamps (RFC 2018 §3), or
    /// what ns-2 sends.
    pub const fn sack_blocks(&self) -> usize {
        if self.uses_timestamps() || self.receiver.ns2.is_some() { 3 } else { 4 }
    }

    /// Payload bytes of a full segment.
    pub const fn mss(&self) -> Bytes {
        self.mss.bytes()
    }
}
