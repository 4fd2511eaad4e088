//! A packet as a link sees it.

use crate::units::Bytes;

/// A packet as a link sees it: its length, and whether its headers can be compressed. One word, so
/// that the simulator's inner loop compares packets with one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpPacket(u32);

/// Set where [`IpPacket::is_compressible`].
const COMPRESSIBLE: u32 = 1 << 31;

impl IpPacket {
    /// No packet: equal to none that has a length.
    pub const NONE: Self = Self(u32::MAX);

    /// A packet whose 40 bytes of TCP and IPv4 headers differ from those of the packet before only as
    /// Van Jacobson's compression foresees: the connection is established, and there are no options
    /// (RFC 1144 §3.2.2).
    pub fn compressible(length: Bytes) -> Self {
        Self(Self::from(length).0 | COMPRESSIBLE)
    }

    /// Bytes of the packet, its IP header included.
    pub const fn length(self) -> Bytes {
        Bytes::new((self.0 & !COMPRESSIBLE) as u64)
    }

    /// Whether its headers can be compressed.
    pub const fn is_compressible(self) -> bool {
        self.0 & COMPRESSIBLE != 0
    }

    /// The same headers with so many more bytes of payload.
    #[must_use]
    #[inline]
    pub const fn with_payload(self, bytes: u16) -> Self {
        Self(self.0 + bytes as u32)
    }

    /// A number below `slots` that packets of different lengths seldom share.
    #[inline]
    pub(crate) const fn slot(self, slots: usize) -> usize {
        (self.0 & !COMPRESSIBLE) as usize % slots
    }
}

impl From<u32> for IpPacket {
    /// A packet of which no more than its length is known; lengths end at 1 GiB.
    #[inline]
    fn from(length: u32) -> Self {
        Self(length.min(1 << 30))
    }
}

impl From<Bytes> for IpPacket {
    /// A packet of which no more than its length is known; lengths end at 1 GiB.
    fn from(length: Bytes) -> Self {
        Self::from(u32::try_from(length.get()).unwrap_or(u32::MAX))
    }
}
