//! The Internet checksum (RFC 1071), over a header, its pseudo header and its payload.

use std::net::IpAddr;

/// What a checksum says of its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// It is right.
    Good,
    /// It is not; on the host that sends, often because the network card fills it in later.
    Bad,
    /// The capture holds only a part of what it covers.
    Unknown,
    /// The sender left it out (UDP over IPv4, RFC 768).
    Absent,
    /// It is that of the pseudo header alone: the packet was seen before its sender's network card filled in the rest, or goes without
    /// one (`CHECKSUM_PARTIAL` in `include/linux/skbuff.h`).
    Partial,
}

/// What follows a header that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// These bytes: written, and counted in lengths and checksums.
    Bytes(&'a [u8]),
    /// So many zero bytes: counted, but not written, as if a capture had kept headers only.
    Zeros(usize),
}

impl Payload<'_> {
    /// How many bytes.
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Zeros(n) => *n,
        }
    }

    /// Whether there is nothing.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part that is written.
    pub(crate) const fn written(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Zeros(_) => &[],
        }
    }
}

/// A sum in ones' complement of 16-bit words, in network byte order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum(u64);

impl Sum {
    /// The pseudo header of TCP, UDP and ICMPv6 (RFC 9293 §3.1, RFC 8200 §8.1). Between addresses of
    /// different versions there is no packet; each counts as it is.
    pub(crate) fn pseudo_header(ends: (IpAddr, IpAddr), protocol: u8, length: usize) -> Self {
        let address = |sum: Self, address: IpAddr| match address {
            IpAddr::V4(address) => sum.add_bytes(&address.octets()),
            IpAddr::V6(address) => sum.add_bytes(&address.octets()),
        };
        let sum = address(address(Self::default(), ends.0), ends.1);
        Self(sum.0 + u64::from(protocol) + length as u64)
    }

    /// Adds bytes; all pieces but the last must have an even length.
    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Self {
        let (words, odd) = bytes.as_chunks::<2>();
        let sum: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
        let last = odd.first().map_or(0, |byte| u64::from(*byte) << 8);
        Self(self.0 + sum + last)
    }

    /// Adds a number below 2³²: a length, a protocol, a sum that was folded before.
    #[must_use]
    pub fn add_number(self, number: u32) -> Self {
        Self(self.0 + u64::from(number))
    }

    /// The sum in 16 bits.
    pub fn folded(self) -> u16 {
        let fold = |sum: u64| (sum & 0xffff) + (sum >> 16);
        // 64 bits fold to 49, 34, 19, 17 and at last 16.
        let folded = (0..5).fold(self.0, |sum, _| fold(sum));
        u16::try_from(folded).unwrap_or(u16::MAX)
    }

    /// The checksum: what makes the whole sum all ones.
    pub fn checksum(self) -> u16 {
        !self.folded()
    }

    /// Whether the bytes summed up, their checksum included, are whole.
    pub(crate) fn verdict(self) -> Checksum {
        if self.checksum() == 0 { Checksum::Good } else { Checksum::Bad }
    }

    /// What a checksum says of its packet, whose `bytes` it covers, behind this sum of the pseudo header.
    pub(crate) fn verdict_on(self, bytes: &[u8], checksum: u16) -> Checksum {
        let verdict = self.add_bytes(bytes).verdict();
        let is_partial = verdict == Checksum::Bad && checksum == self.folded();
        if is_partial { Checksum::Partial } else { verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_rfc_1071() {
        // §3: 00 01 f2 03 f4 f5 f6 f7 sum to ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().add_bytes(&bytes).checksum(), !0xddf2);
        assert_eq!(
            Sum::default().add_bytes(&bytes[..4]).add_bytes(&bytes[4..]).checksum(),
            !0xddf2
        );
        assert_eq!(Sum::default().add_bytes(&[1]).checksum(), !0x0100, "padded with a zero");
        assert_eq!(Sum(u64::MAX).checksum(), 0, "every carry is folded in");
    }
}
