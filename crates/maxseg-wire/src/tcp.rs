//! TCP's header (RFC 9293 §3.1).

use std::fmt;
use std::net::IpAddr;
use std::ops::BitOr;

use crate::checksum::{Checksum, Payload, Sum};
use crate::fields::{Bits, Layout, Pass};
use crate::ip::protocol;
use crate::options::{self, TcpOption};
use crate::{DecodeError, EncodeError, Layer};

/// A TCP header without its options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Whence.
    pub source_port: u16,
    /// Whither.
    pub destination_port: u16,
    /// Number of the first payload byte, or of the SYN.
    pub seq: u32,
    /// The next byte expected, where [`Flags::ACK`] is set.
    pub ack: u32,
    /// Length of header and options in 32-bit words (data offset); computed when encoded.
    pub header_words: u8,
    /// The control bits, and those that are reserved.
    pub flags: Flags,
    /// The window field: not scaled.
    pub window: u16,
    /// Of pseudo header, header, options and payload; computed when encoded.
    pub checksum: u16,
    /// Where urgent data ends, where [`Flags::URG`] is set.
    pub urgent: u16,
}

impl Layout for Tcp {
    const LAYER: Layer = Layer::Tcp;
    const LEN: usize = 20;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.u16(&mut self.source_port);
        pass.u16(&mut self.destination_port);
        pass.u32(&mut self.seq);
        pass.u32(&mut self.ack);
        pass.bits16(&mut [Bits::U8(4, &mut self.header_words), Bits::U16(12, &mut self.flags.0)]);
        pass.u16(&mut self.window);
        pass.u16(&mut self.checksum);
        pass.u16(&mut self.urgent);
    }
}

/// TCP's control bits, with the three reserved ones above them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No more from the sender.
    pub const FIN: Self = Self(1);
    /// The sequence numbers begin.
    pub const SYN: Self = Self(1 << 1);
    /// There is no such connection.
    pub const RST: Self = Self(1 << 2);
    /// To be handed on at once.
    pub const PSH: Self = Self(1 << 3);
    /// `ack` means something.
    pub const ACK: Self = Self(1 << 4);
    /// `urgent` means something.
    pub const URG: Self = Self(1 << 5);
    /// A congestion mark was seen (RFC 3168 §6.1).
    pub const ECE: Self = Self(1 << 6);
    /// The window was cut for it.
    pub const CWR: Self = Self(1 << 7);
    /// Accurate ECN (RFC 9768); before it, the nonce sum (RFC 3540).
    pub const AE: Self = Self(1 << 8);

    /// Their names, the lowest bit first.
    const NAMES: [&str; 9] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];

    /// The twelve bits behind the data offset.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0xfff)
    }

    /// As twelve bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all of `others` are set.
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = (0..).zip(Self::NAMES).filter(|(bit, _)| self.0 >> bit & 1 == 1);
        let names: Vec<&str> = set.map(|(_, name)| name).collect();
        f.pad(&names.join(" "))
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({self})")
    }
}

/// A decoded segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The header.
    pub header: Tcp,
    /// The options' bytes, as far as they are there; [`Segment::walk_options`] reads them.
    pub options: &'a [u8],
    /// The payload, as far as it is there.
    pub payload: &'a [u8],
    /// How long the payload was when it was sent.
    pub payload_len: usize,
    /// Whether it arrived as it was sent.
    pub checksum: Checksum,
}

impl<'a> Segment<'a> {
    /// The segment in an IP packet's payload of `payload_len` bytes, of which `bytes` are there;
    /// `ends` are the packet's source and destination. A capture may end within the options.
    ///
    /// # Errors
    /// There is no whole fixed header, or a data offset that is below it or beyond the packet.
    pub fn decode(
        bytes: &'a [u8],
        payload_len: usize,
        ends: (IpAddr, IpAddr),
    ) -> Result<Self, DecodeError> {
        let length = payload_len.max(bytes.len());
        let (header, rest) = Tcp::read(bytes)?;
        let header_len = usize::from(header.header_words) * 4;
        let layer = Layer::Tcp;
        if header_len < Tcp::LEN {
            return Err(DecodeError::Length { layer, says: header_len, least: Tcp::LEN });
        }
        if header_len > length {
            return Err(DecodeError::Short { layer, have: length, need: header_len });
        }
        let (options, payload) =
            rest.split_at_checked(header_len - Tcp::LEN).unwrap_or((rest, &[]));
        let checksum = if bytes.len() < length {
            Checksum::Unknown
        } else {
            Sum::pseudo_header(ends, protocol::TCP, length).verdict_on(bytes, header.checksum)
        };
        Ok(Self { header, options, payload, payload_len: length - header_len, checksum })
    }

    /// Bytes of the options that the capture left out.
    pub fn options_left_out(&self) -> usize {
        let header_len = usize::from(self.header.header_words) * 4;
        header_len.saturating_sub(Tcp::LEN + self.options.len())
    }

    /// The options, and where the capture cut them.
    pub fn walk_options(&self) -> options::Walk<'a> {
        options::walk_cut(self.options, self.options_left_out())
    }
}

impl Tcp {
    /// Appends a segment between two addresses. Data offset and checksum are computed, whatever the
    /// fields say.
    ///
    /// # Errors
    /// More than 40 bytes of options.
    pub fn encode(
        &self,
        options: &[TcpOption<'_>],
        ends: (IpAddr, IpAddr),
        payload: Payload<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let mut option_bytes = Vec::new();
        options::encode(options, &mut option_bytes)?;
        let header_len = Self::LEN + option_bytes.len();
        let mut header = *self;
        header.header_words = u8::try_from(header_len / 4).unwrap_or(u8::MAX);
        header.checksum = 0;
        let mut unsummed = Vec::with_capacity(Self::LEN);
        header.write(&mut unsummed);
        let sum = Sum::pseudo_header(ends, protocol::TCP, header_len + payload.len());
        let sum = sum.add_bytes(&unsummed).add_bytes(&option_bytes).add_bytes(payload.written());
        header.checksum = sum.checksum();
        header.write(out);
        out.extend_from_slice(&option_bytes);
        out.extend_from_slice(payload.written());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
