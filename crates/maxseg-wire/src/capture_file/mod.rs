//! Streaming reader of capture files: pcap and pcapng, plain or compressed.
//!
//! A record borrows its bytes from the file's buffer until the next record is read, so that none is copied
//! or allocated.
//!
//! ```text
//! impl Read → Source: gzip, zstd → ReadBuffer: 256 KiB → pcap::FileHeader | pcapng::SectionState → Record
//! ```

mod blocks;
mod compression;
mod error;
mod foreign;
mod limits;
mod read_buffer;

use std::io::Read;

pub use compression::Compression;
pub use error::{Fault, OpenError, ReadError};
pub use limits::{MOST_CAPTURED, MOST_INTERFACES};

use crate::pcap::{FileHeader, RecordHeader};
use crate::pcapng::{self, BlockHead};
use compression::Source;
use read_buffer::{BufferRange, ReadBuffer};

/// Bytes kept of an interface's name and of its description.
const MOST_TEXT: usize = 1024;
/// Comments kept of a file.
const MOST_COMMENTS: usize = 64;

/// A capture file, read record by record.
pub struct CaptureFile<R> {
    buffer: ReadBuffer<Source<R>>,
    compression: Option<Compression>,
    records: Records,
    interfaces: Vec<InterfaceInfo>,
    application: Option<String>,
    comments: Vec<String>,
    /// Records read so far.
    count: u64,
    /// Offset of the block being skipped, which may be longer than the buffer.
    skipped_from: Option<u64>,
    /// At the end of the file, or after an error.
    has_ended: bool,
}

/// A captured packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// The packet's number in the file, from 1.
    pub number: u64,
    /// The interface, numbered from 0 over all sections of the file.
    pub interface: u32,
    /// Interfaces that the file has described so far.
    pub interfaces: usize,
    /// Timestamp in nanoseconds since 1970; `None` in a simple packet block.
    pub at_nanos: Option<u64>,
    /// The packet's length on the wire, in bytes.
    pub original_len: u32,
    /// The link-layer header type (see [`link_type`](crate::link_type)).
    pub link_type: u16,
    /// The captured bytes.
    pub data: &'a [u8],
}

/// An interface at which packets were captured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceInfo {
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The section of the file that describes it, counted from 1.
    pub section: u32,
    /// Its number there, from 0.
    pub number_in_section: u32,
    /// The link-layer header type (see [`link_type`](crate::link_type)).
    pub link_type: u16,
    /// Bytes kept of each packet; 0 for no limit.
    pub snap_len: u32,
    /// Packets that the interface received.
    pub received: Option<u64>,
    /// Packets of these that the capture dropped for lack of space or time.
    pub dropped: Option<u64>,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// pcap with timestamps in microseconds.
    Pcap,
    /// pcap with timestamps in nanoseconds.
    PcapNanoseconds,
    /// pcap with the longer record headers of A. Kuznetzov's patch.
    PcapModified,
    /// pcapng.
    Pcapng,
}

impl Format {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNanoseconds => "pcap with nanoseconds",
            Self::PcapModified => "modified pcap",
            Self::Pcapng => "pcapng",
        }
    }
}

/// The format and what decoding the next record needs.
enum Records {
    Pcap(FileHeader),
    Pcapng {
        state: pcapng::SectionState,
        /// Number of the section's first interface in the file.
        base: usize,
        /// The section, counted from 1.
        section: u32,
    },
}

/// A record with the range of its bytes in the buffer.
struct RecordLocation {
    interface: u32,
    at_nanos: Option<u64>,
    original_len: u32,
    link_type: u16,
    range: BufferRange,
}

/// The type of a pcapng section header, the same in either byte order.
const PCAPNG_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Bytes by which the format is recognised.
const RECOGNITION_LEN: usize = 64;

impl<R: Read> CaptureFile<R> {
    /// Recognises the format of `input`.
    ///
    /// # Errors
    /// The format is not supported, or its header is malformed.
    pub fn open(input: R) -> Result<Self, OpenError> {
        let source = Source::new(input)?;
        let compression = source.compression();
        let mut buffer = ReadBuffer::new(source);
        let have = buffer.demand(RECOGNITION_LEN)?;
        let is_pcapng = buffer.peek() == Some(&PCAPNG_MAGIC);
        let records = if is_pcapng {
            let state = pcapng::SectionState::default();
            let short = |need| OpenError::Short { have, need };
            let head = state.head(*buffer.peek().ok_or_else(|| short(BlockHead::LEN))?)?;
            let bytes: &[u8; 16] = buffer.peek().ok_or_else(|| short(16))?;
            head.check_version(*bytes.last_chunk().ok_or_else(|| short(16))?)?;
            Records::Pcapng { state, base: 0, section: 0 }
        } else {
            Records::Pcap(pcap_header(&mut buffer, have)?)
        };
        let mut file = Self {
            buffer,
            compression,
            interfaces: Vec::new(),
            application: None,
            comments: Vec::new(),
            records,
            count: 0,
            skipped_from: None,
            has_ended: false,
        };
        if let Records::Pcap(header) = &file.records {
            let interface = InterfaceInfo {
                section: 1,
                link_type: header.link_type,
                snap_len: header.snap_len,
                ..InterfaceInfo::default()
            };
            file.interfaces.push(interface);
        }
        Ok(file)
    }

