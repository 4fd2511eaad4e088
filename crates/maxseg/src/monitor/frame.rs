//! What an Ethernet frame says besides what it carries.

/// The VLAN identifiers of an Ethernet frame, the outermost first, and what stands behind its `EtherType`.
pub(super) fn ethernet(frame: &[u8]) -> (Vec<u16>, &[u8]) {
    /// Bytes of two hardware addresses, of a VLAN tag, and of an `EtherType`.
    const ADDRESSES: usize = 12;
    const TAG: usize = 4;
    const TYPE: usize = 2;
    /// IEEE 802.1Q, 802.1ad, and what came before the latter.
    const VLAN_TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
    /// What a tag has besides the identifier is above these bits.
    const IDENTIFIER: u16 = 0x0fff;
    let number = |at: usize| {
        let bytes = frame.get(at..at + TYPE)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let mut vlans = Vec::new();
    let mut at = ADDRESSES;
    while number(at).is_some_and(|kind| VLAN_TAGS.contains(&kind)) {
        vlans.extend(number(at + TYPE).map(|control| control & IDENTIFIER));
        at += TAG;
    }
    (vlans, frame.get(at + TYPE..).unwrap_or_default())
}
