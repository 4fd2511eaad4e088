//! Writing of pcapng files.

use std::io::{self, Write};

use super::{
    BYTE_ORDER, Direction, ENHANCED_PACKET, EPB_FLAGS, IF_DESCRIPTION, IF_NAME, IF_TSRESOL,
    INBOUND, INTERFACE, ISB_IFDROP, ISB_IFRECV, Interface, OPT_COMMENT, OPT_END, OUTBOUND, Packet,
    SECTION, SHB_USERAPPL, STATISTICS, Section, Statistics,
};

/// Writes a file of one section, block by block.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

/// Times are in units of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

impl<W: Write> Writer<W> {
    /// Writes the section header.
    ///
    /// # Errors
    /// `out` fails.
    pub fn new(out: W, section: &Section<'_>) -> io::Result<Self> {
        let mut writer = Self { out, interfaces: 0, block: Vec::new() };
        writer.begin(SECTION);
        writer.u32(BYTE_ORDER);
        writer.u32(1); // version 1.0
        writer.u32(u32::MAX); // section length unknown: −1 in 64 bits
        writer.u32(u32::MAX);
        writer.text(SHB_USERAPPL, section.application.as_deref());
        writer.text(OPT_COMMENT, section.comment.as_deref());
        writer.end()?;
        Ok(writer)
    }

    /// What the file is written to, with every block handed over.
    pub const fn out(&self) -> &W {
        &self.out
    }

    /// Gives back what the file is written to.
    pub fn into_out(self) -> W {
        self.out
    }

    /// Adds an interface with timestamps in nanoseconds; returns its number.
    ///
    /// # Errors
    /// `out` fails.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        self.begin(INTERFACE);
        self.u32(u32::from(interface.link_type));
        self.u32(interface.snap_len);
        self.text(IF_NAME, interface.name.as_deref());
        self.text(IF_DESCRIPTION, interface.description.as_deref());
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.end()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// `out` fails, or the packet's interface has not been added.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        self.has(packet.interface)?;
        let captured = u32::try_from(packet.data.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "the packet has 4 GiB or more")
        })?;
        self.begin(ENHANCED_PACKET);
        self.u32(packet.interface);
        self.u64_high_first(packet.at_nanos);
        self.u32(captured);
        self.u32(packet.original_len.max(captured));
        self.padded(&packet.data);
        match packet.direction {
            Some(Direction::Inbound) => self.option(EPB_FLAGS, &INBOUND.to_le_bytes()),
            Some(Direction::Outbound) => self.option(EPB_FLAGS, &OUTBOUND.to_le_bytes()),
            None => {}
        }
        self.text(OPT_COMMENT, packet.comment.as_deref());
        self.end()
    }

    /// Adds the statistics of an interface.
    ///
    /// # Errors
    /// `out` fails, or the interface has not been added.
    pub fn statistics(&mut self, statistics: &Statistics) -> io::Result<()> {
        self.has(statistics.interface)?;
        self.begin(STATISTICS);
        self.u32(statistics.interface);
        self.u64_high_first(statistics.at_nanos);
        for (code, count) in [(ISB_IFRECV, statistics.received), (ISB_IFDROP, statistics.dropped)] {
            if let Some(count) = count {
                self.option(code, &count.to_le_bytes());
            }
        }
        self.end()
    }

    /// Flushes `out`.
    ///
    /// # Errors
    /// `out` fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes and returns `out`.
    ///
    /// # Errors
    /// `out` fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn has(&self, interface: u32) -> io::Result<()> {
        if interface < self.interfaces {
            return Ok(());
        }
        let what = format!("there is no interface {interface}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, what))
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        self.u32(0); // the length, set by `end`
    }

    fn end(&mut self) -> io::Result<()> {
        self.option(OPT_END, &[]);
        let length = u32::try_from(self.block.len() + 4).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "the block has 4 GiB or more")
        })?;
        self.u32(length);
        if let Some(place) = self.block.get_mut(4..8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        self.out.write_all(&self.block)
    }

    fn u16(&mut self, number: u16) {
        self.block.extend(number.to_le_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.block.extend(number.to_le_bytes());
    }

    /// The high half precedes the low one, whatever the byte order.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are taken one by one")]
    fn u64_high_first(&mut self, number: u64) {
        self.u32((number >> 32) as u32);
        self.u32(number as u32);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn text(&mut self, code: u16, text: Option<&str>) {
        let Some(text) = text else { return };
        // An option's length has 16 bits; the cut falls between characters.
        let most = text.len().min(u16::MAX.into());
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.option(code, text.get(..end).unwrap_or_default().as_bytes());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.u16(code);
        self.u16(length);
        self.padded(value);
    }
}
