//! gzip (RFC 1952): members one behind the other.
//!
//! What was decompressed before a fault is given before the fault is told, to the last byte.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

pub(in super::super) struct Gzip<B> {
    input: B,
    inflate: Decompress,
    crc: Crc,
    /// Whether the decoder is in the midst of a member.
    in_member: bool,
    /// What is wrong behind all that was given.
    fault: Option<io::Error>,
}

/// Flags of a member (§2.3.1): what stands in its header.
const HEADER_CRC: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;

impl<B: BufRead> Gzip<B> {
    pub(super) fn new(input: B) -> Self {
        let inflate = Decompress::new(false);
        Self { input, inflate, crc: Crc::new(), in_member: false, fault: None }
    }

    /// Begins the next member; `false` if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let [first, second, method, flags, ..] = self.array::<10>()?;
        if [first, second, method] != [0x1f, 0x8b, 8] {
            return Err(broken("something else follows its data"));
        }
        if flags & EXTRA != 0 {
            let length = u16::from_le_bytes(self.array()?);
            self.pass(length.into())?;
        }
        for text in [NAME, COMMENT] {
            if flags & text != 0 {
                self.pass_text()?;
            }
        }
        if flags & HEADER_CRC != 0 {
            self.pass(2)?;
        }
        self.inflate.reset(false);
        self.crc.reset();
        self.in_member = true;
        Ok(true)
    }

    /// Decompresses some; how much, and whether the member's data ends there.
    fn inflate(&mut self, out: &mut [u8]) -> io::Result<(usize, bool)> {
        let input = self.input.fill_buf()?;
        if input.is_empty() {
            return Err(cut());
        }
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, out, FlushDecompress::None);
        let since = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
        let produced = since(self.inflate.total_out(), before.1);
        self.input.consume(since(self.inflate.total_in(), before.0));
        self.crc.update(out.get(..produced).unwrap_or_default());
        match status {
            Ok(status) => Ok((produced, status == Status::StreamEnd)),
            Err(error) => {
                self.fault = Some(broken(error));
                Ok((produced, false))
            }
        }
    }

    /// Holds what was decompressed to what stands behind it (§2.3.1): its CRC, and its length.
    fn end(&mut self) -> io::Result<()> {
        self.in_member = false;
        let crc = u32::from_le_bytes(self.array()?);
        let length = u32::from_le_bytes(self.array()?);
        if (crc, length) == (self.crc.sum(), self.crc.amount()) {
            return Ok(());
        }
        Err(broken("its checksum is wrong"))
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(cut()),
            Err(error) => Err(error),
        }
    }

    fn pass(&mut self, n: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.input.by_ref().take(n), &mut io::sink())?;
        if passed == n { Ok(()) } else { Err(cut()) }
    }

    /// Passes what ends with a zero, and that.
    fn pass_text(&mut self) -> io::Result<()> {
        while self.array()? != [0] {}
        Ok(())
    }
}

impl<B: BufRead> Read for Gzip<B> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if !self.in_member && !self.begin()? {
                return Ok(0);
            }
            let (produced, is_end) = self.inflate(out)?;
            if is_end {
                self.fault = self.end().err();
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
    }
}

fn cut() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the gzip file ends before its data does")
}

fn broken(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the gzip file is broken: {why}"))
}
