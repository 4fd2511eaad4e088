//! Packets that come from another point than the first ones, and copies without an identification.

use std::iter;

use maxseg_core::evidence::{Ending, Evidence};

use super::{ack, data, evidence, routed, syn, syn_ack};
use crate::flow::Seen;
use crate::tcp::Flags;

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
    assert_eq!(seen.capture.interface, None, "its packets are of two");
    assert_eq!(seen.forward.retransmitted_packets, 1);
    assert!(!seen.capture.is_merged && !seen.capture.is_split);
}

/// Both directions at interface 3, and again at another behind it: a display filter names the one whose packets count.
#[test]
fn the_interface_is_that_of_the_packets_that_count() {
    let mut packets = Vec::new();
    for n in 0..20 {
        let at = 1000 + 100 * u64::from(n);
        for seen in [data(at, n), ack(at + 50, n + 1)] {
            packets.push(Seen { interface: 3, ..seen });
            packets.push(Seen { interface: 4, ..routed(seen, 2) });
        }
    }
    let seen = evidence(&packets);
    assert_eq!(seen.forward.capture_duplicates, 20);
    let wanted = maxseg_core::evidence::FileInterface { section: None, number: 3 };
    assert_eq!(seen.capture.interface, Some(wanted));
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

/// Each packet is captured again so many microseconds later, as by a mirror of both ports.
fn mirrored(packets: &[Seen<'static>], later: u64) -> Evidence {
    let again = packets.iter().map(|seen| Seen { at_nanos: seen.at_nanos + later * 1000, ..*seen });
    let mut both: Vec<_> = packets.iter().copied().chain(again).collect();
    both.sort_by_key(|seen| seen.at_nanos);
    evidence(&both)
}

/// Flights of 40 segments, each at once.
fn flights() -> Vec<Seen<'static>> {
    let at = |n: u32| u64::from(20_000 * (1 + n / 40) + n % 40);
    let mut packets: Vec<_> = (0..400).map(|n| data(at(n), n)).collect();
    packets.extend((0..400).map(|n| ack(at(n) + 10_000, n + 1)));
    packets.sort_by_key(|seen| seen.at_nanos);
    packets
}

#[test]
fn copies_behind_a_long_burst_are_copies() {
    let flights = flights();
    for later in [10, 100, 900] {
        let whole = [&[syn(0), syn_ack(10_000)], &flights[..]].concat();
        let seen = mirrored(&whole, later);
        let (there, back) = (&seen.forward, &seen.reverse);
        assert_eq!((there.retransmitted_packets, there.capture_duplicates), (0, 401), "{later}");
        assert_eq!((back.duplicate_acks, back.capture_duplicates), (0, 401), "{later}");
        assert!(!seen.capture.is_merged, "{later}");
        // Without the handshake nothing tells of copies before the first of them.
        let seen = mirrored(&flights, later);
        let resent = seen.forward.retransmitted_packets;
        assert!(resent <= 40 && !seen.capture.is_merged, "{later}: {resent}");
    }
}

#[test]
fn among_copies_what_is_sent_again_is_none() {
    let mut packets = vec![syn(0), syn_ack(10_000)];
    packets.extend((0..20).map(|n| data(20_000 + u64::from(n), n)));
    packets.extend((1..20).map(|n| Seen { ip_id: Some(600 + n), ..ack(30_000 + u64::from(n), 0) }));
    packets.extend([Seen { ip_id: Some(900), ..data(40_000, 0) }, ack(50_000, 20)]);
    let resent = |packets: &[Seen<'static>]| {
        let stats = mirrored(packets, 100).forward;
        (stats.retransmitted_packets, stats.capture_duplicates)
    };
    assert_eq!(resent(&packets), (1, 22));
    // An old stack: the same identification in each packet, which tells nothing.
    for seen in &mut packets {
        seen.ip_id = Some(7);
    }
    let stats = evidence(&[&[syn(0), syn(100)], &packets[1..]].concat()).forward;
    assert_eq!((stats.retransmitted_packets, stats.capture_duplicates), (1, 1));
}

/// Linux answers a SYN with identification 0; IPv6 has none.
#[test]
fn a_handshake_that_a_mirror_repeats_was_sent_once() {
    let packets = |later: u64, change: fn(&mut Seen<'static>)| {
        let [asked, answered] = [syn(0), syn_ack(300)].map(|seen| Seen { ip_id: Some(0), ..seen });
        let mut packets = vec![asked, answered, data(600, 0), ack(900, 1)];
        packets.extend([asked, answered].map(|seen| {
            let mut again = Seen { at_nanos: seen.at_nanos + later * 1000, ..seen };
            change(&mut again);
            again
        }));
        packets.extend([data(2_000_000, 1), ack(2_000_300, 2)]);
        packets.sort_by_key(|seen| seen.at_nanos);
        packets
    };
    let sent = |packets: &[Seen<'static>]| {
        let seen = evidence(packets);
        (seen.handshake.syn_packets, seen.handshake.syn_ack_packets)
    };
    for later in [600, 5_000, 150_000] {
        assert_eq!(sent(&packets(later, |_| {})), (1, 1), "{later}");
    }
    let mut without = packets(5_000, |_| {});
    for seen in &mut without {
        seen.ip_id = None;
    }
    assert_eq!(sent(&without), (1, 1));
    assert_eq!(sent(&packets(1_000_000, |_| {})), (2, 2), "sent again");
    assert_eq!(sent(&packets(5_000, |seen| seen.checksum = 1)), (2, 2), "other options");
    // The kind and length of timestamps, and a value other than none.
    let stamped = |seen: &mut Seen<'static>| seen.options = &[8, 10, 0, 0, 0, 19, 0, 0, 0, 0];
    assert_eq!(
        sent(&packets(19_000, stamped)),
        (2, 2),
        "sent again where checksums are left to the card"
    );
}

/// A packet overtook new segments and segments that were sent again: the identifications of all of them are from before its own, and none
/// is a copy.
#[test]
fn retransmissions_that_were_overtaken_are_no_copies_of_another_place() {
    let mut packets = vec![syn(0), syn_ack(100)];
    packets.extend((0..40).map(|n| data(20_000 + 100 * u64::from(n), n)));
    packets.push(data(60_000, 160));
    packets.extend((0..120).flat_map(|n| {
        let at = 60_100 + 100 * u64::from(n);
        let resent = [2 * n, 2 * n + 1].map(|n| Seen { ip_id: Some(150), ..data(at + 50, n) });
        iter::once(data(at, 40 + n)).chain(resent.into_iter().filter(move |_| n < 20))
    }));
    packets.push(ack(90_000, 161));
    let evidence = evidence(&packets);
    let there = &evidence.forward;
    assert!(!evidence.capture.is_merged);
    assert_eq!((there.capture_duplicates, there.unseen_bytes), (0, 0));
    assert_eq!((there.retransmitted_packets, there.unique_bytes), (40, 16_100));
}

/// Whoever forges a RST takes any identification, one from before the newest as well: nobody saw it before.
#[test]
fn a_reset_from_elsewhere_is_no_copy_but_of_one_that_was_seen() {
    let ended = |id: u16, also: &[Seen<'static>]| {
        let mut packets = vec![syn(0), syn_ack(100), data(200, 30), ack(300, 31), data(400, 31)];
        packets.extend_from_slice(also);
        let forged =
            Seen { flags: Flags::RST, seq: 4200, ttl: 127, ip_id: Some(id), ..data(500, 0) };
        packets.push(Seen { payload_len: 0, ip_len: 40, ..forged });
        let seen = evidence(&packets);
        (seen.ending, seen.reset_is_other_path, seen.forward.capture_duplicates)
    };
    for id in [0, 5, 120, 40_000] {
        assert_eq!(ended(id, &[]), (Ending::ResetByClient, true, 0), "{id}");
    }
    let own = Seen { flags: Flags::RST, seq: 4200, ip_id: Some(200), ..data(450, 0) };
    let own = Seen { payload_len: 0, ip_len: 40, ..own };
    assert_eq!(ended(200, &[own]), (Ending::ResetByClient, false, 1), "it was seen");
}

/// The router that captures lowers the option of what it sends on.
#[test]
fn a_syn_that_is_sent_on_may_have_a_lower_mss() {
    const SENT: &[u8] = &[2, 4, 5, 180];
    const LOWERED: &[u8] = &[2, 4, 1, 44];
    let with = |mss: &'static [u8], seen: Seen<'static>| Seen { options: mss, ..seen };
    for (left, lowered) in [(LOWERED, Some(300)), (SENT, None)] {
        let asked = [with(SENT, syn(0)), with(left, routed(syn(0), 2))];
        let answered = [with(SENT, syn_ack(100)), routed(with(SENT, syn_ack(100)), 2)];
        let seen = evidence(&[&asked[..], &answered, &[data(200, 0), ack(300, 1)]].concat());
        let of = |it: &maxseg_core::evidence::DirectionStats| {
            (it.mss_option_bytes, it.mss_option_elsewhere)
        };
        assert_eq!(of(&seen.forward), (Some(1460), lowered));
        assert_eq!(of(&seen.reverse), (Some(1460), None));
    }
}
