//! Past the link's header.

use maxseg_linux::observe::capture::Sighting;
use maxseg_wire::bpf::Link;

/// What an interface's packet carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// VLAN identifiers, the outermost first.
    pub(super) vlans: Vec<u16>,
    /// The `EtherType` of what follows; `None` of IP without a link's header, and of what is cut before it.
    pub(super) ether_type: Option<u16>,
    /// What follows, as far as it was kept.
    pub(super) body: &'a [u8],
    /// How long that was.
    pub(super) body_len: usize,
}

/// Bytes of two hardware addresses.
const ADDRESSES: usize = 12;
/// Bytes of a VLAN tag or an `EtherType`.
const TAG: usize = 4;
const TYPE: usize = 2;
/// IEEE 802.1Q, 802.1ad, and what came before the latter.
const VLAN_TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// What a VLAN tag has besides the identifier is above these bits.
const IDENTIFIER: u16 = 0x0fff;

impl<'a> Frame<'a> {
    pub(super) fn of(sighting: &Sighting<'a>) -> Self {
        let whole = usize::try_from(sighting.original_len).unwrap_or(usize::MAX);
        match sighting.link {
            Link::RawIp => {
                let vlans = Vec::new();
                Self { vlans, ether_type: None, body: sighting.bytes, body_len: whole }
            }
            Link::Ethernet | Link::Loopback => Self::of_ethernet(sighting.bytes, whole),
        }
    }

    fn of_ethernet(bytes: &'a [u8], whole: usize) -> Self {
        let mut vlans = Vec::new();
        let mut at = ADDRESSES;
        let number = |at: usize| {
            let bytes = bytes.get(at..at + TYPE)?;
            Some(u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        while number(at).is_some_and(|kind| VLAN_TAGS.contains(&kind)) {
            vlans.extend(number(at + TYPE).map(|control| control & IDENTIFIER));
            at += TAG;
        }
        Self {
            vlans,
            ether_type: number(at),
            body: bytes.get(at + TYPE..).unwrap_or_default(),
            body_len: whole.saturating_sub(at + TYPE),
        }
    }
}
