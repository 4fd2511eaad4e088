//! Zstandard (RFC 8878).

use std::error::Error;
use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::chunk::CHUNK;

/// A sequence of frames.
pub(in super::super) struct Zstd<B> {
    input: B,
    decoder: FrameDecoder,
    /// Inside a frame.
    in_frame: bool,
    /// The error to return after the bytes decoded before it.
    fault: Option<io::Error>,
}

/// The largest window of a frame, kept in memory: that of `zstd --long`.
const MOST_WINDOW: u64 = 128 << 20;

/// An empty last block (RFC 8878 §3.1.1.2), with space for a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl<B: BufRead> Zstd<B> {
    pub(super) fn new(input: B) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_WINDOW);
        Self { input, decoder, in_frame: false, fault: None }
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
                Err(error) => return Err(undecodable(&error)),
            }
        }
        Ok(false)
    }

    /// Decodes further blocks. The decoder releases its window only at the end of a frame; after a fault an
    /// empty last block ends the frame, so that all bytes decoded before the fault can be collected.
    fn decode(&mut self) -> io::Result<()> {
        let some = BlockDecodingStrategy::UptoBytes(CHUNK);
        if let Err(error) = self.decoder.decode_blocks(&mut self.input, some) {
            self.fault = Some(undecodable(&error));
            let end = BlockDecodingStrategy::All;
            self.decoder
                .decode_blocks(&LAST_BLOCK[..], end)
                .map_err(|error| undecodable(&error))?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.in_frame = false;
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
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
            self.decode()?;
        }
    }
}

/// The decoder's error in words; it says most of them as Rust's debug text.
fn undecodable(error: &FrameDecoderError) -> io::Error {
    if is_cut(error) {
        return io::Error::new(ErrorKind::UnexpectedEof, "the zstd file ends before its data does");
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are of the same kind")]
    match error {
        FrameDecoderError::ReadFrameHeaderError(_) | FrameDecoderError::FrameHeaderError(_) => {
            broken("a frame does not begin as one")
        }
        FrameDecoderError::WindowSizeTooBig { requested, .. } => broken(format_args!(
            "a frame refers {requested} bytes back; at most {MOST_WINDOW} are kept"
        )),
        FrameDecoderError::DictNotProvided { .. } => broken("it needs a dictionary"),
        _ => broken("a block cannot be decoded"),
    }
}

/// Whether the input ended while it was read.
fn is_cut(error: &FrameDecoderError) -> bool {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |&error: &&'_ (dyn Error + 'static)| error.source())
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == ErrorKind::UnexpectedEof)
}

fn broken(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the zstd file is broken: {why}"))
}
