//! Every capture that there is (`MAXSEG_CAPTURES`), against what tshark says of it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "what is skipped is skipped aloud")]

use std::collections::BTreeMap;

use maxseg_testkit::captures::{Capture, captures};
use maxseg_wire::capture_file::{CaptureFile, OpenError};
use maxseg_wire::encapsulation::Encapsulation;
use maxseg_wire::flow::{Decoded, FragmentCounts, TooBig};
use maxseg_wire::ip::protocol;
use maxseg_wire::reading::{PacketReader, ReadOptions, read, read_in_threads};
use serde_json::{Value, json};

/// What a capture holds, counted as tshark counts it.
#[derive(Default)]
struct Tally {
    frames: u64,
    cut: u64,
    tcp: u64,
    udp: u64,
    icmp: u64,
    too_big: Vec<TooBig>,
    /// Messages that quote a segment which did not get on.
    unreachable: u64,
    encapsulation: BTreeMap<&'static str, u64>,
    not_understood: Vec<String>,
    fragments: FragmentCounts,
    /// Packets, data packets and payload bytes from one end to another.
    directions: BTreeMap<String, (u64, u64, u64)>,
}

fn tally(capture: &Capture) -> Tally {
    let mut packets = PacketReader::open(capture.open(), None).unwrap();
    let mut tally = Tally::default();
    let end = packets.for_each(|record, packet| {
        tally.frames += 1;
        assert_eq!(record.number, tally.frames);
        tally.cut += u64::from((record.data.len() as u64) < u64::from(record.original_len));
        for encapsulation in unique(packet.encapsulation.iter()) {
            *tally.encapsulation.entry(encapsulation.name()).or_default() += 1;
        }
        match packet.what {
            Decoded::Tcp(seen) => {
                tally.tcp += 1;
                let direction = format!(
                    "{} {} > {} {}",
                    seen.source.ip(),
                    seen.source.port(),
                    seen.destination.ip(),
                    seen.destination.port()
                );
                let (packets, data_packets, bytes) = tally.directions.entry(direction).or_default();
                *packets += 1;
                *data_packets += u64::from(seen.payload_len > 0);
                *bytes += u64::from(seen.payload_len);
            }
            Decoded::TooBig(too_big) => tally.too_big.push(too_big),
            Decoded::Unreachable(_) => {
                tally.icmp += 1;
                tally.unreachable += 1;
            }
            Decoded::Udp(_) | Decoded::Other(protocol::UDP) => tally.udp += 1,
            Decoded::Other(protocol::ICMP | protocol::ICMPV6) => tally.icmp += 1,
            Decoded::Other(_) | Decoded::Fragment(_) => {}
            Decoded::Undecodable(why) => {
                tally.not_understood.push(format!("frame {}: {why}", tally.frames));
            }
        }
    });
    end.unwrap();
    tally.fragments = packets.fragment_counts();
    tally
}

fn unique(encapsulation: impl Iterator<Item = Encapsulation>) -> Vec<Encapsulation> {
    let mut seen = Vec::new();
    for encapsulation in encapsulation {
        if !seen.contains(&encapsulation) {
            seen.push(encapsulation);
        }
    }
    seen
}

impl Tally {
    /// In how many frames tshark saw a protocol, those quoted by ICMP included.
    fn protocol(&self, name: &str) -> u64 {
        let quoted = |number| {
            let quotes = |big: &&TooBig| big.quoted.is_some_and(|flow| flow.protocol == number);
            self.too_big.iter().filter(quotes).count() as u64
        };
        match name {
            "tcp" => self.tcp + quoted(protocol::TCP) + self.unreachable,
            "udp" => self.udp + quoted(protocol::UDP) + self.encapsulation("VXLAN"),
            _ => self.encapsulation(name),
        }
    }

    fn encapsulation(&self, name: &str) -> u64 {
        self.encapsulation.get(name).copied().unwrap_or(0)
    }

    fn icmp_of(&self, v4: bool) -> Vec<Value> {
        let of_version = self.too_big.iter().filter(|big| big.from.is_ipv4() == v4);
        of_version
            .map(|big| json!({"frame": big.frame, "mtu": big.mtu.to_string(), "src": big.from.to_string()}))
            .collect()
    }
}

/// The snoop file of the open captures is refused by its name, and it alone.
#[test]
fn only_what_is_no_pcap_is_refused() {
    for capture in captures() {
        match CaptureFile::open(capture.open()) {
            Ok(_) => assert!(!capture.name.contains("snoop"), "{}", capture.name),
            Err(OpenError::Foreign { name, .. }) => {
                assert!(capture.name.contains("snoop"), "{}", capture.name);
                assert_eq!(name, "a snoop capture (Solaris)");
            }
            Err(error) => panic!("{}: {error}", capture.name),
        }
    }
}

