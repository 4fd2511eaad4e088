//! Data segments and acknowledgements, as a send history takes them.

use serde::{Deserialize, Serialize};

/// What is known when the first data segment of a direction passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryStart {
    pub(super) at: u64,
    /// When a SYN or an acknowledgement last came before it.
    pub(super) silent_since: Option<u64>,
    /// Round trips of the handshake between capture point and sender, and receiver, in nanoseconds.
    pub(super) to_sender: Option<u64>,
    pub(super) to_receiver: Option<u64>,
    /// Whether its segments have timestamps.
    pub(super) has_stamps: bool,
    /// Payload of a full-sized segment by the SYN options, in bytes.
    pub(super) full: i64,
    pub(super) nxt: i64,
    pub(super) edge: Option<i64>,
    pub(super) traced: bool,
    /// Whether the connection is older than the capture.
    pub(super) begins_late: bool,
}

/// A segment with payload; offsets are in bytes from the first byte of payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct DataSegment {
    pub(super) at: u64,
    pub(super) frame: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) stamp: Option<u32>,
    pub(super) ip_id: Option<u16>,
    pub(super) is_pushed: bool,
}

/// An acknowledgement of this direction's payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckSegment {
    pub(super) at: u64,
    pub(super) frame: u64,
    pub(super) una: i64,
    pub(super) edge: Option<i64>,
    /// How much of its number is behind the payload: the FIN.
    pub(super) behind: i64,
    pub(super) stamp: Option<u32>,
    pub(super) echo: Option<u32>,
    pub(super) is_duplicate: bool,
    /// Whether the segment has payload of its own: the next data may be an answer to that.
    pub(super) has_payload: bool,
}

/// When a packet passed, in nanoseconds, and its number in the capture.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassedPacket {
    pub(super) at: u64,
    pub(super) frame: u64,
}

/// What a segment echoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Echo {
    /// The timestamp.
    pub(super) stamp: u32,
    /// The receive window behind that, in bytes; 0 while its scale is not known, or where it is none.
    pub(super) window: u32,
    /// What the last acknowledgement that had it acknowledged.
    pub(super) una: i64,
    /// When the first that had it passed, in nanoseconds.
    pub(super) at: u64,
}

/// The acknowledgement that a segment echoes, and the next: when they passed, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) echoed: u64,
    pub(super) next: Option<u64>,
}
