use super::*;
use crate::diagnose::intervals::round_trips;
use crate::evidence::{Bins, LoadedRoundTrips, LossEpisode, Refills, WayDelay};

/// Round trips of 40 ms with these flights, of which each tenth of a second carries 60%.
fn transfer(flight: impl Fn(u64) -> u64) -> DirectionStats {
    let round_trip = Time::from_millis(40);
    let mut bins = Bins::new(Time::ZERO, round_trip);
    let mut sum = 0;
    for n in 0..60 {
        let bin = bins.at(round_trip.times(n));
        bin.segments = 10;
        bin.in_flight_max = flight(n);
        bin.window_left_min = Some(1_000_000);
        sum += flight(n);
    }
    DirectionStats {
        bins,
        path_rtt_min_s: Some(0.04),
        path_rtt_loaded_s: Some(0.04),
        goodput_bps: Some(0.6 * 8.0 * sum as f64 / 60.0 / 0.04),
        ..DirectionStats::default()
    }
}

fn is_cut_off(data: &DirectionStats) -> bool {
    super::is_cut_off(&round_trips(data), data)
}

fn is_capped(data: &DirectionStats) -> bool {
    super::is_capped(&round_trips(data), data, false)
}

#[test]
fn a_flight_that_is_cut_off_comes_to_the_same_value_again() {
    let cut_off = transfer(|n| 80_000_u64.min(55_000 + 5_000 * (n % 8)));
    assert!(!is_cut_off(&cut_off), "seldom");
    let often = transfer(|n| 80_000_u64.min(65_000 + 5_000 * (n % 8)));
    assert!(is_cut_off(&often) && !is_capped(&often));
    assert!(!is_cut_off(&transfer(|n| 40_000 + 1_000 * n)), "it grows");
}

#[test]
fn a_program_that_waits_for_room_lets_the_flight_fall_to_the_same_mark() {
    let refills = |count, alike_percent, acked_bytes| DirectionStats {
        acked_bytes: 1_000_000,
        capacity_bps: Some(50e6),
        first_data: Some(Time::ZERO),
        last_ack: Some(Time::from_secs(2)),
        refills: Some(Refills {
            count,
            low_bytes: 30_000,
            burst_bytes: 60_000,
            alike_percent,
            after_short_percent: 20,
            late_percent: 10,
            at_once_percent: 90,
            by_chance_percent: 10,
            equal_percent: 50,
            acked_bytes,
            acks_an_answer: None,
        }),
        ..transfer(|_| 80_000)
    };
    assert!(waits_for_room(&refills(20, 90, 600_000)));
    assert!(!waits_for_room(&refills(5, 90, 600_000)), "seldom");
    assert!(!waits_for_room(&refills(20, 40, 600_000)), "a program that is late");
    assert!(!waits_for_room(&refills(20, 90, 100_000)), "mostly it sends");
    assert!(!waits_for_room(&refills(60, 90, 600_000)), "a clock: twice in a round trip");
    assert!(lets_flight_drain(&refills(3, 90, 250_000)), "a few");
    let mut by_clock = refills(20, 90, 600_000);
    by_clock.refills = by_clock.refills.map(|it| Refills { late_percent: 80, ..it });
    assert!(
        !waits_for_room(&by_clock) && !lets_flight_drain(&by_clock),
        "no acknowledgement woke it"
    );
    assert!(!lets_flight_drain(&refills(2, 90, 250_000)));
    // An acknowledgement every 4 ms, of which 0.3 ms are at once.
    let woken = |at_once_percent| {
        let mut data = refills(20, 90, 600_000);
        data.rtt_min_s = data.path_rtt_min_s;
        data.refills = data.refills.map(|it| Refills { at_once_percent, late_percent: 0, ..it });
        for n in 0..60 {
            let bin = data.bins.at(Time::from_millis(40 * n));
            bin.clock_time = Time::from_millis(3);
            (bin.sent_bytes, bin.clocked_bytes) = (100_000, 60_000);
        }
        waits_for_room(&data)
    };
    assert!(woken(90));
    assert!(!woken(12), "chance: a program with a clock that ends nothing with a short segment");
    let writes = |low_bytes, after_short_percent| {
        let mut data = refills(20, 90, 600_000);
        data.refills = data.refills.map(|it| Refills { low_bytes, after_short_percent, ..it });
        data
    };
    let late = writes(9_000, 99);
    assert!(writes_late(&late) && !waits_for_room(&late) && !lets_flight_drain(&late));
    assert!(waits_for_room(&writes(9_000, 20)), "whole segments: it had more");
    let mut whole = writes(30_000, 99);
    assert!(waits_for_room(&whole), "writes of 64 KiB into a buffer of 45 kB");
    whole.refills = whole.refills.map(|it| Refills { late_percent: 45, ..it });
    assert!(!waits_for_room(&whole), "all there was: nothing woke it");
    let mut full = refills(20, 90, 600_000);
    (0..40).for_each(|n| full.bins.at(Time::from_millis(40 * n)).window_left_min = Some(0));
    assert!(!waits_for_room(&full), "the receive window ends its flights");
    let overtaken =
        DirectionStats { data_packets: 900, out_of_order_packets: 50, ..refills(20, 90, 600_000) };
    assert!(!waits_for_room(&overtaken), "packets are overtaken");
}

