//! What happens on the way: fragments, copies, drops by a queue's discipline, packets that are turned back,
//! and flows over a part of the path. Each once where the path is computed and once where it is staged hop
//! by hop: `CoDel` has it staged.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use maxseg_testkit::sampled;
use maxseg_wire::icmp::{Icmp, Message};
use maxseg_wire::ip::{Header, Packet, protocol};
use serde_json::Value;

use super::peers::{FAULTY, NONE, installed, tshark};
use super::runs::{Capture, captured, json};

/// Three hops, of which the second is narrow, and what is sent over them; `queue` is the first hop's.
fn path(queue: &str, more: &str) -> String {
    format!(
        "[[hop]]\nname = \"lan\"\nrate = \"8 Mbit/s\"\ndelay = \"2 ms\"\nqueue = {queue}\n\
         [[hop]]\nname = \"narrow\"\nrate = \"6 Mbit/s\"\ndelay = \"10 ms\"\nmtu = 576\n{more}\n\
         [[hop]]\nname = \"far\"\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n"
    )
}

/// Of the sample, one run in so many: tshark starts a dozen times for each.
const SAMPLED: u64 = 2;

const TAIL: &str = "\"50 packets\"";
const CODEL: &str = "{ limit = \"50 packets\", discipline = \"codel\" }";
const CUT: &str = "[sender]\ndf = false\n[receiver]\ndf = false\n";
const BULK_AND_DATAGRAMS: &str = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"cbr\"\nrate = \"500 kbit/s\"\nsize = 1300\nstop = \"4 s\"\n\
                                  [[flow]]\nkind = \"ping\"\nsize = 1000\ninterval = \"100 ms\"\nstop = \"4 s\"\n[until]\ntime = \"5 s\"\n";
/// So much that no fragment is lost.
const ROOM: &str = "queue = \"1000 packets\"";

fn count(outcome: &Value, flow: usize, key: &str) -> u64 {
    outcome["flows"][flow][key].as_u64().unwrap_or_else(|| panic!("{key}: {outcome}"))
}

#[test]
fn a_row_is_the_same_with_and_without_a_capture() {
    for queue in [TAIL, CODEL] {
        for settings in [CUT, ""] {
            let text = format!("{}{settings}{BULK_AND_DATAGRAMS}", path(queue, "duplicate = 0.02"));
            let without = json(&text, &["--engine", "sim"]);
            let with = captured(&text, &[]);
            assert_eq!(with.outcome, without["rows"][0]["outcome"], "{queue} {settings}");
        }
    }
}

/// What is known of an IPv4 packet wherever it is seen: who sent it, and its identification.
type Known = (IpAddr, u16);

/// How often each packet was seen whole at a point, and the extents of its fragments.
fn extents(capture: &Capture, point: &str) -> BTreeMap<Known, Vec<(usize, usize, bool)>> {
    let mut seen: BTreeMap<Known, Vec<_>> = BTreeMap::new();
    for packet in capture.at(point) {
        let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
        let Header::V4(header) = ip.header else { panic!("{ip:?}") };
        let (offset, more) = ip.fragment.map_or((0, false), |part| (part.offset, part.more));
        let extent = (offset, offset + ip.payload_len, more);
        seen.entry((header.source.into(), header.identification)).or_default().push(extent);
    }
    seen
}

#[test]
fn fragments_are_cut_where_the_path_narrows_and_nowhere_else() {
    for queue in [TAIL, CODEL] {
        let capture = captured(&format!("{}{CUT}{BULK_AND_DATAGRAMS}", path(queue, "")), &[]);
        let [sender, lan, narrow, far, receiver] =
            ["sender", "lan", "narrow", "far", "receiver"].map(|point| extents(&capture, point));
        let host: IpAddr = "10.0.0.1".parse().unwrap();
        let (mut cut, mut whole) = (0, 0);
        for (packet, extents) in narrow.iter().filter(|((from, _), _)| *from == host) {
            assert_eq!((sender[packet].len(), lan[packet].len()), (1, 1), "{packet:?}");
            let (_, len, _) = sender[packet][0];
            // Without a gap, in multiples of 8, none larger than the MTU.
            let mut end = 0;
            for (from, to, more) in extents {
                assert_eq!(*from, end, "{packet:?}");
                assert!(to - from <= 556 && (!more || (to - from) % 8 == 0));
                assert_eq!(*more, *to < len);
                end = *to;
            }
            if end == len && far.contains_key(packet) && receiver.contains_key(packet) {
                assert!(receiver[packet].len() <= extents.len());
                cut += usize::from(extents.len() > 1);
                whole += usize::from(extents.len() == 1);
            }
        }
        assert!(cut > 300 && whole > 0, "{queue}: {cut} cut, {whole} whole");
    }
}

