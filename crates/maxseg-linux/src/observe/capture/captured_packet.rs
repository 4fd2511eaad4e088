//! One packet at one interface.

use maxseg_wire::bpf::Link;

use crate::sys::RingPacket;

/// Which way a packet went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To this host.
    In,
    /// From this host.
    Out,
    /// To everybody.
    Broadcast,
    /// To a group.
    Multicast,
    /// To another host.
    OtherHost,
}

impl Direction {
    /// Of `sll_pkttype`.
    const fn of(kind: u8) -> Self {
        match kind {
            libc::PACKET_BROADCAST => Self::Broadcast,
            libc::PACKET_MULTICAST => Self::Multicast,
            libc::PACKET_OTHERHOST => Self::OtherHost,
            libc::PACKET_OUTGOING => Self::Out,
            _ => Self::In,
        }
    }
}

/// A packet as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// When the kernel saw it, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Where: the place of the interface in [`Capture::interfaces`](super::Capture::interfaces).
    pub interface: usize,
    /// What it begins with.
    pub link: Link,
    /// Which way it went.
    pub direction: Direction,
    /// How long it was, from the link's header on, a VLAN tag included.
    pub original_len: u32,
    /// What was kept of it.
    pub bytes: &'a [u8],
    /// Its checksum was not computed when it was seen: that is left to the network card.
    pub checksum_pending: bool,
}

/// Where a VLAN tag stands: behind the addresses.
const TAG_AT: usize = 12;
const TAG: usize = 4;
/// The tag of IEEE 802.1Q.
const ORDINARY_TAG: u16 = 0x8100;

impl<'a> CapturedPacket<'a> {
    /// Of what is in the ring; `frame` takes one whose tag is put back, of which `snap_len` bytes are kept.
    pub(super) fn of(
        packet: &RingPacket<'a>,
        interface: usize,
        link: Link,
        snap_len: u32,
        frame: &'a mut Vec<u8>,
    ) -> Self {
        let len = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let (bytes, original_len) = match (link, vlan_tag(packet)) {
            (Link::Ethernet | Link::Loopback, Some(tag)) => {
                let bytes = with_tag(packet.bytes, tag, snap_len, frame);
                (bytes, packet.len.saturating_add(len(TAG)))
            }
            (Link::Ethernet | Link::Loopback | Link::RawIp, _) => (packet.bytes, packet.len),
            (Link::Skipped, _) => (
                packet.bytes.get(packet.network..).unwrap_or_default(),
                packet.len.saturating_sub(len(packet.network)),
            ),
        };
        Self {
            at_nanos: packet.at_nanos,
            interface,
            link,
            direction: Direction::of(packet.kind),
            original_len,
            bytes,
            checksum_pending: packet.status & libc::TP_STATUS_CSUMNOTREADY != 0,
        }
    }
}

/// The tag that the kernel, or the network card, has taken out of the frame.
fn vlan_tag(packet: &RingPacket<'_>) -> Option<[u8; TAG]> {
    let has = |flag| packet.status & flag != 0;
    let protocol = if has(libc::TP_STATUS_VLAN_TPID_VALID) { packet.vlan.0 } else { ORDINARY_TAG };
    let ([a, b], [c, d]) = (protocol.to_be_bytes(), packet.vlan.1.to_be_bytes());
    has(libc::TP_STATUS_VLAN_VALID).then_some([a, b, c, d])
}

fn with_tag<'a>(
    bytes: &'a [u8],
    tag: [u8; TAG],
    snap_len: u32,
    frame: &'a mut Vec<u8>,
) -> &'a [u8] {
    let Some((addresses, rest)) = bytes.split_at_checked(TAG_AT) else { return bytes };
    frame.clear();
    frame.extend_from_slice(addresses);
    frame.extend_from_slice(&tag);
    frame.extend_from_slice(rest);
    frame.truncate(usize::try_from(snap_len).unwrap_or(usize::MAX));
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_was_taken_out_is_put_back() {
        let bytes: Vec<u8> = (0..20).collect();
        let valid = libc::TP_STATUS_VLAN_VALID;
        let packet = |status| RingPacket {
            at_nanos: 1,
            len: 60,
            bytes: &bytes,
            network: 4,
            status,
            vlan: (0x88a8, 5),
            interface: 1,
            hardware: libc::ARPHRD_ETHER,
            kind: libc::PACKET_OUTGOING,
        };
        let cases = [
            (0, None),
            (valid, Some([0x81, 0, 0, 5])),
            (valid | libc::TP_STATUS_VLAN_TPID_VALID, Some([0x88, 0xa8, 0, 5])),
        ];
        for (status, tag) in cases {
            for snap_len in [15, 100] {
                let mut frame = Vec::new();
                let seen =
                    CapturedPacket::of(&packet(status), 0, Link::Ethernet, snap_len, &mut frame);
                let want = match tag {
                    None => bytes.clone(),
                    Some(tag) => [&bytes[..12], &tag, &bytes[12..]].concat(),
                };
                let kept = if tag.is_some() { want.len().min(snap_len as usize) } else { 20 };
                assert_eq!(seen.bytes, &want[..kept]);
                assert_eq!(seen.original_len, if tag.is_some() { 64 } else { 60 });
                assert_eq!(seen.direction, Direction::Out);
            }
        }
        let mut frame = Vec::new();
        let raw = CapturedPacket::of(&packet(valid), 0, Link::RawIp, 100, &mut frame);
        assert_eq!((raw.bytes, raw.original_len), (&bytes[..], 60));
        let skipped = CapturedPacket::of(&packet(valid), 0, Link::Skipped, 100, &mut frame);
        assert_eq!((skipped.bytes, skipped.original_len), (&bytes[4..], 56), "from IP on");
    }
}
