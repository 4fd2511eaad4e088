//! One cause at a time, and the other side of each border.

use super::*;
use crate::evidence::{LoadedRoundTrips, LossEpisode, LossEpisodes, WayDelay};
use crate::rng::Stream;
use crate::units::Time;

const LEAST_S: f64 = 0.04;
/// What the path holds: 20 Mbit/s for 40 ms.
const HOLDS: u64 = 100_000;

/// Losses, one a second, as (round trip in ms, bytes in flight, new segments since the last); round trips under load are 40 to
/// 60 ms.
fn lossy(episodes: &[(u64, u64, u32)]) -> DirectionStats {
    lost_at_once(1, episodes)
}

/// The same, of so many segments each.
fn lost_at_once(lost: u32, episodes: &[(u64, u64, u32)]) -> DirectionStats {
    let mut loaded_round_trips = LoadedRoundTrips::default();
    for n in 0..1000 {
        loaded_round_trips.add(Time::from_nanos(40_000_000 + 20_000 * n));
    }
    let mut loss_episodes = LossEpisodes::default();
    let mut sent_bytes = 0;
    for (n, (millis, in_flight, sent_since)) in (0..).zip(episodes) {
        sent_bytes += 1000 * u64::from(*sent_since);
        loss_episodes.begin(LossEpisode {
            at: Time::from_millis(1000 * n),
            rtt: Some(Time::from_millis(*millis)),
            in_flight: *in_flight,
            lost,
            sent_bytes,
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
    let loss = Loss::of(data, LimitedBy::Congestion, sees_round_trips, None);
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
fn a_delay_at_losses_alone_is_of_no_queue() {
    // The segment before those that a policer drops is acknowledged late.
    let late = [58, 57, 59, 58, 57];
    let late: Vec<_> = late
        .into_iter()
        .zip(POLICED)
        .map(|(rtt, (_, flight, since))| (rtt, flight, since))
        .collect();
    let short = |data: DirectionStats| {
        let mut loaded_round_trips = LoadedRoundTrips::default();
        for n in 0..1000 {
            loaded_round_trips.add(Time::from_nanos(40_000_000 + 2_000 * n));
        }
        DirectionStats { loaded_round_trips, goodput_bps: Some(3.4e6), ..data }
    };
    assert_cause(&lost_at_once(4, &late), true, LossCause::Queue);
    assert_cause(&short(lost_at_once(4, &late)), true, LossCause::Policer);
    // A few losses may be all that there were.
    assert_cause(&short(lost_at_once(4, &late[..2])), true, LossCause::Queue);
}

#[test]
fn few_losses_at_nearly_full_flights_are_of_errors_or_early_drops() {
    let near = |spread: u32| -> DirectionStats {
        let episodes: Vec<_> = (0..20)
            .map(|n: u32| {
                let flight = 70_000 + 1_000 * u64::from(n % 7);
                (41, flight, 400 + spread * (n * 7 % 11))
            })
            .collect();
        DirectionStats { rtt_min_s: Some(LEAST_S), ..lossy(&episodes) }
    };
    assert_cause(&near(400), true, LossCause::Errors);
    // At one flight, after as many segments each time: a queue of a few packets does that as well.
    assert_cause(&near(20), true, LossCause::Unknown);
    let few: Vec<_> = (0..9).map(|n: u32| (41, 70_000, 400 + 400 * (n * 7 % 11))).collect();
    let few = DirectionStats { rtt_min_s: Some(LEAST_S), ..lossy(&few) };
    assert_cause(&few, true, LossCause::Unknown);
}

#[test]
fn errors_strike_at_any_flight() {
    let errors =
        [(41, 26_000, 60), (40, 14_000, 200), (41, 33_000, 40), (40, 9_000, 90), (41, 20_000, 35)];
    assert_cause(&lossy(&errors), true, LossCause::Errors);
    assert_cause(&lossy(&errors), false, LossCause::Errors);
    assert_cause(&lossy(&errors[..3]), true, LossCause::Unknown);
}

/// A sender that tries 10 Mbit/s, where 3.4 Mbit/s pass.
const POLICED: [(u64, u64, u32); 5] =
    [(41, 80_000, 90), (41, 50_000, 420), (40, 52_000, 440), (41, 51_000, 400), (41, 53_000, 450)];

#[test]
fn a_policer_passes_one_rate_between_losses_without_delay() {
    let policed = DirectionStats { goodput_bps: Some(3.4e6), ..lost_at_once(4, &POLICED) };
    assert_cause(&policed, true, LossCause::Policer);
    // Without round trips it may be the share of a full link.
    assert_cause(&policed, false, LossCause::Unknown);
    // Away from the sender a queue shows on one way at least: a policer has none.
    let way = |high_s| DirectionStats {
        rtt_min_s: Some(0.001),
        way_delay: Some(WayDelay {
            count: 500,
            low_s: 0.0,
            median_s: 0.0,
            high_s,
            ..WayDelay::default()
        }),
        ..policed.clone()
    };
    assert_cause(&way(0.001), true, LossCause::Policer);
    assert_cause(&way(0.056), true, LossCause::Unknown);
    // The rates of a sender that errors hold back vary.
    let mut varied = POLICED;
    for (episode, since) in varied.iter_mut().zip([90, 300, 440, 600, 250]) {
        episode.2 = since;
    }
    let varied = DirectionStats { goodput_bps: Some(3.4e6), ..lost_at_once(4, &varied) };
    assert_cause(&varied, true, LossCause::Unknown);
    // A path that carries no more has a queue that overflows, and a sender that tries no more is at a rate of its own.
    let full = DirectionStats { capacity_bps: Some(4e6), ..policed.clone() };
    assert_cause(&full, true, LossCause::Queue);
    let steady = DirectionStats { goodput_bps: Some(10e6), ..policed.clone() };
    assert_cause(&steady, true, LossCause::Unknown);
    // A receiver that reads at one rate holds back a sender as well.
    let loss = Loss::of(&policed, LimitedBy::ReceiveWindow, true, None);
    assert_eq!(loss.cause, LossCause::Unknown, "{}", loss.evidence);
}

#[test]
fn single_losses_are_a_policers_where_many_are_regular() {
    let many: Vec<_> = POLICED.iter().chain(&POLICED[1..]).copied().collect();
    let of = |episodes: &[(u64, u64, u32)]| DirectionStats {
        goodput_bps: Some(3.4e6),
        ..lossy(episodes)
    };
    assert_cause(&of(&many), true, LossCause::Policer);
    assert_cause(&of(&POLICED), true, LossCause::Unknown);
}

/// Rates over many intervals vary by less than those of each: where not all losses are kept, chance is no policer's rate.
#[test]
fn thinned_losses_do_not_make_rates_even() {
    let rates_vary = |count: u64| {
        let (mut data, chance) = (lossy(&[]), Stream::named(1, "losses"));
        let (mut sent_bytes, mut at) = (0, Time::ZERO);
        for n in 0..count {
            // 100 to 1000 segments between losses, and rates that follow them.
            let since = 100 + chance.at(n) % 900;
            sent_bytes += 1000 * since;
            at = at.saturating_add(Time::from_millis(since / 2 + 250));
            data.loss_episodes.begin(LossEpisode {
                at,
                rtt: Some(Time::from_millis(41)),
                in_flight: 50_000,
                lost: 1,
                sent_bytes,
                sent_since: u32::try_from(since).unwrap(),
            });
        }
        data.capacity_bps = Some(100e6);
        rate_of_possible_policer(&data).is_none()
    };
    assert!(rates_vary(100));
    assert!(rates_vary(4_000));
}

/// What drops them need not be known for that: less loss brings no more through a policer.
#[test]
fn one_rate_below_the_links_between_losses_may_be_a_policers() {
    let rate = |episodes: &[(u64, u64, u32)], link_bps: f64| {
        rate_of_possible_policer(&DirectionStats {
            capacity_bps: Some(link_bps),
            first_flight_bps: None,
            ..lossy(episodes)
        })
    };
    let passed = rate(&POLICED, 20e6).unwrap();
    assert!((3e6..4e6).contains(&passed), "{passed}");
    assert!(rate(&POLICED, 4e6).is_none(), "the link's own rate");
    let mut varied = POLICED;
    for (episode, since) in varied.iter_mut().zip([90, 300, 440, 600, 250]) {
        episode.2 = since;
    }
    assert!(rate(&varied, 20e6).is_none(), "errors hold it back at another rate each time");
}

#[test]
fn a_queue_that_overflows_is_full_at_every_loss() {
    let trips = [41, 58, 42, 57, 43, 56];
    let any = trips.map(|trip| (trip, 150_000, 700));
    let loss = Loss::of(&lossy(&any), LimitedBy::Bandwidth, true, None);
    assert_eq!(loss.cause, LossCause::Unknown, "{}", loss.evidence);
    assert!(
        loss.evidence.starts_with("round trips were long at 60% of the losses only"),
        "{loss:?}"
    );
    // Without the low ones the median is about the same.
    let high: Vec<_> = any.into_iter().filter(|(trip, ..)| *trip > 50).collect();
    let loss = Loss::of(&lossy(&high), LimitedBy::Bandwidth, true, None);
    assert_eq!(loss.cause, LossCause::Queue, "{}", loss.evidence);
}

#[test]
fn acknowledgements_alone_show_no_losses() {
    let alone = DirectionStats { acked_bytes: 100_000, ..DirectionStats::default() };
    assert_cause(&alone, true, LossCause::Unknown);
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
    assert!(Loss::of(&bare, LimitedBy::Congestion, true, None).confidence <= 0.5);
}

/// A bucket is empty at each loss, however irregular single losses are: what passed until then lies on a line.
#[test]
fn irregular_single_losses_on_a_line_are_a_policers() {
    let flights = [60_000, 20_000, 45_000, 30_000, 52_000, 25_000, 40_000];
    let seconds = [100, 1300, 1700, 3400, 4100, 6300, 6700];
    let at_rate = |off: [u64; 7]| {
        let mut data = lossy(&[]);
        for ((in_flight, at), off) in flights.into_iter().zip(seconds).zip(off) {
            data.loss_episodes.begin(LossEpisode {
                at: Time::from_millis(at),
                rtt: Some(Time::from_millis(40)),
                in_flight,
                lost: 1,
                // 500 bytes a millisecond, a fifth of the link's, and what is in flight.
                sent_bytes: 500 * at + in_flight + off,
                sent_since: 200,
            });
        }
        DirectionStats {
            retransmitted_packets: 7,
            rtt_min_s: Some(LEAST_S),
            goodput_bps: Some(4e6),
            ..data
        }
    };
    assert_cause(&at_rate([0, 1000, 0, 2000, 1000, 0, 1000]), true, LossCause::Policer);
    // Ten segments off, as errors at any time are.
    let off = [0, 20_000, 0, 30_000, 9_000, 40_000, 5_000];
    assert_cause(&at_rate(off), true, LossCause::Errors);
    // A window holds the rate: the sender tries no more.
    let held = Loss::of(&at_rate([0; 7]), LimitedBy::ReceiveWindow, true, None);
    assert_eq!(held.cause, LossCause::Errors);
}

/// A bucket smaller than a burst drops at irregular intervals, but at one flight and one rate, as a short queue does.
#[test]
fn losses_at_one_flight_and_one_rate_are_of_no_known_cause() {
    let flights = |vary: u64| {
        let episodes = [(0, 300), (3, 120), (1, 500), (2, 200), (4, 420), (1, 90)];
        let mut data = DirectionStats { goodput_bps: Some(2.4e6), ..lossy(&[]) };
        let mut sent_bytes = 0;
        for (more, since) in episodes.repeat(2) {
            sent_bytes += 1000 * u64::from(since);
            // About 300 bytes a millisecond, and by up to 50 segments off.
            let at = Time::from_millis(sent_bytes / 300 + u64::from(since) % 170);
            data.loss_episodes.begin(LossEpisode {
                at,
                rtt: Some(Time::from_millis(41)),
                in_flight: 20_000 + vary * more,
                lost: 1,
                sent_bytes,
                sent_since: since,
            });
        }
        DirectionStats { retransmitted_packets: 12, rtt_min_s: Some(LEAST_S), ..data }
    };
    assert_cause(&flights(1_000), true, LossCause::Unknown);
    assert_cause(&flights(10_000), true, LossCause::Errors);
}

/// Others keep the queue filled: the least round trip of this connection is four times the path's.
#[test]
fn a_queue_that_others_keep_filled_is_not_overlooked() {
    let data = lossy(&[
        (45, 20_000, 100),
        (46, 60_000, 400),
        (44, 45_000, 63),
        (45, 50_000, 160),
        (47, 40_000, 71),
        (44, 55_000, 340),
    ]);
    let cause = |path_rtt_min_s| {
        let beside = Beside { connections: 2, bytes: 1_000_000, path_rtt_min_s };
        Loss::of(&data, LimitedBy::Congestion, true, Some(beside)).cause
    };
    assert_eq!(cause(None), LossCause::Errors);
    assert_eq!(cause(Some(0.01)), LossCause::Unknown);
}

/// The queue is 100 kB deep at times, and single segments are lost while it holds a fifth of that.
#[test]
fn a_queue_that_holds_more_at_other_times_was_not_full() {
    let deep = |longest: u64, lost: u32| {
        let mut loaded_round_trips = LoadedRoundTrips::default();
        for n in 0..1000 {
            let millis = if n % 20 == 0 { 40 + longest } else { 41 + n % 9 };
            loaded_round_trips.add(Time::from_millis(millis));
        }
        let episodes: Vec<_> = (0..20).map(|n| (48, 130_000, 200 + n * 37 % 90)).collect();
        let data = lost_at_once(lost, &episodes);
        DirectionStats { loaded_round_trips, in_flight_max_bytes: 2 * HOLDS, ..data }
    };
    assert_cause(&deep(40, 1), true, LossCause::Unknown);
    assert_cause(&deep(16, 1), true, LossCause::Queue);
    // What overflows loses several.
    assert_cause(&deep(40, 6), true, LossCause::Queue);
}
