//! The pcapng capture format (draft-ietf-opsawg-pcapng): timestamps in nanoseconds, several interfaces in
//! one file.
//!
//! ```text
//! section header · interface description … · enhanced packet … · interface statistics …
//! ```

mod block;
mod read;
mod write;

use std::borrow::Cow;

pub(crate) use block::{BlockHead, SectionState};
pub use read::Reader;
pub use write::Writer;

pub use crate::link_type;

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// A section header; interfaces are numbered from 0 again.
    Section(Section<'a>),
    /// An interface description.
    Interface(Interface<'a>),
    /// A packet, in an enhanced or an obsolete packet block.
    Packet(Packet<'a>),
    /// A packet in a simple packet block: no timestamp, first interface.
    SimplePacket(SimplePacket<'a>),
    /// Interface statistics.
    Statistics(Statistics),
    /// A block of another type.
    Other(u32),
}

/// A section header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section<'a> {
    /// The program that wrote the section.
    pub application: Option<Cow<'a, str>>,
    /// A comment.
    pub comment: Option<Cow<'a, str>>,
}

/// An interface at which packets are captured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name.
    pub name: Option<Cow<'a, str>>,
    /// Its description.
    pub description: Option<Cow<'a, str>>,
    /// The link-layer header type (see [`link_type`]).
    pub link_type: u16,
    /// Bytes kept of each packet; 0 for no limit.
    pub snap_len: u32,
}

/// A captured packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The interface, numbered from 0 in this section.
    pub interface: u32,
    /// Timestamp, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// The packet's length on the wire.
    pub original_len: u32,
    /// The captured bytes.
    pub data: Cow<'a, [u8]>,
    /// Direction at the interface.
    pub direction: Option<Direction>,
    /// A comment.
    pub comment: Option<Cow<'a, str>>,
}

/// A captured packet without a timestamp, at the section's first interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimplePacket<'a> {
    /// The packet's length on the wire.
    pub original_len: u32,
    /// The captured bytes.
    pub data: Cow<'a, [u8]>,
}

/// What an interface counted by the end of the capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The interface, numbered from 0 in this section.
    pub interface: u32,
    /// Timestamp, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Packets that the interface received.
    pub received: Option<u64>,
    /// Packets of these that the capture dropped for lack of space or time.
    pub dropped: Option<u64>,
}

/// The direction of a packet at an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received by the host.
    Inbound,
    /// Sent by the host.
    Outbound,
}

/// Block types.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// The byte-order magic of a section.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Options of any block.
const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
/// Options of a section.
const SHB_USERAPPL: u16 = 4;
/// Options of an interface.
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
/// Options of a packet; the lowest two bits of its flags are the direction.
const EPB_FLAGS: u16 = 2;
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
/// Options of an interface's statistics.
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;

#[cfg(test)]
mod tests;
