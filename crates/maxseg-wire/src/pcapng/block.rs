//! Decoding of one block, shared by the reader of files in memory and the reader of streams.

use std::borrow::Cow;

use super::{
    BYTE_ORDER, Block, Direction, ENHANCED_PACKET, EPB_FLAGS, IF_DESCRIPTION, IF_NAME, IF_TSOFFSET,
    IF_TSRESOL, INBOUND, INTERFACE, ISB_IFDROP, ISB_IFRECV, Interface, OBSOLETE_PACKET,
    OPT_COMMENT, OPT_END, OUTBOUND, Packet, SECTION, SHB_USERAPPL, SIMPLE_PACKET, STATISTICS,
    Section, SimplePacket, Statistics,
};
use crate::{DecodeError, Layer};

/// What the blocks of a section so far have defined, and the next one needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionState {
    /// The section's byte order; `None` before the first section.
    order: Option<Order>,
    /// The clocks of the interfaces, by number.
    clocks: Vec<Clock>,
    /// Snapshot length of the first interface, which limits simple packets.
    first_snap_len: u32,
}

/// Type, length and byte order of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockHead {
    order: Order,
    /// The block's type.
    pub(crate) kind: u32,
    /// Bytes of the whole block, with this head and the trailing length: at least 12.
    pub(crate) length: usize,
}

/// The fields before a packet's captured bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketHead {
    /// The interface, numbered from 0 in this section.
    pub(crate) interface: u32,
    /// Timestamp in nanoseconds since 1970; simple packets have none.
    pub(crate) at_nanos: Option<u64>,
    pub(crate) original_len: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// The clock of an interface.
#[derive(Debug, Clone, Copy)]
struct Clock {
    units_per_second: u128,
    /// Seconds added to every timestamp (`if_tsoffset`).
    offset: i64,
    /// Nanoseconds per unit in the usual case, a whole number and no offset; else 0.
    nanos_per_unit: u64,
}

impl Clock {
    fn new(resolution: u8, offset: i64) -> Self {
        // A negative power of 10, or of 2 where the highest bit is set.
        let (base, power) =
            if resolution & 0x80 == 0 { (10_u128, resolution) } else { (2, resolution & 0x7f) };
        // No clock is finer than 10⁻³⁸ s.
        let units_per_second = base.checked_pow(power.into()).unwrap_or(u128::MAX);
        let is_whole = offset == 0 && NANOS_PER_SECOND.is_multiple_of(units_per_second);
        let nanos = if is_whole { NANOS_PER_SECOND / units_per_second } else { 0 };
        let nanos_per_unit = u64::try_from(nanos).unwrap_or(0);
        Self { units_per_second, offset, nanos_per_unit }
    }

    /// Nanoseconds since 1970, clamped to 64 bits.
    #[inline]
    fn nanos(self, units: u64) -> u64 {
        if self.nanos_per_unit != 0 {
            return units.saturating_mul(self.nanos_per_unit);
        }
        let nanos = u128::from(units) * NANOS_PER_SECOND / self.units_per_second;
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX);
        let shifted = nanos.saturating_add(i128::from(self.offset) * 1_000_000_000);
        u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;
/// The default of `if_tsresol`: microseconds.
const MICROSECONDS: u8 = 6;

impl BlockHead {
    /// Type, length and, in a section header, the byte-order magic.
    pub(crate) const LEN: usize = 12;

    /// The body: the bytes between type and length and the trailing length.
    pub(crate) fn body<'a>(&self, block: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let short =
            DecodeError::Short { layer: Layer::Pcapng, have: block.len(), need: self.length };
        let (head_and_body, foot) =
            block.get(..self.length).and_then(<[u8]>::split_last_chunk).ok_or(short)?;
        self.check_foot(*foot)?;
        head_and_body.get(8..).ok_or(short)
    }

    /// Of a section: whether its version, which follows the head, is known.
    pub(crate) fn check_version(&self, [a, b, c, d]: [u8; 4]) -> Result<(), DecodeError> {
        let (major, minor) = (self.order.u16([a, b]), self.order.u16([c, d]));
        if major == 1 { Ok(()) } else { Err(DecodeError::SectionVersion(major, minor)) }
    }

    /// Bytes of the trailing length.
    pub(crate) const FOOT_LEN: usize = 4;

    /// Checks that the trailing length equals the one in the head.
    #[inline]
    pub(crate) const fn check_foot(&self, foot: [u8; Self::FOOT_LEN]) -> Result<(), DecodeError> {
        let foot = self.order.u32(foot) as usize;
        if foot == self.length {
            return Ok(());
        }
        Err(DecodeError::BlockLengths { head: self.length, foot })
    }

