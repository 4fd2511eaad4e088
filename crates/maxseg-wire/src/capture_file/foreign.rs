//! Files in other formats, recognised by their first bytes.

use super::error::OpenError;

const CONVERT: &str = "convert it to pcap: `editcap -F pcap FILE NEW.pcap`";

const DUMP: &str = "`maxseg connections --from-dump FILE` reads it";

/// First bytes of a format, its name and a hint.
const MAGIC: [(&[u8], &str, &str); 26] = [
    (b"snoop\0\0\0", "a snoop capture (Solaris)", CONVERT),
    (b"GMBU", "a Microsoft Network Monitor 2 capture", CONVERT),
    (b"RTSS", "a Microsoft Network Monitor 1 capture", CONVERT),
    (b"TRSNIFF data    \x1a", "a Sniffer capture (DOS)", CONVERT),
    (b"XCP\0", "a Sniffer capture (Windows, NetXRay)", CONVERT),
    (b"iptrace ", "an iptrace capture (AIX)", CONVERT),
    (b"\x05VNF", "a Visual Networks capture", CONVERT),
    (b"\xaa\xaa\xaa\xaa", "an InfoVista 5View capture", CONVERT),
    (b"ObserverPktBuffe", "a Network Instruments Observer capture", CONVERT),
    (b"\x7fver", "a Savvius *Peek capture", CONVERT),
    (b"btsnoop\0", "a Bluetooth snoop capture", "it contains no IP packets"),
    (b"EyeSDN", "an EyeSDN capture", CONVERT),
    (b"+---------+---------------+", "a Tektronix K12 text file", CONVERT),
    (b"\xfd7zXZ\0", "an xz file", "unpack it: `xz -dc FILE | maxseg explain -`"),
    (b"BZh", "a bzip2 file", "unpack it: `bzip2 -dc FILE | maxseg explain -`"),
    (b"\x04\x22\x4d\x18", "an lz4 file", "unpack it: `lz4 -dc FILE | maxseg explain -`"),
    (b"LZIP", "an lzip file", "unpack it: `lzip -dc FILE | maxseg explain -`"),
    (b"\x1f\x9d", "a file packed by compress", "unpack it: `zcat FILE | maxseg explain -`"),
    (b"PK\x03\x04", "a zip file", "unpack it: `unzip -p FILE | maxseg explain -`"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip file", "unpack it: `7z x -so FILE | maxseg explain -`"),
    (b"\x1f\x8b", "a gzip file within another", "unpack it: `zcat FILE | maxseg explain -`"),
    (
        b"\x28\xb5\x2f\xfd",
        "a zstd file within another",
        "unpack it: `zstd -dc FILE | maxseg explain -`",
    ),
    (b"\x7fELF", "a program (ELF)", "name a capture file"),
    (b"MZ", "a program (Windows)", "name a capture file"),
    (b"%PDF", "a PDF", "name a capture file"),
    (b"PAR1", "a Parquet table", "name a capture file"),
];

/// The error for a file that is neither pcap nor pcapng.
pub(super) fn refuse(head: &[u8]) -> OpenError {
    if head.is_empty() {
        return OpenError::Empty;
    }
    if let Some((_, name, hint)) = MAGIC.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return OpenError::Foreign { name, hint };
    }
    if is_text(head) {
        return OpenError::Text;
    }
    if is_socket_dump(head) {
        let name = "a list of sockets, as `ss -D` writes it";
        return OpenError::Foreign { name, hint: DUMP };
    }
    match shape(head) {
        Some(name) => OpenError::Foreign { name, hint: CONVERT },
        None => OpenError::Unknown(head.iter().take(8).copied().collect()),
    }
}

/// Whether this is UTF-8 without control characters; the last character may be cut.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            head.get(..error.valid_up_to()).and_then(|head| str::from_utf8(head).ok()).unwrap_or("")
        }
        Err(_) => return false,
    };
    !valid.is_empty() && valid.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

/// Whether it begins with a message of `sock_diag` (`struct nlmsghdr`): its length, at most that of a socket with all that is told of it, and
/// its type.
fn is_socket_dump(head: &[u8]) -> bool {
    /// `SOCK_DIAG_BY_FAMILY`.
    const ABOUT_A_SOCKET: u16 = 20;
    /// The header, and the least that is told of a socket (`struct inet_diag_msg`).
    const LEAST: u32 = 16 + 72;
    let Some([a, b, c, d, low, high]) = head.first_chunk::<6>() else { return false };
    let length = u32::from_ne_bytes([*a, *b, *c, *d]);
    (LEAST..1 << 16).contains(&length) && u16::from_ne_bytes([*low, *high]) == ABOUT_A_SOCKET
}

/// Formats without a magic number, recognised by the fields of their first record.
fn shape(head: &[u8]) -> Option<&'static str> {
    /// Seconds since 1970 of the years 1990 to 2100.
    const PLAUSIBLE: std::ops::Range<u32> = 631_152_000..4_102_444_800;
    let head = head.first_chunk::<16>()?;
    // LANalyzer: a record of type 0x1001 or 0x1007 and its length, little-endian.
    if let [0x01 | 0x07, 0x10, 1..=0xff, 0, ..] = head {
        return Some("a Novell LANalyzer capture");
    }
    // Endace ERF: time (fraction, then seconds, little-endian), type, flags, record length.
    let [_, _, _, _, s0, s1, s2, s3, kind, _, r0, r1, ..] = *head;
    let seconds = u32::from_le_bytes([s0, s1, s2, s3]);
    let is_type = (1..=27).contains(&(kind & 0x7f));
    if PLAUSIBLE.contains(&seconds) && is_type && u16::from_be_bytes([r0, r1]) >= 16 {
        return Some("an Endace ERF capture");
    }
    // Apple PacketLogger: length, seconds, microseconds, all big-endian or all little-endian.
    let word = |from_bytes: fn([u8; 4]) -> u32| {
        let [l0, l1, l2, l3, s0, s1, s2, s3, u0, u1, u2, u3, ..] = *head;
        let (length, seconds) = (from_bytes([l0, l1, l2, l3]), from_bytes([s0, s1, s2, s3]));
        let micros = from_bytes([u0, u1, u2, u3]);
        (9..65_536).contains(&length) && PLAUSIBLE.contains(&seconds) && micros < 1_000_000
    };
    (word(u32::from_be_bytes) || word(u32::from_le_bytes))
        .then_some("an Apple PacketLogger capture")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_sockets_is_told_from_an_unknown_file() {
        let dump = |length: u32, kind: u16| {
            let mut bytes = length.to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.resize(40, 0x80);
            refuse(&bytes)
        };
        let told = dump(500, 20);
        assert!(told.to_string().starts_with("is a list of sockets"), "{told}");
        assert!(told.hint().is_some_and(|hint| hint.contains("--from-dump FILE")));
        for (length, kind) in [(500, 21), (40, 20), (1 << 20, 20)] {
            assert!(matches!(dump(length, kind), OpenError::Unknown(_)), "{length} {kind}");
        }
    }
}
