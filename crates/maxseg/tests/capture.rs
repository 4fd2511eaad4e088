//! `maxseg capture`, in network namespaces of its own: what it shows, what it leaves out, what it writes, and
//! which rights it keeps.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]
#![expect(clippy::print_stdout, reason = "what was not tested is said")]

#[path = "../../maxseg-linux/tests/rights/mod.rs"]
mod rights;

mod capture {
    mod file;
    mod rights_given_up;
    pub(crate) mod watch;
}

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use capture::watch::{Watch, datagrams, exchange, ip, own_network};
use serde_json::Value;

/// The ports of every packet.
fn ports(packets: &[Value]) -> Vec<[u64; 2]> {
    let port = |packet: &Value, key: &str| packet[key].as_u64().unwrap();
    packets.iter().map(|each| [port(each, "source_port"), port(each, "destination_port")]).collect()
}

#[test]
fn a_connection_is_shown_from_its_handshake_on() {
    if !own_network() {
        return;
    }
    let watch = Watch::begin(&["-i", "lo", "--port", "8080"]);
    exchange("127.0.0.1:8080", b"hello");
    let end = watch.interrupt();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let lines: Vec<&str> = end.stdout.lines().collect();
    let has = |line: usize, words: &[&str]| words.iter().all(|word| lines[line].contains(word));
    assert!(
        has(0, &[" > 127.0.0.1:8080 SYN seq 0 win ", "MSS=65495 SACKOK TS=", " WS="]),
        "{lines:?}"
    );
    assert!(has(1, &["127.0.0.1:8080 > ", " SYN ACK seq 0 ack 1 "]), "{lines:?}");
    let data = lines.iter().filter(|line| line.contains(" len 5 "));
    assert_eq!(data.count(), 1, "each packet once, though it leaves and arrives here: {lines:?}");
    assert!(!end.stdout.contains("rawwin"), "the scale is known: {lines:?}");
    assert!(end.stderr.contains(&format!("\n{} packets, ", lines.len())), "{}", end.stderr);
}

#[test]
fn only_what_is_asked_for_comes_through() {
    if !own_network() {
        return;
    }
    let watch =
        |arguments: &[&str]| Watch::begin(&[&["-i", "lo", "--json-stream"], arguments].concat());
    let by_port = watch(&["--port", "8080,9"]);
    let by_host = watch(&["--host", "127.0.0.2"]);
    let by_all = watch(&["--host", "127.0.0.2", "--port", "9", "--protocol", "udp"]);
    let by_icmp = watch(&["--protocol", "icmp"]);
    exchange("127.0.0.1:8080", b"asked for");
    exchange("127.0.0.2:8081", b"not asked for by port");
    datagrams("127.0.0.1:10", 2, 100);
    // Nobody listens: each is answered by an ICMP error.
    datagrams("127.0.0.2:9", 3, 100);
    let (packets, _) = by_port.interrupt().stream();
    let is_asked = |ports: &[u64; 2]| ports.contains(&8080) || ports.contains(&9);
    let with_ports: Vec<Value> =
        packets.iter().filter(|each| each["source_port"].is_u64()).cloned().collect();
    assert!(ports(&with_ports).iter().all(is_asked), "{packets:?}");
    assert!(ports(&with_ports).iter().any(|ports| ports.contains(&8080)));
    let errors: Vec<&Value> = packets.iter().filter(|each| each["protocol"] == "icmp").collect();
    assert!(!errors.is_empty(), "an error passes as what it quotes");
    assert!(
        errors.iter().all(|each| each["icmp"]["quoted"]["destination_port"] == 9),
        "{errors:?}"
    );

    let (packets, _) = by_host.interrupt().stream();
    let is_there =
        |each: &Value| each["source"] == "127.0.0.2" || each["destination"] == "127.0.0.2";
    assert!(!packets.is_empty() && packets.iter().all(is_there), "{packets:?}");

    let (packets, summary) = by_all.interrupt().stream();
    let datagrams = packets.iter().filter(|each| each["protocol"] == "udp").count();
    assert_eq!(datagrams, 3, "{packets:?}");
    assert_eq!(summary["received_packets"], packets.len(), "the kernel filters, not the program");

    let (packets, _) = by_icmp.interrupt().stream();
    assert!(!packets.is_empty() && packets.iter().all(|each| each["protocol"] == "icmp"));
}

