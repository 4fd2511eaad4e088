//! Packets with their times, and the file that holds them.

/// One record of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// When it passed, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// The bytes that were kept.
    pub data: Vec<u8>,
    /// Its length on the wire, in bytes.
    pub wire_len: u32,
}

/// The packets of a capture in their order, all with this link type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packets {
    /// The number of <https://www.tcpdump.org/linktypes.html>.
    pub link_type: u16,
    /// The records.
    pub list: Vec<Packet>,
}

impl Packets {
    /// A pcap file with nanoseconds, or with microseconds, into which times are cut.
    pub fn file(&self, is_micro: bool) -> Vec<u8> {
        let (magic, unit): (u32, u64) =
            if is_micro { (0xa1b2_c3d4, 1000) } else { (0xa1b2_3c4d, 1) };
        let bytes = self.list.iter().map(|packet| packet.data.len() + 16).sum::<usize>();
        let mut file = Vec::with_capacity(24 + bytes);
        let word = |value: u32, file: &mut Vec<u8>| file.extend(value.to_le_bytes());
        word(magic, &mut file);
        word(0x0004_0002, &mut file);
        word(0, &mut file);
        word(0, &mut file);
        word(262_144, &mut file);
        word(u32::from(self.link_type), &mut file);
        for packet in &self.list {
            let (seconds, rest) = (packet.at_nanos / NANOS, packet.at_nanos % NANOS);
            word(cut(seconds), &mut file);
            word(cut(rest / unit), &mut file);
            word(u32::try_from(packet.data.len()).unwrap_or(u32::MAX), &mut file);
            word(packet.wire_len, &mut file);
            file.extend_from_slice(&packet.data);
        }
        file
    }

    /// Whether the times are in order.
    pub(super) fn are_ordered(&self) -> bool {
        self.list.is_sorted_by_key(|packet| packet.at_nanos)
    }
}

const NANOS: u64 = 1_000_000_000;

fn cut(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
