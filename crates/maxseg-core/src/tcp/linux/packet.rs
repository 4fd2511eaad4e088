//! What goes over the wire.

/// What a SYN says besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SynOptions {
    /// The MSS option, in bytes; `None`: none is sent.
    pub mss: Option<u64>,
    /// The window scale option; `None`: none is sent.
    pub window_scale: Option<u32>,
    /// SACK permitted.
    pub sack_permitted: bool,
}

/// The timestamps option, in milliseconds of the sender's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    /// `TSval`.
    pub value: u64,
    /// `TSecr`; 0 in a SYN.
    pub echo: u64,
}

/// The SACK option: blocks `start..end`, the most important first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blocks {
    /// What lies behind the first `count` means nothing.
    blocks: [(u64, u64); Self::MOST],
    count: usize,
}

impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Blocks {}

impl Blocks {
    /// As many as fit a header (`TCP_NUM_SACKS`, `include/linux/tcp.h`).
    pub const MOST: usize = 4;

    /// Adds a block; one too many is left out.
    pub fn push(&mut self, block: (u64, u64)) {
        if let Some(slot) = self.blocks.get_mut(self.count) {
            *slot = block;
            self.count += 1;
        }
    }

    /// The same before all that begin with it or behind it.
    #[inline]
    pub(super) fn insert_in_order(&mut self, block: (u64, u64)) {
        let mut at = self.count;
        self.push(block);
        while at > 0 && at < self.count && self.blocks[at - 1].0 >= block.0 {
            self.blocks.swap(at - 1, at);
            at -= 1;
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count]
    }

    /// Takes all of them out.
    #[inline]
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Flags of the header that few packets have, and of its IP header: a set, in one byte, because most packets are asked
/// whether they have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// Nothing more comes from its sender (FIN).
    pub const FIN: Self = Self(0x01);
    /// The connection is no more (RST).
    pub const RST: Self = Self(0x02);
    /// ECE (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x04);
    /// CWR.
    pub const CWR: Self = Self(0x08);
    /// The packet may be marked (ECT(0)).
    pub const ECT: Self = Self(0x10);
    /// It was marked (CE).
    pub const CE: Self = Self(0x20);

    /// Whether this one is among them.
    #[inline]
    pub const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// The same, and this one if `is_set`.
    #[inline]
    #[must_use]
    pub const fn with(self, flag: Self, is_set: bool) -> Self {
        Self(self.0 | (flag.0 * is_set as u8))
    }

    /// The same without this one.
    #[inline]
    #[must_use]
    pub const fn without(self, flag: Self) -> Self {
        Self(self.0 & !flag.0)
    }

    /// Whether it has none of them.
    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// A TCP segment between two [`Socket`](super::Socket)s. Numbers are 64-bit and do not wrap: the SYN is 0,
/// payload begins at 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packet {
    /// Number of the first payload byte.
    pub seq: u64,
    /// The next byte that its sender expects; 0 where it acknowledges nothing.
    pub ack: u64,
    /// Payload bytes.
    pub len: u64,
    /// The window, in bytes.
    pub window: u64,
    /// Whether it is pushed.
    pub push: bool,
    /// Further flags.
    pub flags: Flags,
    /// What opens a connection.
    pub syn: Option<SynOptions>,
    /// The timestamps option.
    pub stamps: Option<Stamps>,
    /// The SACK option.
    pub sack: Blocks,
    /// Whether any of it was sent before.
    pub repeated: bool,
    /// Whether it was queued as one segment, and not cut from a longer packet: what it counts in a receive
    /// buffer depends on it.
    pub alone: bool,
}

impl Packet {
    /// The number after the last that it takes.
    pub const fn end(&self) -> u64 {
        self.seq + self.len + self.syn.is_some() as u64 + self.flags.has(Flags::FIN) as u64
    }

    /// Bytes of its options, padded.
    pub fn option_bytes(&self) -> u64 {
        let stamps = if self.stamps.is_some() { 12 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.as_slice().len() as u64 };
        // MSS 4, window scale 3 and a pad; SACK permitted fills what pads the timestamps, or has its own word.
        let syn = self.syn.map_or(0, |syn| {
            let permitted = if syn.sack_permitted && self.stamps.is_none() { 4 } else { 0 };
            4 + if syn.window_scale.is_some() { 4 } else { 0 } + permitted
        });
        stamps + sack + syn
    }
}
