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
    /// Payload bytes of a full segment.
    pub const fn mss(&self) -> Bytes {
        self.mss.bytes()
    }
}
