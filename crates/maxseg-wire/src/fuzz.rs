//! Every decoder as a plain function of bytes, for whoever looks for bytes that break it: the tests, with
//! mutations of a corpus, and fuzzers that watch which branches are taken (`docs/fuzzing.md`).
//!
//! None may panic, run without end, or allocate much more than its input is long. Where two decoders must
//! say the same, both are asked.
#![expect(clippy::missing_panics_doc, reason = "a panic is a mistake found, here or in a decoder")]

use std::hint::black_box;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use maxseg_core::diagnose::diagnose;

use crate::btf::{Btf, Kind};
use crate::capture_file::{CaptureFile, Record};
use crate::encapsulation::decapsulate;
use crate::flow::{Decoded, Decoder, FlowOptions, Flows, Seen};
use crate::icmp::{Icmp, quote as quote_packet};
use crate::inet_diag::Messages;
use crate::ip::{Outline, Packet};
use crate::joined::{Capture, Census, Crossings};
use crate::options::walk;
use crate::path_probe::hear;
use crate::tcp::Segment;
use crate::tcp_info::TcpInfo;
use crate::tshark::Tshark;
use crate::udp::Datagram;
use crate::{link_type, pcapng, procnet as proc_net, responder as test_protocol};

/// A decoder to be fuzzed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// What it is called: the name of its function, of its corpus, and of its program for cargo-fuzz.
    pub name: &'static str,
    /// Decodes whatever bytes.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        /// All of them.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: $name }),*];
    };
}

targets![
    btf,
    capture_file,
    fragments,
    icmp,
    inet_diag,
    ip,
    joined,
    link_types,
    options,
    path_probe,
    pcapng_blocks,
    procnet,
    responder,
    tcp,
    tcp_info,
    udp,
    whole_chain,
];

/// A capture file of any format, compressed or not.
pub fn capture_file(bytes: &[u8]) {
    each_record(bytes, |record| {
        black_box(record);
    });
}

/// A capture file down to the options of its segments, to what tshark says of them, and to what they show of
/// their connections.
pub fn whole_chain(bytes: &[u8]) {
    let mut decoder = Decoder::default();
    let mut tshark = Tshark::new();
    let mut flows = Flows::new(FlowOptions { trace: true, ..FlowOptions::default() });
    each_record(bytes, |record| {
        let packet = decoder.decode(record);
        flows.on_packet(&packet);
        if let Decoded::Tcp(seen) = packet.what {
            assert!(seen.payload.len() <= seen.payload_len as usize, "more payload than there was");
            walk(seen.options).for_each(|item| drop(black_box(item.to_string())));
            black_box(tshark.on_segment(&seen));
        }
    });
    black_box(decoder.fragment_counts());
    for evidence in flows.finish().connections {
        black_box(diagnose(&evidence));
    }
}

/// A capture, and a second one of the same packets at another place and time, some of which are lost, longer or renumbered.
pub fn joined(bytes: &[u8]) {
    let mut seen = Vec::new();
    let mut decoder = Decoder::default();
    each_record(bytes, |record| {
        if let Decoded::Tcp(segment) = decoder.decode(record).what {
            seen.push(Seen { payload: &[], options: &[], ..segment });
        }
    });
    let of = |capture: Capture| seen.iter().filter_map(move |segment| elsewhere(segment, capture));
    let censuses = Capture::BOTH.map(|capture| {
        let mut census = Census::new(64);
        of(capture).for_each(|segment| census.on_segment(&segment));
        census
    });
    let covered = Capture::BOTH.map(|capture| {
        let times = || of(capture).map(|segment| segment.at_nanos);
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    });
    let Ok(mut crossings) = Crossings::new(censuses, covered) else { return };
    for capture in Capture::BOTH {
        for segment in of(capture) {
            if let Some(packet) = crossings.of(capture, &segment) {
                crossings.on_packet(&packet);
            }
        }
    }
    black_box(crossings.finish());
}

