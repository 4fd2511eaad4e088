//! Reading capture files, of either byte order and any resolution of time.

use std::borrow::Cow;

use super::{
    BYTE_ORDER, Direction, ENHANCED_PACKET, EPB_FLAGS, IF_DESCRIPTION, IF_NAME, IF_TSOFFSET,
    IF_TSRESOL, INBOUND, INTERFACE, ISB_IFDROP, ISB_IFRECV, Interface, OPT_COMMENT, OPT_END,
    OUTBOUND, Packet, SECTION, SHB_USERAPPL, STATISTICS, Section, Statistics,
};
use crate::{DecodeError, Layer};

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// A section begins: interfaces count from 0 again.
    Section(Section<'a>),
    /// A capture point.
    Interface(Interface<'a>),
    /// A packet.
    Packet(Packet<'a>),
    /// What a capture point counted.
    Statistics(Statistics),
    /// A block of another type.
    Other(u32),
}

/// The blocks of a file that is in memory. It ends after the first error.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// That of the section; `None` before the first.
    order: Option<Order>,
    clocks: Vec<Clock>,
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
}

impl Clock {
    const MICROSECONDS: Self = Self { units_per_second: 1_000_000, offset: 0 };

    /// Nanoseconds since 1970; what is before or beyond 64 bits is as near as can be.
    fn nanos(self, units: u64) -> u64 {
        let nanos = u128::from(units) * 1_000_000_000 / self.units_per_second;
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX);
        let shifted = nanos.saturating_add(i128::from(self.offset) * 1_000_000_000);
        u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
    }

    /// `if_tsresol`: a negative power of ten, or with the highest bit set of two.
    fn set_resolution(&mut self, value: u8) {
        let (base, power) = if value & 0x80 == 0 { (10_u128, value) } else { (2, value & 0x7f) };
        // Finer than 10⁻³⁸ s no clock is.
        self.units_per_second = base.checked_pow(power.into()).unwrap_or(u128::MAX);
    }
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from their beginning.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, order: None, clocks: Vec::new() }
    }

    fn block(&mut self) -> Result<Block<'a>, DecodeError> {
        let order = self.order_of_next()?;
        let mut head = Fields { order, rest: self.rest };
        let (kind, length) = (head.u32()?, head.u32()? as usize);
        if length < 12 || !length.is_multiple_of(4) {
            return Err(DecodeError::Length { layer: Layer::Pcapng, says: length, least: 12 });
        }
        let mut file = Fields { order, rest: self.rest };
        let block = file.bytes(length)?;
        self.rest = file.rest;
        let mut body = Fields { order, rest: block.get(8..length - 4).unwrap_or_default() };
        match kind {
            SECTION => {
                self.order = Some(order);
                self.clocks.clear();
                section(&mut body).map(Block::Section)
            }
            INTERFACE => self.interface(&mut body).map(Block::Interface),
            ENHANCED_PACKET => self.packet(&mut body).map(Block::Packet),
            STATISTICS => self.statistics(&mut body).map(Block::Statistics),
            other => Ok(Block::Other(other)),
        }
    }

    /// The byte order of the next block. A section's type reads the same in either; its third number
    /// tells.
    fn order_of_next(&self) -> Result<Order, DecodeError> {
        let mut head = Fields { order: Order::Little, rest: self.rest };
        match head.u32()? {
            SECTION => {}
            other => return self.order.ok_or(DecodeError::Magic(other)),
        }
        head.u32()?;
        match head.u32()? {
            BYTE_ORDER => Ok(Order::Little),
            other if other.swap_bytes() == BYTE_ORDER => Ok(Order::Big),
            other => Err(DecodeError::Magic(other)),
        }
    }

    fn interface(&mut self, body: &mut Fields<'a>) -> Result<Interface<'a>, DecodeError> {
        let link_type = body.u16()?;
        body.u16()?;
        let mut interface = Interface { link_type, snap_len: body.u32()?, ..Interface::default() };
        let mut clock = Clock::MICROSECONDS;
        while let Some((code, value)) = body.option() {
            match (code, value) {
                (IF_NAME, text) => interface.name = Some(String::from_utf8_lossy(text)),
                (IF_DESCRIPTION, text) => {
                    interface.description = Some(String::from_utf8_lossy(text));
                }
                (IF_TSRESOL, [value, ..]) => clock.set_resolution(*value),
                (IF_TSOFFSET, value) => {
                    let fields = &mut Fields { order: body.order, rest: value };
                    clock.offset = fields.u64().map_or(0, u64::cast_signed);
                }
                _ => {}
            }
        }
        self.clocks.push(clock);
        Ok(interface)
    }

    fn packet(&self, body: &mut Fields<'a>) -> Result<Packet<'a>, DecodeError> {
        let (interface, at_nanos) = self.place_and_time(body)?;
        let captured = body.u32()? as usize;
        let original_len = body.u32()?;
        let data = body.padded(captured)?;
        let mut packet = Packet {
            interface,
            at_nanos,
            original_len,
            data: Cow::Borrowed(data),
            direction: None,
            comment: None,
        };
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
        Ok(packet)
    }

    fn statistics(&self, body: &mut Fields<'a>) -> Result<Statistics, DecodeError> {
        let (interface, at_nanos) = self.place_and_time(body)?;
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

    /// The number of an interface, and a time on its clock.
    fn place_and_time(&self, body: &mut Fields<'a>) -> Result<(u32, u64), DecodeError> {
        let interface = body.u32()?;
        let clock = usize::try_from(interface).ok().and_then(|n| self.clocks.get(n));
        let clock = clock.ok_or(DecodeError::Interface(interface))?;
        let (high, low) = (body.u32()?, body.u32()?);
        Ok((interface, clock.nanos(u64::from(high) << 32 | u64::from(low))))
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

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Block<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let block = self.block();
        if block.is_err() {
            self.rest = &[];
        }
        Some(block)
    }
}

/// Numbers, bytes and options, taken from the head of what is left.
#[derive(Debug, Clone, Copy)]
struct Fields<'a> {
    order: Order,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn bytes(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let short = DecodeError::Short { layer: Layer::Pcapng, have: self.rest.len(), need: n };
        let (head, rest) = self.rest.split_at_checked(n).ok_or(short)?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(|bytes| self.order.u16(bytes))
    }

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
