//! What limits the drawn runs, in equal shares.

use serde::{Deserialize, Serialize};

/// What a run is limited by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The receive buffer of the host, or the window that the program allows.
    ReceiveWindow,
    /// The send buffer.
    SendBuffer,
    /// Segments far below the path MTU on a full link.
    SegmentSize,
    /// A queue too short for the halves of a congestion window.
    Queue,
    /// Errors.
    Errors,
    /// A hop that drops large packets and does not say so.
    PathMtu,
}

impl Limit {
    /// All.
    pub const ALL: [Self; 6] = [
        Self::ReceiveWindow,
        Self::SendBuffer,
        Self::SegmentSize,
        Self::Queue,
        Self::Errors,
        Self::PathMtu,
    ];

    /// In options, folders and tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReceiveWindow => "receive-window",
            Self::SendBuffer => "send-buffer",
            Self::SegmentSize => "segment-size",
            Self::Queue => "queue",
            Self::Errors => "errors",
            Self::PathMtu => "path-mtu",
        }
    }
}
