//! What makes a sender send again, and what its stack holds back.

use maxseg_core::evidence::{DirectionStats, Waits};

use super::*;

/// Microseconds.
const MS: u64 = 1_000;

/// The option with a block, behind two NOPs.
fn block(left: u32, right: u32) -> Vec<u8> {
    [&[1, 1, 5, 10][..], &left.to_be_bytes(), &right.to_be_bytes()].concat()
}

fn repeated(seen: Seen<'static>, id: u16) -> Seen<'static> {
    Seen { ip_id: Some(id), ..seen }
}

/// Eight segments at the sender of a path of 600 ms, the fourth lost; then these, with a block of what is behind it.
fn long_path(after: &[(u64, u32)]) -> DirectionStats {
    let mut packets = vec![syn(0), syn_ack(600 * MS)];
    let begin = 601 * MS;
    packets.extend((0..8).map(|n| data(begin + u64::from(n), n)));
    packets.extend((1..4).map(|n| ack(begin + 600 * MS + u64::from(n), n)));
    let blocks = block(1400, 1500);
    for ((at, n), id) in after.iter().zip(900..) {
        let asks = Seen { options: &blocks, ..repeated(ack(begin + at * MS, 3), id) };
        packets.push(asks);
        packets.push(repeated(data(begin + at * MS + 20, *n), id));
    }
    evidence(&packets).forward
}

/// On a modem acknowledgements are a good part of a second apart: what the next brings out was not the timer's.
#[test]
fn what_sack_blocks_ask_for_is_not_the_timers() {
    let stats = long_path(&[(1_400, 3)]);
    assert_eq!((stats.timeouts, stats.resent.rto, stats.resent.sack), (0, 0, 1));
}

/// Of a request or reply without an answer the probe sends the last segment, the timer the first.
#[test]
fn the_last_segment_alone_is_a_probe_however_late() {
    let mut packets = vec![syn(0), syn_ack(600 * MS)];
    packets.extend((0..3).map(|n| data(601 * MS + u64::from(n), n)));
    packets.push(ack(1_201 * MS, 1));
    let again = |at: u64, n| {
        let packets = [&packets[..], &[repeated(data(at, n), 900), ack(at + 600 * MS, 3)]].concat();
        evidence(&packets).forward
    };
    let late = 3_000 * MS;
    assert_eq!((again(late, 2).timeouts, again(late, 2).resent.tail_probe), (0, 1));
    assert_eq!((again(late, 1).timeouts, again(late, 1).resent.tail_probe), (1, 0));
}

/// At the receiver of a path of 40 ms: an acknowledgement is lost, and what is sent again for it comes so many milliseconds later, each time.
fn behind_silence(late: &[u64]) -> DirectionStats {
    let mut packets = vec![syn(0), syn_ack(10), Seen { ip_id: Some(99), ..segment(40 * MS) }];
    packets.extend((0..40).map(|n| data(50 * MS + u64::from(n), n)));
    packets.push(ack(51 * MS, 40));
    let mut at = 51 * MS;
    for (late, id) in late.iter().zip(900..) {
        at += late * MS;
        packets.push(repeated(data(at, 35), id));
        packets.push(repeated(ack(at + 10, 40), id));
    }
    evidence(&packets).forward
}

/// The first of them did not come: the timer doubles (RFC 6298 §5.5).
#[test]
fn a_retransmission_that_comes_late_to_the_receiver_was_not_the_first() {
    let once = behind_silence(&[300]);
    assert_eq!((once.timeouts, once.interruption()), (1, None));
    let again = behind_silence(&[3_000]);
    let outage = again.interruption().unwrap();
    assert!(outage.of_payload && outage.seconds() > 2.9, "{outage:?}");
    assert_eq!(again.timeouts, 1, "at least");
    let doubled = behind_silence(&[300, 600, 1_200, 2_400]);
    assert_eq!((doubled.timeouts, doubled.interruption()), (4, None), "none of them was lost");
}

/// A device changes the numbers of the data, and not those in SACK blocks.
#[test]
fn blocks_outside_of_all_that_was_sent_acknowledge_nothing() {
    let stats = |blocks: &[u8], has_syn: bool| {
        let duplicates = (0..4)
            .map(|n| Seen { options: blocks, ..repeated(ack(300 + u64::from(n), 1), 900 + n) });
        let mut packets = vec![syn(0), syn_ack(100)];
        packets.extend((0..8).map(|n| data(200 + u64::from(n), n)));
        packets.extend(duplicates);
        packets.push(repeated(data(400, 1), 950));
        evidence(&packets[if has_syn { 0 } else { 2 }..]).forward
    };
    let within = stats(&block(1200, 1400), true);
    assert_eq!((within.sacks_outside, within.resent.sack + within.resent.fast), (0, 1));
    for (left, right) in [(50_000_000, 50_001_448), (900, 950)] {
        let outside = stats(&block(left, right), true);
        assert_eq!((outside.sacks_outside, outside.resent.fast), (4, 1), "{left}");
        assert_eq!(
            stats(&block(left, right), false).sacks_outside,
            0,
            "what was sent is not known"
        );
    }
}

/// Requests on a path of 40 ms, each answered with four segments of the MSS and a rest: `held` after the acknowledgement of the four, which
/// comes `late` after them.
fn replies(late: u64, held: u64) -> (Waits, Waits, u32) {
    const REPLY: u32 = 440;
    const MSS: &[u8] = &[2, 4, 0, 100];
    let part = |at: u64, from: u32, len: u32| Seen {
        seq: 5000 + from,
        payload_len: len,
        ip_len: 40 + len,
        flags: Flags::ACK | Flags::PSH,
        ip_id: u16::try_from(1 + at / 7).ok(),
        ..answer(at)
    };
    let acks =
        |at: u64, n: u32, to: u32| Seen { ack: 5000 + to, seq: 1000 + 100 * n, ..segment(at) };
    let mut packets = vec![
        Seen { options: MSS, ..syn(0) },
        Seen { options: MSS, ..syn_ack(10) },
        Seen { ip_id: Some(99), ..segment(40 * MS) },
    ];
    let mut at = 41 * MS;
    for n in 0..5_u32 {
        let (before, id) = (n * REPLY, Some(2000 + u16::try_from(n).unwrap()));
        packets.push(Seen { ack: 5000 + before, ..data(at, n) });
        packets.push(Seen { ack: 1100 + 100 * n, ..part(at + 10, before, 400) });
        let acked = at + 40 * MS + late;
        packets.push(Seen { ip_id: id, ..acks(acked, n + 1, before + 400) });
        at = acked + held;
        packets.push(Seen { ack: 1100 + 100 * n, ..part(at, before + 400, 40) });
        packets.push(Seen { ip_id: Some(3000), ..acks(at + 40 * MS, n + 1, before + REPLY) });
        at += 41 * MS;
    }
    let requests = evidence(&packets).requests.unwrap();
    (requests.nagle, requests.corked, requests.held_of_client + requests.corked_of_client)
}

#[test]
fn a_cork_holds_a_rest_beyond_its_acknowledgement_and_nagle_until_then() {
    let (nagle, corked, of_client) = replies(0, 247 * MS);
    assert_eq!((nagle.count, corked.count, of_client), (0, 5, 0));
    assert!(corked.p50_s.is_some_and(|held| (held - 0.247).abs() < 0.001), "{corked:?}");
    let (nagle, corked, _) = replies(40 * MS, 100);
    assert_eq!((nagle.count, corked.count), (5, 0));
    assert!(nagle.p50_s.is_some_and(|late| (late - 0.04).abs() < 0.001), "{nagle:?}");
    for (late, held) in [(0, 100), (0, 80 * MS), (0, 3_000 * MS)] {
        let (nagle, corked, _) = replies(late, held);
        assert_eq!((nagle.count, corked.count), (0, 0), "{held} us: a program, or no wait");
    }
}
