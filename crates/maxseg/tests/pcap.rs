//! `maxseg run --pcap`: what is in the file, and that writing it changes nothing. Real peers read it in
//! `pcap/peers.rs`.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

mod pcap {
    mod lab;
    mod peers;
    mod requests;
    pub(crate) mod runs;
    mod staged;
}

use std::collections::BTreeMap;
use std::net::IpAddr;

use maxseg_wire::Checksum;
use maxseg_wire::icmp::{Icmp, Message};
use maxseg_wire::ip::{Header, Packet, protocol};
use maxseg_wire::options::walk;
use maxseg_wire::tcp::{Flags, Segment};
use maxseg_wire::udp::Datagram;

use pcap::runs::{BUSY, Capture, captured, json, maxseg, stderr};

#[test]
fn a_row_is_the_same_with_and_without_a_capture() {
    for scenario in [BUSY, "slow-tunnel", "cellular-mss"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.pcapng");
        let mut arguments = vec!["--set", "until.time=20 s", "--set", "seed=7"];
        if scenario == "cellular-mss" {
            arguments.extend(["--set", "sender.mss=536", "--set", "hop.radio.errors.rate=0.05"]);
        }
        let without = json(scenario, &arguments);
        arguments.extend(["--pcap", file.to_str().unwrap()]);
        let with = json(scenario, &arguments);
        assert_eq!(with["rows"], without["rows"]);
        assert_eq!(with["rows"].as_array().unwrap().len(), 2, "the model's and the simulator's");
    }
}

#[test]
fn interfaces_are_the_points_of_the_path() {
    let capture = captured(BUSY, &[]);
    assert_eq!(capture.interfaces(), ["sender", "hop.0", "radio", "receiver"]);
    let tunnel = captured("slow-tunnel", &["--set", "until.time=1 s"]);
    assert_eq!(tunnel.interfaces(), ["sender", "lan", "tunnel", "receiver"]);
}

#[test]
fn packets_come_in_order_of_time_with_headers_that_hold_together() {
    for ip in [4, 6] {
        let capture = captured(BUSY, &["--set", &format!("ip={ip}")]);
        let packets = capture.packets();
        assert!(packets.is_sorted_by_key(|packet| packet.at_nanos));
        let mut kinds = BTreeMap::new();
        for packet in &packets {
            // The longest: IPv6, and TCP with 40 bytes of options.
            assert!(packet.data.len() <= 100, "headers only");
            let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
            let whole = packet.data.len() + ip.payload_len - ip.payload.len();
            assert_eq!(whole, packet.original_len as usize, "the header counts the whole packet");
            // With its zeros back, every checksum is right.
            let mut full = packet.data.to_vec();
            full.resize(whole, 0);
            let ip = Packet::decode(&full, whole).unwrap();
            let ends = ip.ends();
            let checksum = match ip.protocol {
                protocol::TCP => {
                    Segment::decode(ip.payload, ip.payload_len, ends).unwrap().checksum
                }
                protocol::UDP => Datagram::decode(ip.payload, ends).unwrap().checksum,
                _ => Icmp::decode(ip.payload, ip.payload_len, ends).unwrap().checksum,
            };
            assert_eq!(checksum, Checksum::Good);
            assert_ne!(ip.checksum, Checksum::Bad);
            *kinds.entry(ip.protocol).or_insert(0) += 1;
        }
        let icmp = if ip == 4 { protocol::ICMP } else { protocol::ICMPV6 };
        for kind in [protocol::TCP, protocol::UDP, icmp] {
            assert!(kinds.remove(&kind) > Some(50), "IPv{ip}, protocol {kind}");
        }
        assert!(kinds.is_empty());
    }
}

