//! Fragments of packets.

/// Where a fragment belongs (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The fragments of a packet have the same.
    pub identification: u32,
    /// Where in the original payload it begins, in bytes.
    pub offset: usize,
    /// Whether there are fragments behind it.
    pub more: bool,
}