#[test]
fn tshark_puts_the_fragments_together() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.pcapng");
    for queue in sampled("queues", vec![TAIL, CODEL], SAMPLED) {
        // tshark files fragments under the exclusive or of identification and protocol, so that what is left
        // of an incomplete packet of one protocol gets into another's with a number nearby: none is lost.
        let text = format!("{}{CUT}{BULK_AND_DATAGRAMS}", path(queue, ROOM));
        let capture = captured(&text, &["--stack", "rfc"]);
        capture.write(&file);
        assert_eq!(tshark(&file, "frame", &["frame.number"]).len(), capture.packets().len());
        assert_eq!(tshark(&file, FAULTY, &["frame.number"]), NONE);
        capture.write_whole("receiver", &file);
        assert_eq!(tshark(&file, FAULTY, &["frame.number"]), NONE);
        let from_whole = in_two_passes(&file, "ip.reassembled_in", "ip.reassembled_in");
        // All fragments of a packet say in which frame it is complete; that frame says how many they are.
        let fragments = "ip.flags.mf == 1 || ip.frag_offset > 0";
        let classic = folder.path().join("point.pcap");
        capture.write_classic("receiver", &classic);
        let as_it_is = in_two_passes(&classic, "ip.reassembled_in", "ip.reassembled_in");
        assert_eq!(as_it_is, from_whole, "with no payload but that of fragments");
        let complete: BTreeSet<String> = from_whole.into_iter().collect();
        let last =
            tshark(&file, "ip.fragment.count", &["ip.fragment.count", "ip.reassembled.length"]);
        assert_eq!(complete.len(), last.len());
        let sizes: BTreeSet<&str> = last.iter().map(String::as_str).collect();
        // Segments and datagrams are in three pieces, echo requests and their answers in two.
        assert_eq!(sizes, BTreeSet::from(["3\t1480", "3\t1308", "2\t1008"]));
        let whole: usize = last.iter().map(|line| if line.starts_with('3') { 3 } else { 2 }).sum();
        let pieces = tshark(&file, fragments, &["frame.number"]).len();
        assert!(
            pieces - whole < 3,
            "{pieces} pieces, {whole} of whole packets: the run ends in one"
        );
        // Datagrams that were put together are those that the simulator delivered, and whole.
        let port = "udp.dstport == 9 && udp.checksum.status == 1";
        let datagrams = tshark(&file, port, &["udp.length"]);
        assert_eq!(
            datagrams.len() as u64,
            count(&capture.outcome, 1, "payload_bytes") / 1300,
            "{queue}"
        );
        assert!(datagrams.iter().all(|length| length == "1308"));
        // And segments have good checksums over all their fragments.
        let data = "tcp.dstport == 9 && tcp.len > 0";
        let segments = tshark(&file, data, &["tcp.checksum.status", "tcp.len"]);
        assert!(segments.len() > 300 && segments.iter().all(|line| line == "1\t1460"), "{queue}");
        let requests = tshark(&file, "icmp.type == 8 && icmp.checksum.status == 1", &["icmp.seq"]);
        let delivered = count(&capture.outcome, 2, "packets") - 40;
        assert_eq!(
            requests.len() as u64,
            delivered,
            "{queue}: 40 were sent, the others are answers"
        );
    }
}

/// The same as [`tshark`] of one field that says of a packet what only a later one shows.
fn in_two_passes(file: &Path, filter: &str, field: &str) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-2", "-n", "-r"]).arg(file).args(["-Y", filter, "-T", "fields", "-e", field]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// The notices at a point: who says so, what fits, the quoted packet, and the TTL.
fn notices(capture: &Capture, point: &str) -> Vec<(IpAddr, u32, Known, u32, u8)> {
    let mut found = Vec::new();
    for packet in capture.at(point) {
        let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
        if ip.protocol != protocol::ICMP {
            continue;
        }
        let icmp = Icmp::decode(ip.payload, ip.payload_len, ip.ends()).unwrap();
        let (Message::TooBig { mtu }, Header::V4(header)) = (icmp.message, ip.header) else {
            continue;
        };
        let quoted = icmp.quoted().unwrap();
        let Header::V4(inner) = quoted.packet.header else { panic!("{quoted:?}") };
        assert_eq!(ip.ends().1, IpAddr::from(inner.source), "it goes to who sent the packet");
        let known = (inner.source.into(), inner.identification);
        found.push((
            header.source.into(),
            mtu,
            known,
            quoted.flow.map_or(0, |flow| flow.word),
            header.ttl,
        ));
    }
    found
}

