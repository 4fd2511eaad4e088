//! A sliding buffer over a stream, which grows only for a record longer than itself.

use std::io::{self, ErrorKind, Read};

/// Bytes per read of the input; more would evict the connections' state from the processor's caches.
const SIZE: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct ReadBuffer<R> {
    input: R,
    bytes: Vec<u8>,
    /// Unread bytes are `bytes[start..end]`.
    start: usize,
    end: usize,
    /// Offset of `bytes` in the stream.
    origin: u64,
}

impl<R: Read> ReadBuffer<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, bytes: vec![0; SIZE], start: 0, end: 0, origin: 0 }
    }

    /// The unread bytes in the buffer.
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The first `N` unread bytes.
    #[inline]
    pub(super) fn peek<const N: usize>(&self) -> Option<&[u8; N]> {
        self.unread().first_chunk()
    }

    /// Offset of the first unread byte in the stream.
    pub(super) const fn offset(&self) -> u64 {
        self.origin + self.start as u64
    }

    /// Fills the buffer to at least `need` unread bytes, fewer only at the end of the stream; returns their count.
    ///
    /// # Errors
    /// Reading fails.
    #[inline]
    pub(super) fn demand(&mut self, need: usize) -> io::Result<usize> {
        let have = self.end - self.start;
        if have >= need { Ok(have) } else { self.fill(need) }
    }

    /// Advances by `n` buffered bytes; the returned range is valid until the next [`demand`](Self::demand).
    #[inline]
    pub(super) fn advance(&mut self, n: usize) -> BufferRange {
        let begin = self.start;
        self.start = (begin + n).min(self.end);
        BufferRange { begin, end: self.start }
    }

    /// The bytes of a range.
    #[inline]
    pub(super) fn at(&self, range: BufferRange) -> &[u8] {
        self.bytes.get(range.begin..range.end).unwrap_or_default()
    }

    /// Advances by `n` bytes of the stream; returns how many were missing at its end.
    pub(super) fn skip(&mut self, mut n: usize) -> io::Result<usize> {
        loop {
            n -= self.advance(n).len();
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
                // Grows with the bytes read, not to a stated length, which may be malformed.
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

/// A range of the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct BufferRange {
    begin: usize,
    end: usize,
}

impl BufferRange {
    const fn len(self) -> usize {
        self.end - self.begin
    }

    /// The `len` bytes of the range after its first `skip`.
    #[inline]
    pub(super) fn part(self, skip: usize, len: usize) -> Self {
        let begin = (self.begin + skip).min(self.end);
        Self { begin, end: (begin + len).min(self.end) }
    }
}
