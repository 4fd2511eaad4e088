//! The observed path.

use maxseg_core::advise::{Case, Confidence, ObservedPath, Overflow, PathError};
use maxseg_core::evidence::{Beside, Direction, Evidence, LossEpisode, Requests, Waits};
use maxseg_core::units::Time;
use maxseg_testkit::{black_hole_before, full_link, packet_too_big, windowed};

#[test]
fn a_path_has_the_measured_values() {
    let evidence = windowed(0);
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    assert_eq!((path.segment.value, path.headers(), path.timestamps), (1448, 52, true));
    // 20 Mbit/s with headers: trains of 1448 bytes left at 1448/1500 of it.
    assert!((path.rate_bps.value / 20e6 - 1.0).abs() < 1e-3, "{:?}", path.rate_bps);
    assert!(path.rate_is_seen);
    assert!((path.rtt_s.value - 0.08).abs() < 1e-9);
    assert_eq!(path.window_bytes.value, 65_535);
    assert_eq!(path.loss.value.to_bits(), 0.0_f64.to_bits());
    assert_eq!((path.queue_bytes.value, path.queue_bytes.confidence), (200_000, Confidence::Low));
    assert!(path.send_buffer.is_none() && path.read_rate_bps.is_none());
}

#[test]
fn spurious_retransmissions_are_no_loss() {
    let mut evidence = windowed(0);
    evidence.forward.data_packets = 1000;
    evidence.forward.retransmitted_packets = 30;
    evidence.forward.spurious_retransmissions = 19;
    evidence.forward.resent.control = 1;
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    assert!((path.loss.value - 0.01).abs() < 1e-12);
}

#[test]
fn a_missing_value_is_named() {
    let mut evidence = windowed(0);
    evidence.forward.goodput_bps = None;
    let of = |evidence: &Evidence| ObservedPath::of(&Case::of(evidence));
    assert_eq!(of(&evidence), Err(PathError::TooLittle), "a single message has no rate");
    evidence.forward.acked_bytes = 0;
    assert_eq!(of(&evidence), Err(PathError::NoGoodput));
}

#[test]
fn the_path_mtu_of_the_reverse_direction_is_not_that_of_the_data() {
    let mut evidence = windowed(0);
    let mtu = |evidence: &Evidence| ObservedPath::of(&Case::of(evidence)).unwrap().mtu;
    let before = mtu(&evidence);
    evidence.path_mtu_events.push(packet_too_big(&evidence, Direction::Reverse));
    assert_eq!(mtu(&evidence), before);
    evidence.path_mtu_events.push(packet_too_big(&evidence, Direction::Forward));
    assert_eq!((mtu(&evidence).value, mtu(&evidence).confidence), (1400, Confidence::High));
}

/// Where a repaired loss, or one acknowledgement of many joined segments, makes an interval fast, and those around it slow, the link
/// that is full all the time is no faster than the connection.
#[test]
fn a_full_link_carries_what_the_connection_did() {
    let mut evidence = full_link(0);
    evidence.forward.capacity_bps = None;
    let begins: Vec<_> = evidence.forward.bins.as_slice().iter().map(|bin| bin.at).collect();
    for (n, at) in begins.into_iter().enumerate() {
        let times = [3, 0, 0, 1, 1, 1, 1, 1][n % 8];
        evidence.forward.bins.at(at).acked_bytes *= times;
    }
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    let rate = path.rate_bps.value / 20e6;
    assert!((0.95..1.15).contains(&rate), "{:?}", path.rate_bps);
}

/// Trains are told in intervals of an eighth; the first flight, where it agrees, exactly. Trains that are slower than it may have the pace of
/// a sender that waits for its window.
#[test]
fn near_the_receiver_the_first_flight_tells_the_rate_where_trains_agree() {
    let path = |first_flight_bps, train_mode_bps| {
        let mut evidence = windowed(0);
        evidence.forward.first_flight_bps = Some(first_flight_bps);
        evidence.forward.train_mode_bps = Some(train_mode_bps);
        ObservedPath::of(&Case::of(&evidence)).unwrap()
    };
    let is_about =
        |path: &ObservedPath, bps: f64| (path.payload_rate_bps() / bps - 1.0).abs() < 1e-3;
    let agrees = path(18.5e6, 17e6);
    assert!(agrees.rate_is_seen && is_about(&agrees, 18.5e6), "{:?}", agrees.rate_bps);
    let differs = path(17e6, 18e6);
    assert!(differs.rate_is_seen && is_about(&differs, 18e6), "{:?}", differs.rate_bps);
    let slower = path(40e6, 15e6);
    assert!(!slower.rate_is_seen && is_about(&slower, 15e6), "{:?}", slower.rate_bps);
}

/// Trains of 20 Mbit/s are told as 21: the rate of all acknowledgements is better known.
#[test]
fn a_full_link_has_the_usual_rate_of_its_acknowledgements() {
    let mut evidence = full_link(0);
    evidence.forward.capacity_bps = Some(1.05 * 19.3e6);
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    assert!((path.rate_bps.value / 20e6 - 1.0).abs() < 0.02, "{:?}", path.rate_bps);
}

/// A link that repeats what it loses lets more than a tenth of the bytes come a fifth faster: the mode is nearer to what came meanwhile.
#[test]
fn a_full_link_has_the_trains_that_are_nearest_to_what_it_carried() {
    let mut evidence = full_link(0);
    evidence.forward.capacity_bps = Some(1.18 * 19.3e6);
    evidence.forward.train_mode_bps = Some(0.97 * 19.3e6);
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    assert!((path.rate_bps.value / 20e6 - 1.0).abs() < 0.02, "{:?}", path.rate_bps);
}

