//! Capture files of any size, record by record: pcap and pcapng, plain or compressed.
//!
//! What a record holds lies in a buffer that the file owns, and is lent until the next is asked for:
//! nothing is copied, nothing is allocated for a record.
//!
//! ```text
//! impl Read → Source: gzip, zstd → ReadBuffer: 1 MiB → pcap::FileHeader | pcapng::SectionState → Record
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

/// Most bytes that are kept of an interface's name and of its description.
const MOST_TEXT: usize = 1024;
/// Most comments that are kept of a file.
const MOST_COMMENTS: usize = 64;

/// A capture file that is being read.
pub struct CaptureFile<R> {
    window: ReadBuffer<Source<R>>,
    compression: Option<Compression>,
    records: Records,
    interfaces: Vec<InterfaceInfo>,
    application: Option<String>,
    comments: Vec<String>,
    /// Records that were read.
    count: u64,
    /// Where the block begins that is being passed over, which may be longer than the window.
    skipped_from: Option<u64>,
    /// Nothing more is read, because of the end or of an error.
    has_ended: bool,
}

/// A captured packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Which of the file's packets, counted from 1.
    pub number: u64,
    /// Where: the number of an interface, counted from 0 over all sections of the file.
    pub interface: u32,
    /// When, in nanoseconds since 1970, where the file says it.
    pub at_nanos: Option<u64>,
    /// How long the packet was, in bytes.
    pub original_len: u32,
    /// What it begins with (see [`link_type`](crate::link_type)).
    pub link_type: u16,
    /// What was kept of it.
    pub data: &'a [u8],
}

/// A capture point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceInfo {
    /// What it is called.
    pub name: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// What its packets begin with (see [`link_type`](crate::link_type)).
    pub link_type: u16,
    /// Most bytes that are kept of a packet; 0 for no limit.
    pub snap_len: u32,
    /// Packets that came there.
    pub received: Option<u64>,
    /// Those of them that are not in the file, because there was no room or time for them.
    pub dropped: Option<u64>,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// pcap with times in microseconds.
    Pcap,
    /// pcap with times in nanoseconds.
    PcapNanoseconds,
    /// pcap with the longer record headers of A. Kuznetzov's patch.
    PcapModified,
    /// pcapng.
    Pcapng,
}

impl Format {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNanoseconds => "pcap with nanoseconds",
            Self::PcapModified => "modified pcap",
            Self::Pcapng => "pcapng",
        }
    }
}

/// How records are found.
enum Records {
    Pcap(FileHeader),
    Pcapng {
        state: pcapng::SectionState,
        /// The number of the section's first interface.
        base: usize,
    },
}

/// A record before its bytes are lent.
struct Found {
    interface: u32,
    at_nanos: Option<u64>,
    original_len: u32,
    link_type: u16,
    place: BufferRange,
}

/// What tells pcapng from all else: the type of a section header, equal in either byte order.
const PCAPNG_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// As many bytes are looked at to tell what a file is.
const TELLING: usize = 64;

