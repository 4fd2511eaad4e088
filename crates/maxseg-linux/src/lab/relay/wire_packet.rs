//! A packet as it is on the wire: not merged with others, and with its checksum complete.

use maxseg_wire::Sum;

use super::layout::Layout;
use super::split::{Header, NEEDS_CSUM, payload};
use crate::sys::VNET_HEADER;

/// Captured and original length of a packet, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) kept: usize,
    pub(super) whole: usize,
}

/// Writes packet `index` of a super-packet to `out`, cut at the end of `out`: with its own lengths, sequence number and
/// flags, and the checksum of the whole packet; CE-marked if `marked`.
///
/// `all` is a super-packet with this layout.
pub(super) fn write_wire_packet(
    all: &[u8],
    layout: &Layout,
    index: u16,
    marked: bool,
    out: &mut [u8],
) -> Length {
    let header = Header::new(all, layout, index, index, marked);
    let (offload, header) = header.bytes().split_at(VNET_HEADER);
    let payload = &all[payload(layout, index, index)];
    let whole = header.len() + payload.len();
    let kept = whole.min(out.len());
    let of_header = header.len().min(kept);
    out[..of_header].copy_from_slice(&header[..of_header]);
    out[of_header..kept].copy_from_slice(&payload[..kept - of_header]);
    if offload[0] & NEEDS_CSUM != 0 {
        let field = |at: usize| usize::from(u16::from_ne_bytes([offload[at], offload[at + 1]]));
        let (start, place) = (field(6), field(6) + field(8));
        if let Some(there) = out[..kept].get_mut(place..place + 2) {
            let checksum = match checksum(header, payload, start) {
                // The same number in one's complement; in UDP zero means no checksum (RFC 768).
                0 if !layout.is_tcp() => u16::MAX,
                checksum => checksum,
            };
            there.copy_from_slice(&checksum.to_be_bytes());
        }
    }
    Length { kept, whole }
}

/// The checksum of everything from `start` on, whose field holds the sum over the pseudo header.
fn checksum(header: &[u8], payload: &[u8], start: usize) -> u16 {
    let of_header = header.get(start..).unwrap_or_default();
    let of_payload = payload.get(start.saturating_sub(header.len())..).unwrap_or_default();
    Sum::default().add_bytes(of_header).add_bytes(of_payload).checksum()
}