/// A link from `va` to `vb`, behind which is 10.9.0.2.
fn two_ends() {
    ip("link add va address 02:00:00:00:00:01 type veth peer name vb address 02:00:00:00:00:02");
    ip("link set va up");
    ip("link set vb up");
    ip("address add 10.9.0.1/24 dev va");
    ip("neighbour add 10.9.0.2 lladdr 02:00:00:00:00:02 dev va");
}

#[test]
fn all_interfaces_are_told_apart_and_show_their_directions() {
    if !own_network() {
        return;
    }
    two_ends();
    let watch = Watch::begin(&["-i", "any", "--host", "10.9.0.2", "--protocol", "udp"]);
    datagrams("10.9.0.2:9", 1, 100);
    let end = watch.interrupt();
    let lines: Vec<&str> = end.stdout.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    let (out, come): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.starts_with("va"));
    assert!(matches!(&out[..], [one] if one.starts_with("va out 10.9.0.1:")), "{lines:?}");
    assert!(matches!(&come[..], [one] if one.starts_with("vb in  10.9.0.1:")), "{lines:?}");
}

#[test]
fn of_several_interfaces_others_are_left_out() {
    if !own_network() {
        return;
    }
    two_ends();
    let begin = |place: [&str; 2], prefix| {
        let asked = ["--host", prefix, "--protocol", "udp", "--json-stream"];
        Watch::begin(&[&place[..], &asked].concat())
    };
    let (two, one) = (begin(["-i", "lo,va"], "0.0.0.0/0"), begin(["-i", "va"], "127.0.0.0/8"));
    // Without it, an ICMP error passes as the datagram does that it quotes.
    let _hears = UdpSocket::bind("127.0.0.1:9").unwrap();
    datagrams("10.9.0.2:9", 1, 100);
    datagrams("127.0.0.1:9", 1, 100);
    let (packets, _) = two.interrupt().stream();
    let seen: Vec<_> = packets.iter().map(|each| each["interface"].as_str().unwrap()).collect();
    assert_eq!(seen, ["va", "lo"], "vb saw the first, too");
    assert!(one.interrupt().stream().0.is_empty(), "neither end is in the prefix");
}

#[test]
fn another_namespace_has_interfaces_of_its_own() {
    if !own_network() {
        return;
    }
    // The number of a thread stands for its namespace, as that of a process does.
    let here = nix::unistd::gettid().to_string();
    let elsewhere = std::thread::spawn(move || {
        assert!(own_network());
        let watch = Watch::begin(&["--netns", &here, "-i", "lo", "--port", "9", "--json-stream"]);
        datagrams("127.0.0.1:9", 1, 50);
        watch
    });
    let watch = elsewhere.join().unwrap();
    datagrams("127.0.0.1:9", 1, 100);
    let (packets, _) = watch.interrupt().stream();
    let lengths = packets.iter().filter_map(|each| each["udp"]["payload_bytes"].as_u64());
    assert_eq!(lengths.collect::<Vec<u64>>(), [100], "{packets:?}");
}

#[test]
fn it_ends_when_it_has_enough_or_its_interface_goes() {
    if !own_network() {
        return;
    }
    let enough = Watch::begin(&["-i", "lo", "--protocol", "udp", "--count", "3"]);
    let interrupted = Watch::begin(&["-i", "lo", "--protocol", "udp", "--count", "30"]);
    let in_time = Watch::begin(&["-i", "lo", "--duration", "10 ms"]);
    datagrams("127.0.0.1:9", 5, 10);
    let end = enough.wait();
    assert_eq!((end.code, end.stdout.lines().count()), (Some(0), 3), "{}", end.stderr);
    assert_eq!(interrupted.interrupt().code, Some(130));
    assert_eq!(in_time.wait().code, Some(0));

    ip("link add va type veth peer name vb");
    ip("link set va up");
    let gone = Watch::begin(&["-i", "va"]);
    ip("link delete va");
    let end = gone.wait();
    assert_eq!(end.code, Some(1));
    assert!(end.stderr.contains("error: interface va is gone"), "{}", end.stderr);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    if !own_network() {
        return;
    }
    // No packet passes: what is written next would tell it only then.
    for arguments in [&["-i", "lo"][..], &["-i", "lo", "--json-stream"], &["-i", "lo", "-w", "-"]] {
        let mut watch = Watch::begin(arguments);
        watch.close_stdout();
        let end = watch.wait();
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        let said = end.stderr;
        assert!(!said.contains("panicked") && !said.contains("error"), "{said}");
    }
}

