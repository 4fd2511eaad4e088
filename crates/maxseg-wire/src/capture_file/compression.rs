//! Inputs that are compressed, known by how they begin.

use std::io::{self, BufRead, BufReader, Chain, Cursor, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Compression {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    const fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // A frame, or one that is to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// An input whose first bytes were looked at.
type Whole<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// What an input holds, decompressed if it must be.
pub(super) enum Source<R> {
    Plain(Chain<Cursor<Vec<u8>>, R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
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
                Self::Gzip(Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, whole))))
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

/// Compressed bytes that are read at once.
const CHUNK: usize = 1 << 16;

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(out),
            Self::Gzip(input) => input.read(out).map_err(|error| explain(&error)),
            Self::Zstd(input) => input.read(out),
        }
    }
}

/// Says what a decoder of gzip means by its error.
fn explain(error: &io::Error) -> io::Error {
    if error.kind() == ErrorKind::UnexpectedEof {
        return io::Error::new(error.kind(), "the gzip file ends before its data does");
    }
    io::Error::new(error.kind(), format!("the gzip file is broken: {error}"))
}

/// Frames one behind the other.
pub(super) struct Zstd<B> {
    input: B,
    decoder: FrameDecoder,
    /// Whether the decoder is in the midst of a frame.
    in_frame: bool,
}

/// Most bytes that a frame may refer back to: what `zstd --long` takes. They are kept in memory.
const MOST_WINDOW: u64 = 128 << 20;

impl<B: BufRead> Zstd<B> {
    fn new(input: B) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_WINDOW);
        Self { input, decoder, in_frame: false }
    }

    /// Begins the next frame; `false` if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.input.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(false)
    }

    fn end(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(broken("the checksum of a frame is wrong"));
        }
        Ok(())
    }
}

impl<B: BufRead> Read for Zstd<B> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.begin()? {
                return Ok(0);
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(out);
            }
            if self.decoder.is_finished() {
                self.end()?;
                continue;
            }
            let some = BlockDecodingStrategy::UptoBytes(CHUNK);
            self.decoder.decode_blocks(&mut self.input, some).map_err(broken)?;
        }
    }
}

fn broken(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the zstd file is broken: {why}"))
}
