//! Refills: a flight that falls to a low mark while acknowledgements come, and is sent anew then.

/// Times that a sender let acknowledgements of new data pass without sending, until much of its flight was acknowledged, and went on
/// then, apart from losses and full receive windows. Whoever waits for a congestion window sends at each acknowledgement (RFC 5681
/// §3.1). A program that waits for room in its send buffer is woken when a third of it is free (`sk_stream_write_space`,
/// `net/core/stream.c`): its flight falls to the same mark each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refills {
    /// How many.
    pub count: u32,
    /// The median of what was left in flight, in bytes.
    pub low_bytes: u64,
    /// The median of what was sent then before the next acknowledgement, in bytes.
    pub burst_bytes: u64,
    /// How many in a hundred were about as low.
    pub alike_percent: u32,
    /// How many in a hundred followed a short segment, with which a program ends what it has to send.
    pub after_short_percent: u32,
    /// How many in a hundred ended long after the last acknowledgement that the sender knew.
    pub late_percent: u32,
    /// How many in a hundred ended at once after an acknowledgement had reached the sender.
    pub at_once_percent: u32,
    /// What was acknowledged in all the pauses, in bytes.
    pub acked_bytes: u64,
}
