//! One cause at a time, and the other side of each border.

use super::*;
use crate::evidence::{LoadedRoundTrips, LossEpisodes};
use crate::units::Time;

const LEAST_S: f64 = 0.04;
/// What the path holds: 20 Mbit/s for 40 ms.
const HOLDS: u64 = 100_000;

/// Losses as (round trip in ms, bytes in flight, new segments since the last); round trips under load are 40 to 60 ms.
fn lossy(episodes: &[(u64, u64, u32)]) -> DirectionStats {
    let mut loaded_round_trips = LoadedRoundTrips::default();
    for n in 0..1000 {
        loaded_round_trips.add(Time::from_nanos(40_000_000 + 20_000 * n));
    }
    let mut loss_episodes = LossEpisodes::default();
    for (n, (millis, in_flight, sent_since)) in (0..).zip(episodes) {
        loss_episodes.begin(LossEpisode {
            at: Time::from_millis(1000 * n),
            rtt: Some(Time::from_millis(*millis)),
            in_flight: *in_flight,
            lost: 1,
            sent_since: *sent_since,
        });
    }
    DirectionStats {
        retransmitted_packets: episodes.len() as u64,
        data_packets: 10_000,
        sack_permitted: true,
        in_flight_max_bytes: HOLDS,
        mss_used_bytes: Some(1000),
        path_rtt_min_s: Some(LEAST_S),
        capacity_bps: Some(HOLDS as f64 * 8.0 / LEAST_S),
        goodput_bps: Some(9e6),
        loaded_round_trips,
        loss_episodes,
        ..DirectionStats::default()
    }
}

#[track_caller]
fn assert_cause(data: &DirectionStats, sees_round_trips: bool, wanted: LossCause) {
    let loss = Loss::of(data, sees_round_trips);
    assert_eq!(loss.cause, wanted, "{}", loss.evidence);
    assert_eq!(loss.confidence > 0.0, wanted != LossCause::Unknown);
}

#[test]
fn a_full_queue_delays_what_leaves_before_the_loss() {
    let full = [(58, 140_000, 900), (57, 150_000, 700), (58, 145_000, 1100)];
    assert_cause(&lossy(&full), true, LossCause::Queue);
    // Without round trips, what is in flight decides; where that is too little, nothing does.
    assert_cause(&lossy(&full), false, LossCause::Queue);
    let little = full.map(|(rtt, in_flight, since)| (rtt, in_flight / 4, since));
    assert_cause(&lossy(&little), false, LossCause::Unknown);
}

#[test]
fn a_queue_too_short_for_delay_shows_in_the_flights() {
    let short = [(41, 50_000, 60), (41, 97_000, 3300), (41, 99_000, 2600)];
    assert_cause(&lossy(&short), true, LossCause::Queue);
    // Near the sender it would have shown.
    let near = DirectionStats { rtt_min_s: Some(LEAST_S), ..lossy(&short) };
    assert_cause(&near, true, LossCause::Unknown);
}

#[test]
fn errors_strike_at_any_flight() {
    let errors =
        [(41, 26_000, 60), (40, 14_000, 200), (41, 33_000, 40), (40, 9_000, 90), (41, 20_000, 35)];
    assert_cause(&lossy(&errors), true, LossCause::Errors);
    assert_cause(&lossy(&errors), false, LossCause::Errors);
    assert_cause(&lossy(&errors[..3]), true, LossCause::Unknown);
}

#[test]
fn a_policer_drops_at_one_rate_without_delay() {
    let policer = [
        (41, 80_000, 90),
        (41, 50_000, 420),
        (40, 52_000, 440),
        (41, 51_000, 400),
        (41, 53_000, 450),
    ];
    assert_cause(&lossy(&policer), true, LossCause::Policer);
    // Few that are less regular may be errors that struck a sender at a constant rate.
    let constant = policer.into_iter().zip([90, 300, 440, 500, 250]);
    let constant: Vec<_> = constant.map(|((rtt, flight, _), since)| (rtt, flight, since)).collect();
    assert_cause(&lossy(&constant), true, LossCause::Unknown);
    // As regular, but far above the goodput: what limits the sender is something else.
    let mut slower = lossy(&policer);
    slower.goodput_bps = Some(3e6);
    assert_cause(&slower, true, LossCause::Unknown);
}

#[test]
fn what_had_arrived_was_not_lost() {
    let mut needless = lossy(&[(41, 50_000, 100), (41, 50_000, 100)]);
    needless.spurious_retransmissions = 2;
    needless.resent.rto = 2;
    assert_cause(&needless, true, LossCause::Needless);
    needless.out_of_order_packets = 30;
    assert_cause(&needless, true, LossCause::Reordering);
    needless.spurious_retransmissions = 1;
    assert_cause(&needless, true, LossCause::Unknown);
    assert_cause(&DirectionStats::default(), true, LossCause::None);
}

#[test]
fn a_delayed_acknowledgement_is_no_queue() {
    // Paced at 0.8 Mbit/s, segments are 10 ms apart, and the acknowledgement of one waits for the next.
    let waits = [
        (56, 20_000, 50),
        (57, 20_000, 90),
        (56, 20_000, 200),
        (57, 20_000, 30),
        (56, 20_000, 350),
    ];
    let paced = DirectionStats { goodput_bps: Some(0.8e6), ..lossy(&waits) };
    assert_cause(&paced, true, LossCause::Errors);
    // At 9 Mbit/s they are less than a millisecond apart: it is a queue that delays so much.
    assert_cause(&lossy(&waits), true, LossCause::Queue);
}

#[test]
fn errors_need_a_flight_that_the_path_holds() {
    let random = [
        (41, 30_000, 50),
        (41, 30_000, 90),
        (41, 35_000, 200),
        (41, 20_000, 30),
        (41, 90_000, 350),
    ];
    assert_cause(&lossy(&random), true, LossCause::Errors);
    // More in flight than the path holds, and no delay: one of the numbers is wrong.
    let overfull = random.map(|(rtt, in_flight, since)| (rtt, 10 * in_flight, 10 * since));
    assert_cause(&lossy(&overfull), true, LossCause::Unknown);
    // What the path would hold was never in flight, not even nearly.
    let absurd = DirectionStats { in_flight_max_bytes: HOLDS / 20, ..lossy(&random) };
    assert_cause(&absurd, true, LossCause::Unknown);
    let bare = DirectionStats { sack_permitted: false, ..lossy(&random) };
    assert!(Loss::of(&bare, true).confidence <= 0.5);
}
