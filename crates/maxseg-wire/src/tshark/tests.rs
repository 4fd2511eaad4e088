//! One rule each, in a few segments. That the rules are tshark's is shown in `tests/tshark.rs`.

use std::net::{Ipv4Addr, SocketAddr};

use proptest::prelude::*;

use super::*;
use crate::options::{SackBlock, SackBlocks, TcpOption, encode};

/// A client and a server: 10 ms apart, numbers from 1000 and 5000, windows not scaled.
const HANDSHAKE: &str = "
     0 a S   999    0   0 8000
    10 b SA 4999 1000   0 8000
    20 a A  1000 5000   0 8000
";

/// Plays a script and checks it: milliseconds, sender, flags, number, acknowledgement, bytes, window,
/// and after a `|` what is said.
fn play(script: &str) -> Tshark {
    let mut tshark = Tshark::new();
    for (frame, line) in (1..).zip(script.lines().filter(|line| !line.trim().is_empty())) {
        let (segment, wanted) = line.split_once('|').unwrap_or((line, ""));
        let marks = tshark.on_segment(&seen(frame, segment, &[]));
        let said: Vec<&str> = marks.flags.iter().map(Flag::name).collect();
        assert_eq!(said, wanted.split_whitespace().collect::<Vec<_>>(), "{line}");
    }
    tshark
}

fn seen<'a>(frame: u64, segment: &str, options: &'a [u8]) -> Seen<'a> {
    let mut words = segment.split_whitespace();
    let mut word = || words.next().unwrap();
    let at_nanos = 1_000_000_000 + word().parse::<u64>().unwrap() * 1_000_000;
    let (a, b) = ((Ipv4Addr::new(10, 0, 0, 1), 40_000), (Ipv4Addr::new(10, 0, 0, 2), 80));
    let (source, destination) = if word() == "a" { (a, b) } else { (b, a) };
    let flags = word().chars().map(|flag| match flag {
        'S' => Flags::SYN,
        'F' => Flags::FIN,
        'R' => Flags::RST,
        _ => Flags::ACK,
    });
    let flags = flags.fold(Flags::default(), |all, flag| all | flag);
    Seen {
        at_nanos,
        frame,
        interface: 0,
        link: 0,
        source: SocketAddr::from(source),
        destination: SocketAddr::from(destination),
        ip_id: Some(1),
        dont_fragment: true,
        ttl: 64,
        ecn: 0,
        ip_len: 40,
        seq: word().parse().unwrap(),
        ack: word().parse().unwrap(),
        payload_len: word().parse().unwrap(),
        window: word().parse().unwrap(),
        flags,
        checksum: 0,
        payload: &[],
        options_len: u8::try_from(options.len()).unwrap(),
        options,
    }
}

#[test]
fn a_gap_is_told_on_both_sides() {
    let tshark = play(&format!(
        "{HANDSHAKE}
        30 a A 1100 5000 100 8000 | lost_segment
        40 b A 5000 1000   0 8000 | duplicate_ack
        50 b A 5000 1200   0 8000 | ack_lost_segment
        60 a A 1300 5000 100 8000 | lost_segment"
    ));
    let stream = &tshark.streams()[0];
    assert_eq!(stream.initial_rtt_nanos, Some(20_000_000));
    assert_eq!(stream.directions[0].frames(Flag::LostSegment), [4, 7]);
}

#[test]
fn sent_again_for_four_reasons() {
    let begin = format!(
        "{HANDSHAKE}
        30 a A 1000 5000 100 8000
        31 a A 1100 5000 100 8000
        32 a A 1200 5000 100 8000"
    );
    let endings = [
        "40 a A 1100 5000 100 8000 | out_of_order", // sooner than the handshake's round trip
        "60 a A 1100 5000 100 8000 | retransmission",
        "40 a A 1200 5000 100 8000 | retransmission", // the highest cannot have been overtaken
        "40 b A 5000 1100   0 8000
         41 a A 1000 5000 100 8000 | retransmission spurious_retransmission",
        "40 b A 5000 1100   0 8000
         41 b A 5000 1100   0 8000 | duplicate_ack
         42 b A 5000 1100   0 8000 | duplicate_ack
         43 a A 1100 5000 100 8000 | retransmission fast_retransmission",
        "40 b A 5000 1100   0 8000
         41 b A 5000 1100   0 8000 | duplicate_ack
         42 b A 5000 1100   0 8000 | duplicate_ack
         62 a A 1100 5000 100 8000 | retransmission", // 20 ms after the last of them
    ];
    for ending in endings {
        play(&format!("{begin}\n{ending}"));
    }
}

#[test]
fn a_timeout_counts_from_the_oldest_segment() {
    let tshark = play(&format!(
        "{HANDSHAKE}
         30 a A 1000 5000 100 8000
         40 a A 1100 5000 100 8000
        130 a A 1100 5000 100 8000 | retransmission"
    ));
    let counts = &tshark.streams()[0].directions[0];
    assert_eq!(counts.rto_nanos, [100_000_000]);
    assert_eq!((counts.retransmission_bytes, counts.max_in_flight), (100, Some(200)));
}

