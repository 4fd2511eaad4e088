//! Acknowledgements that queue on a link of their own, and those that only look like it.

use super::*;
use crate::evidence::{AckGaps, Intervals, LoadedRoundTrips};

fn way(low_s: f64, median_s: f64) -> WayDelay {
    WayDelay { count: 1000, low_s, median_s, high_s: median_s, ..WayDelay::default() }
}

fn stats() -> DirectionStats {
    DirectionStats {
        data_packets: 5000,
        first_data: Some(Time::ZERO),
        last_ack: Some(Time::from_millis(5000)),
        path_rtt_min_s: Some(0.03),
        rtt_min_s: Some(0.03),
        path_rtt_loaded_s: Some(0.2),
        ..DirectionStats::default()
    }
}

fn waits(acks: impl Into<Option<WayDelay>>, data: impl Into<Option<WayDelay>>) -> bool {
    let stats = DirectionStats { way_delay: data.into(), ..stats() };
    let acks = DirectionStats { way_delay: acks.into(), ..DirectionStats::default() };
    AckPath::of(&stats, &acks).is_some()
}

#[test]
fn acknowledgements_that_queue_while_the_data_does_not_are_the_clock() {
    assert!(waits(way(0.1, 0.17), way(0.0, 0.001)));
    assert!(waits(way(0.1, 0.17), None), "of the data alone");
    assert!(!waits(way(0.1, 0.17), way(0.1, 0.15)), "both ways");
    assert!(!waits(way(0.0, 0.02), way(0.0, 0.001)), "now and then");
    assert!(waits(None, way(0.0, 0.001)), "round trips hold what the data does not wait for");
    assert!(!waits(None, None), "without timestamps");
    let data = DirectionStats { way_delay: Some(way(0.0, 0.001)), ..stats() };
    let rest = AckPath::of(&data, &DirectionStats::default()).unwrap();
    assert_eq!(
        rest.signs(),
        "round trips grow under load, and the way of the data by no more than 1.00 ms"
    );
    assert!(!waits(way(0.5, 0.6), way(0.0, 0.0)), "no part of the round trips: the sender waits");
}

#[test]
fn a_segment_or_two_make_no_queue_of_acknowledgements() {
    let of = |in_flight_max_bytes| {
        let data =
            DirectionStats { in_flight_max_bytes, way_delay: Some(way(0.0, 0.001)), ..stats() };
        let acks = DirectionStats { way_delay: Some(way(0.1, 0.17)), ..DirectionStats::default() };
        AckPath::of(&data, &acks).is_some()
    };
    assert!(of(40 * 1460) && of(0), "flights are not known");
    assert!(!of(2 * 1460), "the receiver's timer delays each");
}

#[test]
fn start_up_fills_a_queue_of_the_acknowledgements_alone() {
    let is_filled = |there, back, behind| {
        let way = |high_s| {
            Some(WayDelay {
                count: 1000,
                low_s: 0.0,
                median_s: 0.001,
                high_s,
                ..WayDelay::default()
            })
        };
        let stats = DirectionStats {
            way_delay: way(there),
            rtt_min_s: Some(behind),
            goodput_bps: Some(10e6),
            first_flight_bps: Some(40e6),
            ..stats()
        };
        let acks = DirectionStats { way_delay: way(back), ..DirectionStats::default() };
        is_filled_at_first(&stats, &acks, 0.005)
    };
    assert!(is_filled(0.001, 0.1, 0.0001));
    assert!(!is_filled(0.001, 0.1, 0.03), "the sender's own waits are not told apart there");
    assert!(!is_filled(0.05, 0.1, 0.0001), "the data waits as well");
    assert!(!is_filled(0.001, 0.02, 0.0001), "no longer than the path takes");
}

#[test]
fn equal_gaps_are_those_of_acknowledgements() {
    let of = |ratio, deviation| {
        let gaps = AckGaps { count: 500, ratio, deviation };
        let stats = DirectionStats { ack_gaps: Some(gaps), ..stats() };
        AckPath::of(&stats, &DirectionStats::default()).is_some()
    };
    assert!(of(1.0, 0.1));
    assert!(!of(2.0, 0.1), "as far apart as what they cover took on the data's link");
    assert!(!of(1.0, 0.9), "of no clock at all");
    let gaps = AckGaps { count: 500, ratio: 1.0, deviation: 0.1 };
    let stats =
        DirectionStats { ack_gaps: Some(gaps), way_delay: Some(way(0.01, 0.013)), ..stats() };
    let acks = DirectionStats { way_delay: Some(way(0.0, 0.001)), ..DirectionStats::default() };
    assert_eq!(AckPath::of(&stats, &acks), None, "the data waits, and they do not");
}

