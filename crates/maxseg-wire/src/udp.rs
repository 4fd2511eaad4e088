//! UDP (RFC 768).

use std::net::IpAddr;

use crate::checksum::{Checksum, Payload, Sum};
use crate::fields::{Layout, Pass};
use crate::ip::protocol;
use crate::{DecodeError, EncodeError, Layer};

/// A UDP header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Udp {
    /// Whence.
    pub source_port: u16,
    /// Whither.
    pub destination_port: u16,
    /// Bytes of header and payload; computed when encoded.
    pub length: u16,
    /// Of pseudo header, header and payload; computed when encoded.
    pub checksum: u16,
}

impl Layout for Udp {
    const LAYER: Layer = Layer::Udp;
    const LEN: usize = 8;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.u16(&mut self.source_port);
        pass.u16(&mut self.destination_port);
        pass.u16(&mut self.length);
        pass.u16(&mut self.checksum);
    }
}

/// A decoded datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The header.
    pub header: Udp,
    /// The payload, as far as it is there.
    pub payload: &'a [u8],
    /// Whether it arrived as it was sent.
    pub checksum: Checksum,
}

impl<'a> Datagram<'a> {
    /// The datagram in an IP packet's payload, of which `bytes` are there; `ends` are the packet's
    /// source and destination.
    ///
    /// # Errors
    /// There is no whole header, or a length below the header's.
    pub fn decode(bytes: &'a [u8], ends: (IpAddr, IpAddr)) -> Result<Self, DecodeError> {
        let (header, rest) = Udp::read(bytes)?;
        let length = usize::from(header.length);
        // 0 is a jumbogram's, or the network card's to fill in.
        if length != 0 && length < Udp::LEN {
            return Err(DecodeError::Length { layer: Layer::Udp, says: length, least: Udp::LEN });
        }
        let there = bytes.get(..length).filter(|there| !there.is_empty());
        let checksum = match there {
            _ if header.checksum == 0 => Checksum::Absent,
            None => Checksum::Unknown,
            Some(there) => {
                Sum::pseudo_header(ends, protocol::UDP, length).verdict_on(there, header.checksum)
            }
        };
        let payload = there.and_then(|there| there.get(Udp::LEN..)).unwrap_or(rest);
        Ok(Self { header, payload, checksum })
    }
}

impl Udp {
    /// Appends a datagram between two addresses. Length and checksum are computed, whatever the
    /// fields say.
    ///
    /// # Errors
    /// More than 65 535 bytes.
    pub fn encode(
        &self,
        ends: (IpAddr, IpAddr),
        payload: Payload<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let length = Self::LEN + payload.len();
        EncodeError::check(Layer::Udp, length, u16::MAX.into())?;
        let stated = u16::try_from(length).unwrap_or(u16::MAX);
        let mut header = Self { length: stated, checksum: 0, ..*self };
        let mut unsummed = Vec::with_capacity(Self::LEN);
        header.write(&mut unsummed);
        let sum = Sum::pseudo_header(ends, protocol::UDP, length);
        let checksum = sum.add_bytes(&unsummed).add_bytes(payload.written()).checksum();
        // A zero field means that there is no checksum; in ones' complement all ones is zero too.
        header.checksum = if checksum == 0 { u16::MAX } else { checksum };
        header.write(out);
        out.extend_from_slice(payload.written());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENDS: (IpAddr, IpAddr) = (
        IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)),
        IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2)),
    );

    #[test]
    fn lengths_that_lie() {
        let mut bytes = Vec::new();
        let header = Udp { source_port: 1, destination_port: 9, ..Udp::default() };
        header.encode(ENDS, Payload::Bytes(b"hello"), &mut bytes).unwrap();
        assert_eq!(Datagram::decode(&bytes, ENDS).unwrap().checksum, Checksum::Good);
        let cut = Datagram::decode(&bytes[..10], ENDS).unwrap();
        assert_eq!((cut.payload, cut.checksum), (&b"he"[..], Checksum::Unknown));
        let mut pending = bytes.clone();
        let sum = Sum::pseudo_header(ENDS, protocol::UDP, bytes.len()).folded();
        pending[6..8].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(Datagram::decode(&pending, ENDS).unwrap().checksum, Checksum::Partial);
        pending[7] ^= 1;
        assert_eq!(Datagram::decode(&pending, ENDS).unwrap().checksum, Checksum::Bad);
        let mut padded = bytes.clone();
        padded.extend([0; 5]);
        assert_eq!(Datagram::decode(&padded, ENDS).unwrap().payload, b"hello");
        bytes[5] = 7;
        let error = Datagram::decode(&bytes, ENDS).unwrap_err();
        assert_eq!(error.to_string(), "UDP: invalid length 7; the minimum is 8");
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail(bytes: Vec<u8>, ends: (IpAddr, IpAddr)) {
            let _ = Datagram::decode(&bytes, ends);
        }

        #[test]
        fn what_is_encoded_decodes_and_zeros_need_not_be_written(
            source_port: u16, destination_port: u16, a: [u8; 16], b: [u8; 16], n in 0..3000_usize,
        ) {
            let ends = (IpAddr::from(a), IpAddr::from(b));
            let header = Udp { source_port, destination_port, ..Udp::default() };
            let zeros = vec![0; n];
            let mut whole = Vec::new();
            header.encode(ends, Payload::Bytes(&zeros), &mut whole).unwrap();
            let decoded = Datagram::decode(&whole, ends).unwrap();
            prop_assert_eq!(decoded.checksum, Checksum::Good);
            prop_assert_eq!(decoded.payload, &zeros[..]);
            prop_assert_eq!(decoded.header.source_port, source_port);
            let mut cut = Vec::new();
            header.encode(ends, Payload::Zeros(n), &mut cut).unwrap();
            prop_assert_eq!(&cut[..], &whole[..Udp::LEN]);
        }
    }
}
