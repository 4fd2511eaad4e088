//! From what a link carried to the innermost IP packet in it.
//!
//! A link's header comes first ([`link_type`]), then tags, labels and sessions, then
//! IP, and where that carries a tunnel, all of this again. What is no tunnel after all, or none that can
//! be followed, stays a packet of the IP around it.

mod header;
mod link;
mod path;
mod tunnel;

pub use header::Decapsulated;
pub(crate) use header::ETHERNET_LEN;
pub use path::{EncapPath, Encapsulation, Undecodable};

use crate::capture_file::Record;
use crate::link_type;
use header::Rest;

/// The innermost IP packet in `data`, which was `original_len` bytes long and begins as `link_type`
/// says.
///
/// # Errors
/// There is none, or none that is understood.
pub fn decapsulate(
    link_type: u16,
    data: &[u8],
    original_len: u32,
) -> Result<Decapsulated<'_>, Undecodable> {
    let mut rest = Rest {
        bytes: data,
        wire_len: original_len,
        overhead: 0,
        encapsulation: EncapPath::default(),
    };
    let next = link::first(link_type, &mut rest)?;
    Ok(within(link::outermost(next, rest)?))
}

/// The IP packet right behind an Ethernet header: what nearly every packet of nearly every capture is, and
/// the same as [`decapsulate`] finds unless it is a tunnel's. Its bytes, and how many they were.
#[inline(always)]
pub(crate) fn behind_ethernet<'a>(record: &Record<'a>) -> Option<(&'a [u8], usize)> {
    let (head, bytes) = record.data.split_first_chunk::<{ ETHERNET_LEN as usize }>()?;
    let is_ip = record.link_type == link_type::ETHERNET && link::announces_ip(head);
    let wire_len = record.original_len.saturating_sub(ETHERNET_LEN) as usize;
    is_ip.then_some((bytes, wire_len.max(bytes.len())))
}

/// The innermost packet within one that is there already: that itself if it carries no tunnel.
#[inline]
pub(crate) fn within(outer: Decapsulated<'_>) -> Decapsulated<'_> {
    if tunnel::may_hold(&outer.ip) { innermost(outer) } else { outer }
}

fn innermost(mut outer: Decapsulated<'_>) -> Decapsulated<'_> {
    // Every tunnel passes at least one header, and these are limited.
    while let Some(inner) = tunnel::inside(&outer) {
        outer = inner;
    }
    outer
}

#[cfg(test)]
mod tests;
