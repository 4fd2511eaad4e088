//! What a sender is told: segments that it sends, and acknowledgements that reach it.

use serde::{Deserialize, Serialize};

use crate::flow::segments::Echo;

/// A new segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::flow) struct NewSegment {
    pub(in crate::flow) at: u64,
    pub(in crate::flow) end: i64,
    pub(in crate::flow) payload: i64,
    /// PSH or FIN: the send queue was empty after it.
    pub(in crate::flow) is_pushed: bool,
    /// Loss recovery: the congestion window limits the sender.
    pub(in crate::flow) is_recovering: bool,
    /// What its timestamp tells that its sender knew to be acknowledged; `None` at the sender, and without timestamps.
    pub(in crate::flow) known: Option<Echo>,
    pub(in crate::flow) ip_id: Option<u16>,
    /// An acknowledgement clocked it out: it left at once after one, within so many nanoseconds.
    pub(in crate::flow) is_clocked: bool,
    pub(in crate::flow) at_once: u64,
    /// How long its sender had known what it knew to be acknowledged, in nanoseconds.
    pub(in crate::flow) waited: u64,
}

/// The state of the connection as an acknowledgement reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::flow) struct AckUpdate {
    /// The first byte that is not acknowledged.
    pub(in crate::flow) una: i64,
    /// The right edge of the window; `None` while its scale is not known.
    pub(in crate::flow) edge: Option<i64>,
    /// Bytes that have arrived, selectively acknowledged ones included.
    pub(in crate::flow) delivered: u64,
}

/// What was sent, in flights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Flights {
    /// One, of which nothing is acknowledged yet.
    First,
    /// One.
    Acknowledged,
    /// More since an acknowledgement came.
    Further,
}