impl<R: Read> CaptureFile<R> {
    /// Finds out what `input` is, and reads as far as its first packet.
    ///
    /// # Errors
    /// It is no capture that is read here, or broken before its first packet.
    pub fn open(input: R) -> Result<Self, OpenError> {
        let source = Source::new(input)?;
        let compression = source.compression();
        let mut window = ReadBuffer::new(source);
        let have = window.demand(TELLING)?;
        let is_pcapng = window.peek() == Some(&PCAPNG_MAGIC);
        let records = if is_pcapng {
            let state = pcapng::SectionState::default();
            let head = *window.peek().ok_or(OpenError::Short { have, need: BlockHead::LEN })?;
            state.head(head)?;
            Records::Pcapng { state, base: 0 }
        } else {
            Records::Pcap(pcap_header(&mut window, have)?)
        };
        let mut file = Self {
            window,
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
    /// The input fails or is broken from here on.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        Ok(self.next_and_interfaces()?.map(|(record, _)| record))
    }

    /// The next packet, and the capture points so far: its own is among them.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn next_and_interfaces(
        &mut self,
    ) -> Result<Option<(Record<'_>, &[InterfaceInfo])>, ReadError> {
        if self.has_ended {
            return Ok(None);
        }
        let found = match &self.records {
            Records::Pcap(header) => pcap_record(*header, &mut self.window),
            Records::Pcapng { .. } => self.pcapng_record(),
        };
        match found {
            Ok(Some(found)) => {
                self.count += 1;
                let record = Record {
                    number: self.count,
                    interface: found.interface,
                    at_nanos: found.at_nanos,
                    original_len: found.original_len,
                    link_type: found.link_type,
                    data: self.window.at(found.place),
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

    /// The interfaces so far: all that the next packet may have come in at, and more may follow.
    pub fn interfaces(&self) -> &[InterfaceInfo] {
        &self.interfaces
    }

    /// The program that wrote the file, as the last section so far says.
    pub fn application(&self) -> Option<&str> {
        self.application.as_deref()
    }

    /// Comments on the file's sections so far; the first 64.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// What the file is.
    pub const fn format(&self) -> Format {
        match &self.records {
            Records::Pcap(FileHeader { is_modified: true, .. }) => Format::PcapModified,
            Records::Pcap(FileHeader { nanos_per_unit: 1, .. }) => Format::PcapNanoseconds,
            Records::Pcap(_) => Format::Pcap,
            Records::Pcapng { .. } => Format::Pcapng,
        }
    }

    /// How the file is compressed, if it is.
    pub const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Bytes that were read, decompressed if they had to be.
    pub const fn bytes_read(&self) -> u64 {
        self.window.offset()
    }

    #[cold]
    fn end(&mut self, fault: Fault) -> ReadError {
        self.has_ended = true;
        let offset = self.skipped_from.unwrap_or(self.window.offset());
        ReadError { offset, compression: self.compression, fault }
    }
}

/// The header of a pcap file at the head of the window, which is passed; or what the file is instead.
fn pcap_header<R: Read>(window: &mut ReadBuffer<R>, have: usize) -> Result<FileHeader, OpenError> {
    let need = FileHeader::LEN;
    let header = match window.peek() {
        Some(bytes) => FileHeader::read(bytes),
        None if is_cut_pcap(window.there()) => return Err(OpenError::Short { have, need }),
        None => None,
    };
    let header = header.ok_or_else(|| foreign::refuse(window.there()))?;
    if header.version.0 != 2 {
        return Err(OpenError::Version(header.version.0, header.version.1));
    }
    window.pass(need);
    Ok(header)
}

/// Whether so few bytes begin a pcap file.
fn is_cut_pcap(there: &[u8]) -> bool {
    let mut padded = [0; FileHeader::LEN];
    padded.iter_mut().zip(there).for_each(|(place, byte)| *place = *byte);
    there.len() >= 4 && FileHeader::read(&padded).is_some()
}

/// The bytes of a record of `need` bytes, and what follows it.
#[inline]
fn whole<R: Read>(window: &mut ReadBuffer<R>, need: usize) -> Result<&[u8], Fault> {
    if need > MOST_CAPTURED {
        return Err(Fault::TooLong(need));
    }
    let have = window.demand(need)?;
    if have < need {
        return Err(Fault::Cut { have, need });
    }
    Ok(window.there())
}

#[inline]
fn pcap_record<R: Read>(
    header: FileHeader,
    window: &mut ReadBuffer<R>,
) -> Result<Option<Found>, Fault> {
    let head_len = header.record_header_len();
    let have = window.demand(head_len)?;
    if have == 0 {
        return Ok(None);
    }
    let bytes = window.peek().filter(|_| have >= head_len);
    let record = header.record(bytes.ok_or(Fault::Cut { have, need: head_len })?);
    let captured = record.captured_len as usize;
    whole(window, head_len + captured)?;
    Ok(Some(Found {
        interface: 0,
        at_nanos: Some(record.at_nanos),
        original_len: at_least(record.original_len, captured),
        link_type: header.link_type,
        place: window.pass(head_len + captured).part(head_len, captured),
    }))
}

/// A packet was as long as what is there of it, whatever its record says.
#[inline]
fn at_least(original_len: u32, captured: usize) -> u32 {
    original_len.max(u32::try_from(captured).unwrap_or(u32::MAX))
}

const _: () = assert!(RecordHeader::LEN == 16, "as `peek` takes it");

#[cfg(test)]
mod tests;
