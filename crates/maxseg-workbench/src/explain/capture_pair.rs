//! What is known of two captures of the same connections.

use maxseg_wire::reading::CaptureSummary;

/// What is known of two captures that were joined, whatever their connections.
#[derive(Debug, Clone)]
pub struct CapturePair {
    /// Their names, in the order in which they were given.
    pub names: [String; 2],
    /// Which of them was taken nearer to the sender of most payload: 0 or 1. Its facts and problems are those of the
    /// whole explanation.
    pub main: usize,
    /// Facts and problems of the other.
    pub other: CaptureSummary,
    /// Connections that only one of them holds, which are left out.
    pub only_in: [u64; 2],
}
