//! What is counted of the payload of one direction.

use serde::{Deserialize, Serialize};

/// What is counted of payload.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct PayloadCounts {
    pub(super) unique_bytes: u64,
    pub(super) unseen_bytes: u64,
    pub(super) retransmitted_packets: u32,
    pub(super) timeouts: u32,
    pub(super) retransmitted_bytes: u64,
    pub(super) out_of_order: u32,
    pub(super) window_full: u32,
    pub(super) beyond_window: u32,
    pub(super) beyond_timer: u32,
    /// Acknowledgements with SACK blocks outside of all that was sent.
    pub(super) sacks_outside: u32,
    pub(super) longest_gap: u64,
    pub(super) in_flight_max: u64,
}