#[test]
fn captures_hold_what_tshark_says() {
    let captures = captures();
    assert!(!captures.is_empty(), "there are some in the repository");
    for capture in captures.iter().filter(|capture| !capture.name.contains("snoop")) {
        let ours = tally(capture);
        println!("{}: {} frames, {} TCP", capture.name, ours.frames, ours.tcp);
        assert!(ours.frames > 0, "{}", capture.name);
        match &capture.truth {
            Some(truth) => compare(&capture.name, &ours, truth),
            None => assert!(ours.not_understood.is_empty(), "{:?}", ours.not_understood),
        }
    }
}

fn compare(name: &str, ours: &Tally, truth: &Value) {
    let number = |key: &str| truth[key].as_u64().unwrap();
    assert_eq!(ours.frames, number("frames") - custom_blocks(name), "{name}");
    assert_eq!(ours.cut, number("frames_truncated_by_snaplen"), "{name}: cut frames");
    assert_eq!(ours.fragments.ipv4_fragments, number("ipv4_fragments"), "{name}");
    assert_eq!(ours.fragments.ipv4_datagrams, number("ipv4_fragmented_datagrams"), "{name}");
    assert_eq!(ours.fragments.ipv6_fragments, number("ipv6_fragments"), "{name}");
    assert_eq!(ours.fragments.ipv6_atomic_fragments, number("ipv6_atomic_fragments"), "{name}");
    let protocols: [(&str, &str); 9] = [
        ("tcp", "tcp"),
        ("udp", "udp"),
        ("vlan", "VLAN"),
        ("mpls", "MPLS"),
        ("vxlan", "VXLAN"),
        ("pppoes", "PPPoE"),
        ("ppp", "PPP"),
        ("sll", "Linux cooked"),
        ("null", "loopback"),
    ];
    for (theirs, own) in protocols {
        let wanted = truth["protocols"][theirs].as_u64().unwrap_or(0);
        let wanted = wanted - broken_tcp(name, theirs);
        assert_eq!(ours.protocol(own), wanted, "{name}: {theirs} {:?}", ours.not_understood);
    }
    for (key, v4) in [("icmp_frag_needed", true), ("icmpv6_too_big", false)] {
        let mut wanted = truth[key].as_array().unwrap().clone();
        for message in &mut wanted {
            message.as_object_mut().unwrap().remove("for");
        }
        assert_eq!(ours.icmp_of(v4), wanted, "{name}: {key}");
    }
    let mut wanted: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for stream in truth["streams"].as_object().unwrap().values() {
        for (direction, counts) in stream["dirs"].as_object().unwrap() {
            let (packets, data_packets, bytes) = wanted.entry(direction.clone()).or_default();
            let count = |key: &str| counts[key].as_u64().unwrap_or(0);
            *packets += count("packets");
            *data_packets += count("data_packets");
            *bytes += count("payload_bytes");
        }
    }
    for (direction, counts) in &wanted {
        assert_eq!(ours.directions.get(direction), Some(counts), "{name}: {direction}");
    }
    if truth["streams"].as_object().unwrap().len() < MOST_STREAMS {
        assert_eq!(ours.directions.len(), wanted.len(), "{name}: {:?}", ours.directions.keys());
    }
}

/// tshark takes a custom block for a frame; it is none.
fn custom_blocks(name: &str) -> u64 {
    if name == "format__test102.pcapng" { 3 } else { 0 }
}

/// As many streams are told of each capture.
const MOST_STREAMS: usize = 500;

/// Frames that tshark counts as TCP and then says "bogus TCP header length" of.
fn broken_tcp(name: &str, protocol: &str) -> u64 {
    u64::from(name == "corrupt__tcp_header_heapoverflow.pcap" && protocol == "tcp")
}

#[test]
fn threads_make_no_difference() {
    let options = ReadOptions::default();
    for capture in captures() {
        let Ok(alone) = read(capture.open(), &options) else {
            println!("{} is no capture that is read here", capture.name);
            continue;
        };
        let together = read_in_threads(capture.open(), &options, 3).unwrap().unwrap();
        let (ours, theirs) = (format!("{:?}", together.summary), format!("{:?}", alone.summary));
        assert_eq!(ours, theirs, "{}", capture.name);
        assert!(together.connections.eq(alone.connections), "{}", capture.name);
    }
}