#[test]
fn bursts_at_equal_distances_are_released_by_acknowledgements() {
    let is_path = |usual_s, equal, others_equal, behind| {
        let intervals =
            Intervals { count: 500, usual_s, equal, others: 100, others_equal, bursts: None };
        let stats =
            DirectionStats { intervals: Some(intervals), rtt_min_s: Some(behind), ..stats() };
        AckPath::of(&stats, &DirectionStats::default()).is_some()
    };
    assert!(is_path(0.005, 0.98, 0.97, 0.001), "at the receiver");
    assert!(is_path(0.005, 0.98, 0.97, 0.03), "acknowledgements, at the sender");
    assert!(!is_path(0.005, 0.98, 0.1, 0.001), "paced: a larger burst is followed by more time");
    assert!(!is_path(0.005, 0.98, 0.97, 0.01), "between the hosts its own link may space it");
    assert!(!is_path(0.03, 0.98, 0.97, 0.001), "a window in each round trip");
}

#[test]
fn start_up_shows_the_queue_that_a_paced_sender_keeps_short() {
    let is_path = |least_s, usual, longest| {
        let mut loaded_round_trips = LoadedRoundTrips::default();
        (0..90).for_each(|_| loaded_round_trips.add(usual));
        (0..10).for_each(|_| loaded_round_trips.add(longest));
        let intervals = Intervals {
            count: 500,
            usual_s: 0.002,
            equal: 0.98,
            others: 100,
            others_equal: 0.97,
            bursts: None,
        };
        let (path_rtt_min_s, rtt_min_s) = (Some(least_s), Some(least_s));
        let stats = DirectionStats { rtt_min_s, path_rtt_min_s, loaded_round_trips, ..stats() };
        let stats = DirectionStats { intervals: Some(intervals), ..stats };
        AckPath::of(&stats, &DirectionStats::default()).is_some()
    };
    let usual = Time::from_millis(31);
    assert!(
        is_path(0.03, usual, Time::from_millis(90)),
        "whatever they cover, and a queue at first"
    );
    assert!(!is_path(0.03, usual, Time::from_millis(32)), "a reader that takes the same at a time");
    assert!(!is_path(0.0, Time::ZERO, Time::ZERO), "a clock that is too coarse for round trips");
}

#[test]
fn what_round_trips_hold_and_the_data_does_not_wait_for_is_on_the_way_back() {
    let is_rest = |data: WayDelay, loaded| {
        let stats = DirectionStats { path_rtt_loaded_s: Some(loaded), ..stats() };
        let stats = DirectionStats { way_delay: Some(data), ..stats };
        AckPath::of(&stats, &DirectionStats::default()).is_some()
    };
    let quick =
        WayDelay { count: 1000, low_s: 0.0, median_s: 0.002, high_s: 0.01, ..WayDelay::default() };
    assert!(is_rest(quick, 0.3));
    assert!(!is_rest(quick, 0.035), "no queue");
    assert!(!is_rest(WayDelay { high_s: 0.2, ..quick }, 0.3), "the data waits as well");
}

#[test]
fn what_a_clock_lets_through_shows_no_link() {
    let ticks = |others_equal| Intervals {
        count: 600,
        usual_s: 0.01,
        equal: 0.95,
        others: 60,
        others_equal,
        bursts: None,
    };
    let at_sender = |intervals| DirectionStats { intervals: Some(intervals), ..stats() };
    assert!(come_by_clock(&at_sender(ticks(0.9))));
    assert!(!come_by_clock(&at_sender(ticks(0.1))), "as long as what they cover takes");
    let at_receiver = DirectionStats { rtt_min_s: Some(0.001), ..at_sender(ticks(0.9)) };
    assert!(!come_by_clock(&at_receiver), "there they are the data");
}

#[test]
fn what_sack_repairs_leaves_the_link_of_the_data_to_the_acknowledgements() {
    let leaves = |goodput_bps, sack_permitted| {
        let (goodput_bps, capacity_bps) = (Some(goodput_bps), Some(10e6));
        leaves_link(&DirectionStats { sack_permitted, goodput_bps, capacity_bps, ..stats() })
    };
    assert!(leaves(5e6, true));
    assert!(!leaves(7e6, true), "either link may be what limits");
    assert!(!leaves(5e6, false), "segments are sent again one by one");
    assert!(!leaves_link(&DirectionStats { sack_permitted: true, ..stats() }));
}