    /// Whether the block is a packet, of any kind.
    #[inline]
    pub(crate) const fn is_packet(&self) -> bool {
        matches!(self.kind, ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET)
    }

    /// Offset of the captured bytes in a packet block.
    #[inline]
    pub(crate) const fn data_offset(&self) -> usize {
        if self.kind == SIMPLE_PACKET { 12 } else { 28 }
    }

    /// Whether [`SectionState::block`] decodes this type.
    pub(crate) const fn is_known(&self) -> bool {
        self.is_packet() || matches!(self.kind, SECTION | INTERFACE | STATISTICS)
    }
}

impl SectionState {
    /// Decodes the head of the next block. The type of a section header is the same in either byte order;
    /// its magic defines the order.
    #[inline]
    pub(crate) fn head(&self, bytes: [u8; BlockHead::LEN]) -> Result<BlockHead, DecodeError> {
        let [k0, k1, k2, k3, l0, l1, l2, l3, o0, o1, o2, o3] = bytes;
        let kind = [k0, k1, k2, k3];
        let order = match u32::from_le_bytes(kind) {
            SECTION => match u32::from_le_bytes([o0, o1, o2, o3]) {
                BYTE_ORDER => Order::Little,
                other if other.swap_bytes() == BYTE_ORDER => Order::Big,
                other => return Err(DecodeError::Magic(other)),
            },
            other => self.order.ok_or(DecodeError::Magic(other))?,
        };
        let length = order.u32([l0, l1, l2, l3]) as usize;
        if length < 12 || !length.is_multiple_of(4) {
            return Err(DecodeError::Length { layer: Layer::Pcapng, says: length, least: 12 });
        }
        Ok(BlockHead { order, kind: order.u32(kind), length })
    }

    /// Decodes the body of a block.
    pub(crate) fn block<'a>(
        &mut self,
        head: &BlockHead,
        body: &'a [u8],
    ) -> Result<Block<'a>, DecodeError> {
        let mut fields = Fields { order: head.order, rest: body };
        match head.kind {
            SECTION => {
                *self = Self { order: Some(head.order), ..Self::default() };
                section(head, &mut fields).map(Block::Section)
            }
            INTERFACE => self.interface(&mut fields).map(Block::Interface),
            STATISTICS => self.statistics(&mut fields).map(Block::Statistics),
            _ if head.is_packet() => self.whole_packet(head, body),
            other => Ok(Block::Other(other)),
        }
    }

    /// The fields and captured bytes of a [packet block](BlockHead::is_packet), without its options.
    #[inline]
    pub(crate) fn packet<'a>(
        &self,
        head: &BlockHead,
        body: &'a [u8],
    ) -> Result<(PacketHead, &'a [u8]), DecodeError> {
        let mut fields = Fields { order: head.order, rest: body };
        self.packet_fields(head.kind, &mut fields)
    }

    #[inline]
    fn packet_fields<'a>(
        &self,
        kind: u32,
        body: &mut Fields<'a>,
    ) -> Result<(PacketHead, &'a [u8]), DecodeError> {
        if kind == SIMPLE_PACKET {
            return self.simple_packet(body);
        }
        let interface = if kind == OBSOLETE_PACKET {
            let interface = body.u16()?;
            body.u16()?; // drop count
            u32::from(interface)
        } else {
            body.u32()?
        };
        let at_nanos = Some(self.time(interface, body)?);
        let captured = body.u32()? as usize;
        let original_len = body.u32()?;
        let data = body.padded(captured)?;
        Ok((PacketHead { interface, at_nanos, original_len }, data))
    }

    /// A simple packet states no captured length: the first interface's snapshot length limits it.
    fn simple_packet<'a>(
        &self,
        body: &mut Fields<'a>,
    ) -> Result<(PacketHead, &'a [u8]), DecodeError> {
        if self.clocks.is_empty() {
            return Err(DecodeError::Interface(0));
        }
        let original_len = body.u32()?;
        let limit = if self.first_snap_len == 0 { u32::MAX } else { self.first_snap_len };
        let kept = original_len.min(limit) as usize;
        let data = body.rest.get(..kept).unwrap_or(body.rest);
        Ok((PacketHead { interface: 0, at_nanos: None, original_len }, data))
    }

    fn whole_packet<'a>(&self, head: &BlockHead, body: &'a [u8]) -> Result<Block<'a>, DecodeError> {
        let mut body = Fields { order: head.order, rest: body };
        let (PacketHead { interface, at_nanos, original_len }, data) =
            self.packet_fields(head.kind, &mut body)?;
        let data = Cow::Borrowed(data);
        let Some(at_nanos) = at_nanos else {
            return Ok(Block::SimplePacket(SimplePacket { original_len, data }));
        };
        let (direction, comment) = (None, None);
        let mut packet = Packet { interface, at_nanos, original_len, data, direction, comment };
        while let Some((code, value)) = body.option() {
            match code {
                OPT_COMMENT => packet.comment = Some(String::from_utf8_lossy(value)),
                EPB_FLAGS => {
                    let flags = Fields { order: body.order, rest: value }.u32().unwrap_or(0);
                    packet.direction = match flags & 3 {
                        INBOUND => Some(Direction::Inbound),
                        OUTBOUND => Some(Direction::Outbound),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
        Ok(Block::Packet(packet))
    }

    fn interface<'a>(&mut self, body: &mut Fields<'a>) -> Result<Interface<'a>, DecodeError> {
        let link_type = body.u16()?;
        body.u16()?;
        let mut interface = Interface { link_type, snap_len: body.u32()?, ..Interface::default() };
        let (mut resolution, mut offset) = (MICROSECONDS, 0);
        while let Some((code, value)) = body.option() {
            match (code, value) {
                (IF_NAME, text) => interface.name = Some(String::from_utf8_lossy(text)),
                (IF_DESCRIPTION, text) => {
                    interface.description = Some(String::from_utf8_lossy(text));
                }
                (IF_TSRESOL, [value, ..]) => resolution = *value,
                (IF_TSOFFSET, value) => {
                    let fields = &mut Fields { order: body.order, rest: value };
                    offset = fields.u64().map_or(0, u64::cast_signed);
                }
                _ => {}
            }
        }
        if self.clocks.is_empty() {
            self.first_snap_len = interface.snap_len;
        }
        self.clocks.push(Clock::new(resolution, offset));
        Ok(interface)
    }

    fn statistics(&self, body: &mut Fields<'_>) -> Result<Statistics, DecodeError> {
        let interface = body.u32()?;
        let at_nanos = self.time(interface, body)?;
        let mut statistics = Statistics { interface, at_nanos, ..Statistics::default() };
        while let Some((code, value)) = body.option() {
            let count = Fields { order: body.order, rest: value }.u64().ok();
            match code {
                ISB_IFRECV => statistics.received = count,
                ISB_IFDROP => statistics.dropped = count,
                _ => {}
            }
        }
        Ok(statistics)
    }

    /// A timestamp of an interface, in nanoseconds since 1970.
    #[inline]
    fn time(&self, interface: u32, body: &mut Fields<'_>) -> Result<u64, DecodeError> {
        let clock = usize::try_from(interface).ok().and_then(|n| self.clocks.get(n));
        let clock = clock.ok_or(DecodeError::Interface(interface))?;
        let (high, low) = (body.u32()?, body.u32()?);
        Ok(clock.nanos(u64::from(high) << 32 | u64::from(low)))
    }
}