/// A segment as a capture has it.
fn elsewhere(segment: &Seen<'static>, capture: Capture) -> Option<Seen<'static>> {
    let turn = |of: u64| segment.frame.is_multiple_of(of);
    if capture == Capture::First {
        return (!turn(13)).then_some(*segment);
    }
    let is_there = segment.source < segment.destination;
    let at_nanos = if is_there {
        segment.at_nanos.saturating_add(20_000_000)
    } else {
        segment.at_nanos.saturating_sub(20_000_000)
    };
    let payload_len = segment.payload_len.saturating_mul(if turn(5) { 3 } else { 1 });
    let seq = segment.seq.wrapping_add(u32::from(turn(11)));
    (!turn(7)).then_some(Seen { at_nanos, seq, payload_len, ..*segment })
}

/// As much is read of what a small file unpacks to: enough to come behind every kind of block.
const UNPACKED: u64 = 1 << 20;

fn each_record(bytes: &[u8], mut of: impl FnMut(&Record<'_>)) {
    let input = bytes.take(UNPACKED);
    let Ok(mut file) = CaptureFile::open(input) else { return };
    while file.bytes_read() < UNPACKED {
        match file.next() {
            Ok(Some(record)) => of(&record),
            Ok(None) => break,
            Err(error) => {
                black_box(error.to_string());
                break;
            }
        }
    }
    black_box((file.interfaces(), file.application(), file.comments()));
}

/// A pcapng file in memory, block by block; the reader of streams finds as many packets.
pub fn pcapng_blocks(bytes: &[u8]) {
    let is_packet = |block: &pcapng::Block<'_>| {
        matches!(block, pcapng::Block::Packet(_) | pcapng::Block::SimplePacket(_))
    };
    let packets = pcapng::Reader::new(bytes).map_while(Result::ok).filter(is_packet).count();
    let mut records = 0;
    if let Ok(mut file) = CaptureFile::open(bytes) {
        if file.format() != crate::capture_file::Format::Pcapng || file.compression().is_some() {
            return;
        }
        while let Ok(Some(_)) = file.next() {
            records += 1;
        }
    }
    assert_eq!(records, packets, "the readers of streams and of memory differ");
}

/// A frame of any link type: its number and a length come first, two bytes each.
pub fn link_types(bytes: &[u8]) {
    let Some((&[t0, t1, l0, l1], frame)) = bytes.split_first_chunk() else { return };
    let link_type = u16::from_be_bytes([t0, t1]) & 0x1ff;
    let more = u32::from(u16::from_be_bytes([l0, l1]));
    let original_len = u32::try_from(frame.len()).unwrap_or(u32::MAX).saturating_add(more);
    if let Ok(inner) = decapsulate(link_type, frame, original_len) {
        black_box(inner.encapsulation.to_string());
        assert!(inner.ip.payload_len <= inner.ip.len, "more payload than packet");
    }
}

/// A series of IP packets, a length of two bytes before each: most of them fragments.
pub fn fragments(bytes: &[u8]) {
    let mut decoder = Decoder::default();
    let (mut rest, mut number) = (bytes, 0);
    while let Some((&[l0, l1], behind)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([l0, l1])).min(behind.len());
        let (data, behind) = behind.split_at_checked(length).unwrap_or((behind, &[]));
        rest = behind;
        number += 1;
        let record = Record {
            number,
            interface: 0,
            interfaces: 1,
            at_nanos: Some(number << 30),
            original_len: 0,
            link_type: link_type::RAW,
            data,
        };
        black_box(decoder.decode(&record));
    }
    let counts = decoder.fragment_counts();
    assert!(counts.given_up <= counts.incomplete, "what is given up is incomplete");
}

/// An IP packet, of which the first byte says how much the capture cut off.
pub fn ip(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    let wire_len = bytes.len() + usize::from(cut) * 8;
    let packet = Packet::decode(bytes, wire_len);
    let outline = Outline::read(bytes, wire_len);
    match (packet, outline) {
        (Ok(packet), Ok(outline)) => {
            let payload_len = u32::try_from(packet.payload_len).unwrap_or(u32::MAX);
            assert_eq!((outline.source, outline.destination), packet.ends());
            assert_eq!((outline.payload, outline.payload_len), (packet.payload, payload_len));
            assert_eq!((outline.protocol, outline.fragment), (packet.protocol, packet.fragment));
        }
        (packet, outline) => assert_eq!(packet.err(), outline.err()),
    }
}

/// Ends of either version.
const ENDS: [(IpAddr, IpAddr); 2] = [
    (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::LOCALHOST)),
    (IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)),
];

/// A TCP segment.
pub fn tcp(bytes: &[u8]) {
    for ends in ENDS {
        if let Ok(segment) = Segment::decode(bytes, bytes.len(), ends) {
            options(segment.options);
        }
    }
}

/// What arrives at a responder, or from one: messages one after the other.
pub fn responder(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some((message, taken))) = test_protocol::decode(rest) {
        let frame = test_protocol::encode(&message);
        assert!(test_protocol::decode(&frame).is_ok_and(|again| again.is_some()), "{message:?}");
        rest = rest.get(taken..).unwrap_or_default();
    }
}

/// TCP's options.
pub fn options(bytes: &[u8]) {
    walk(bytes).for_each(|item| drop(black_box(item.to_string())));
    walk(bytes).values().for_each(|option| drop(black_box(format!("{option:?}"))));
}

/// An ICMP message, and the packet that it quotes.
pub fn icmp(bytes: &[u8]) {
    for ends in ENDS {
        if let Ok(message) = Icmp::decode(bytes, bytes.len(), ends) {
            let _ = black_box(message.quoted());
        }
        black_box(quote_packet(bytes, ends.0));
    }
}

/// What is heard of a connection whose path is probed.
pub fn path_probe(bytes: &[u8]) {
    for (local, far) in ENDS {
        let _ = black_box(hear(bytes, local, SocketAddr::new(far, 443)));
    }
}

/// A UDP datagram.
pub fn udp(bytes: &[u8]) {
    for ends in ENDS {
        let _ = black_box(Datagram::decode(bytes, ends));
    }
}

/// What Linux says of a connection.
pub fn tcp_info(bytes: &[u8]) {
    if let Ok(info) = TcpInfo::decode(bytes) {
        black_box((info.state(), info.ca_state()));
    }
}

/// The kernel's list of sockets, as it comes from netlink or as `ss -D` writes it.
pub fn inet_diag(bytes: &[u8]) {
    for message in Messages::new(bytes) {
        let _ = black_box(message);
    }
}

/// The kernel's types, and the members of two structures.
pub fn btf(bytes: &[u8]) {
    let Some(types) = Btf::decode(bytes) else { return };
    let wanted = [(Kind::Function, "walk"), (Kind::Structure, "file"), (Kind::Structure, "inode")];
    for found in types.find(wanted).into_iter().flatten() {
        assert!(found.id > 0, "numbers begin with 1");
        black_box((found.offset_of("f_inode"), found.offset_of("i_ino")));
    }
}

/// The kernel's tables of counters and of interfaces.
pub fn procnet(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let counters = proc_net::Counters::parse(&text);
    black_box(counters.since(&counters).iter().count());
    black_box(proc_net::interfaces(&text));
}
