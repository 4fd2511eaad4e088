//! Packets that come from another point than the first ones, and copies without an identification.

use super::{ack, data, evidence, syn, syn_ack};
use crate::flow::Seen;

/// The n-th hundred bytes is lost, and ten more come before it is sent again.
fn lost(n: u32, at: u64) -> Vec<Seen<'static>> {
    let mut packets: Vec<_> = (0..11).map(|k| data(at + 10 * u64::from(k), n + k)).collect();
    packets.extend((0..10).map(|k| ack(at + 1200 * (k + 1), n)));
    packets.extend([data(at + 20_000, n), ack(at + 21_000, n + 11)]);
    packets
}

/// A proxy answers the SYN in the server's name; then the server itself, from further away (IPv6).
#[test]
fn where_all_comes_from_another_point_nothing_is_a_copy() {
    let mut packets = vec![syn(0), Seen { ttl: 255, ..syn_ack(100) }, data(200, 0), ack(300, 1)];
    packets.extend(lost(1, 1000));
    for seen in &mut packets {
        seen.ip_id = None;
        seen.checksum = u16::try_from(seen.ack % 60_000).unwrap();
    }
    let seen = evidence(&packets);
    assert_eq!((seen.reverse.capture_duplicates, seen.reverse.duplicate_acks), (0, 10));
    assert!(!seen.capture.is_merged);
    assert_eq!(seen.forward.retransmitted_packets, 1);
}

/// The route changes, or the next file of a ring buffer begins, whose interface has another number; identifications go on, past half of
/// them all.
#[test]
fn behind_a_change_of_the_point_identifications_tell_copies_as_before() {
    let mut packets = vec![syn(0), syn_ack(100)];
    for n in 0..40 {
        let at = 1000 + 100 * u64::from(n);
        packets.extend([data(at, n), ack(at + 50, n + 1)]);
    }
    let change = packets.len();
    for n in 40..100 {
        let at = 1000 + 100 * u64::from(n);
        packets.extend([data(at, n), ack(at + 50, n + 1)]);
    }
    let later = packets.len();
    packets.extend(lost(100, 20_000));
    for (n, seen) in packets.iter_mut().enumerate().skip(change) {
        let counted = u16::try_from(n).unwrap() + if n < later { 1000 } else { 40_000 };
        (seen.interface, seen.ip_id) = (1, Some(counted));
    }
    let seen = evidence(&packets);
    let copies = seen.forward.capture_duplicates + seen.reverse.capture_duplicates;
    assert_eq!((copies, seen.reverse.duplicate_acks), (0, 10));
    assert_eq!(seen.forward.retransmitted_packets, 1);
    assert!(!seen.capture.is_merged && !seen.capture.is_split);
}

/// Two hosts in one rack, without identifications: a retransmission comes within the time of a copy.
#[test]
fn what_was_asked_for_is_no_copy() {
    let resent = |answers: &[Seen<'static>]| {
        let mut packets = vec![syn(0), syn_ack(40), data(100, 0), ack(140, 1)];
        packets.extend((1..6).map(|n| data(200 + 2 * u64::from(n), n)));
        packets.extend_from_slice(answers);
        packets.extend([data(320, 1), ack(360, 6)]);
        for seen in &mut packets {
            seen.ip_id = None;
        }
        let stats = evidence(&packets).forward;
        (stats.retransmitted_packets, stats.capture_duplicates)
    };
    let answers = [ack(280, 1), ack(282, 1), ack(284, 1), ack(286, 1)];
    assert_eq!(resent(&answers), (1, 0));
    assert_eq!(resent(&[]), (0, 1));
}
