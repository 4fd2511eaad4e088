use std::borrow::Cow;
use std::io::{self, Write};

use flate2::write::GzEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;
use crate::link_type;
use crate::pcapng::{Block, Interface, Packet, Reader, Section, Statistics, Writer};

/// What is read of a file: records, and what ended it.
#[derive(Debug, PartialEq, Eq)]
struct Reading {
    records: Vec<Kept>,
    error: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Kept {
    interface: u32,
    at_nanos: Option<u64>,
    original_len: u32,
    link_type: u16,
    data: Vec<u8>,
}

fn read_all<R: Read>(file: &mut CaptureFile<R>) -> Reading {
    let (mut records, mut error) = (Vec::new(), None);
    loop {
        match file.next() {
            Ok(Some(record)) => {
                assert_eq!(record.number, records.len() as u64 + 1);
                let Record { interface, at_nanos, original_len, link_type, data, .. } = record;
                let data = data.to_vec();
                records.push(Kept { interface, at_nanos, original_len, link_type, data });
            }
            Ok(None) => break,
            Err(why) => error = Some(why.to_string()),
        }
    }
    assert!(file.next().unwrap().is_none(), "it ends for good");
    Reading { records, error }
}

fn read(bytes: &[u8]) -> Reading {
    read_all(&mut CaptureFile::open(bytes).unwrap())
}

/// Gives as little as it may.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = out.len().min(1);
        self.0.read(&mut out[..n])
    }
}

#[derive(Clone, Copy)]
struct Pcap {
    magic: u32,
    big_endian: bool,
    extra: usize,
}

impl Pcap {
    const MICRO: Self = Self { magic: 0xa1b2_c3d4, big_endian: false, extra: 0 };

    fn number(self, number: u32) -> [u8; 4] {
        if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn header(self) -> Vec<u8> {
        let half = |n: u16| if self.big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
        let (major, minor) = (half(2), half(4));
        let rest = [0, 0, 128, 101].map(|n| self.number(n)).concat();
        [&self.number(self.magic)[..], &major, &minor, &rest].concat()
    }

    fn record(self, seconds: u32, units: u32, original_len: u32, data: &[u8]) -> Vec<u8> {
        let captured = u32::try_from(data.len()).unwrap();
        let head = [seconds, units, captured, original_len].map(|n| self.number(n)).concat();
        [&head, &vec![9; self.extra][..], data].concat()
    }
}

/// Two records: the second was cut.
fn small_pcap(of: Pcap) -> Vec<u8> {
    [of.header(), of.record(1, 5, 3, b"abc"), of.record(2, 7, 900, b"defg")].concat()
}

fn kept(interface: u32, at_nanos: u64, original_len: u32, data: &[u8]) -> Kept {
    let (at_nanos, link_type) = (Some(at_nanos), link_type::RAW);
    Kept { interface, at_nanos, original_len, link_type, data: data.to_vec() }
}

#[test]
fn every_pcap_is_read() {
    for big_endian in [false, true] {
        for (magic, extra, scale, format) in [
            (0xa1b2_c3d4, 0, 1000, Format::Pcap),
            (0xa1b2_3c4d, 0, 1, Format::PcapNanoseconds),
            (0xa1b2_cd34, 8, 1000, Format::PcapModified),
        ] {
            let bytes = small_pcap(Pcap { magic, big_endian, extra });
            let mut file = CaptureFile::open(&bytes[..]).unwrap();
            let records = vec![
                kept(0, 1_000_000_000 + 5 * scale, 3, b"abc"),
                kept(0, 2_000_000_000 + 7 * scale, 900, b"defg"),
            ];
            assert_eq!(read_all(&mut file), Reading { records, error: None }, "{magic:#x}");
            assert_eq!(file.format(), format);
            assert_eq!(file.interfaces()[0].snap_len, 128);
            assert_eq!(file.bytes_read(), bytes.len() as u64);
            let mut trickling = CaptureFile::open(Trickle(&bytes)).unwrap();
            assert_eq!(read_all(&mut trickling), read(&bytes));
        }
    }
}

/// Two sections, the second with two interfaces, and blocks of every kind that is known.
fn rich_pcapng() -> Vec<u8> {
    let section = |name: &'static str| Section {
        application: Some(Cow::Borrowed(name)),
        comment: Some(Cow::Borrowed("a remark")),
    };
    let interface = |name: &'static str, link_type| Interface {
        name: Some(Cow::Borrowed(name)),
        link_type,
        snap_len: 4,
        ..Interface::default()
    };
    let packet = |interface, at_nanos, original_len, data: &'static [u8]| Packet {
        interface,
        at_nanos,
        original_len,
        data: Cow::Borrowed(data),
        ..Packet::default()
    };
    let mut first = Writer::new(Vec::new(), &section("one")).unwrap();
    first.interface(&interface("a", link_type::RAW)).unwrap();
    first.packet(&packet(0, 11, 3, b"abc")).unwrap();
    let counted = Statistics { received: Some(70), dropped: Some(7), ..Statistics::default() };
    first.statistics(&counted).unwrap();
    let mut second = Writer::new(Vec::new(), &section("two")).unwrap();
    second.interface(&interface("b", link_type::ETHERNET)).unwrap();
    second.interface(&interface("c", link_type::RAW)).unwrap();
    second.packet(&packet(1, 12, 900, b"de")).unwrap();
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(body.len() + 12).unwrap().to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let simple = block(3, &[100, 0, 0, 0, b's', b'i', b'm', b'p']);
    let unknown = block(0x0bad, &[1; 64]);
    // Interface 1, 3 packets dropped, time, 1 byte of 5.
    let obsolete = [1, 0, 3, 0, 0, 0, 0, 0, 13, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, b'o', 0, 0, 0];
    let obsolete = block(2, &obsolete);
    [first.finish().unwrap(), second.finish().unwrap(), simple, unknown, obsolete].concat()
}

