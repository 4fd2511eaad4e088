//! Compressed inputs, recognised by their first bytes.

mod chunk;
mod gzip;
mod zstd;

use std::io::{self, BufReader, Chain, Cursor, Read};

use chunk::CHUNK;
use gzip::Gzip;
use zstd::Zstd;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Compression {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    const fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // A frame, or a skippable frame (RFC 8878 §3.1.2).
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// An input with its first bytes, which were read to recognise it, put back.
type Whole<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// The decompressed bytes of an input.
pub(super) enum Source<R> {
    Plain(Chain<Cursor<Vec<u8>>, R>),
    Gzip(Box<Gzip<Whole<R>>>),
    Zstd(Box<Zstd<Whole<R>>>),
}

impl<R: Read> Source<R> {
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        let mut head = Vec::new();
        input.by_ref().take(4).read_to_end(&mut head)?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(input);
        Ok(match compression {
            None => Self::Plain(whole),
            Some(Compression::Gzip) => {
                Self::Gzip(Box::new(Gzip::new(BufReader::with_capacity(CHUNK, whole))))
            }
            Some(Compression::Zstd) => {
                Self::Zstd(Box::new(Zstd::new(BufReader::with_capacity(CHUNK, whole))))
            }
        })
    }

    pub(super) const fn compression(&self) -> Option<Compression> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip(_) => Some(Compression::Gzip),
            Self::Zstd(_) => Some(Compression::Zstd),
        }
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(out),
            Self::Gzip(input) => input.read(out),
            Self::Zstd(input) => input.read(out),
        }
    }
}
