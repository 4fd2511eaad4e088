//! One point of a pcapng file with several: the lab writes all that it sees into one section, with an interface
//! for each end of each hop (docs/pcap.md).

use anyhow::{Context, Result, bail, ensure};

/// Blocks by type, as the pcapng specification numbers them (draft-ietf-opsawg-pcapng §11).
mod block {
    pub(super) const SECTION: u32 = 0x0a0d_0d0a;
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const STATISTICS: u32 = 5;
    pub(super) const PACKET: u32 = 6;
}

/// What a section begins with where its numbers are little-endian, as this project writes them.
const LITTLE_ENDIAN: u32 = 0x1a2b_3c4d;
/// Type, length and the length again.
const FRAME: usize = 12;

/// The packets of the interface called `name`, in a section with that interface alone. Their comments, which say
/// what became of packets further on, are left out: whoever captures at that point does not know it.
///
/// # Errors
/// `file` is no whole section of little-endian pcapng with such an interface.
pub fn interface(file: &[u8], name: &str) -> Result<Vec<u8>> {
    let (mut out, mut rest, mut at) = (Vec::with_capacity(file.len() / 2), file, 0);
    let (mut interfaces, mut wanted) = (0, None);
    while !rest.is_empty() {
        let (kind, length) = (word(rest, 0)?, word(rest, 4)? as usize);
        ensure!(
            length >= FRAME && length.is_multiple_of(4) && length <= rest.len(),
            "the block at byte {at} cannot be {length} bytes long"
        );
        let (whole, behind) = rest.split_at(length);
        let body = &whole[8..length - 4];
        match kind {
            block::SECTION => {
                ensure!(at == 0, "there is a second section at byte {at}");
                ensure!(word(body, 0)? == LITTLE_ENDIAN, "it is no little-endian pcapng");
                out.extend_from_slice(whole);
            }
            block::INTERFACE => {
                if option(&body[8.min(body.len())..], IF_NAME) == Some(name.as_bytes()) {
                    wanted = Some(interfaces);
                    out.extend_from_slice(whole);
                }
                interfaces += 1;
            }
            block::PACKET if Some(word(body, 0)?) == wanted => packet(&mut out, body)?,
            block::STATISTICS if Some(word(body, 0)?) == wanted => {
                framed(&mut out, kind, &[&[0; 4], &body[4..]]);
            }
            _ => {}
        }
        at += length;
        rest = behind;
    }
    ensure!(wanted.is_some(), "it has no interface called {name}");
    Ok(out)
}

/// Number of the option with an interface's name.
const IF_NAME: u16 = 2;
/// Interface, time in two words, captured and original length.
const PACKET_HEAD: usize = 20;

/// A packet without options, of the only interface.
fn packet(out: &mut Vec<u8>, body: &[u8]) -> Result<()> {
    let padded = (word(body, 12)? as usize).next_multiple_of(4);
    let Some(data) = body.get(PACKET_HEAD..PACKET_HEAD + padded) else {
        bail!("a packet is longer than its block");
    };
    framed(out, block::PACKET, &[&[0; 4], &body[4..PACKET_HEAD], data]);
    Ok(())
}

fn framed(out: &mut Vec<u8>, kind: u32, parts: &[&[u8]]) {
    let length = FRAME + parts.iter().map(|part| part.len()).sum::<usize>();
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&length);
    for part in parts {
        out.extend_from_slice(part);
    }
    out.extend_from_slice(&length);
}

/// The value of an option of a block.
fn option(mut options: &[u8], wanted: u16) -> Option<&[u8]> {
    while let [a, b, c, d, rest @ ..] = options {
        let (code, length) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]).into());
        if code == wanted {
            return rest.get(..length);
        }
        options = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Result<u32> {
    let four = bytes.get(at..at + 4).context("the file ends within a block")?;
    Ok(u32::from_le_bytes(four.try_into()?))
}

#[cfg(test)]
mod tests {
    use maxseg_wire::pcapng::{Direction, Interface, Packet, Section, Writer, link_type};

    use super::*;

    /// Two interfaces; the packets of the first hold 1, those of the second 2, and one of each has a comment.
    fn capture() -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, &Section::default()).unwrap();
        for name in ["sender", "receiver"] {
            let interface = Interface {
                name: Some(name.into()),
                description: None,
                link_type: link_type::RAW,
                snap_len: 128,
            };
            writer.interface(&interface).unwrap();
        }
        for (at, interface, comment) in
            [(5, 0, None), (6, 1, None), (7, 0, Some("damaged on this link")), (9, 1, None)]
        {
            let data = vec![u8::try_from(interface + 1).unwrap(); 41];
            let packet = Packet {
                interface,
                at_nanos: at,
                original_len: 1500,
                data: data.into(),
                direction: Some(Direction::Outbound),
                comment: comment.map(Into::into),
            };
            writer.packet(&packet).unwrap();
        }
        writer.finish().unwrap();
        file
    }

    /// Of each packet: interface, time, original length, first byte; and what its block has beside its data.
    fn packets(file: &[u8]) -> Vec<(u32, u32, u32, u8, usize)> {
        let (mut rest, mut list) = (file, Vec::new());
        while !rest.is_empty() {
            let length = word(rest, 4).unwrap() as usize;
            if word(rest, 0).unwrap() == block::PACKET {
                let numbers = [8, 16, 24].map(|at| word(rest, at).unwrap());
                let beside = length - FRAME - PACKET_HEAD - 44;
                list.push((numbers[0], numbers[1], numbers[2], rest[28], beside));
            }
            rest = &rest[length..];
        }
        list
    }

    #[test]
    fn each_point_gets_its_packets_and_nobodys_comments() {
        let file = capture();
        let sender = interface(&file, "sender").unwrap();
        assert_eq!(packets(&sender), [(0, 5, 1500, 1, 0), (0, 7, 1500, 1, 0)]);
        let receiver = interface(&file, "receiver").unwrap();
        assert_eq!(packets(&receiver), [(0, 6, 1500, 2, 0), (0, 9, 1500, 2, 0)]);
        assert!(!sender.windows(7).any(|bytes| bytes == b"damaged"));
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        let file = capture();
        assert!(interface(&file, "nobody").is_err());
        assert!(interface(&file[..file.len() - 3], "sender").is_err());
        assert!(interface(b"not a capture at all", "sender").is_err());
    }
}
