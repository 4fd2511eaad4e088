//! Reading of files in memory, in either byte order and any time resolution.

use super::Block;
use super::block::{BlockHead, SectionState};
use crate::{DecodeError, Layer};

/// Iterates over the blocks of a file in memory, up to the first error.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    state: SectionState,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from the start.
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
