//! Refills: a flight that falls to a low mark while acknowledgements come, and is sent anew then.

/// Times that a sender let acknowledgements of new data pass without sending, until much of its flight was acknowledged, and went on
/// then, apart from losses and full receive windows. Whoever waits for a congestion window sends at each acknowledgement (RFC 5681
/// §3.1). A program that waits for room in its send buffer is woken when a third of it is free (`sk_stream_write_space`,
/// `net/core/stream.c`): its flight falls to the same mark each time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
    /// How many in a hundred would have by chance, as acknowledgements came in these pauses.
    pub by_chance_percent: u32,
    /// How many in a hundred of the distances between their ends are about the median: a program's clock makes them equal.
    pub equal_percent: u32,
    /// What was acknowledged in all the pauses, in bytes.
    pub acked_bytes: u64,
    /// How many acknowledgements something was sent for at a time, of those that came long enough after one another to be answered each on
    /// its own; `None` where few were answered.
    pub acks_an_answer: Option<f64>,
}