/// Ten losses in 400 segments let Reno's window grow to ten: a program that goes on at 8 with 8 more would have had 16 in flight.
#[test]
fn losses_keep_a_flight_below_what_a_buffer_would_hold() {
    let mut data = DirectionStats {
        mss_used_bytes: Some(1460),
        data_packets: 400,
        sack_permitted: true,
        retransmitted_packets: 13,
        refills: Some(Refills {
            count: 22,
            low_bytes: 8 * 1460,
            burst_bytes: 8 * 1460,
            alike_percent: 90,
            after_short_percent: 0,
            late_percent: 0,
            at_once_percent: 100,
            by_chance_percent: 10,
            equal_percent: 50,
            acked_bytes: 300_000,
            acks_an_answer: None,
        }),
        acked_bytes: 580_000,
        capacity_bps: Some(15e6),
        first_data: Some(Time::ZERO),
        last_ack: Some(Time::from_secs(4)),
        path_rtt_loaded_s: Some(0.108),
        ..DirectionStats::default()
    };
    let lose = |data: &mut DirectionStats, times: u64| {
        for n in 0..times {
            let at = Time::from_millis(400 * n);
            data.loss_episodes.begin(LossEpisode { at, ..LossEpisode::default() });
        }
    };
    lose(&mut data, 5);
    assert!(waits_for_room(&data), "a few losses");
    lose(&mut data, 5);
    assert!(!waits_for_room(&data));
    data.data_packets = 1000;
    assert!(!waits_for_room(&data), "a window of 16 between them, as large as the flights");
    data.data_packets = 4000;
    assert!(waits_for_room(&data), "a window of 33 between them");
}

