//! A packet on its way to a line, seen live or kept in a file.

use maxseg_linux::observe::capture::{CapturedPacket, Direction, Interface};
use maxseg_wire::bpf::Link;
use maxseg_wire::link_type;

/// A packet as a line wants it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// When, in nanoseconds since 1970; `None` where a file does not say.
    pub(crate) at_nanos: Option<u64>,
    /// Where; `None` where a file does not say.
    pub(crate) interface: Option<&'a str>,
    /// Which way it went, if that is known.
    pub(crate) direction: Option<Direction>,
    /// What it begins with (see [`link_type`]).
    pub(crate) link_type: u16,
    /// How long it was.
    pub(crate) original_len: u32,
    /// What was kept of it.
    pub(crate) bytes: &'a [u8],
    /// Its checksum was not computed when it was seen: that is left to the network card.
    pub(crate) checksum_pending: bool,
}

impl<'a> View<'a> {
    /// Of a packet that was just seen.
    pub(crate) fn live(sighting: &CapturedPacket<'a>, interface: &'a Interface) -> Self {
        Self {
            at_nanos: Some(sighting.at_nanos),
            interface: Some(&interface.name),
            direction: Some(sighting.direction),
            link_type: link_type_of(sighting.link),
            original_len: sighting.original_len,
            bytes: sighting.bytes,
            checksum_pending: sighting.checksum_pending,
        }
    }

    /// Whether less of it was kept than it had: the snap length.
    pub(super) fn is_cut(&self) -> bool {
        u32::try_from(self.bytes.len()).is_ok_and(|kept| kept < self.original_len)
    }
}

/// What packets of a link begin with, as files have it.
pub(crate) const fn link_type_of(link: Link) -> u16 {
    match link {
        Link::Ethernet | Link::Loopback => link_type::ETHERNET,
        Link::RawIp | Link::Skipped => link_type::RAW,
    }
}