#[test]
fn sections_and_interfaces_count_through_the_file() {
    let bytes = rich_pcapng();
    let mut file = CaptureFile::open(&bytes[..]).unwrap();
    let simple = Kept {
        interface: 1,
        at_nanos: None,
        original_len: 100,
        link_type: link_type::ETHERNET,
        data: b"simp".to_vec(),
    };
    let records =
        vec![kept(0, 11, 3, b"abc"), kept(2, 12, 900, b"de"), simple, kept(2, 13, 5, b"o")];
    assert_eq!(read_all(&mut file), Reading { records, error: None });
    assert_eq!(file.application(), Some("two"));
    assert_eq!(file.comments(), ["a remark", "a remark"]);
    let place = |i: &InterfaceInfo| (i.name.clone().unwrap(), i.section, i.number_in_section);
    let places: Vec<_> = file.interfaces().iter().map(place).collect();
    assert_eq!(places, [("a".into(), 1, 0), ("b".into(), 2, 0), ("c".into(), 2, 1)]);
    let first = &file.interfaces()[0];
    assert_eq!((first.received, first.dropped), (Some(70), Some(7)));
    assert_eq!(read_all(&mut CaptureFile::open(Trickle(&bytes)).unwrap()), read(&bytes));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    let bytes = small_pcap(Pcap::MICRO);
    let (head, tail) = bytes.split_at(50);
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let cases = [
        ("gzip", Compression::Gzip, gzip(&bytes)),
        ("two members", Compression::Gzip, [gzip(head), gzip(tail)].concat()),
        ("zeros behind", Compression::Gzip, [gzip(&bytes), vec![0; 70_000]].concat()),
        ("zstd", Compression::Zstd, zstd(&bytes)),
        ("two frames", Compression::Zstd, [zstd(head), skipped.to_vec(), zstd(tail)].concat()),
        ("a frame to skip first", Compression::Zstd, [skipped.to_vec(), zstd(&bytes)].concat()),
    ];
    for (what, compression, packed) in cases {
        let mut file = CaptureFile::open(&packed[..]).unwrap();
        assert_eq!(read_all(&mut file), read(&bytes), "{what}");
        assert_eq!(file.compression(), Some(compression), "{what}");
        assert_eq!(read_all(&mut CaptureFile::open(Trickle(&packed)).unwrap()), read(&bytes));
    }
}

/// So many records that they do not fit one compressed block.
fn large_pcap() -> Vec<u8> {
    let record = |n: u32| {
        let noise: Vec<u8> =
            (0..25).flat_map(|i| (n * 7919 + i).wrapping_mul(0x9e37_79b1).to_be_bytes()).collect();
        Pcap::MICRO.record(n, 0, 100, &noise)
    };
    [Pcap::MICRO.header(), (0..5000).flat_map(record).collect()].concat()
}

