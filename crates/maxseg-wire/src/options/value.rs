//! Options as values.

use super::kind;
use super::raw::{RawOption, two_numbers};

/// An option with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// One byte of padding, to align what follows.
    NoOperation,
    /// The largest segment that the sender of this option wants to receive.
    Mss(u16),
    /// By how many bits its windows are shifted. Above 14 it counts as 14 (RFC 7323 §2.3); kept as it
    /// stands.
    WindowScale(u8),
    /// It understands SACK.
    SackPermitted,
    /// What it has received beyond the acknowledgement.
    Sack(SackBlocks),
    /// Its clock, and the last value that it saw of its peer's.
    Timestamps {
        /// `TSval`.
        value: u32,
        /// `TSecr`.
        echo: u32,
    },
    /// A fast open cookie; empty to ask for one.
    FastOpen(&'a [u8]),
    /// An MD5 digest of the segment.
    Md5([u8; 16]),
    /// Authentication of the segment.
    Ao {
        /// Which key made the code (`KeyID`).
        key_id: u8,
        /// Which key is wanted next (`RNextKeyID`).
        next_key_id: u8,
        /// The message authentication code.
        mac: &'a [u8],
    },
    /// Any other kind, or one of the above with a length that is not its own. Never kind 0 or 1, which
    /// have no length.
    Other {
        /// The kind.
        kind: u8,
        /// What follows kind and length.
        data: &'a [u8],
    },
}

/// A run of bytes that arrived: from `left` up to, not including, `right`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// Its first byte.
    pub left: u32,
    /// The byte after its last.
    pub right: u32,
}

/// One to four blocks: no more fit a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SackBlocks {
    first: SackBlock,
    more: [Option<SackBlock>; 3],
}

impl SackBlocks {
    /// The blocks in this order; `None` of none or of more than four.
    pub fn new(blocks: &[SackBlock]) -> Option<Self> {
        let (first, rest) = blocks.split_first()?;
        let mut more = [None; 3];
        if rest.len() > more.len() {
            return None;
        }
        for (place, block) in more.iter_mut().zip(rest) {
            *place = Some(*block);
        }
        Some(Self { first: *first, more })
    }

    /// The blocks in order.
    pub fn iter(&self) -> impl Iterator<Item = SackBlock> {
        std::iter::once(self.first).chain(self.more.into_iter().flatten())
    }

    /// The blocks behind kind and length of the option.
    #[inline]
    pub(crate) fn read(data: &[u8]) -> Option<Self> {
        let (numbers, odd) = data.as_chunks::<4>();
        let (pairs, single) = numbers.as_chunks::<2>();
        if !odd.is_empty() || !single.is_empty() {
            return None;
        }
        let block = |[left, right]: &[[u8; 4]; 2]| SackBlock {
            left: u32::from_be_bytes(*left),
            right: u32::from_be_bytes(*right),
        };
        let mut blocks = pairs.iter().map(block);
        let first = blocks.next()?;
        let sack = Self { first, more: [blocks.next(), blocks.next(), blocks.next()] };
        blocks.next().is_none().then_some(sack)
    }
}

/// Least and most bytes of a fast open cookie (RFC 7413 §4.1.1); their number is even.
const COOKIE: std::ops::RangeInclusive<usize> = 4..=16;

impl<'a> TcpOption<'a> {
    /// What a found option means.
    pub fn of(raw: RawOption<'a>) -> Self {
        Self::known(raw).unwrap_or(Self::Other { kind: raw.kind, data: raw.data })
    }

    /// The one definition of what is behind kind and length, this way …
    fn known(RawOption { kind, data }: RawOption<'a>) -> Option<Self> {
        Some(match (kind, data) {
            (kind::MSS, [a, b]) => Self::Mss(u16::from_be_bytes([*a, *b])),
            (kind::WINDOW_SCALE, [shift]) => Self::WindowScale(*shift),
            (kind::SACK_PERMITTED, []) => Self::SackPermitted,
            (kind::SACK, blocks) => Self::Sack(SackBlocks::read(blocks)?),
            (kind::TIMESTAMPS, stamps) => match two_numbers(stamps)? {
                (value, echo, []) => Self::Timestamps { value, echo },
                _ => return None,
            },
            (kind::FAST_OPEN, cookie) if is_cookie(cookie) => Self::FastOpen(cookie),
            (kind::MD5, digest) => Self::Md5(digest.try_into().ok()?),
            (kind::AO, [key_id, next_key_id, mac @ ..]) => {
                Self::Ao { key_id: *key_id, next_key_id: *next_key_id, mac }
            }
            _ => return None,
        })
    }

    /// … and this way.
    fn put_data(&self, out: &mut Vec<u8>) {
        match self {
            Self::NoOperation | Self::SackPermitted => {}
            Self::Mss(mss) => out.extend(mss.to_be_bytes()),
            Self::WindowScale(shift) => out.push(*shift),
            Self::Sack(blocks) => {
                for block in blocks.iter() {
                    out.extend(block.left.to_be_bytes());
                    out.extend(block.right.to_be_bytes());
                }
            }
            Self::Timestamps { value, echo } => {
                out.extend(value.to_be_bytes());
                out.extend(echo.to_be_bytes());
            }
            Self::FastOpen(data) | Self::Other { data, .. } => out.extend_from_slice(data),
            Self::Md5(digest) => out.extend(digest),
            Self::Ao { key_id, next_key_id, mac } => {
                out.extend([*key_id, *next_key_id]);
                out.extend_from_slice(mac);
            }
        }
    }

    /// Its kind number.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::NoOperation => kind::NO_OPERATION,
            Self::Mss(_) => kind::MSS,
            Self::WindowScale(_) => kind::WINDOW_SCALE,
            Self::SackPermitted => kind::SACK_PERMITTED,
            Self::Sack(_) => kind::SACK,
            Self::Timestamps { .. } => kind::TIMESTAMPS,
            Self::FastOpen(_) => kind::FAST_OPEN,
            Self::Md5(_) => kind::MD5,
            Self::Ao { .. } => kind::AO,
            Self::Other { kind, .. } => *kind,
        }
    }

    /// Appends kind, length and data. A length that its byte cannot hold is far beyond what fits a
    /// header, and refused there.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.kind());
        if *self == Self::NoOperation {
            return;
        }
        let place = out.len();
        out.push(0);
        self.put_data(out);
        let length = u8::try_from(out.len() - place + 1).unwrap_or(u8::MAX);
        if let Some(byte) = out.get_mut(place) {
            *byte = length;
        }
    }
}

fn is_cookie(data: &[u8]) -> bool {
    data.is_empty() || COOKIE.contains(&data.len()) && data.len().is_multiple_of(2)
}