#[test]
fn a_buffer_fills_the_link_in_turns_that_holds_more_than_the_path() {
    // 40 ms at 20 Mbit/s are 100 kB.
    let data = |flight: u64, goodput_mbps: f64| DirectionStats {
        goodput_bps: Some(1e6 * goodput_mbps),
        capacity_bps: Some(20e6),
        ..transfer(|_| flight)
    };
    assert!(fills_in_turns(&data(130_000, 14.0), &DirectionStats::default()));
    assert!(
        !fills_in_turns(&data(130_000, 12.0), &DirectionStats::default()),
        "a larger buffer brings more"
    );
    assert!(
        !fills_in_turns(&data(110_000, 14.0), &DirectionStats::default()),
        "less than the path, as it is refilled"
    );
    assert!(
        fills_in_turns(&data(110_000, 18.0), &DirectionStats::default()),
        "a larger buffer brings a tenth"
    );
    assert!(
        !fills_in_turns(&data(90_000, 18.0), &DirectionStats::default()),
        "less than the path holds"
    );
    let paced = DirectionStats { first_flight_bps: Some(40e6), ..data(130_000, 18.0) };
    assert!(!fills_in_turns(&paced, &DirectionStats::default()), "trains are the sender's own");
    let lost = DirectionStats { retransmitted_packets: 40, ..data(90_000, 14.0) };
    assert!(!fills_in_turns(&lost, &DirectionStats::default()), "without SACK");
    let repaired = DirectionStats { sack_permitted: true, ..lost };
    assert!(fills_in_turns(&repaired, &DirectionStats::default()), "path and queue were full");
    let twice = |lost| DirectionStats {
        retransmitted_packets: lost,
        sack_permitted: true,
        rtt_min_s: Some(0.04),
        path_rtt_mean_s: Some(0.08),
        ..data(130_000, 12.5)
    };
    assert!(fills_in_turns(&twice(40), &DirectionStats::default()), "the path holds less");
    assert!(!fills_in_turns(&twice(0), &DirectionStats::default()), "no queue was full");
    let late = DirectionStats { begins_late: true, ..data(130_000, 14.0) };
    assert!(
        !fills_in_turns(&late, &DirectionStats::default()),
        "acknowledgements of a program's steps"
    );
    let leaves_room = |data: &DirectionStats| leaves_room(data, &DirectionStats::default());
    assert!(leaves_room(&data(130_000, 13.0)) && !leaves_room(&data(130_000, 14.2)));
    // The path holds two thirds of what is in flight where round trips are twice the least.
    let overflows = |seconds: f64| DirectionStats {
        retransmitted_packets: 40,
        rtt_min_s: Some(0.04),
        path_rtt_mean_s: Some(seconds),
        ..data(130_000, 13.0)
    };
    assert!(leaves_room(&overflows(0.05)) && !leaves_room(&overflows(0.08)));
    let way_delay = Some(WayDelay { median_s: 0.04, ..WayDelay::default() });
    let by_stamps = DirectionStats { rtt_min_s: Some(0.001), way_delay, ..overflows(0.04) };
    assert!(!leaves_room(&by_stamps), "seen at the receiver");
}

#[test]
fn a_buffer_that_holds_less_than_the_path_leaves_it_idle() {
    let mut loaded_round_trips = LoadedRoundTrips::default();
    (0..100).for_each(|_| loaded_round_trips.add(Time::from_millis(41)));
    // 40 ms at 20 Mbit/s are 100 kB.
    let data = |flight| DirectionStats {
        rtt_min_s: Some(0.04),
        capacity_bps: Some(20e6),
        loaded_round_trips: loaded_round_trips.clone(),
        ..transfer(|_| flight)
    };
    let acks = DirectionStats::default();
    let leaves_idle = |data: &DirectionStats| leaves_path_idle(data, &acks);
    assert!(leaves_idle(&data(110_000)));
    assert!(!leaves_idle(&data(130_000)), "more than the path, as it is refilled");
    let waits =
        WayDelay { count: 500, low_s: 0.002, median_s: 0.01, high_s: 0.02, ..WayDelay::default() };
    assert!(!leaves_idle(&DirectionStats { way_delay: Some(waits), ..data(110_000) }));
    assert!(!leaves_idle(&DirectionStats { retransmitted_packets: 3, ..data(110_000) }));
}

#[test]
fn who_waits_for_a_congestion_window_sends_at_each_acknowledgement() {
    let sends = |percent: u64| {
        let mut data = transfer(|n| 200_000 + 1_000 * n);
        let mut bins = Bins::new(Time::ZERO, Time::from_millis(40));
        for bin in data.bins.as_slice() {
            *bins.at(bin.at) = Bin {
                sent_bytes: percent * bin.in_flight_max / 100,
                sndbuf_limited: Time::from_millis(1),
                ..*bin
            };
        }
        data.bins = bins;
        data
    };
    let unused = |percent| unused_window(&round_trips(&sends(percent)), &sends(percent));
    assert_eq!(unused(97), None);
    let used = unused(70).unwrap();
    assert!((used - 0.7).abs() < 0.02, "{used}");
    let goodput = sends(70).goodput_bps.unwrap();
    let link = |times: f64| DirectionStats { capacity_bps: Some(times * goodput), ..sends(70) };
    assert!(drains_as_buffer(used, &link(2.0)));
    assert!(!drains_as_buffer(used, &link(1.2)), "bursts wait for a busy link");
    assert!(!drains_as_buffer(0.3, &link(2.0)), "less than a program refills");
    assert!(runs_out(&sends(70)), "short segments");
    assert!(!runs_out(&transfer(|_| 80_000)));
}
