//! The length that a header states, and the bytes that were captured.

/// How the header's length compares with the packet that was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// All that the header counts is there.
    Whole,
    /// The packet was whole; the capture kept so many bytes less.
    Cut(usize),
    /// The header counts so many bytes more than the packet had when it was captured.
    Overstated(usize),
    /// The header counts nothing: the network card was to cut the packet up and fill the lengths in
    /// (segmentation offload). What was captured counts.
    Offloaded,
}

/// The bytes that a packet of `stated` bytes has of those captured, how long it really was, and how
/// that fits; `stated` 0 says nothing.
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
