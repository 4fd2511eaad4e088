//! What passed while segments of one flight were dropped.

use crate::units::Time;

/// Segments of one flight that were dropped: what had passed before each of them, by time. What drops above a rate, a full queue or an empty token
/// bucket, passes that rate meanwhile, and no more than a segment more or less at any drop; what strikes by chance does not. Where the sender paused,
/// a bucket fills: drops that more than a few segments lie between are on lines of their own, of one rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DropLine {
    /// When the first of them was sent again.
    pub at: Time,
    /// How many were dropped, those that were dropped together as one, but for the first on each line.
    pub drops: u32,
    /// Payload that passed along the lines, in bytes.
    pub passed_bytes: f64,
    /// The rate of the lines that fit best, in bits per second of payload.
    pub rate_bps: f64,
    /// How far from them what had passed is: the standard deviation, in bytes.
    pub off_bytes: f64,
}