#[test]
fn what_stands_before_a_fault_is_read() {
    let bytes = small_pcap(Pcap::MICRO);
    let cut = read(&bytes[..bytes.len() - 1]);
    assert_eq!(cut.records, read(&bytes).records[..1]);
    let why = "at byte 43: the file ends within a record: it has 19 bytes of 20";
    assert_eq!(cut.error.as_deref(), Some(why));
    let why = "at byte 43: the file ends within a record: it has 15 bytes of 16";
    assert_eq!(read(&bytes[..58]).error.as_deref(), Some(why));
    assert_eq!(read(&bytes[..43]).error, None, "between records");

    let large = large_pcap();
    for (name, packed) in [("gzip", gzip(&large)), ("zstd", zstd(&large))] {
        let half = read(&packed[..packed.len() / 2]);
        assert!(half.records.len() > 1000, "{name}: {}", half.records.len());
        assert_eq!(half.records[..], read(&large).records[..half.records.len()]);
        let why = half.error.unwrap();
        assert!(why.contains(&format!(" of the decompressed {name} file: ")), "{why}");
        let mut damaged = packed.clone();
        let last = damaged.len() - 6; // a checksum stands at the end of either
        damaged[last + 3] ^= 1;
        let damaged = read(&damaged);
        assert_eq!(damaged.records.len(), 5000, "{name}");
    }
}

/// Stored, not compressed, so that it is known what stands before a fault.
#[test]
fn nothing_is_lost_before_a_fault() {
    const RECORD: usize = 116;
    let large = large_pcap();
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&large).unwrap();
    let packed = encoder.finish().unwrap();
    // Where a part of the file stands in the packed one: behind the header of some stored block.
    let place = |of: &[u8]| packed.windows(of.len()).position(|window| window == of).unwrap();
    let middle = 24 + 2500 * RECORD;
    let at = place(&large[middle..middle + 64]);
    let cut = read(&packed[..at]);
    assert_eq!(cut.records.len(), 2500);
    assert!(cut.error.unwrap().ends_with("the gzip file ends before its data does"));
    // A block of a type that there is not.
    let block = (at..packed.len())
        .find(|at| {
            let header = packed[*at..*at + 5].first_chunk::<5>().unwrap();
            let [_, l0, l1, n0, n1] = *header;
            header[0] <= 1 && [l0, l1] == [!n0, !n1]
        })
        .unwrap();
    let content = &packed[block + 5..][..64];
    let before = large.windows(64).position(|window| window == content).unwrap();
    let mut damaged = packed.clone();
    damaged[block] = 7;
    let damaged = read(&damaged);
    assert_eq!(damaged.records.len(), (before - 24) / RECORD);
    assert!(damaged.error.unwrap().contains("the gzip file is broken"));
    // Of zstd, whole blocks count: 128 KiB at most.
    let packed = zstd(&large);
    let cut = read(&packed[..packed.len() - 5]);
    assert!((5000 - cut.records.len()) * RECORD <= 128 << 10, "{}", cut.records.len());
    assert!(cut.error.unwrap().ends_with("the zstd file ends before its data does"));
}

#[test]
fn only_zeros_may_follow_gzip() {
    for behind in [&[0, 0, 0, 1][..], b"neither zeros nor a member"] {
        let packed = [&gzip(&small_pcap(Pcap::MICRO)), behind].concat();
        // What is so short is read to its end when it is opened.
        let error = CaptureFile::open(&packed[..])
            .map_or_else(|error| error.to_string(), |mut file| read_all(&mut file).error.unwrap());
        assert!(error.contains("other data follows its last member"), "{error}");
    }
}