#[test]
fn what_cannot_be_is_said_with_what_can() {
    if !own_network() {
        return;
    }
    ip("link add va type veth peer name vb");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["-i", "nowhere"], 1, "hint: there are: lo, "),
        (&["-i", "lo,nowhere"], 1, "there is no interface `nowhere`"),
        (&["-i", "lo", "--port", "80", "--protocol", "icmp"], 2, "no packet has both"),
        (&["-i", "any", "--promiscuous"], 2, "hint: for example --interface eth0"),
        (&["-i", "any,lo"], 2, "has all interfaces already"),
        (&["-i", "lo", "--netns", "all"], 2, "of one network namespace"),
        (&["-w", "-", "--rotate", "1 MB", "--files", "2"], 2, "writes files"),
    ];
    for (arguments, code, words) in cases {
        let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
            .arg("capture")
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn an_interface_that_is_down_is_waited_for_until_it_is_gone() {
    if !own_network() {
        return;
    }
    ip("link add va type veth peer name vb");
    let mut child = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["capture", "-i", "va"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "interface va is down; waiting for it"));
    ip("link del va");
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(rest.iter().any(|line| line == "error: interface va is gone"), "{rest:?}");
}

/// A TUN or TAP device that is said to be of another type (TUNSETLINK in tun(4)): a datagram comes from port 53, and one leaves to it, of
/// TUN, as TAP resolves no address. Each waits for a line.
const OTHER_TYPE: &str = "import fcntl, os, socket, struct, subprocess, sys\n\
    mode, hardware = sys.argv[1], int(sys.argv[2])\n\
    tun = os.open('/dev/net/tun', os.O_RDWR)\n\
    fcntl.ioctl(tun, 0x400454ca, struct.pack('16sH22x', b't0', 0x1001 if mode == 'tun' else 0x1002))\n\
    fcntl.ioctl(tun, 0x400454cd, hardware)\n\
    for line in ['link set t0 up', 'addr add 10.77.0.1/24 dev t0']: subprocess.check_call(['ip'] + line.split())\n\
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
    udp.bind(('10.77.0.1', 9999))\n\
    print('ready', flush=True)\n\
    sys.stdin.readline()\n\
    head = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 32, 1, 0, 64, 17, 0, bytes([10, 77, 0, 2]), bytes([10, 77, 0, 1]))\n\
    total = sum(struct.unpack('!10H', head))\n\
    total = (total >> 16) + (total & 0xffff)\n\
    head = head[:10] + struct.pack('!H', ~total & 0xffff) + head[12:]\n\
    ether = b'' if mode == 'tun' else b'\\xff' * 6 + b'\\x02\\0\\0\\0\\0\\1' + b'\\x08\\0'\n\
    for port in [53, 54]: os.write(tun, ether + head + struct.pack('!HHHH', port, 9999, 12, 0) + b'abcd')\n\
    for _ in range(2): udp.recv(99)\n\
    if mode == 'tun': udp.sendto(b'hello', ('10.77.0.2', 53)); udp.sendto(b'hello', ('10.77.0.2', 54))\n\
    print('sent', flush=True)\n\
    sys.stdin.readline()\n";

#[test]
fn the_link_header_of_gre_and_its_kind_is_skipped() {
    for (mode, hardware, wanted) in [("tun", "778", &[4, 5][..]), ("tap", "32", &[4])] {
        if !own_network() {
            return;
        }
        let mut python = Command::new("python3");
        python.args(["-c", OTHER_TYPE, mode, hardware]);
        let spawned = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut device) = spawned else { return println!("skipped: python3 is not installed") };
        let mut said = BufReader::new(device.stdout.take().unwrap()).lines();
        if said.next().is_none() {
            return println!("skipped: this kernel has no TUN of another type");
        }
        let mut go = device.stdin.take().unwrap();
        let filter = ["--port", "53", "--protocol", "udp", "--json-stream"];
        let begin = |interface| Watch::begin(&[&["-i", interface][..], &filter].concat());
        let watches = [begin("t0"), begin("any")];
        writeln!(go).unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "sent");
        for watch in watches {
            let (packets, _) = watch.interrupt().stream();
            let lengths = packets.iter().filter_map(|each| each["udp"]["payload_bytes"].as_u64());
            assert_eq!(lengths.collect::<Vec<u64>>(), wanted, "{packets:#?}");
            let whole = packets.iter().filter_map(|each| each["length_bytes"].as_u64());
            assert!(whole.eq(wanted.iter().map(|payload| payload + 28)), "{packets:#?}");
        }
        drop(go);
        assert!(device.wait().unwrap().success());
    }
}
