//! Bytes on the wire of a link.

use crate::framing::IpPacket;
use crate::path::LinkSpec;

/// Counts bytes on the wire of one link.
#[derive(Debug)]
pub(super) struct Meter {
    link: LinkSpec,
    /// The last packet, and what it took: packets come in few lengths.
    last: (IpPacket, u64),
    pub(super) bytes: u64,
}

impl Meter {
    pub(super) fn new(link: &LinkSpec) -> Self {
        Self { link: link.clone(), last: (IpPacket::NONE, 0), bytes: 0 }
    }

    #[inline]
    pub(super) fn count(&mut self, packet: IpPacket) {
        if self.last.0 != packet {
            self.last = (packet, self.link.wire_bytes(packet).get());
        }
        self.bytes += self.last.1;
    }
}