#[test]
fn a_length_is_not_believed() {
    let huge = [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    let reading = read(&[&small_pcap(Pcap::MICRO)[..], &huge].concat());
    assert_eq!(reading.records.len(), 2);
    let why = "at byte 63: a record states 4294967311 bytes; no packet has more than 16777216";
    assert_eq!(reading.error.as_deref(), Some(why));
    // A block that means nothing may be as long as it likes.
    let unknown = [0xad, 0x0b, 0, 0, 0xfc, 0xff, 0xff, 0xff, 1, 2, 3, 4];
    let rich = rich_pcapng();
    let reading = read(&[&rich[..], &unknown].concat());
    assert_eq!(reading.records.len(), 4);
    let why = "the file ends within a record: it has 12 bytes of 4294967292";
    let at = format!("at byte {}: {why}", rich.len());
    assert_eq!(reading.error.as_deref(), Some(&*at));
}

#[test]
fn what_is_no_capture_is_refused_by_name() {
    let refusal = |bytes: &[u8]| match CaptureFile::open(bytes) {
        Ok(_) => panic!("{bytes:?} is taken for a capture"),
        Err(error) => error.to_string(),
    };
    let names: [(&[u8], &str); 16] = [
        (b"", "is an empty file"),
        (b"12:00:01 IP a > b\n", "is a text file"),
        ("größer".as_bytes(), "is a text file"),
        (
            b"snoop\0\0\0\0\0\0\x02",
            "is a snoop capture (Solaris); only pcap and pcapng are supported",
        ),
        (b"GMBU\0\x02", "Network Monitor 2"),
        (b"RTSS\0\x01", "Network Monitor 1"),
        (b"TRSNIFF data    \x1a", "a Sniffer capture (DOS)"),
        (b"XCP\x00002.001", "a Sniffer capture (Windows, NetXRay)"),
        (b"iptrace 2.0", "an iptrace capture"),
        (b"\x05VNF\0\0", "a Visual Networks capture"),
        (b"\xfd7zXZ\0", "an xz file"),
        (b"BZh91AY&SY", "a bzip2 file"),
        (b"PK\x03\x04", "a zip file"),
        (b"\x7fELF\x02", "a program (ELF)"),
        (&[1, 2, 3, 4, 5], "begins with 0102030405"),
        (&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0], "ends within its header: it has 6 bytes of 24"),
    ];
    for (bytes, part) in names {
        let text = refusal(bytes);
        assert!(text.contains(part), "{text:?} says nothing of {part:?}");
    }
    let nested = refusal(&gzip(&gzip(&small_pcap(Pcap::MICRO))));
    assert!(nested.contains("a gzip file within another"), "{nested}");
    let mut old = small_pcap(Pcap::MICRO);
    old[4] = 1;
    assert_eq!(refusal(&old), "is a pcap file of version 1.4; only version 2 is supported");
    let erf = [0, 0, 0, 0, 0, 0, 0, 0x50, 2, 4, 0, 96, 0, 0, 0, 80];
    assert!(refusal(&erf).contains("an Endace ERF capture"));
    let packet_logger = [0, 0, 0, 20, 0x50, 0, 0, 0, 0, 0, 1, 0, 3, 1, 2, 3];
    assert!(refusal(&packet_logger).contains("an Apple PacketLogger capture"));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, kind in 0..5_usize) {
        let heads: [&[u8]; 5] = [
            &[],
            &Pcap::MICRO.header(),
            &rich_pcapng()[..48],
            &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3],
            &[0x28, 0xb5, 0x2f, 0xfd],
        ];
        if let Ok(mut file) = CaptureFile::open(&[heads[kind], &bytes].concat()[..]) {
            read_all(&mut file);
        }
    }

    /// The streaming reader finds in a damaged file what the one in memory finds.
    #[test]
    fn both_readers_agree(at in 0..1000_usize, byte: u8, cut in 0..1000_usize) {
        let mut bytes = rich_pcapng();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut % bytes.len());
        let of_block = |block: Block<'_>| match block {
            Block::Packet(packet) => Some(packet.data.into_owned()),
            Block::SimplePacket(packet) => Some(packet.data.into_owned()),
            Block::Section(_) | Block::Interface(_) | Block::Statistics(_) | Block::Other(_) => None,
        };
        let wanted: Vec<Vec<u8>> =
            Reader::new(&bytes).map_while(Result::ok).filter_map(of_block).collect();
        let is_whole = Reader::new(&bytes).all(|block| block.is_ok());
        match CaptureFile::open(&bytes[..]) {
            Err(_) => prop_assert!(!is_whole && wanted.is_empty()),
            Ok(mut file) => {
                let reading = read_all(&mut file);
                let found: Vec<_> = reading.records.into_iter().map(|kept| kept.data).collect();
                prop_assert_eq!(found, wanted);
                prop_assert_eq!(reading.error.is_none(), is_whole);
            }
        }
    }
}
