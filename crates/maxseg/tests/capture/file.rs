//! What `-w` writes: whole at every moment, equal to what was shown, and honest about what is missing.

use std::borrow::Cow;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;

use maxseg_wire::pcapng::{
    Block, Direction, Interface, Packet, Reader, Section, Statistics, Writer, link_type,
};
use nix::sys::signal::Signal;

use super::watch::{Growth, Watch, datagrams, exchange, own_network};

/// What is in a file, which must be whole.
fn read(path: &Path) -> (Vec<Packet<'static>>, Vec<Statistics>) {
    read_blocks(std::fs::read(path).unwrap().leak())
}

/// The whole blocks of a file, and what it has of a last one that is cut.
fn split_at_cut(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut whole = 0;
    while let Some((head, _)) = bytes[whole..].split_first_chunk::<8>() {
        // A block's type and its length (draft-ietf-opsawg-pcapng, section 3.1), in this machine's byte order.
        let length = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if whole + length > bytes.len() {
            break;
        }
        whole += length;
    }
    bytes.split_at(whole)
}

/// How many packets a file that grows has by now.
fn count_by_now(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap().leak();
    read_blocks(split_at_cut(bytes).0).0.len()
}

fn read_blocks(bytes: &'static [u8]) -> (Vec<Packet<'static>>, Vec<Statistics>) {
    let (mut packets, mut statistics) = (Vec::new(), Vec::new());
    for block in Reader::new(bytes) {
        match block.unwrap() {
            Block::Packet(packet) => packets.push(packet),
            Block::Statistics(counts) => statistics.push(counts),
            Block::Interface(interface) => assert_eq!(interface.link_type, link_type::ETHERNET),
            Block::Section(_) => {}
            other @ (Block::SimplePacket(_) | Block::Other(_)) => panic!("{other:?}"),
        }
    }
    (packets, statistics)
}

/// How many packets a peer finds in a file; `None` where it is not installed. It fails where the file is cut.
fn counted_by(program: &str, arguments: &[&str], path: &Path, is_whole: bool) -> Option<usize> {
    let Ok(output) = Command::new(program).args(arguments).arg(path).output() else {
        println!("skipped: {program} is not installed");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), is_whole, "{program}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(match program {
        "capinfos" => text.split_whitespace().last().unwrap().parse().unwrap(),
        _ => text.lines().count(),
    })
}

/// The arguments with which a peer counts.
const PEERS: [(&str, &[&str]); 2] =
    [("capinfos", &["-M", "-c", "-r", "-T"]), ("tshark", &["-n", "-r"])];

#[test]
fn peers_read_the_packets_that_were_shown() {
    if !own_network() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let file = path.to_str().unwrap();
    let watch = Watch::begin(&["-i", "lo", "-w", file, "--print", "--snaplen", "80"]);
    exchange("127.0.0.1:8080", &[7; 1000]);
    let end = watch.interrupt();
    let (packets, statistics) = read(&path);
    assert!(packets.len() >= 6, "handshake, data, acknowledgement, end: {}", packets.len());
    assert_eq!(end.stdout.lines().count(), packets.len());
    assert!(packets.iter().all(|packet| packet.direction == Some(Direction::Inbound)));
    let large = packets.iter().find(|packet| packet.original_len > 1000).unwrap();
    assert_eq!(large.data.len(), 80);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let age = now.as_secs_f64() - packets[0].at_nanos as f64 / 1e9;
    assert!((0.0..600.0).contains(&age), "times are the wall clock's: {age} s ago");
    assert!(packets.is_sorted_by_key(|packet| packet.at_nanos));
    let count = Some(packets.len() as u64);
    let [Statistics { received, dropped, .. }] = statistics[..] else { panic!("{statistics:?}") };
    assert_eq!((received, dropped), (count, Some(0)));
    for (program, arguments) in PEERS {
        if let Some(found) = counted_by(program, arguments, &path, true) {
            assert_eq!(found, packets.len(), "{program}");
        }
    }
}

