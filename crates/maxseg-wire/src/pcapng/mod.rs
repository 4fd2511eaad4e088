//! The capture file of today: pcapng (draft-ietf-opsawg-pcapng), with times in nanoseconds and several capture
//! points in one file.
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
    /// A section begins: interfaces count from 0 again.
    Section(Section<'a>),
    /// A capture point.
    Interface(Interface<'a>),
    /// A packet, in an enhanced or in the obsolete packet block.
    Packet(Packet<'a>),
    /// A packet of which little was kept.
    SimplePacket(SimplePacket<'a>),
    /// What a capture point counted.
    Statistics(Statistics),
    /// A block of another type.
    Other(u32),
}

/// Who wrote a section, and of what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section<'a> {
    /// The program.
    pub application: Option<Cow<'a, str>>,
    /// Anything to know.
    pub comment: Option<Cow<'a, str>>,
}

/// A capture point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// What it is called.
    pub name: Option<Cow<'a, str>>,
    /// What it is.
    pub description: Option<Cow<'a, str>>,
    /// What its packets begin with (see [`link_type`]).
    pub link_type: u16,
    /// Most bytes that are kept of a packet; 0 for no limit.
    pub snap_len: u32,
}

/// A captured packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Where: the number of an interface of this section, counted from 0.
    pub interface: u32,
    /// When, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// How long it was.
    pub original_len: u32,
    /// What was kept of it.
    pub data: Cow<'a, [u8]>,
    /// Which way it went.
    pub direction: Option<Direction>,
    /// Anything to know.
    pub comment: Option<Cow<'a, str>>,
}

/// A captured packet with the least that can be said of it: it came in at the section's first interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimplePacket<'a> {
    /// How long it was.
    pub original_len: u32,
    /// What was kept of it.
    pub data: Cow<'a, [u8]>,
}

/// What a capture point counted, in the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Where: the number of an interface of this section, counted from 0.
    pub interface: u32,
    /// When, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Packets that came there.
    pub received: Option<u64>,
    /// Those of them that are not in the file, because there was no room or time for them.
    pub dropped: Option<u64>,
}

/// Which way a packet passed an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the host.
    Inbound,
    /// From the host.
    Outbound,
}

/// Block types.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// By which a section tells its byte order.
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
