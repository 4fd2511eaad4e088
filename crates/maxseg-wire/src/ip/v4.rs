//! IPv4 (RFC 791).

use std::net::Ipv4Addr;

use crate::checksum::Sum;
use crate::fields::{Bits, Layout, Pass};
use crate::{EncodeError, Layer};

/// An IPv4 header without its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4 {
    /// IHL: the header's length in 32-bit words; computed when encoded.
    pub header_words: u8,
    /// Differentiated services code point (RFC 2474): 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification (RFC 3168): 2 bits.
    pub ecn: u8,
    /// Length of the packet with this header, in bytes; computed when encoded.
    pub total_length: u16,
    /// Identification, equal in all fragments of a packet.
    pub identification: u16,
    /// The reserved flag, normally 0.
    pub reserved: bool,
    /// DF: hops must not fragment the packet.
    pub dont_fragment: bool,
    /// MF: more fragments follow.
    pub more_fragments: bool,
    /// Offset in the original payload, in units of 8 bytes: 13 bits.
    pub fragment_offset: u16,
    /// Time to live, in hops.
    pub ttl: u8,
    /// The payload's protocol (see [`protocol`](super::protocol)).
    pub protocol: u8,
    /// Checksum of the header; computed when encoded.
    pub checksum: u16,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
}

impl Default for Ipv4 {
    fn default() -> Self {
        Self {
            header_words: 5,
            dscp: 0,
            ecn: 0,
            total_length: 0,
            identification: 0,
            reserved: false,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 64,
            protocol: 0,
            checksum: 0,
            source: Ipv4Addr::UNSPECIFIED,
            destination: Ipv4Addr::UNSPECIFIED,
        }
    }
}

impl Layout for Ipv4 {
    const LAYER: Layer = Layer::Ip;
    const LEN: usize = 20;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.bits8(&mut [Bits::U8(4, &mut 4), Bits::U8(4, &mut self.header_words)]);
        pass.bits8(&mut [Bits::U8(6, &mut self.dscp), Bits::U8(2, &mut self.ecn)]);
        pass.u16(&mut self.total_length);
        pass.u16(&mut self.identification);
        pass.bits16(&mut [
            Bits::Flag(&mut self.reserved),
            Bits::Flag(&mut self.dont_fragment),
            Bits::Flag(&mut self.more_fragments),
            Bits::U16(13, &mut self.fragment_offset),
        ]);
        pass.u8(&mut self.ttl);
        pass.u8(&mut self.protocol);
        pass.u16(&mut self.checksum);
        for address in [&mut self.source, &mut self.destination] {
            let mut octets = address.octets();
            pass.octets(&mut octets);
            *address = octets.into();
        }
    }
}

/// Most bytes of options: the header has at most 15 words.
const MOST_OPTIONS: usize = 40;

impl Ipv4 {
    /// Appends the header of a packet with `options` and `payload_len` bytes of payload. Options are
    /// padded with zeros to whole words; lengths and checksum are computed, whatever the fields say.
    ///
    /// # Errors
    /// More than 40 bytes of options, or a packet above 65 535 bytes.
    pub fn encode(
        &self,
        options: &[u8],
        payload_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        EncodeError::check(Layer::Ip, options.len(), MOST_OPTIONS)?;
        let words = Self::LEN / 4 + options.len().div_ceil(4);
        let total = words * 4 + payload_len;
        let too_long = EncodeError { layer: Layer::Ip, length: total, limit: u16::MAX.into() };
        let mut header = *self;
        header.total_length = u16::try_from(total).map_err(|_| too_long)?;
        header.header_words = u8::try_from(words).map_err(|_| too_long)?;
        header.checksum = 0;
        let mut unsummed = Vec::with_capacity(words * 4);
        header.write(&mut unsummed);
        header.checksum = Sum::default().add_bytes(&unsummed).add_bytes(options).checksum();
        header.write(out);
        out.extend_from_slice(options);
        out.resize(out.len() + options.len().next_multiple_of(4) - options.len(), 0);
        Ok(())
    }
}
