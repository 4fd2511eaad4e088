use proptest::prelude::*;

use super::*;
use crate::capture_file::Record;
use crate::flow::{Decoded, Decoder};
use crate::ip::{Ipv4, Ipv6, Ipv6Fragment, protocol};
use crate::link_type;

/// A fragment of an IPv4 packet: where it begins, what it has, whether more follow.
fn v4(protocol: u8, id: u16, offset: usize, part: &[u8], more: bool) -> Vec<u8> {
    let header = Ipv4 {
        identification: id,
        fragment_offset: u16::try_from(offset / 8).unwrap(),
        more_fragments: more,
        protocol,
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        ..Ipv4::default()
    };
    let mut out = Vec::new();
    header.encode(&[], part.len(), &mut out).unwrap();
    out.extend_from_slice(part);
    out
}

fn v6(id: u32, offset: usize, part: &[u8], more: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Ipv6 { next_header: Ipv6Fragment::NUMBER, ..Ipv6::default() };
    header.encode(8 + part.len(), &mut out).unwrap();
    let offset = u16::try_from(offset / 8).unwrap();
    Ipv6Fragment { next_header: protocol::TCP, offset, more, identification: id }.encode(&mut out);
    out.extend_from_slice(part);
    out
}

/// A TCP segment with so many bytes of payload.
fn segment(payload_len: usize) -> Vec<u8> {
    let mut segment = vec![0; 20 + payload_len];
    segment[1] = 9;
    segment[12] = 0x50;
    segment
}

/// Feeds packets a second apart: payload lengths of the segments that were seen, with the fragments that
/// they came in; and the counts.
fn run(packets: &[Vec<u8>]) -> (Vec<(u32, u32)>, FragmentCounts) {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    for (second, data) in packets.iter().enumerate() {
        let record = Record {
            number: 1,
            interface: 0,
            interfaces: 1,
            at_nanos: Some(second as u64 * 1_000_000_000),
            original_len: u32::try_from(data.len()).unwrap(),
            link_type: link_type::RAW,
            data,
        };
        let packet = decoder.decode(&record);
        if let Decoded::Tcp(segment) = packet.what {
            seen.push((segment.payload_len, packet.fragments));
        }
    }
    (seen, decoder.fragment_counts())
}

/// The parts of a segment of 3000 bytes of payload.
fn parts(of: impl Fn(usize, &[u8], bool) -> Vec<u8>) -> Vec<Vec<u8>> {
    let whole = segment(3000);
    [0..1480, 1480..2960, 2960..3020]
        .map(|range| of(range.start, &whole[range.clone()], range.end < 3020))
        .to_vec()
}

#[test]
fn a_segment_is_seen_when_its_last_fragment_came() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let four = parts(|offset, part, more| v4(protocol::TCP, 7, offset, part, more));
        let (seen, counts) = run(&order.map(|n| four[n].clone()));
        assert_eq!(seen, [(3000, 3)]);
        let want = FragmentCounts {
            ipv4_fragments: 3,
            ipv4_datagrams: 1,
            reassembled: 1,
            ..FragmentCounts::default()
        };
        assert_eq!(counts, want);
        let six = parts(|offset, part, more| v6(7, offset, part, more));
        let (seen, counts) = run(&order.map(|n| six[n].clone()));
        assert_eq!(seen, [(3000, 3)]);
        assert_eq!((counts.ipv6_fragments, counts.ipv6_datagrams, counts.reassembled), (3, 1, 1));
    }
}

#[test]
fn packets_with_other_numbers_are_other_packets() {
    let first = parts(|offset, part, more| v4(protocol::TCP, 7, offset, part, more));
    let second = parts(|offset, part, more| v4(protocol::TCP, 8, offset, part, more));
    let mixed: Vec<_> =
        first.iter().zip(&second).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let (seen, counts) = run(&mixed);
    assert_eq!(seen, [(3000, 3), (3000, 3)]);
    assert_eq!((counts.ipv4_datagrams, counts.reassembled, counts.overlapping), (2, 2, 0));
    // A number that is used again begins another packet.
    let (seen, counts) = run(&[first.clone(), first].concat());
    assert_eq!((seen.len(), counts.ipv4_datagrams), (2, 2));
}

#[test]
fn what_does_not_come_is_counted() {
    let parts = parts(|offset, part, more| v4(protocol::TCP, 7, offset, part, more));
    let (seen, counts) = run(&parts[..2]);
    assert_eq!((seen.len(), counts.incomplete, counts.reassembled), (0, 1, 0));
    // A minute later the number means another packet.
    let pause = vec![segment(0); 61];
    let late = [vec![parts[0].clone(), parts[1].clone()], pause, vec![parts[2].clone()]].concat();
    let (seen, counts) = run(&late);
    assert_eq!((seen.len(), counts.incomplete, counts.ipv4_datagrams), (0, 2, 2));
}

