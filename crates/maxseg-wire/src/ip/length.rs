//! The length that a header states, compared with the captured bytes.

/// How the header's length compares with the captured packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// All bytes that the header states were captured.
    Whole,
    /// The capture kept this many bytes fewer than the header states.
    Cut(usize),
    /// The header states this many bytes more than the packet had on the wire.
    Overstated(usize),
    /// The header states 0: the packet was captured before segmentation offload filled in the length, which is
    /// therefore that on the wire.
    Offloaded,
}

/// The captured bytes of a packet whose header states `stated` bytes (0 where offloaded), its length on the wire,
/// and how the two compare.
#[inline(always)]
pub(super) fn extent(bytes: &[u8], wire_len: usize, stated: usize) -> (&[u8], usize, Length) {
    if stated == 0 {
        return (bytes, wire_len, Length::Offloaded);
    }
    let there = bytes.get(..stated).unwrap_or(bytes);
    let length = if stated > wire_len {
        Length::Overstated(stated - wire_len)
    } else if stated > bytes.len() {
        Length::Cut(stated - bytes.len())
    } else {
        Length::Whole
    };
    (there, stated.min(wire_len), length)
}
