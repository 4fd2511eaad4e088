//! Reading files that are in memory, of either byte order and any resolution of time.

use super::block::{BlockHead, SectionState};
use super::{Interface, Packet, Section, SimplePacket, Statistics};
use crate::{DecodeError, Layer};

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// A section begins: interfaces count from 0 again.
    Section(Section<'a>),
    /// A capture point.
    Interface(Interface<'a>),
    /// A packet, in an enhanced or in the obsolete packet block.
    Packet(Packet<'a>),
    /// A packet of which little was kept.
    SimplePacket(SimplePacket<'a>),
    /// What a capture point counted.
    Statistics(Statistics),
    /// A block of another type.
    Other(u32),
}

/// The blocks of a file that is in memory. It ends after the first error.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    state: SectionState,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from their beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, state: SectionState::default() }
    }

    fn block(&mut self) -> Result<Block<'a>, DecodeError> {
        let short = |need| DecodeError::Short { layer: Layer::Pcapng, have: self.rest.len(), need };
        let first = self.rest.first_chunk().ok_or_else(|| short(BlockHead::LEN))?;
        let head = self.state.head(*first)?;
        let (block, rest) =
            self.rest.split_at_checked(head.length).ok_or_else(|| short(head.length))?;
        self.rest = rest;
        self.state.block(&head, head.body(block)?)
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Block<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let block = self.block();
        if block.is_err() {
            self.rest = &[];
        }
        Some(block)
    }
}
