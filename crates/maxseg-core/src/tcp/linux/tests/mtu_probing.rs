//! The kernel's rules for `net.ipv4.tcp_mtu_probing`.

use super::{Host, MSS, ONE_WAY, Pair, Socket, Time, host};
use crate::mss::black_hole::MtuSearch;
use crate::units::Mtu;

/// A transfer over a hop that drops packets with more payload.
fn through_a_hole(tcp_mtu_probing: u8, passes: u64, until: Time) -> Pair {
    searching(Host { tcp_mtu_probing, ..host() }, passes, until)
}

fn searching(host: Host, passes: u64, until: Time) -> Pair {
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

/// `tcp_mtup_init`, `net/ipv4/tcp_output.c`.
#[test]
fn the_search_begins_with_the_base_size_of_the_host() {
    let mtu_search = MtuSearch { tcp_base_mss: 512, ..MtuSearch::default() };
    let from_the_start = Host { tcp_mtu_probing: 2, mtu_search, ..host() };
    let all = sizes(&searching(from_the_start, u64::MAX, Time::from_secs(4)));
    assert_eq!((all[0].0, all[1].0), (512, 980), "{all:?}");
    let in_a_hole = Host { tcp_mtu_probing: 1, mtu_search, ..host() };
    let all = sizes(&searching(in_a_hole, 600, Time::from_secs(30)));
    assert_eq!((all[0].0, all[1].0), (MSS, 512), "{all:?}");
}

/// From the start the first suspicion halves already (`tcp_mtu_probing`, `net/ipv4/tcp_timer.c`), down to the host's floor.
#[test]
fn what_is_lost_is_halved_down_to_the_floor_of_the_host() {
    let mtu_search = MtuSearch { tcp_mtu_probe_floor: 300, ..MtuSearch::default() };
    let host = Host { tcp_mtu_probing: 2, mtu_search, ..host() };
    let all = sizes(&searching(host, 200, Time::from_secs(120)));
    let order: Vec<u64> = all.into_iter().map(|(size, _)| size).collect();
    assert_eq!(order, [1024, 512, 300], "{order:?}");
}

/// `tcp_probe_threshold` ends the search (`tcp_mtu_probe`), and after `tcp_probe_interval` it begins anew (`tcp_mtu_check_reprobe`).
#[test]
fn the_threshold_ends_the_search_and_the_interval_begins_it_anew() {
    let searching_by = |mtu_search| {
        let host = Host { tcp_mtu_probing: 2, mtu_search, ..host() };
        let mut pair = Pair::new(host, 20_000 * MSS, &[]);
        pair.passes = 1348;
        pair.run(Time::from_secs(8))
    };
    let rough = searching_by(MtuSearch { tcp_probe_threshold: 100, ..MtuSearch::default() });
    assert_eq!(mss_of(&rough.sender), 1342, "52 bytes are left of the range");
    let probes = |pair: &Pair, size| pair.sent.iter().filter(|it| it.packet.len == size).count();
    let once = searching_by(MtuSearch::default());
    let again = searching_by(MtuSearch { tcp_probe_interval: 0, ..MtuSearch::default() });
    // The whole range up to the peer's option is searched again from 1347 on: its middle is 1397.
    assert_eq!((probes(&once, 1397), probes(&again, 1397) > 0), (0, true));
}

/// Another MTU of the route leaves the search its range: what was found counts (`tcp_sync_mss`).
#[test]
fn a_route_of_another_mtu_bounds_what_was_found() {
    let mut pair = through_a_hole(2, u64::MAX, Time::from_secs(4));
    assert_eq!(mss_of(&pair.sender), 1441);
    pair.sender.on_route_mtu(Mtu::new(1300).unwrap());
    assert_eq!(mss_of(&pair.sender), 1248);
    pair.sender.on_route_mtu(Mtu::ETHERNET);
    assert_eq!(mss_of(&pair.sender), 1441);
}