fn section<'a>(head: &BlockHead, body: &mut Fields<'a>) -> Result<Section<'a>, DecodeError> {
    body.u32()?; // byte order
    head.check_version(body.array()?)?;
    body.u64()?; // length
    let mut section = Section::default();
    while let Some((code, value)) = body.option() {
        match code {
            SHB_USERAPPL => section.application = Some(String::from_utf8_lossy(value)),
            OPT_COMMENT => section.comment = Some(String::from_utf8_lossy(value)),
            _ => {}
        }
    }
    Ok(section)
}

/// A cursor over numbers, bytes and options.
#[derive(Debug, Clone, Copy)]
struct Fields<'a> {
    order: Order,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    #[inline]
    fn bytes(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let short = DecodeError::Short { layer: Layer::Pcapng, have: self.rest.len(), need: n };
        let (head, rest) = self.rest.split_at_checked(n).ok_or(short)?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let short = DecodeError::Short { layer: Layer::Pcapng, have: self.rest.len(), need: N };
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(short)?;
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(|bytes| self.order.u16(bytes))
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(|bytes| self.order.u32(bytes))
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(|bytes| match self.order {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        })
    }

    /// `n` bytes; their padding to a multiple of four is skipped.
    #[inline]
    fn padded(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let bytes = self.bytes(n)?;
        let padding = (n.wrapping_neg() % 4).min(self.rest.len());
        self.bytes(padding)?;
        Ok(bytes)
    }

    /// The next option; `None` at the end and at a malformed one, since no packet depends on options.
    fn option(&mut self) -> Option<(u16, &'a [u8])> {
        let (code, length) = (self.u16().ok()?, self.u16().ok()?);
        if code == OPT_END {
            return None;
        }
        Some((code, self.padded(length.into()).ok()?))
    }
}