#[test]
fn a_file_reads_like_what_was_shown() {
    if !own_network() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let file = path.to_str().unwrap();
    let watch = Watch::begin(&["-i", "lo", "-w", file, "--print", "-v"]);
    exchange("127.0.0.1:8080", b"hello");
    datagrams("127.0.0.1:9", 1, 10);
    let live = watch.interrupt().stdout;
    let read = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
        let output = command.args(["capture", "--read", file]).args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(read(&["-v"]), live.replace(" in  ", " "));
    let udp = read(&["--protocol", "udp"]);
    assert!(udp.lines().any(|line| line.ends_with(" UDP len 10")), "{udp}");
    assert!(udp.lines().all(|line| line.contains("UDP")), "the error quotes a datagram: {udp}");
}

#[test]
fn a_ring_of_files_holds_the_newest_packets() {
    const SIZE: u64 = 64 << 10;
    if !own_network() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let files = [1, 2, 3].map(|n| folder.path().join(format!("a_{n}.pcapng")));
    let begin = || {
        let ring = ["--rotate", "64 KiB", "--files", "3", "--protocol", "udp"];
        Watch::begin(&[&["-i", "lo", "-w", path.to_str().unwrap()], &ring[..]].concat())
    };
    // Without it, ICMP errors pass as the datagrams do that they quote.
    let _hears = UdpSocket::bind("127.0.0.1:9").unwrap();
    let counts = || files.each_ref().map(|file| read(file).0.len());

    let watch = begin();
    datagrams("127.0.0.1:9", 30, 1400);
    let end = watch.interrupt();
    assert_eq!(counts(), [30, 0, 0], "a file that is not reached is whole");
    assert!(end.stderr.contains("a_1.pcapng is the last of 1 file\n"), "{}", end.stderr);
    assert!(!path.exists());

    let watch = begin();
    datagrams("127.0.0.1:9", 200, 1400);
    let end = watch.interrupt();
    let emptied = "1 file of the ring had packets of an earlier capture";
    assert!(end.stderr.contains(emptied), "{}", end.stderr);
    assert!(end.stderr.contains("a_2.pcapng is the last of 3 files; 2 before were overwritten\n"));
    assert!(files.iter().all(|file| std::fs::metadata(file).unwrap().len() <= SIZE));
    let [fourth, fifth, third] = counts();
    assert_eq!((fourth, 4 * fourth + fifth), (third, 200), "nothing is lost between two files");
    let times = [2, 0, 1].map(|n| read(&files[n]).0).concat();
    assert!(times.is_sorted_by_key(|packet| packet.at_nanos));
    for (program, arguments) in PEERS {
        if let Some(found) = counted_by(program, arguments, &files[0], true) {
            assert_eq!(found, fourth, "{program}");
        }
    }
}

#[test]
fn a_capture_that_is_killed_leaves_whole_blocks_and_at_most_the_last_one_cut() {
    if !own_network() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let watch = Watch::begin(&["-i", "lo", "-w", path.to_str().unwrap(), "--port", "9"]);
    assert!(read(&path).0.is_empty(), "it can be read before its first packet");
    let growth = Growth::of(&path);
    let mut seen = 0;
    for _ in 0..3 {
        datagrams("127.0.0.1:9", 500, 700);
        growth.wait_until(|| count_by_now(&path) > seen);
        seen = count_by_now(&path);
    }
    watch.signal(Signal::SIGKILL);
    assert_eq!(watch.wait().code, None);
    let bytes = std::fs::read(&path).unwrap().leak();
    let (whole, cut) = split_at_cut(bytes);
    let (packets, _) = read_blocks(whole);
    assert!(packets.len() >= seen);
    // A datagram of 700 bytes with its headers, padded, in an enhanced packet block.
    assert!(cut.len() < 800, "{} bytes of more than one block", cut.len());
    assert_read_up_to_the_cut(&path, packets.len(), cut.is_empty());
}

