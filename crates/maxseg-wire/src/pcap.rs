//! The classic capture file (draft-ietf-opsawg-pcap): a header, and records one behind the other.

/// A file's header: how its records are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    /// Whether numbers have the highest octet first.
    pub is_big_endian: bool,
    /// Nanoseconds in a unit of the records' second number: 1 or 1000.
    pub nanos_per_unit: u32,
    /// The record headers of A. Kuznetzov's libpcap patch have eight octets more.
    pub is_modified: bool,
    /// Major and minor version; 2.4 in practice.
    pub version: (u16, u16),
    /// Most bytes that are kept of a packet.
    pub snap_len: u32,
    /// What every packet begins with (see [`link_type`](crate::link_type)).
    pub link_type: u16,
}

/// What stands before every packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHeader {
    /// When, in nanoseconds since 1970.
    pub at_nanos: u64,
    /// Bytes that were kept.
    pub captured_len: u32,
    /// Bytes that there were.
    pub original_len: u32,
}

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const MODIFIED: u32 = 0xa1b2_cd34;

impl FileHeader {
    /// Bytes of a file's header.
    pub const LEN: usize = 24;

    /// The header; `None` if its first number is none that begins such a file.
    pub fn read(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let [
            m0,
            m1,
            m2,
            m3,
            a0,
            a1,
            i0,
            i1,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            s0,
            s1,
            s2,
            s3,
            l0,
            l1,
            l2,
            l3,
        ] = *bytes;
        let (is_big_endian, magic) = [false, true].into_iter().find_map(|is_big_endian| {
            let magic = number(is_big_endian, [m0, m1, m2, m3]);
            let is_known = matches!(magic, MICROSECONDS | NANOSECONDS | MODIFIED);
            is_known.then_some((is_big_endian, magic))
        })?;
        let half = |bytes: [u8; 2]| {
            if is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
        };
        Some(Self {
            is_big_endian,
            nanos_per_unit: if magic == NANOSECONDS { 1 } else { 1000 },
            is_modified: magic == MODIFIED,
            version: (half([a0, a1]), half([i0, i1])),
            snap_len: number(is_big_endian, [s0, s1, s2, s3]),
            // The higher half tells of a frame check sequence behind every packet.
            link_type: if is_big_endian { half([l2, l3]) } else { half([l0, l1]) },
        })
    }

    /// Bytes of a record's header.
    pub const fn record_header_len(&self) -> usize {
        if self.is_modified { RecordHeader::LEN + 8 } else { RecordHeader::LEN }
    }

    /// The header of a record.
    #[inline]
    pub fn record(&self, bytes: &[u8; RecordHeader::LEN]) -> RecordHeader {
        let [s0, s1, s2, s3, u0, u1, u2, u3, c0, c1, c2, c3, o0, o1, o2, o3] = *bytes;
        let big = self.is_big_endian;
        let seconds = number(big, [s0, s1, s2, s3]);
        let units = number(big, [u0, u1, u2, u3]);
        RecordHeader {
            at_nanos: u64::from(seconds) * 1_000_000_000
                + u64::from(units) * u64::from(self.nanos_per_unit),
            captured_len: number(big, [c0, c1, c2, c3]),
            original_len: number(big, [o0, o1, o2, o3]),
        }
    }
}

impl RecordHeader {
    /// Bytes of a record's header, but see [`FileHeader::record_header_len`].
    pub const LEN: usize = 16;
}

#[inline]
const fn number(is_big_endian: bool, bytes: [u8; 4]) -> u32 {
    if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}
