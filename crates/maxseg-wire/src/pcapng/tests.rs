use proptest::prelude::*;

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "texts are optional wherever it is used")]
fn text<'a>(text: impl Into<Cow<'a, str>>) -> Option<Cow<'a, str>> {
    Some(text.into())
}

fn read(bytes: &[u8]) -> Vec<Block<'_>> {
    Reader::new(bytes).collect::<Result<_, _>>().unwrap()
}

/// A small file, and what is in it.
fn small() -> (Vec<u8>, Vec<Block<'static>>) {
    let section = Section { application: text("maxseg"), comment: text("größer") };
    let interface = |name| Interface {
        name: text(name),
        description: text("a capture point"),
        link_type: link_type::RAW,
        snap_len: 128,
    };
    let packet = |interface, at_nanos, data: &'static [u8]| Packet {
        interface,
        at_nanos,
        original_len: 1500,
        data: Cow::Borrowed(data),
        direction: None,
        comment: None,
    };
    let first = Packet {
        direction: Some(Direction::Outbound),
        comment: text("damaged"),
        ..packet(1, 1_999_999_999_999_999_999, b"12345")
    };
    let second = Packet { direction: Some(Direction::Inbound), ..packet(0, 1, b"") };
    let mut writer = Writer::new(Vec::new(), &section).unwrap();
    assert_eq!(writer.interface(&interface("near")).unwrap(), 0);
    assert_eq!(writer.interface(&interface("far")).unwrap(), 1);
    writer.packet(&first).unwrap();
    writer.packet(&second).unwrap();
    let counted =
        Statistics { interface: 1, at_nanos: 1 << 40, received: Some(1 << 33), dropped: Some(7) };
    writer.statistics(&counted).unwrap();
    let blocks = vec![
        Block::Section(section),
        Block::Interface(interface("near")),
        Block::Interface(interface("far")),
        Block::Packet(first),
        Block::Packet(second),
        Block::Statistics(counted),
    ];
    (writer.finish().unwrap(), blocks)
}

#[test]
fn what_is_written_is_read() {
    let (bytes, blocks) = small();
    assert_eq!(read(&bytes), blocks);
    assert!(bytes.len().is_multiple_of(4));
}

#[test]
fn a_packet_of_no_interface_is_refused() {
    let mut writer = Writer::new(Vec::new(), &Section::default()).unwrap();
    assert!(writer.packet(&Packet::default()).is_err());
    assert!(writer.statistics(&Statistics::default()).is_err());
    writer.interface(&Interface::default()).unwrap();
    assert!(writer.packet(&Packet::default()).is_ok());
    // An interface counts within its section only.
    let mut bytes = writer.finish().unwrap();
    bytes.extend(Writer::new(Vec::new(), &Section::default()).unwrap().finish().unwrap());
    let packet = small().0;
    let (first, rest) = (&packet[..], read(&packet).len());
    assert_eq!((read(&[&bytes[..], first].concat()).len(), rest), (4 + 6, 6));
}

#[test]
fn a_text_that_is_too_long_is_cut_between_characters() {
    let long = "ß".repeat(40_000);
    let section = Section { comment: text(&*long), ..Section::default() };
    let bytes = Writer::new(Vec::new(), &section).unwrap().finish().unwrap();
    let [Block::Section(section)] = &read(&bytes)[..] else { panic!() };
    assert_eq!(section.comment.as_deref(), Some(&long[..65_534]));
}

/// A file by another hand: big-endian, with `if_tsresol` and `if_tsoffset` as given.
fn foreign(resolution: u8, offset: i64, units: u64) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(body.len() + 12).unwrap().to_be_bytes();
        [&kind.to_be_bytes()[..], &length, body, &length].concat()
    };
    let section = [&BYTE_ORDER.to_be_bytes()[..], &[0, 1, 0, 0], &[0xff; 8]].concat();
    let mut interface = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, resolution, 0, 0, 0, 0, 14, 0, 8];
    interface.extend(offset.to_be_bytes());
    let mut packet = vec![0; 4];
    packet.extend(units.to_be_bytes());
    packet.extend([0, 0, 0, 2, 0, 0, 0, 9, 7, 8, 0, 0]);
    let blocks = [block(SECTION, &section), block(0x0bad, &[]), block(INTERFACE, &interface)];
    [blocks.concat(), block(ENHANCED_PACKET, &packet)].concat()
}

#[test]
fn other_byte_orders_and_clocks_are_understood() {
    let cases = [
        (6, 0, 1_500_000, 1_500_000_000),
        (9, 0, 1_500_000, 1_500_000),
        (0x94, 0, 3 << 19, 1_500_000_000), // 2⁻²⁰ s
        (3, 100, 1, 100_001_000_000),
        (3, -100, 1, 0),
        (0xff, 0, u64::MAX, 0),
        (0, 0, u64::MAX, u64::MAX),
    ];
    for (resolution, offset, units, want) in cases {
        let bytes = foreign(resolution, offset, units);
        let blocks = read(&bytes);
        let Block::Packet(packet) = &blocks[3] else { panic!("{blocks:?}") };
        assert_eq!(packet.at_nanos, want, "{resolution:#x} {offset} {units}");
        assert_eq!((&packet.data[..], packet.original_len), (&[7, 8][..], 9));
        assert_eq!(blocks[1], Block::Other(0x0bad));
    }
}

#[test]
fn what_is_no_capture_is_told() {
    let error = |bytes: &[u8]| Reader::new(bytes).last().unwrap().unwrap_err().to_string();
    let pcap = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0];
    assert_eq!(error(&pcap), "0xa1b2c3d4 is not the beginning of a pcapng section");
    let (mut bytes, _) = small();
    let cut = bytes.len() - 1;
    assert!(error(&bytes[..cut]).starts_with("pcapng: "), "{}", error(&bytes[..cut]));
    bytes[4] = 8;
    assert_eq!(error(&bytes), "pcapng: invalid length 8; the minimum is 12");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        prop_assert!(Reader::new(&bytes).count() <= bytes.len() / 12 + 1);
    }

    #[test]
    fn damaged_files_are_read_or_refused(at in 0..400_usize, byte: u8, cut in 0..400_usize) {
        let (mut bytes, _) = small();
        let place = at % bytes.len();
        bytes[place] = byte;
        bytes.truncate(bytes.len() - cut % bytes.len());
        prop_assert!(Reader::new(&bytes).count() <= bytes.len() / 12 + 1);
    }
}