#[test]
fn flows_have_their_own_ports_and_hosts_their_addresses() {
    let capture = captured(BUSY, &[]);
    let mut seen = BTreeMap::new();
    for packet in capture.at("sender") {
        let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
        let (source, destination) = ip.ends();
        let what = match ip.protocol {
            protocol::TCP => {
                let tcp =
                    Segment::decode(ip.payload, ip.payload_len, (source, destination)).unwrap();
                format!("tcp {} {}", tcp.header.source_port, tcp.header.destination_port)
            }
            protocol::UDP => {
                let udp = Datagram::decode(ip.payload, (source, destination)).unwrap();
                format!("udp {} {}", udp.header.source_port, udp.header.destination_port)
            }
            _ => match Icmp::decode(ip.payload, ip.payload_len, (source, destination))
                .unwrap()
                .message
            {
                Message::EchoRequest { id, .. } => format!("request {id}"),
                Message::EchoReply { id, .. } => format!("reply {id}"),
                other @ (Message::TooBig { .. } | Message::Other { .. }) => panic!("{other:?}"),
            },
        };
        *seen.entry((source, what)).or_insert(0) += 1;
    }
    let [a, b]: [IpAddr; 2] = ["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()];
    // The last flow opens a connection for each request: with six flows every sixth port is one's own.
    let asked =
        |at: IpAddr, what: &str| at == a && what.starts_with("tcp ") && what.ends_with(" 7");
    let opened = seen.keys().filter(|(at, what)| asked(*at, what)).map(|(_, what)| what.clone());
    let ports = (0_u16..).map(|connection| format!("tcp {} 7", 49_157 + 6 * connection));
    let opened: Vec<String> = opened.collect();
    assert!(opened.len() > 20 && opened.iter().cloned().eq(ports.take(opened.len())), "{opened:?}");
    let kinds: Vec<(IpAddr, &str)> = seen.keys().map(|(ip, what)| (*ip, what.as_str())).collect();
    let of_opened = |what: &str| {
        opened.iter().any(|own| {
            let own = own.split(' ').nth(1);
            what.starts_with("tcp ") && what.split(' ').any(|word| Some(word) == own)
        })
    };
    let kinds: Vec<_> = kinds.into_iter().filter(|(_, what)| !of_opened(what)).collect();
    let want = [
        (a, "reply 3"),
        (a, "tcp 49152 9"),
        (a, "tcp 7 49156"),
        (a, "tcp 9 49153"),
        (a, "udp 49154 9"),
        (b, "request 3"),
        (b, "tcp 49153 9"),
        (b, "tcp 49156 7"),
        (b, "tcp 9 49152"),
    ];
    assert_eq!(kinds, want);
}

#[test]
fn a_handshake_carries_its_options() {
    let keys = ["until.time=1 s", "sender.mss=1000", "receiver.window=4 MiB"];
    let keys = keys.iter().flat_map(|key| ["--set", *key]).collect::<Vec<_>>();
    let older = captured("slow-tunnel", &[&keys[..], &["--stack", "rfc"]].concat());
    let read = |capture: &Capture, place: usize| {
        let packet = &capture.at("sender")[place];
        let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
        let tcp = Segment::decode(ip.payload, ip.payload_len, ip.ends()).unwrap();
        let options: Vec<_> = walk(tcp.options).map(|item| item.to_string()).collect();
        (tcp.header.flags, tcp.header.seq, tcp.header.ack, options.join(" "))
    };
    assert_eq!(read(&older, 0), (Flags::SYN, 0, 0, "MSS=1000 NOP WS=7".to_owned()));
    assert_eq!(read(&older, 1), (Flags::SYN | Flags::ACK, 0, 1, "MSS=1380 NOP WS=7".to_owned()));
    assert_eq!(read(&older, 2), (Flags::ACK, 1, 1, String::new()));
    // Linux: the scale is that of tcp_rmem, or of the window that is asked for.
    let today = captured("slow-tunnel", &keys);
    assert_eq!(read(&today, 0).3, "MSS=1000 SACKOK TS=0/0 NOP WS=7");
}

#[test]
fn a_damaged_packet_is_seen_no_further() {
    let capture = captured(
        "cellular-mss",
        &["--set", "sender.mss=536", "--set", "hop.radio.errors.rate=0.05"],
    );
    // Host and identification know a packet at every point.
    let known = |point: &str| -> BTreeMap<(IpAddr, u16), (bool, u8)> {
        let packets = capture.at(point).into_iter();
        let known = packets.map(|packet| {
            let ip = Packet::decode(&packet.data, packet.original_len as usize).unwrap();
            let Header::V4(header) = ip.header else { panic!("{ip:?}") };
            assert!(header.dont_fragment);
            let damaged = packet.comment.as_deref() == Some("damaged on this link");
            ((header.source.into(), header.identification), (damaged, header.ttl))
        });
        known.collect()
    };
    let [sender, radio, receiver] = ["sender", "radio", "receiver"].map(known);
    let host: IpAddr = "10.0.0.1".parse().unwrap();
    let data = |point: &BTreeMap<(IpAddr, u16), (bool, u8)>, damaged: bool| {
        point.iter().filter(|((ip, _), (bad, _))| *ip == host && *bad == damaged).count()
    };
    let lost = data(&radio, true);
    assert!(lost > 100, "{lost}");
    assert_eq!(
        data(&sender, true) + data(&receiver, true),
        0,
        "said where it happens, and only there"
    );
    for (packet, (damaged, _)) in radio.iter().filter(|((ip, _), _)| *ip == host) {
        assert!(sender.contains_key(packet));
        assert!(!(*damaged && receiver.contains_key(packet)));
    }
    // One router on the way.
    assert!(sender.iter().all(|((ip, _), (_, ttl))| *ttl == if *ip == host { 64 } else { 63 }));
    assert!(receiver.iter().all(|((ip, _), (_, ttl))| *ttl == if *ip == host { 63 } else { 64 }));
}

#[test]
fn what_cannot_be_captured_is_said_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.pcapng");
    let busy = folder.path().join("busy.toml");
    std::fs::write(&busy, BUSY).unwrap();
    let (file, busy) = (file.to_str().unwrap(), busy.to_str().unwrap());
    let cases: [(&[&str], &str); 6] = [
        (&["slow-tunnel", "--engine", "model", "--pcap", file], "hint: --engine sim"),
        (
            &["slow-tunnel", "--seeds", "2", "--pcap", file],
            "hint: choose one seed, without --seeds",
        ),
        (
            &["cellular-mss", "--pcap", file],
            "there are 154\nhint: choose one value of hop.radio.errors.rate, such as \
             --set hop.radio.errors.rate=0.0; one value of sender.mss, such as --set sender.mss=88",
        ),
        (
            &[busy, "--set", "flow.2.header=0", "--set", "flow.2.size=20", "--pcap", file],
            "hint: --set flow.2.header=28",
        ),
        (
            &["slow-tunnel", "--pcap", "no/such/folder/x.pcapng"],
            "cannot write no/such/folder/x.pcapng",
        ),
        (&["slow-tunnel", "--pcap", folder.path().to_str().unwrap()], "cannot write"),
    ];
    for (arguments, words) in cases {
        let output = maxseg(&[&["run"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_kept_row_is_run_again_for_its_packets_and_not_kept_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, file) = (path("out"), path("run.pcapng"));
    let run = |more: &[&str]| {
        let common = ["run", "slow-tunnel", "--set", "until.time=5 s", "--out", &out];
        let output = maxseg(&[&common, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read_to_string(format!("{out}/rows.jsonl")).unwrap()
    };
    let rows = run(&[]);
    assert_eq!(run(&["--pcap", &file]), rows);
    assert!(Capture::read(std::fs::read(&file).unwrap()).packets().len() > 1000);
}
