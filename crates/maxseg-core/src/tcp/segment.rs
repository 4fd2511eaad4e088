use crate::framing::{TCP_SACK_BLOCK, TCP_TIMESTAMPS};
use crate::units::{Bytes, Time};

/// A TCP segment, as far as the simulation tells segments apart. Small, because it is moved often: what
/// most segments have not is kept apart.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a header")]
pub struct Segment {
    /// Number of the first payload byte; 0 is the SYN.
    pub seq: u64,
    /// The next byte that the other side expects.
    pub ack: u64,
    /// The window offered, in bytes: scaled as the other side will read it.
    pub window: u32,
    /// Payload bytes.
    pub len: u16,
    /// Which of its flow's connections it belongs to, counted from 0: what ports tell.
    pub connection: u16,
    /// Whether it opens the connection.
    pub syn: bool,
    /// Whether any of it was sent before; for the statistics of whoever sees all.
    pub repeated: bool,
    /// Whether the packet that carries it may be marked instead of dropped (ECT, RFC 3168 §5).
    pub markable: bool,
    /// Whether a queue on the way has marked it (CE).
    pub marked: bool,
    /// Whether its sender tells of marked packets (ECE, RFC 3168 §6.1).
    pub echoes_marks: bool,
    /// Whether its sender has reduced its window (CWR).
    pub reduced: bool,
    /// Whether its data are to be handed on at once (PSH): only Linux's stack goes by it.
    pub push: bool,
    /// The options that come and go after the handshake.
    pub options: Option<Box<SegmentOptions>>,
}

/// The TCP options of a segment after the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentOptions {
    /// What was received beyond the acknowledged number (RFC 2018).
    pub sack: SackBlocks,
    /// The timestamps option (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
}

/// The timestamps option. The clock is the simulation's own: finer than any real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// When this segment was sent (`TSval`).
    pub value: Time,
    /// The value of the segment that it acknowledges (`TSecr`).
    pub echo: Time,
}

/// Options of segments that have arrived, to be filled again: so that a long run allocates no more than
/// a short one.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "segments hold boxes, and these are theirs")]
pub struct OptionsPool(Vec<Box<SegmentOptions>>);

impl OptionsPool {
    /// As many as a large window has; copies that links make would pile up beyond.
    const MOST: usize = 1 << 16;

    /// The options of a segment that is done with.
    #[inline(always)]
    pub fn put_back(&mut self, options: Option<Box<SegmentOptions>>) {
        if let Some(options) = options
            && self.0.len() < Self::MOST
        {
            self.0.push(options);
        }
    }

    /// Options that say this, if it is anything.
    pub(crate) fn fill(
        &mut self,
        sack: SackBlocks,
        timestamps: Option<Timestamps>,
    ) -> Option<Box<SegmentOptions>> {
        if sack.is_empty() && timestamps.is_none() {
            return None;
        }
        let options = SegmentOptions { sack, timestamps };
        match self.0.pop() {
            None => Some(Box::new(options)),
            Some(mut spare) => {
                *spare = options;
                Some(spare)
            }
        }
    }
}

impl Segment {
    /// A segment of nothing: all flags clear, no options.
    pub const EMPTY: Self = Self {
        seq: 0,
        ack: 0,
        window: 0,
        len: 0,
        connection: 0,
        syn: false,
        repeated: false,
        markable: false,
        marked: false,
        echoes_marks: false,
        reduced: false,
        push: false,
        options: None,
    };

    /// An acknowledgement without payload.
    pub const fn ack(ack: u64, window: u32) -> Self {
        Self { seq: 1, ack, window, ..Self::EMPTY }
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

    /// The timestamps option.
    #[inline]
    pub fn timestamps(&self) -> Option<Timestamps> {
        self.options.as_ref().and_then(|options| options.timestamps)
    }

    /// The SACK option.
    #[inline]
    pub fn sack(&self) -> SackBlocks {
        self.options.as_ref().map_or(SackBlocks::NONE, |options| options.sack)
    }

    /// Bytes that its options take in the header, padded: timestamps 12 (RFC 7323 appendix A), SACK
    /// blocks 8 each after 4 (RFC 2018 §3). Those of a SYN are the handshake's business.
    #[inline]
    pub fn option_bytes(&self) -> Bytes {
        let timestamps = if self.timestamps().is_some() { TCP_TIMESTAMPS } else { Bytes::ZERO };
        let sack = self.sack();
        let sack = if sack.is_empty() { 0 } else { 4 + sack.bytes().get() };
        timestamps + Bytes::new(sack)
    }
}

/// The SACK blocks of one acknowledgement, most important first; at most four fit a header.
///
/// Blocks are kept relative to the acknowledged number, so that a segment stays small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(i32, u32); Self::MOST],
    count: u8,
}

impl SackBlocks {
    /// How many fit into 40 bytes of options (RFC 2018 §3).
    pub const MOST: usize = 4;
    /// No blocks.
    pub const NONE: Self = Self { blocks: [(0, 0); Self::MOST], count: 0 };

    /// Whether there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the blocks themselves.
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.count as u64 * TCP_SACK_BLOCK.get())
    }

    /// Adds `start..end` to the blocks of a segment that acknowledges `ack`; one too many, or one
    /// further away than any window reaches, is left out.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let from = i32::try_from(start.wrapping_sub(ack).cast_signed());
        let len = u32::try_from(end - start);
        if let (Ok(from), Ok(len), Some(slot)) =
            (from, len, self.blocks.get_mut(usize::from(self.count)))
        {
            *slot = (from, len);
            self.count += 1;
        }
    }

    /// The blocks as `(start, end)`, of a segment that acknowledges `ack`.
    pub fn iter(self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        self.blocks.into_iter().take(usize::from(self.count)).map(move |(from, len)| {
            let start = ack.wrapping_add_signed(i64::from(from));
            (start, start + u64::from(len))
        })
    }
}
