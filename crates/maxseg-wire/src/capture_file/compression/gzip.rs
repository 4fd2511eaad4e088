//! gzip (RFC 1952): a sequence of members. Zeros may follow the last one, as of a file that was padded to whole blocks (gzip(1)).
//!
//! All bytes decompressed before a fault are returned before the fault is.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

pub(in super::super) struct Gzip<B> {
    input: B,
    inflate: Decompress,
    crc: Crc,
    /// Inside a member.
    in_member: bool,
    /// The error to return after the bytes before it.
    fault: Option<io::Error>,
}

/// Flags of optional header fields (§2.3.1).
const HEADER_CRC: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;

const OTHER_DATA: &str = "other data follows its last member";

impl<B: BufRead> Gzip<B> {
    pub(super) fn new(input: B) -> Self {
        let inflate = Decompress::new(false);
        Self { input, inflate, crc: Crc::new(), in_member: false, fault: None }
    }

    /// Begins the next member; `false` if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        match self.input.fill_buf()? {
            [] => return Ok(false),
            [0, ..] => return self.skip_padding().map(|()| false),
            [_, ..] => {}
        }
        let [first, second, method, flags, ..] = self.array::<10>()?;
        if [first, second, method] != [0x1f, 0x8b, 8] {
            return Err(broken(OTHER_DATA));
        }
        if flags & EXTRA != 0 {
            let length = u16::from_le_bytes(self.array()?);
            self.skip(length.into())?;
        }
        for text in [NAME, COMMENT] {
            if flags & text != 0 {
                self.skip_text()?;
            }
        }
        if flags & HEADER_CRC != 0 {
            self.skip(2)?;
        }
        self.inflate.reset(false);
        self.crc.reset();
        self.in_member = true;
        Ok(true)
    }

    /// Decompresses into `out`: returns the bytes written, and whether the member's data ends.
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

    /// Checks the decompressed data against the member's trailing CRC and length (§2.3.1).
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

    fn skip(&mut self, n: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.input.by_ref().take(n), &mut io::sink())?;
        if passed == n { Ok(()) } else { Err(cut()) }
    }

    /// Skips zeros to the end of the file.
    fn skip_padding(&mut self) -> io::Result<()> {
        loop {
            let padding = self.input.fill_buf()?;
            let length = padding.len();
            match padding.iter().any(|byte| *byte != 0) {
                true => return Err(broken(OTHER_DATA)),
                false if length == 0 => return Ok(()),
                false => self.input.consume(length),
            }
        }
    }

    /// Skips a zero-terminated string.
    fn skip_text(&mut self) -> io::Result<()> {
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
