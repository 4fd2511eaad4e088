//! Segment sizes that the ends offer each other.

/// The MSS options of both ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MssReport {
    /// What this host's SYN offers.
    pub offered_bytes: Option<u32>,
    /// What of it arrives at the far end, as a responder there says.
    pub received_bytes: Option<u32>,
    /// What the far side's SYN-ACK offers, as it arrives here.
    pub far_offered_bytes: Option<u32>,
    /// The port that was asked.
    pub port: Option<u16>,
    /// What lowers an option on the way.
    pub clamped_by: Option<String>,
}