    /// The next packet; `None` at the end, and after an error.
    ///
    /// # Errors
    /// Reading fails, or the record is malformed. No record follows.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        Ok(self.next_and_interfaces()?.map(|(record, _)| record))
    }

    /// The next packet and the interfaces so far, its own among them.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline(always)]
    pub fn next_and_interfaces(
        &mut self,
    ) -> Result<Option<(Record<'_>, &[InterfaceInfo])>, ReadError> {
        if self.has_ended {
            return Ok(None);
        }
        let found = match &self.records {
            Records::Pcap(header) => pcap_record(*header, &mut self.buffer),
            Records::Pcapng { .. } => self.pcapng_record(),
        };
        match found {
            Ok(Some(found)) => {
                self.count += 1;
                let record = Record {
                    number: self.count,
                    interface: found.interface,
                    interfaces: self.interfaces.len(),
                    at_nanos: found.at_nanos,
                    original_len: found.original_len,
                    link_type: found.link_type,
                    data: self.buffer.at(found.range),
                };
                Ok(Some((record, &self.interfaces)))
            }
            Ok(None) => {
                self.has_ended = true;
                Ok(None)
            }
            Err(fault) => Err(self.end(fault)),
        }
    }

    /// Numbers the packets on from those of the files before it.
    pub(crate) const fn number_from(&mut self, before: u64) {
        self.count = before;
    }

    /// The number of the last packet that was read.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The interfaces so far; more may follow.
    pub fn interfaces(&self) -> &[InterfaceInfo] {
        &self.interfaces
    }

    /// The program that wrote the file, according to the latest section.
    pub fn application(&self) -> Option<&str> {
        self.application.as_deref()
    }

    /// Comments of the sections so far; at most 64.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// The file's format.
    pub const fn format(&self) -> Format {
        match &self.records {
            Records::Pcap(FileHeader { is_modified: true, .. }) => Format::PcapModified,
            Records::Pcap(FileHeader { nanos_per_unit: 1, .. }) => Format::PcapNanoseconds,
            Records::Pcap(_) => Format::Pcap,
            Records::Pcapng { .. } => Format::Pcapng,
        }
    }

    /// The file's compression; `None` for a plain file.
    pub const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Bytes read so far, counted after decompression.
    pub const fn bytes_read(&self) -> u64 {
        self.buffer.offset()
    }

    #[cold]
    fn end(&mut self, fault: Fault) -> ReadError {
        self.has_ended = true;
        let offset = self.skipped_from.unwrap_or(self.buffer.offset());
        ReadError { offset, compression: self.compression, fault }
    }
}

/// Reads the pcap file header, or names the format that the file has instead.
fn pcap_header<R: Read>(buffer: &mut ReadBuffer<R>, have: usize) -> Result<FileHeader, OpenError> {
    let need = FileHeader::LEN;
    let header = match buffer.peek() {
        Some(bytes) => FileHeader::read(bytes),
        None if is_cut_pcap(buffer.unread()) => return Err(OpenError::Short { have, need }),
        None => None,
    };
    let header = header.ok_or_else(|| foreign::refuse(buffer.unread()))?;
    if header.version.0 != 2 {
        return Err(OpenError::Version(header.version.0, header.version.1));
    }
    buffer.advance(need);
    Ok(header)
}

/// Whether `bytes`, shorter than a header, begins a pcap file.
fn is_cut_pcap(bytes: &[u8]) -> bool {
    let mut padded = [0; FileHeader::LEN];
    padded.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    bytes.len() >= 4 && FileHeader::read(&padded).is_some()
}

/// The buffered bytes, of which the next record takes `need`.
#[inline]
fn buffered_record<R: Read>(buffer: &mut ReadBuffer<R>, need: usize) -> Result<&[u8], Fault> {
    if need > MOST_CAPTURED {
        return Err(Fault::TooLong(need));
    }
    let have = buffer.demand(need)?;
    if have < need {
        return Err(Fault::Cut { have, need });
    }
    Ok(buffer.unread())
}

#[inline]
fn pcap_record<R: Read>(
    header: FileHeader,
    buffer: &mut ReadBuffer<R>,
) -> Result<Option<RecordLocation>, Fault> {
    let head_len = header.record_header_len();
    let have = buffer.demand(head_len)?;
    if have == 0 {
        return Ok(None);
    }
    let bytes = buffer.peek().filter(|_| have >= head_len);
    let record = header.record(bytes.ok_or(Fault::Cut { have, need: head_len })?);
    let captured = record.captured_len as usize;
    buffered_record(buffer, head_len + captured)?;
    Ok(Some(RecordLocation {
        interface: 0,
        at_nanos: Some(record.at_nanos),
        original_len: at_least(record.original_len, captured),
        link_type: header.link_type,
        range: buffer.advance(head_len + captured).part(head_len, captured),
    }))
}

/// The length on the wire, which is never below the captured length.
#[inline]
fn at_least(original_len: u32, captured: usize) -> u32 {
    original_len.max(u32::try_from(captured).unwrap_or(u32::MAX))
}

const _: () = assert!(RecordHeader::LEN == 16, "as `peek` takes it");

#[cfg(test)]
mod tests;
