//! Structures of the kernel: numbers of the machine's own byte order, one after the other.

use std::time::Duration;

/// What is left of a structure. A number that is not there is `None`, and nothing follows it.
pub(crate) struct Numbers<'a>(pub(crate) &'a [u8]);

impl Numbers<'_> {
    /// The next bytes; once they have run out, nothing more.
    #[inline(always)]
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) =
            self.0.split_first_chunk::<N>().map_or((None, &[][..]), |(h, r)| (Some(*h), r));
        self.0 = rest;
        head
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_ne_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }

    /// 32 bits of microseconds.
    pub(crate) fn micros(&mut self) -> Option<Duration> {
        self.u32().map(|count| Duration::from_micros(count.into()))
    }

    /// 32 bits of milliseconds.
    pub(crate) fn millis(&mut self) -> Option<Duration> {
        self.u32().map(|count| Duration::from_millis(count.into()))
    }
}