#[test]
fn what_is_before_a_cut_block_is_read_and_the_cut_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let mut writer = Writer::new(Vec::new(), &Section::default()).unwrap();
    let packet = Packet { original_len: 60, data: Cow::Borrowed(&[2; 60]), ..Packet::default() };
    let ethernet = Interface { link_type: link_type::ETHERNET, ..Interface::default() };
    writer.interface(&ethernet).unwrap();
    for _ in 0..3 {
        writer.packet(&packet).unwrap();
    }
    let mut bytes = writer.finish().unwrap();
    bytes.truncate(bytes.len() - 9);
    std::fs::write(&path, bytes).unwrap();
    assert_read_up_to_the_cut(&path, 2, false);
}

/// That this program and its peers read so many packets, and the peers fail only where the file is cut.
fn assert_read_up_to_the_cut(path: &Path, packets: usize, is_whole: bool) {
    let ours = env!("CARGO_BIN_EXE_maxseg");
    assert_eq!(counted_by(ours, &["capture", "--read"], path, true), Some(packets));
    let explained = Command::new(ours).args(["explain"]).arg(path).output().unwrap();
    let said = String::from_utf8(explained.stdout).unwrap();
    assert_eq!(said.contains("the file ends within a record"), !is_whole, "{said}");
    for (program, arguments) in PEERS {
        if let Some(found) = counted_by(program, arguments, path, is_whole) {
            assert_eq!(found, packets, "{program}");
        }
    }
}

/// How many datagrams are sent to somebody who stands still.
const SENT: u64 = 3000;

#[test]
fn what_there_was_no_room_for_is_counted() {
    if !own_network() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let file = path.to_str().unwrap();
    // Room for some 450 of them.
    let arguments =
        ["-i", "lo", "-w", file, "--host", "127.0.0.1", "--protocol", "udp", "--port", "9"];
    let watch = Watch::begin(&[&arguments[..], &["--buffer", "512 KiB", "--json-stream"]].concat());
    // Somebody listens there, so that no errors quote what they hear.
    let socket = UdpSocket::bind("127.0.0.1:9").unwrap();
    watch.stop();
    datagrams("127.0.0.1:9", usize::try_from(SENT).unwrap(), 1000);
    watch.signal(Signal::SIGCONT);
    let end = watch.interrupt();
    drop(socket);
    let (packets, summary) = end.stream();
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!(count("received_packets"), SENT);
    assert!(count("dropped_packets") > 0 && !packets.is_empty());
    assert_eq!(packets.len() as u64 + count("dropped_packets"), SENT);
    let on_one_line = end.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(on_one_line.contains("dropped by the kernel: a larger --buffer"), "{on_one_line}");
    let (written, statistics) = read(&path);
    assert_eq!(written.len(), packets.len());
    assert_eq!(statistics[0].dropped, Some(count("dropped_packets")));
}

/// What a file holds before a capture is appended to it.
const OLD: &[u8] = b"what was here before";

#[test]
fn what_was_in_a_file_before_is_kept_when_the_disk_is_full() {
    if !own_network() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    for redirection in [">>", "1<>"] {
        std::fs::write(&path, OLD).unwrap();
        // A file may have 8 blocks of 512 or 1024 bytes, by the shell, as if the disk were full then.
        let script = format!(
            "trap '' XFSZ; ulimit -f 8; exec \"$0\" capture -i lo --port 9 -w - {redirection} \"$1\""
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_maxseg")]).arg(&path);
        let watch = Watch::of(command);
        datagrams("127.0.0.1:9", 100, 700);
        let end = watch.wait();
        assert_eq!(end.code, Some(1), "{}", end.stderr);
        assert!(end.stderr.contains("error: cannot write -: "), "{}", end.stderr);
        let there = std::fs::read(&path).unwrap();
        let ours = if redirection == ">>" {
            assert_eq!(&there[..OLD.len()], OLD);
            &there[OLD.len()..]
        } else {
            &there
        };
        assert!(!ours.is_empty(), "what fitted stays");
        for block in Reader::new(ours) {
            block.unwrap();
        }
    }
}
