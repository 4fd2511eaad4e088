//! Fragments of IP packets.

/// The position of a fragment (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Identification, equal in all fragments of a packet.
    pub identification: u32,
    /// Offset in the original payload, in bytes.
    pub offset: usize,
    /// MF: more fragments follow.
    pub more: bool,
}