#[test]
fn what_is_too_large_is_turned_back_with_a_quotation() {
    for queue in [TAIL, CODEL] {
        let capture = captured(&format!("{}{BULK_AND_DATAGRAMS}", path(queue, "")), &[]);
        let (near, hop) = (notices(&capture, "sender"), notices(&capture, "narrow"));
        let router: IpAddr = "10.0.2.254".parse().unwrap();
        assert!(hop.iter().all(|(from, mtu, ..)| (*from, *mtu) == (router, 576)));
        assert!(hop.len() - near.len() <= 2, "but for those under way at the end");
        assert_eq!(near[..], hop[..near.len()], "the same at both, and no router between");
        // Each quotes a packet that the sender sent, to the sequence number.
        let sent: BTreeMap<Known, (u32, usize)> = capture
            .at("sender")
            .iter()
            .filter_map(|packet| {
                let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
                let Header::V4(header) = ip.header else { panic!("{ip:?}") };
                let word = ip.payload.get(4..8)?;
                let word = u32::from_be_bytes(word.try_into().unwrap());
                let known = (header.source.into(), header.identification);
                (ip.ends().1 == IpAddr::from([10, 0, 0, 2]))
                    .then_some((known, (word, ip.payload_len)))
            })
            .collect();
        let narrow = extents(&capture, "narrow");
        for (_, _, quoted, word, ttl) in &near {
            let (sent_word, payload_len) = sent[quoted];
            assert!(payload_len > 556 && !narrow.contains_key(quoted), "{quoted:?} did not pass");
            assert!(*word == 0 || *word == sent_word, "{quoted:?}");
            assert_eq!(*ttl, 64);
        }
        assert!(near.iter().any(|(.., word, _)| *word != 0), "segments among them");
        // Each that came through the first hop and did not fit was told of, once.
        let told: BTreeSet<Known> = hop.iter().map(|(_, _, quoted, ..)| *quoted).collect();
        assert_eq!(told.len(), hop.len());
        let refused = too_large_behind_the_first_hop(&capture);
        assert!(
            told.is_subset(&refused) && refused.len() - told.len() <= 2,
            "{refused:?} {told:?}"
        );
    }
}

/// What went on the first hop's wire from the sender, above 576 bytes.
fn too_large_behind_the_first_hop(capture: &Capture) -> BTreeSet<Known> {
    let passed = capture.at("lan").into_iter().filter(|packet| packet.comment.is_none());
    let large = passed.filter(|packet| packet.original_len > 576).map(|packet| {
        let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
        let Header::V4(header) = ip.header else { panic!("{ip:?}") };
        (header.source.into(), header.identification)
    });
    large.filter(|(source, _): &Known| *source == IpAddr::from([10, 0, 0, 1])).collect()
}

#[test]
fn tshark_reads_the_notices() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.pcapng");
    let families = [
        ("4", "icmp.mtu", "icmp.type == 3 && icmp.code == 4"),
        ("6", "icmpv6.mtu", "icmpv6.type == 2"),
    ];
    let runs = families.into_iter().flat_map(|family| [TAIL, CODEL].map(|queue| (family, queue)));
    for ((ip, mtu, kind), queue) in sampled("runs", runs.collect(), SAMPLED) {
        // IPv6 knows no smaller MTU than 1280.
        let text = format!("{}{BULK_AND_DATAGRAMS}", path(queue, "").replace("576", "1300"));
        let capture = captured(&text, &["--set", &format!("ip={ip}")]);
        capture.write(&file);
        assert_eq!(tshark(&file, FAULTY, &["frame.number"]), NONE, "IPv{ip}");
        let at_sender = format!("{kind} && frame.interface_name == \"sender\"");
        let seen = tshark(&file, &at_sender, &[mtu, "udp.dstport", "tcp.dstport"]);
        let of = |line: &str| seen.iter().filter(|seen| *seen == line).count() as u64;
        assert!(seen.iter().all(|line| line.starts_with("1300\t")), "{seen:?}");
        // Every datagram that the first hop passes on is refused; segments are until the sender knows.
        let passed =
            "udp && ip.version == 4 && !pkt_comment && frame.interface_name == \"lan\" && !icmp";
        let passed = match ip {
            "4" => passed.to_owned(),
            _ => passed.replace("ip.version == 4", "ipv6").replace("icmp", "icmpv6"),
        };
        let datagrams = tshark(&file, &passed, &["frame.number"]).len() as u64;
        assert!(datagrams > 100);
        assert_eq!(of("1300\t9\t"), datagrams, "{ip} {queue}");
        assert!(of("1300\t\t9") >= 1, "{ip} {queue}");
        capture.write_whole("sender", &file);
        // Not FAULTY: tshark holds a quoted segment, which is cut, to the checksum of the whole one.
        let layer = if ip == "4" { "icmp" } else { "icmpv6" };
        let good = format!("({kind}) && {layer}.checksum.status == 1 && !_ws.malformed");
        assert_eq!(tshark(&file, &good, &["frame.number"]).len(), seen.len());
    }
}

