//! Limits of a capture file.

/// Largest captured length of a packet: 16 MiB. Only jumbograms (RFC 2675), which no network carries, could be
/// longer, so a larger length is a malformed one.
pub const MOST_CAPTURED: usize = 16 << 20;
/// Most interfaces of a file.
pub const MOST_INTERFACES: usize = 4096;
