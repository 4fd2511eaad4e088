//! IPv6 (RFC 8200), and its extension headers as far as they must be skipped.

use std::net::Ipv6Addr;

use super::fragment::Fragment;
use crate::fields::{Bits, Layout, Pass};
use crate::{DecodeError, EncodeError, Layer};

/// The fixed IPv6 header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6 {
    /// Differentiated services code point (RFC 2474): 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification (RFC 3168): 2 bits.
    pub ecn: u8,
    /// Flow label, equal in the packets of a flow: 20 bits.
    pub flow_label: u32,
    /// Bytes after this header, extension headers included; computed when encoded.
    pub payload_length: u16,
    /// Type of the next header (see [`protocol`](super::protocol)).
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
}

impl Default for Ipv6 {
    fn default() -> Self {
        Self {
            dscp: 0,
            ecn: 0,
            flow_label: 0,
            payload_length: 0,
            next_header: 0,
            hop_limit: 64,
            source: Ipv6Addr::UNSPECIFIED,
            destination: Ipv6Addr::UNSPECIFIED,
        }
    }
}

impl Layout for Ipv6 {
    const LAYER: Layer = Layer::Ip;
    const LEN: usize = 40;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.bits32(&mut [
            Bits::U8(4, &mut 6),
            Bits::U8(6, &mut self.dscp),
            Bits::U8(2, &mut self.ecn),
            Bits::U32(20, &mut self.flow_label),
        ]);
        pass.u16(&mut self.payload_length);
        pass.u8(&mut self.next_header);
        pass.u8(&mut self.hop_limit);
        for address in [&mut self.source, &mut self.destination] {
            let mut octets = address.octets();
            pass.octets(&mut octets);
            *address = octets.into();
        }
    }
}

impl Ipv6 {
    /// Appends the header of a packet with `payload_len` bytes after it, extension headers included.
    /// The length is computed, whatever the field says.
    ///
    /// # Errors
    /// More than 65 535 bytes.
    pub fn encode(&self, payload_len: usize, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        EncodeError::check(Layer::Ip, payload_len, u16::MAX.into())?;
        let payload_length = u16::try_from(payload_len).unwrap_or(u16::MAX);
        Self { payload_length, ..*self }.write(out);
        Ok(())
    }
}

/// The fragment extension header (RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ipv6Fragment {
    /// Type of the next header.
    pub next_header: u8,
    /// Offset in the original payload, in units of 8 bytes: 13 bits.
    pub offset: u16,
    /// M: more fragments follow.
    pub more: bool,
    /// Identification, equal in all fragments of a packet.
    pub identification: u32,
}

impl Layout for Ipv6Fragment {
    const LAYER: Layer = Layer::Ip;
    const LEN: usize = 8;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.u8(&mut self.next_header);
        pass.u8(&mut 0);
        pass.bits16(&mut [
            Bits::U16(13, &mut self.offset),
            Bits::U8(2, &mut 0),
            Bits::Flag(&mut self.more),
        ]);
        pass.u32(&mut self.identification);
    }
}

impl Ipv6Fragment {
    /// The value of `next_header` that announces this header.
    pub const NUMBER: u8 = 44;

    /// Appends the header.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.write(out);
    }
}

/// Extension headers that begin with the next header's number and their own length in units of 8
/// bytes, the first not counted: hop-by-hop options, routing, destination options, mobility, host
/// identity, shim6.
const OPTION_HEADERS: [u8; 6] = [0, 43, 60, 135, 139, 140];
/// The authentication header (RFC 4302) counts in units of 4 bytes, the first two not counted.
const AUTHENTICATION: u8 = 51;

/// The result of skipping the extension headers.
pub(super) struct Extensions {
    pub(super) protocol: u8,
    /// Bytes of the extension headers.
    pub(super) len: usize,
    pub(super) fragment: Option<Fragment>,
    /// An atomic fragment header (RFC 6946) was among them.
    pub(super) is_atomic: bool,
}

/// Skips the extension headers at the start of `behind`; `next_header` is the type of the first.
pub(super) fn extensions(next_header: u8, behind: &[u8]) -> Result<Extensions, DecodeError> {
    let mut found = Extensions { protocol: next_header, len: 0, fragment: None, is_atomic: false };
    while let Some(next) = behind.get(found.len..) {
        // A later fragment does not begin with a header.
        if found.fragment.is_some_and(|fragment: Fragment| fragment.offset > 0) {
            break;
        }
        let Some(extension) = Extension::read(found.protocol, next)? else { break };
        let whole = |part: &Fragment| !part.more && part.offset == 0;
        found.is_atomic |= extension.fragment.as_ref().is_some_and(whole);
        found.fragment = extension.fragment.filter(|part| !whole(part)).or(found.fragment);
        found.protocol = extension.next_header;
        found.len += extension.len;
    }
    Ok(found)
}

struct Extension {
    next_header: u8,
    len: usize,
    fragment: Option<Fragment>,
}

impl Extension {
    /// Reads the extension header of type `number`; `None` if that type is not an extension header.
    fn read(number: u8, bytes: &[u8]) -> Result<Option<Self>, DecodeError> {
        if number == Ipv6Fragment::NUMBER {
            let (header, _) = Ipv6Fragment::read(bytes)?;
            let fragment = Some(Fragment {
                identification: header.identification,
                offset: usize::from(header.offset) * 8,
                more: header.more,
            });
            let next_header = header.next_header;
            return Ok(Some(Self { next_header, len: Ipv6Fragment::LEN, fragment }));
        }
        if !OPTION_HEADERS.contains(&number) && number != AUTHENTICATION {
            return Ok(None);
        }
        let short = |need| DecodeError::Short { layer: Layer::Ip, have: bytes.len(), need };
        let [next_header, units, ..] = bytes else { return Err(short(8)) };
        let units = usize::from(*units);
        let len = if number == AUTHENTICATION { (units + 2) * 4 } else { (units + 1) * 8 };
        if bytes.len() < len {
            return Err(short(len));
        }
        Ok(Some(Self { next_header: *next_header, len, fragment: None }))
    }
}