#[test]
fn copies_and_drops_are_seen_where_they_happen() {
    let more = format!("queue = {CODEL}\nduplicate = 0.05");
    let text = format!("{}{CUT}{BULK_AND_DATAGRAMS}", path(TAIL, &more));
    let capture = captured(&text, &[]);
    let dropped = |point: &str| {
        let packets = capture.at(point);
        let remark = |text: Option<&str>| text.is_some_and(|text| text.starts_with("dropped by"));
        packets.iter().filter(|packet| remark(packet.comment.as_deref())).count()
    };
    assert!(dropped("narrow") > 2, "CoDel drops where it is");
    assert_eq!(dropped("sender") + dropped("lan") + dropped("far") + dropped("receiver"), 0);
    let host: IpAddr = "10.0.0.1".parse().unwrap();
    let doubled = |point| {
        let mut seen = extents(&capture, point);
        seen.retain(|(from, _), _| *from == host);
        let twice =
            |extents: &Vec<_>| extents.len() > extents.iter().collect::<BTreeSet<_>>().len();
        seen.values().filter(|extents| twice(extents)).count()
    };
    assert_eq!(doubled("sender") + doubled("lan"), 0);
    assert!(doubled("narrow") > 20 && doubled("receiver") > 20);
}

#[test]
fn a_flow_over_a_part_of_the_path_has_hosts_of_its_own() {
    let flows = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"cbr\"\nrate = \"300 kbit/s\"\nsize = 400\nhops = [\"narrow\"]\n\
                 [[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\nhops = [\"narrow\", \"far\"]\n[until]\ntime = \"5 s\"\n";
    let capture = captured(&format!("{}{CUT}{flows}", path(TAIL, "")), &[]);
    let names = ["sender", "lan", "narrow", "far", "receiver", "sender.narrow", "receiver.narrow"];
    assert_eq!(capture.interfaces(), names);
    let [cross, probe]: [IpAddr; 2] = ["10.0.2.2".parse().unwrap(), "10.0.2.1".parse().unwrap()];
    let seen = |point: &str, what: u8| -> BTreeSet<(IpAddr, IpAddr, u8)> {
        let packets = capture.at(point);
        let packets = packets.iter().map(|packet| {
            let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
            let Header::V4(header) = ip.header else { panic!("{ip:?}") };
            (ip.protocol, header.source.into(), header.destination.into(), header.ttl)
        });
        packets
            .filter(|(kind, ..)| *kind == what)
            .map(|(_, from, to, ttl)| (from, to, ttl))
            .collect()
    };
    let once = |from, to, ttl| BTreeSet::from([(from, to, ttl)]);
    for point in ["sender.narrow", "narrow", "receiver.narrow"] {
        assert_eq!(seen(point, protocol::UDP), once(probe, cross, 64), "{point}");
    }
    for point in ["sender", "lan", "far", "receiver"] {
        assert_eq!(seen(point, protocol::UDP), BTreeSet::new(), "{point}");
    }
    let host: IpAddr = "10.0.0.2".parse().unwrap();
    let there_and_back = BTreeSet::from([(probe, host, 63), (host, probe, 64)]);
    assert_eq!(seen("receiver", protocol::ICMP), there_and_back);
    let sent = capture.at("sender.narrow").len() as u64;
    let counted =
        count(&capture.outcome, 1, "data_packets") + count(&capture.outcome, 2, "packets");
    assert_eq!(sent, counted, "datagrams and requests sent, and answers: one for each");
}
