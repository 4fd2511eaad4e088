use crate::units::Bytes;

/// A TCP segment, as far as the simulation tells segments apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first payload byte; 0 is the SYN.
    pub seq: u64,
    /// The next byte that the other side expects.
    pub ack: u64,
    /// The window offered, in bytes: scaled as the other side will read it.
    pub window: u32,
    /// Payload bytes.
    pub len: u16,
    /// Whether it opens the connection.
    pub syn: bool,
    /// Whether any of it was sent before; for the statistics of whoever sees all.
    pub repeated: bool,
}

impl Segment {
    /// An acknowledgement without payload.
    pub const fn ack(ack: u64, window: u32) -> Self {
        Self { seq: 1, ack, window, len: 0, syn: false, repeated: false }
    }

    /// The number after the last that this segment takes.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64 + self.syn as u64
    }

    /// Payload bytes.
    pub const fn payload(&self) -> Bytes {
        Bytes::new(self.len as u64)
    }
}
