//! What a capture file may hold at most.

/// Most bytes that are kept of a packet: 16 MiB. No packet has more (RFC 2675 allows it, nobody sends
/// it), and a broken length is told from a true one.
pub const MOST_CAPTURED: usize = 16 << 20;
/// Most interfaces of a file.
pub const MOST_INTERFACES: usize = 4096;
