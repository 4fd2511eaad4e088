//! The meaning of one block: shared by whoever has the whole file, and who has a stream of it.

use std::borrow::Cow;

use super::{
    BYTE_ORDER, Block, Direction, ENHANCED_PACKET, EPB_FLAGS, IF_DESCRIPTION, IF_NAME, IF_TSOFFSET,
    IF_TSRESOL, INBOUND, INTERFACE, ISB_IFDROP, ISB_IFRECV, Interface, OBSOLETE_PACKET,
    OPT_COMMENT, OPT_END, OUTBOUND, Packet, SECTION, SHB_USERAPPL, SIMPLE_PACKET, STATISTICS,
    Section, SimplePacket, Statistics,
};
use crate::{DecodeError, Layer};

/// What a section told so far: enough to understand its next block.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionState {
    /// That of the section; `None` before the first.
    order: Option<Order>,
    /// Of the interfaces, in their order.
    clocks: Vec<Clock>,
    /// Of the first interface: what a simple packet was cut to.
    first_snap_len: u32,
}

/// The first octets of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockHead {
    order: Order,
    /// The block's type.
    pub(crate) kind: u32,
    /// Bytes of the whole block, this head and the length at its foot included: at least 12.
    pub(crate) length: usize,
}

/// What stands before the bytes of a captured packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketHead {
    /// The number of an interface of this section.
    pub(crate) interface: u32,
    /// In nanoseconds since 1970; a simple packet has none.
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

/// How an interface counts time.
#[derive(Debug, Clone, Copy)]
struct Clock {
    units_per_second: u128,
    /// What to add, in seconds.
    offset: i64,
    /// Nanoseconds in a unit where that is a whole number and nothing is to be added, which is the
    /// rule; else 0.
    nanos_per_unit: u64,
}

impl Clock {
    fn new(resolution: u8, offset: i64) -> Self {
        // A negative power of ten, or with the highest bit set of two.
        let (base, power) =
            if resolution & 0x80 == 0 { (10_u128, resolution) } else { (2, resolution & 0x7f) };
        // Finer than 10⁻³⁸ s no clock is.
        let units_per_second = base.checked_pow(power.into()).unwrap_or(u128::MAX);
        let is_whole = offset == 0 && NANOS_PER_SECOND.is_multiple_of(units_per_second);
        let nanos = if is_whole { NANOS_PER_SECOND / units_per_second } else { 0 };
        let nanos_per_unit = u64::try_from(nanos).unwrap_or(0);
        Self { units_per_second, offset, nanos_per_unit }
    }

    /// Nanoseconds since 1970; what is before or beyond 64 bits is as near as can be.
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
/// `if_tsresol` where it is not given: microseconds.
const MICROSECONDS: u8 = 6;

impl BlockHead {
    /// As many octets of a block tell what it is: of a section, the byte order is the last four.
    pub(crate) const LEN: usize = 12;

    /// What lies between the head proper and the length at the foot.
    pub(crate) fn body<'a>(&self, block: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let short =
            DecodeError::Short { layer: Layer::Pcapng, have: block.len(), need: self.length };
        let (head_and_body, foot) =
            block.get(..self.length).and_then(<[u8]>::split_last_chunk).ok_or(short)?;
        self.check_foot(*foot)?;
        head_and_body.get(8..).ok_or(short)
    }

    /// Bytes of the length at the foot.
    pub(crate) const FOOT_LEN: usize = 4;

    /// Whether the length at the foot is that at the head.
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

    /// Where in a packet's block its bytes begin.
    #[inline]
    pub(crate) const fn data_offset(&self) -> usize {
        if self.kind == SIMPLE_PACKET { 12 } else { 28 }
    }

    /// Whether the block means something to [`SectionState::block`].
    pub(crate) const fn is_known(&self) -> bool {
        self.is_packet() || matches!(self.kind, SECTION | INTERFACE | STATISTICS)
    }
}

impl SectionState {
    /// The head of the next block. A section's type reads the same in either byte order; its third
    /// number tells which.
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

    /// What a block means, of which this is the body.
    pub(crate) fn block<'a>(
        &mut self,
        head: &BlockHead,
        body: &'a [u8],
    ) -> Result<Block<'a>, DecodeError> {
        let mut fields = Fields { order: head.order, rest: body };
        match head.kind {
            SECTION => {
                *self = Self { order: Some(head.order), ..Self::default() };
                section(&mut fields).map(Block::Section)
            }
            INTERFACE => self.interface(&mut fields).map(Block::Interface),
            STATISTICS => self.statistics(&mut fields).map(Block::Statistics),
            _ if head.is_packet() => self.whole_packet(head, body),
            other => Ok(Block::Other(other)),
        }
    }

    /// A packet without its options: its head and its bytes. Of a block that [is
    /// one](BlockHead::is_packet).
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
            body.u16()?; // packets dropped before it
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

    /// Its length in the file is not said: it is cut by the first interface's limit, and padded.
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

    /// A time on an interface's clock.
    #[inline]
    fn time(&self, interface: u32, body: &mut Fields<'_>) -> Result<u64, DecodeError> {
        let clock = usize::try_from(interface).ok().and_then(|n| self.clocks.get(n));
        let clock = clock.ok_or(DecodeError::Interface(interface))?;
        let (high, low) = (body.u32()?, body.u32()?);
        Ok(clock.nanos(u64::from(high) << 32 | u64::from(low)))
    }
}

fn section<'a>(body: &mut Fields<'a>) -> Result<Section<'a>, DecodeError> {
    body.bytes(16)?; // byte order, version, length
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

/// Numbers, bytes and options, taken from the head of what is left.
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

    /// `n` bytes, and what pads them to a multiple of four.
    #[inline]
    fn padded(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let bytes = self.bytes(n)?;
        let padding = (n.wrapping_neg() % 4).min(self.rest.len());
        self.bytes(padding)?;
        Ok(bytes)
    }

    /// The next option; `None` at their end, and where they are broken: they are only remarks.
    fn option(&mut self) -> Option<(u16, &'a [u8])> {
        let (code, length) = (self.u16().ok()?, self.u16().ok()?);
        if code == OPT_END {
            return None;
        }
        Some((code, self.padded(length.into()).ok()?))
    }
}
