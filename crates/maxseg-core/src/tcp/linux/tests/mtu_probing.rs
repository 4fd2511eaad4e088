//! The kernel's rules for `net.ipv4.tcp_mtu_probing`.

use super::{Host, MSS, ONE_WAY, Pair, Socket, Time, host};

/// A transfer over a hop that drops packets with more payload.
fn through_a_hole(tcp_mtu_probing: u8, passes: u64, until: Time) -> Pair {
    let host = Host { tcp_mtu_probing, ..host() };
    let mut pair = Pair::new(host, 4_000 * MSS, &[]);
    pair.passes = passes;
    pair.run(until)
}

/// Sizes of segments in the order in which they were first sent, and when.
fn sizes(pair: &Pair) -> Vec<(u64, u64)> {
    let mut sizes: Vec<(u64, u64)> = Vec::new();
    for sent in pair.sent.iter().filter(|sent| sent.packet.len > 0) {
        if !sizes.iter().any(|(size, _)| *size == sent.packet.len) {
            sizes.push((sent.packet.len, sent.at.as_nanos() / 1_000_000));
        }
    }
    sizes
}

fn mss_of(socket: &Socket) -> u64 {
    socket.mss_cache
}

#[test]
fn without_it_nothing_passes() {
    let pair = through_a_hole(0, 1200, Time::from_secs(30));
    assert_eq!(mss_of(&pair.sender), MSS);
    assert_eq!(pair.receiver.received(), 0);
}

#[test]
fn segments_shrink_three_seconds_after_the_first_was_sent_again() {
    let pair = through_a_hole(1, 1030, Time::from_secs(30));
    let first = sizes(&pair);
    assert_eq!((first[0].0, first[1].0), (MSS, 1024), "{first:?}");
    let again = pair.times_of(1)[1];
    let smaller = first[1].1;
    // Timeouts double: the first one 3 s or more behind the first retransmission.
    assert!((again + 3000..again + 6400).contains(&smaller), "{again} {smaller}");
    assert!(pair.receiver.received() > 1024 * 1024);
}

#[test]
fn they_are_halved_until_they_pass() {
    let pair = through_a_hole(1, 300, Time::from_secs(120));
    let order: Vec<u64> = sizes(&pair).into_iter().map(|(size, _)| size).collect();
    assert_eq!(order[..4], [MSS, 1024, 512, 256], "{order:?}");
}

/// The range is halved until fewer than 8 bytes are left of it: 1076 and 1500, 1288, 1394, ...
#[test]
fn larger_ones_are_found_by_probes() {
    let passes = 1348; // an MTU of 1400 with timestamps
    let pair = through_a_hole(1, passes, Time::from_secs(30));
    let found = mss_of(&pair.sender);
    assert!((passes - 8..=passes).contains(&found), "{found}");
    let all = sizes(&pair).into_iter().map(|(size, _)| size);
    let larger: Vec<u64> = all.filter(|size| *size > 1024).collect();
    assert_eq!(larger[..3], [MSS, 1236, 1342], "{larger:?}");
}

#[test]
fn a_lost_probe_is_no_congestion() {
    let pair = through_a_hole(1, 1348, Time::from_secs(30));
    let probe = pair.sent.iter().find(|sent| sent.packet.len == 1395).unwrap();
    let answered = probe.at.saturating_add(ONE_WAY.times(2));
    let cwnd = |pair: &Pair| pair.sender.window.cwnd;
    let before = through_a_hole(1, 1348, probe.at.saturating_add(ONE_WAY));
    let after = through_a_hole(1, 1348, answered);
    assert!(cwnd(&after) > cwnd(&before), "{} {}", cwnd(&before), cwnd(&after));
    assert!(after.times_of(probe.packet.seq).len() == 2 && !after.sender.is_timed_out);
    assert_eq!(after.sender.counters.recoveries, 0);
}

#[test]
fn from_the_start_the_active_end_begins_with_the_base_size() {
    let pair = through_a_hole(2, u64::MAX, Time::from_secs(4));
    let order: Vec<u64> = sizes(&pair).into_iter().map(|(size, _)| size).collect();
    assert_eq!(order[..2], [1024, 1236], "{order:?}");
    assert!(mss_of(&pair.sender) > MSS - 8, "{}", mss_of(&pair.sender));
    assert_eq!(pair.sender.counters.retransmitted_segments, 0);
}

/// The first bursts are sized by a rate of segments of that size (`tcp_connect_init`, `tcp_ack_update_window`).
#[test]
fn from_the_start_the_first_rate_is_of_the_base_size() {
    let pair = through_a_hole(2, u64::MAX, Time::from_millis(79));
    assert_eq!(pair.sender.pacing_rate, 2 * 10 * 1024 * 1000 / 40);
}

/// A probe fills the place of two segments: behind it the window has no room, and the send buffer does not grow
/// (`tcp_should_expand_sndbuf`). What is left of the packet that it was taken from still counts all of that one (`__pskb_trim_head`).
#[test]
fn a_probe_fills_the_window_and_the_send_buffer() {
    let mut pair = through_a_hole(2, u64::MAX, Time::from_millis(79));
    let (sndbuf, queued) = (pair.sender.writer.sndbuf, pair.sender.writer.queued);
    let (at, _, ack) = *pair.flying.iter().find(|(_, to_receiver, _)| !to_receiver).unwrap();
    pair.now = at;
    pair.deliver(false, &ack);
    pair.transmit();
    let probe = pair.sent.last().unwrap().packet.len;
    assert_eq!((probe, pair.sender.in_flight()), (1236, pair.sender.window.cwnd));
    // The segment that was acknowledged was the first of a longer packet, which lasts.
    let freed = 1024;
    assert_eq!(pair.sender.writer.queued, queued - freed + pair.sender.skb_overhead + probe);
    assert_eq!(pair.sender.writer.sndbuf, sndbuf);
}

/// The same where the probe takes all of one packet and a part of the next, which keeps counting that part.
#[test]
fn what_a_probe_takes_of_the_next_packet_still_counts_there() {
    let mut pair = through_a_hole(2, u64::MAX, Time::from_millis(79));
    let sender = &mut pair.sender;
    let rest = sender.write_queue[0].split(500, 1024, sender.skb_overhead);
    sender.writer.queued += sender.skb_overhead;
    sender.write_queue.insert(1, rest);
    let before = sender.write_queue[1];
    let (at, _, ack) = *pair.flying.iter().find(|(_, to_receiver, _)| !to_receiver).unwrap();
    pair.now = at;
    pair.deliver(false, &ack);
    let rest = pair.sender.write_queue[0];
    assert_eq!((before.len() - rest.len(), before.truesize), (1236 - 500, rest.truesize));
}

#[test]
fn the_search_begins_anew_after_ten_minutes() {
    let host = Host { tcp_mtu_probing: 1, ..host() };
    let mut pair = Pair::new(host, 4_000 * MSS, &[]);
    pair.passes = 1100;
    let mut pair = pair.run(Time::from_secs(30));
    let small = mss_of(&pair.sender);
    assert!(small <= 1100, "{small}");
    pair.passes = u64::MAX;
    for minute in 1..12_u64 {
        pair.now = Time::from_secs(30 + 60 * minute);
        pair.sender.write(pair.now, 200 * MSS);
        pair.transmit();
        pair = pair.run(Time::from_secs(30 + 60 * minute).saturating_add(ONE_WAY.times(100)));
    }
    assert!(mss_of(&pair.sender) > small, "{small}");
}