/// What comes first behind a hop that dropped the first flight is what was sent after timeouts.
#[test]
fn behind_a_narrow_hop_no_initial_window_is_seen() {
    let mut evidence = windowed(0);
    let at = evidence.forward.bins.as_slice()[0].at;
    let first = evidence.forward.bins.at(at);
    (first.acked_bytes, first.sent_bytes) = (0, 14_480);
    let initial = |evidence: &Evidence| {
        let path = ObservedPath::of(&Case::of(evidence)).unwrap();
        path.initial_window.map(|window| window.value)
    };
    assert_eq!(initial(&evidence), Some(14_480));
    evidence.forward.black_hole = Some(black_hole_before());
    assert_eq!(initial(&evidence), None);
}

/// Recoveries of so many segments, each with so many bytes in flight and so many new segments since the one before.
fn losing(episodes: &[(u32, u64, u32)]) -> Evidence {
    let mut evidence = windowed(0);
    let forward = &mut evidence.forward;
    for (number, (lost, in_flight, sent_since)) in (1..).zip(episodes) {
        forward.loss_episodes.begin(LossEpisode {
            at: Time::from_millis(500 * number),
            rtt: None,
            in_flight: *in_flight,
            lost: *lost,
            sent_bytes: 0,
            sent_since: *sent_since,
        });
        forward.retransmitted_packets += u64::from(*lost);
    }
    evidence
}

/// 20 Mbit/s over 80 ms hold 193 kB of payload: of 600 kB in flight 145 kB were lost, and 262 kB of the rest waited.
#[test]
fn an_overflow_at_the_end_of_slow_start_shows_the_queue_and_leaves_the_errors_since() {
    let overflow = |episodes: &[(u32, u64, u32)]| {
        ObservedPath::of(&Case::of(&losing(episodes))).unwrap().overflow
    };
    let found = overflow(&[(100, 600_000, 1000), (1, 30_000, 500), (2, 40_000, 700)]).unwrap();
    assert!((found.queue_bytes.value as f64 / 262e3 - 1.0).abs() < 0.01, "{found:?}");
    let sent = windowed(0).forward.data_packets as f64 - 1000.0;
    let later = |found: &Overflow| found.later_loss.as_ref().map_or(0.0, |loss| loss.value);
    assert!((later(&found) * sent / 3.0 - 1.0).abs() < 0.02, "{found:?}");
    let near_receiver = losing(&[(100, 600_000, 1000), (1, 30_000, 500), (2, 40_000, 700)]);
    let path = ObservedPath::of(&Case::of(&near_receiver)).unwrap();
    assert_eq!(path.queue_bytes.value, found.queue_bytes.value, "{:?}", path.queue_bytes);
    let part = overflow(&[(60, 600_000, 1000), (40, 500_000, 100), (3, 40_000, 700)]).unwrap();
    assert_eq!(part.queue_bytes.value, found.queue_bytes.value, "a recovery in two parts");
    assert_eq!(overflow(&[(1, 600_000, 1000), (1, 30_000, 500)]), None, "an error");
    assert_eq!(overflow(&[(40, 600_000, 1000), (1, 30_000, 500)]), None, "a small part of it");
    let alone = overflow(&[(100, 600_000, 1000)]).unwrap();
    assert_eq!((alone.queue_bytes.value, alone.later_loss), (found.queue_bytes.value, None));
}

/// What another host sends to the same receiver may be on the same link.
#[test]
fn of_a_link_that_others_may_use_the_rate_is_a_lower_bound() {
    let mut evidence = full_link(0);
    let rate = |evidence: &Evidence| ObservedPath::of(&Case::of(evidence)).unwrap().rate_bps;
    assert_eq!(rate(&evidence).confidence, Confidence::High);
    let others = Beside { connections: 1, bytes: 30_000_000, path_rtt_min_s: None };
    evidence.forward.nearby = Some(others);
    let shared = rate(&evidence);
    assert_eq!(shared.confidence, Confidence::Low);
    assert!(shared.how.starts_with("at least: its share of a full link"), "{shared:?}");
}

/// A hundred requests of 300 bytes in thirty seconds: the client waited half a second before the first, and 100 ms before each other.
#[test]
fn requests_are_a_dialogue_with_their_means() {
    let waits = |count, total_s| Waits { count, total_s, ..Waits::default() };
    let mut evidence = windowed(0);
    evidence.requests = Some(Requests {
        turns: 100,
        span_s: 30.0,
        round_trips_s: 8.0,
        server: waits(100, 5.0),
        think: waits(100, 10.4),
        first_think_s: 0.5,
        ..Requests::default()
    });
    (evidence.forward.unique_bytes, evidence.reverse.unique_bytes) = (2_000_000, 30_000);
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    let dialogue = path.dialogue.unwrap();
    assert_eq!((dialogue.request_bytes.value, dialogue.reply_bytes.value), (20_000, 300));
    assert_eq!((dialogue.count, dialogue.data_is_replies), (100, false));
    assert_eq!(dialogue.think.value, Time::from_millis(50));
    assert_eq!(dialogue.pause.value, Time::from_millis(100), "the first wait is none between");
    assert!((dialogue.busy_s - 6.6).abs() < 1e-9, "what neither end waited for the other");

    evidence.requests.as_mut().unwrap().turns = 4;
    assert!(ObservedPath::of(&Case::of(&evidence)).unwrap().dialogue.is_none(), "transfers");
}