#[test]
fn overlaps_and_contradictions_are_counted() {
    let whole = segment(100);
    let part = |range: std::ops::Range<usize>, more| {
        v4(protocol::TCP, 7, range.start, &whole[range.start..range.end], more)
    };
    let cases = [
        ("twice the same", vec![part(0..64, true), part(0..64, true), part(64..120, false)], 1, 1),
        ("a part of both", vec![part(0..64, true), part(56..120, false)], 1, 1),
        ("two ends", vec![part(64..120, false), part(64..112, false), part(0..64, true)], 1, 1),
        ("behind the end", vec![part(8..16, false), part(64..120, true)], 1, 0),
    ];
    for (what, packets, overlapping, reassembled) in cases {
        let (_, counts) = run(&packets);
        assert_eq!((counts.overlapping, counts.reassembled), (overlapping, reassembled), "{what}");
    }
}

#[test]
fn an_atomic_fragment_is_whole() {
    let (seen, counts) = run(&[v6(1, 0, &segment(10), false)]);
    assert_eq!(seen, [(10, 1)]);
    assert_eq!((counts.ipv6_fragments, counts.ipv6_atomic_fragments), (1, 1));
    assert_eq!((counts.ipv6_datagrams, counts.incomplete), (0, 0));
}

#[test]
fn a_tunnel_in_fragments_is_followed() {
    let inner = v4(protocol::TCP, 0, 0, &segment(100), false);
    let packets = [
        v4(protocol::IPV4, 9, 64, &inner[64..], false),
        v4(protocol::IPV4, 9, 0, &inner[..64], true),
    ];
    assert_eq!(run(&packets).0, [(100, 2)]);
}

#[test]
fn of_cut_fragments_the_lengths_count() {
    let whole = segment(100);
    let last = v4(protocol::TCP, 7, 64, &whole[64..], false);
    let first = v4(protocol::TCP, 7, 0, &whole[..64], true);
    let mut fragments = Fragments::default();
    for (packet, kept) in [(&last, 20), (&first, 50)] {
        let ip = Outline::read(&packet[..kept], packet.len()).unwrap();
        if let Some((whole, count)) = fragments.add(0, 0, ip.fragment.unwrap(), &ip) {
            assert_eq!((whole.payload_len, whole.len, count), (120, 140, 2));
            assert_eq!(whole.payload, &segment(100)[..30]);
            return;
        }
    }
    panic!("never whole");
}

#[test]
fn what_is_waited_for_is_bounded() {
    let mut fragments = Fragments::default();
    let most = u64::try_from(MOST_WAITING).unwrap();
    for id in 0..2 * MOST_WAITING {
        let packet = v6(u32::try_from(id).unwrap(), 0, &[0; 3000], true);
        let ip = Outline::read(&packet, packet.len()).unwrap();
        assert!(fragments.add(0, 0, ip.fragment.unwrap(), &ip).is_none());
    }
    let counts = fragments.counts();
    assert_eq!((counts.given_up, counts.incomplete), (most, 2 * most));
    assert_eq!((fragments.waiting.len(), fragments.order.len()), (MOST_WAITING, MOST_WAITING));
    assert!(fragments.waiting.values().all(|datagram| datagram.kept.len() == MOST_KEPT));
    // A packet in too many pieces is not waited for either.
    let mut fragments = Fragments::default();
    for hole in 0..=MOST_HOLES {
        let packet = v4(protocol::TCP, 1, hole * 16, &[0; 8], true);
        let ip = Outline::read(&packet, packet.len()).unwrap();
        fragments.add(0, 0, ip.fragment.unwrap(), &ip);
    }
    assert_eq!((fragments.counts().given_up, fragments.waiting.len()), (1, 0));
}

proptest! {
    /// In whatever order and however often the parts come, the whole is seen once at least, and as it was.
    #[test]
    fn the_whole_has_the_length_of_its_parts(
        cuts in proptest::collection::btree_set(1..40_usize, 0..8),
        order in proptest::collection::vec(any::<u32>(), 9),
    ) {
        let whole = segment(300);
        let mut bounds: Vec<usize> = cuts.into_iter().map(|cut| cut * 8).collect();
        bounds.insert(0, 0);
        bounds.push(whole.len());
        let mut parts: Vec<_> = bounds
            .windows(2)
            .map(|pair| v4(protocol::TCP, 1, pair[0], &whole[pair[0]..pair[1]], pair[1] < whole.len()))
            .zip(order)
            .collect();
        prop_assume!(parts.len() > 1);
        parts.sort_by_key(|(_, place)| *place);
        let packets: Vec<_> = parts.into_iter().map(|(packet, _)| packet).collect();
        let (seen, counts) = run(&packets);
        prop_assert_eq!(seen, vec![(300, u32::try_from(packets.len()).unwrap())]);
        prop_assert_eq!((counts.overlapping, counts.incomplete), (0, 0));
    }
}
