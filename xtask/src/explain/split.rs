//! Part of a pcapng file: the lab writes all that it sees into one section, with an interface
//! for each end of each hop (docs/pcap.md).

use anyhow::{Context, Result, bail, ensure};
use maxseg_core::units::Time;

use super::view::{SENDERS, View, Way};

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

/// What `view` has of the capture `file`, in one section. Comments, which say what became of packets further on, are
/// left out: whoever captures at that point does not know it.
///
/// # Errors
/// `file` is no whole section of little-endian pcapng with such interfaces.
pub fn part(file: &[u8], view: &View) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(file.len() / 2);
    let mut names: Vec<Option<&str>> = Vec::new();
    let span = span(file)?;
    let cut = Time::from_nanos(span.1 - span.0).as_secs_f64() * view.begins_at;
    let from = span.0 + Time::from_secs_f64(cut).as_nanos();
    for block in (Blocks { rest: file, at: 0 }) {
        let (kind, at, whole) = block?;
        let body = &whole[8..whole.len() - 4];
        match kind {
            block::SECTION => {
                ensure!(at == 0, "there is a second section at byte {at}");
                ensure!(word(body, 0)? == LITTLE_ENDIAN, "it is no little-endian pcapng");
                out.extend_from_slice(whole);
            }
            block::INTERFACE => {
                let name = option(&body[8.min(body.len())..], IF_NAME);
                let wanted = view.interfaces.iter().find(|wanted| name == Some(wanted.as_bytes()));
                names.push(wanted.map(String::as_str));
                if wanted.is_some() {
                    out.extend_from_slice(whole);
                }
            }
            block::PACKET => {
                if let Some(interface) = place(&names, word(body, 0)?)
                    && nanos(body)? >= from
                    && is_of(view.only, body)
                {
                    packet(&mut out, interface, body)?;
                }
            }
            block::STATISTICS => {
                if let Some(interface) = place(&names, word(body, 0)?) {
                    framed(&mut out, kind, &[&interface.to_le_bytes(), &body[4..]]);
                }
            }
            _ => {}
        }
    }
    for wanted in &view.interfaces {
        ensure!(names.contains(&Some(wanted.as_str())), "it has no interface called {wanted}");
    }
    Ok(out)
}

/// The number that an interface has among those that are kept.
fn place(names: &[Option<&str>], interface: u32) -> Option<u32> {
    let interface = interface as usize;
    names.get(interface)?.as_ref()?;
    u32::try_from(names[..interface].iter().flatten().count()).ok()
}

/// The times of the first and the last packet.
fn span(file: &[u8]) -> Result<(u64, u64)> {
    let (mut first, mut last) = (u64::MAX, 0);
    for block in (Blocks { rest: file, at: 0 }) {
        let (kind, _, whole) = block?;
        if kind == block::PACKET {
            let at = nanos(&whole[8..])?;
            (first, last) = (first.min(at), last.max(at));
        }
    }
    Ok((first.min(last), last))
}

fn nanos(body: &[u8]) -> Result<u64> {
    Ok(u64::from(word(body, 4)?) << 32 | u64::from(word(body, 8)?))
}

/// Whether a raw IPv4 packet travels this way.
fn is_of(only: Option<Way>, body: &[u8]) -> bool {
    let Some(only) = only else { return true };
    let from = body.get(PACKET_HEAD + 12..PACKET_HEAD + 16);
    let is_data = SENDERS.iter().any(|sender| from == Some(&sender.octets()));
    is_data == (only == Way::Data)
}

/// The blocks of a file: kind, place, and the whole of each.
struct Blocks<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<(u32, usize, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let next = self.split();
        if next.is_err() {
            self.rest = &[];
        }
        Some(next)
    }
}

impl<'a> Blocks<'a> {
    fn split(&mut self) -> Result<(u32, usize, &'a [u8])> {
        let (kind, length, at) = (word(self.rest, 0)?, word(self.rest, 4)? as usize, self.at);
        ensure!(
            length >= FRAME && length.is_multiple_of(4) && length <= self.rest.len(),
            "the block at byte {at} cannot be {length} bytes long"
        );
        let (whole, behind) = self.rest.split_at(length);
        (self.rest, self.at) = (behind, at + length);
        Ok((kind, at, whole))
    }
}

/// Number of the option with an interface's name.
const IF_NAME: u16 = 2;
/// Interface, time in two words, captured and original length.
const PACKET_HEAD: usize = 20;

/// A packet without options.
fn packet(out: &mut Vec<u8>, interface: u32, body: &[u8]) -> Result<()> {
    let padded = (word(body, 12)? as usize).next_multiple_of(4);
    let Some(data) = body.get(PACKET_HEAD..PACKET_HEAD + padded) else {
        bail!("a packet is longer than its block");
    };
    framed(out, block::PACKET, &[&interface.to_le_bytes(), &body[4..PACKET_HEAD], data]);
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
        let sender = part(&file, &View::at("sender")).unwrap();
        assert_eq!(packets(&sender), [(0, 5, 1500, 1, 0), (0, 7, 1500, 1, 0)]);
        let receiver = part(&file, &View::at("receiver")).unwrap();
        assert_eq!(packets(&receiver), [(0, 6, 1500, 2, 0), (0, 9, 1500, 2, 0)]);
        assert!(!sender.windows(7).any(|bytes| bytes == b"damaged"));
    }

    #[test]
    fn several_points_keep_their_numbers_and_a_late_capture_its_end() {
        let file = capture();
        let mut view = View::at("sender");
        view.interfaces.push("receiver".to_owned());
        let both = part(&file, &view).unwrap();
        let of = |list: &[(u32, u32, u32, u8, usize)]| -> Vec<(u32, u32)> {
            list.iter().map(|packet| (packet.0, packet.1)).collect()
        };
        assert_eq!(of(&packets(&both)), [(0, 5), (1, 6), (0, 7), (1, 9)]);
        view.begins_at = 0.5;
        assert_eq!(of(&packets(&part(&file, &view).unwrap())), [(0, 7), (1, 9)]);
        // None of the packets comes from the sender's address.
        view.only = Some(Way::Data);
        assert_eq!(packets(&part(&file, &view).unwrap()), []);
        view.only = Some(Way::Acks);
        assert_eq!(of(&packets(&part(&file, &view).unwrap())), [(0, 7), (1, 9)]);
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        let file = capture();
        assert!(part(&file, &View::at("nobody")).is_err());
        assert!(part(&file[..file.len() - 3], &View::at("sender")).is_err());
        assert!(part(b"not a capture at all", &View::at("sender")).is_err());
    }
}