#[test]
fn a_window_fills_closes_and_is_probed() {
    play(&format!(
        "{HANDSHAKE}
         30 a A 1000 5000 8000 8000 | window_full
         40 b A 5000 9000    0    0 | zero_window
         50 a A 9000 5000    1 8000 | zero_window_probe
         60 b A 5000 9000    0    0 | zero_window zero_window_probe_ack
         70 b A 5000 9000    0 4000 | window_update
         80 a A 9000 5000  100 8000"
    ));
}

#[test]
fn a_keep_alive_is_no_retransmission() {
    play(&format!(
        "{HANDSHAKE}
         30 a A  999 5000 1 8000 | keep_alive
         40 b A 5000 1000 0 8000 | keep_alive_ack
         50 a A 1000 5000 0 8000 | duplicate_ack
         60 b A 5000 1000 0 8000 | duplicate_ack"
    ));
}

#[test]
fn another_syn_is_another_stream() {
    let tshark = play(&format!(
        "{HANDSHAKE}
         30 a FA 1000 5000 0 8000
         60 a S   999    0 0 8000 | retransmission
         70 a S  7000    0 0 8000 | reused_ports"
    ));
    let packets: Vec<u64> =
        tshark.streams().iter().map(|stream| stream.directions[0].packets).collect();
    assert_eq!(packets, [4, 1]);
}

#[test]
fn numbers_wrap() {
    play(
        "0 a S  4294967290 0 0 8000
        10 b SA 4999 4294967291   0 8000
        20 a A  4294967291 5000 100 8000
        30 a A  95         5000 100 8000
        40 b A  5000        195   0 8000
        99 a A  95         5000 100 8000 | retransmission spurious_retransmission",
    );
}

#[test]
fn what_is_selectively_acknowledged_is_not_in_flight() {
    let mut tshark = play(&format!(
        "{HANDSHAKE}
        30 a A 1000 5000 100 8000
        31 a A 1100 5000 100 8000"
    ));
    let mut options = Vec::new();
    let blocks = [SackBlock { left: 1100, right: 1200 }];
    encode(&[TcpOption::Sack(SackBlocks::new(&blocks).unwrap())], &mut options).unwrap();
    let sack = seen(6, "40 b A 5000 1000 0 8000", &options);
    assert!(tshark.on_segment(&sack).flags.contains(Flag::DuplicateAck));
    let next = tshark.on_segment(&seen(7, "41 a A 1200 5000 100 8000", &[]));
    assert_eq!(next.bytes_in_flight, Some(200));
}

#[test]
fn a_cut_option_silences() {
    let mut tshark = play(HANDSHAKE);
    let mut cut = seen(4, "30 a A 1100 5000 100 8000", &[]);
    cut.options_len = 12;
    assert_eq!(tshark.on_segment(&cut).flags, FlagSet::default());
    let next = tshark.on_segment(&seen(5, "31 a A 1300 5000 100 8000", &[]));
    assert!(next.flags.contains(Flag::LostSegment), "it was remembered");
}

#[test]
fn no_more_is_remembered_than_tshark_does() {
    let mut tshark = play(HANDSHAKE);
    let mut last = Marks::default();
    for n in 0..10_002_u32 {
        let segment = format!("30 a A {} 5000 1 8000", 1000 + n);
        last = tshark.on_segment(&seen(4 + u64::from(n), &segment, &[]));
    }
    assert_eq!(last.bytes_in_flight, Some(10_000));
}

proptest! {
    /// Whatever comes, it is counted once.
    #[test]
    fn any_segments_are_counted(
        segments in proptest::collection::vec(
            (any::<[u32; 3]>(), any::<[u16; 2]>(), any::<u64>(), proptest::collection::vec(any::<u8>(), 0..40)),
            0..60,
        ),
    ) {
        let mut tshark = Tshark::new();
        for ([seq, ack, payload_len], [window, bits], at_nanos, options) in &segments {
            let side = if bits >> 15 == 0 { "a" } else { "b" };
            let mut any = seen(1, &format!("0 {side} A {seq} {ack} {payload_len} {window}"), options);
            (any.at_nanos, any.flags) = (*at_nanos, Flags::from_bits(*bits));
            any.options_len = any.options_len.max(at_nanos.to_le_bytes()[0] % 41);
            let marks = tshark.on_segment(&any);
            prop_assert!(marks.stream < tshark.streams().len());
        }
        let counts = || tshark.streams().iter().flat_map(|stream| &stream.directions);
        prop_assert_eq!(counts().map(|counts| counts.packets).sum::<u64>(), segments.len() as u64);
        for counts in counts() {
            prop_assert!(counts.flags().all(|(_, frames)| frames.len() as u64 <= counts.packets));
            prop_assert!(counts.named().len() > Flag::ALL.len());
        }
    }
}
