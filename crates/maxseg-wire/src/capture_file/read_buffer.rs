//! A part of a stream, in memory: it moves on, and grows only for a record that is longer than it is.

use std::io::{self, ErrorKind, Read};

/// Bytes that are asked of the input at once: more would drive what is known of connections out of the caches.
const SIZE: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct ReadBuffer<R> {
    input: R,
    bytes: Vec<u8>,
    /// What is there and not yet passed is `bytes[start..end]`.
    start: usize,
    end: usize,
    /// Where in the stream `bytes` begins.
    origin: u64,
}

impl<R: Read> ReadBuffer<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, bytes: vec![0; SIZE], start: 0, end: 0, origin: 0 }
    }

    /// What is there and not yet passed.
    #[inline]
    pub(super) fn there(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The first `N` bytes of it.
    #[inline]
    pub(super) fn peek<const N: usize>(&self) -> Option<&[u8; N]> {
        self.there().first_chunk()
    }

    /// Where in the stream it begins.
    pub(super) const fn offset(&self) -> u64 {
        self.origin + self.start as u64
    }

    /// How many bytes are there, `need` at least if the stream has so many.
    ///
    /// # Errors
    /// The input fails before.
    #[inline]
    pub(super) fn demand(&mut self, need: usize) -> io::Result<usize> {
        let have = self.end - self.start;
        if have >= need { Ok(have) } else { self.fill(need) }
    }

    /// Passes `n` bytes that are there. They can be had by their place until more is demanded.
    #[inline]
    pub(super) fn pass(&mut self, n: usize) -> BufferRange {
        let begin = self.start;
        self.start = (begin + n).min(self.end);
        BufferRange { begin, end: self.start }
    }

    /// What was passed.
    #[inline]
    pub(super) fn at(&self, place: BufferRange) -> &[u8] {
        self.bytes.get(place.begin..place.end).unwrap_or_default()
    }

    /// Passes `n` bytes, whether they are there yet or not. How many the stream did not have.
    pub(super) fn skip(&mut self, mut n: usize) -> io::Result<usize> {
        loop {
            n -= self.pass(n).len();
            if n == 0 || self.demand(1)? == 0 {
                return Ok(n);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self, need: usize) -> io::Result<usize> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.origin += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        while self.end < need {
            if self.end == self.bytes.len() {
                // A length is believed as far as the stream bears it out.
                self.bytes.resize(need.min(self.bytes.len() * 2), 0);
            }
            match self.input.read(self.bytes.get_mut(self.end..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(n) => self.end = (self.end + n).min(self.bytes.len()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.end)
    }
}

/// Where something stands in a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct BufferRange {
    begin: usize,
    end: usize,
}

impl BufferRange {
    const fn len(self) -> usize {
        self.end - self.begin
    }

    /// The part of it behind the first `skip` bytes, `len` of them.
    #[inline]
    pub(super) fn part(self, skip: usize, len: usize) -> Self {
        let begin = (self.begin + skip).min(self.end);
        Self { begin, end: (begin + len).min(self.end) }
    }
}
