//! IPv4 fragmentation.

use crate::units::{Bytes, Mtu};

/// One fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Where its payload begins in the whole packet's; a multiple of 8.
    pub offset: Bytes,
    /// How much of it there is.
    pub payload: Bytes,
    /// Its length as a packet, header included.
    pub length: Bytes,
}

/// The packets as which an IPv4 packet of `length` bytes, `header` of them its header, passes a link
/// of `mtu` (RFC 791 §3.2): itself, where it fits. All but the last carry the largest multiple of 8
/// that fits, at least 8: a header has at most 60 bytes and an MTU at least 68.
pub fn fragments(length: Bytes, mtu: Mtu, header: Bytes) -> impl Iterator<Item = Fragment> + Clone {
    let payload = length.saturating_sub(header).get();
    let room = mtu.bytes().saturating_sub(header).get();
    let cut = (room / 8 * 8).max(8);
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let offset = next?;
        let left = payload - offset;
        let carried = if left <= room { left } else { cut.min(left) };
        next = (carried < left).then_some(offset + carried);
        let payload = Bytes::new(carried);
        Some(Fragment { offset: Bytes::new(offset), payload, length: header + payload })
    })
}
