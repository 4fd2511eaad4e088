//! Flights made by the rules of each algorithm, and what hides them.

use super::*;
use crate::evidence::{Bins, CongestionEpoch, CongestionEpochs, FlightAtLoss};
use crate::units::Time;

const SEGMENT: u64 = 1000;
const ROUND: Time = Time::from_millis(40);

/// A direction at the sender, of a full link, with these epochs.
fn direction(epochs: &[CongestionEpoch]) -> DirectionStats {
    let mut list = CongestionEpochs::default();
    for epoch in epochs {
        list.push(*epoch);
    }
    DirectionStats {
        mss_used_bytes: Some(1000),
        rtt_min_s: Some(0.04),
        path_rtt_min_s: Some(0.04),
        path_rtt_loaded_s: Some(0.05),
        epochs: list,
        ..DirectionStats::default()
    }
}

/// The epochs of a saw-tooth whose flight in each round trip after a loss at `peak` is given by `flight`.
fn sawtooth(
    count: u64,
    peak: u64,
    rounds: u32,
    flight: impl Fn(f64) -> f64,
) -> Vec<CongestionEpoch> {
    let bytes = |round: f64| {
        let segments = flight(round).max(1.0).floor();
        (0..10_000).find(|n| *n as f64 >= segments).unwrap_or(0) * SEGMENT
    };
    let first = bytes(0.0);
    let last = bytes(f64::from(rounds - 1));
    let epoch = |n: u64| {
        let from = Time::from_secs(10 * n);
        CongestionEpoch {
            from,
            to: from.saturating_add(ROUND.times(rounds.into())),
            rounds,
            peak: if n == 0 { 0 } else { peak * SEGMENT },
            first,
            most: last,
            last,
            sum: u64::from(rounds) * (first + last) / 2,
            by_loss: true,
            ..CongestionEpoch::default()
        }
    };
    (0..=count).map(epoch).collect()
}

fn named(data: &DirectionStats, limit: LimitedBy) -> CongestionAlgorithm {
    CongestionControl::of(data, limit, false).name
}

#[test]
fn half_and_a_segment_a_round_trip_are_reno() {
    let epochs = sawtooth(6, 40, 21, |round| 20.0 + round);
    let found = CongestionControl::of(&direction(&epochs), LimitedBy::Congestion, false);
    assert_eq!(found.name, CongestionAlgorithm::Reno);
    assert!(found.confidence > 0.9, "{found:?}");
    assert!(found.evidence.contains("6 losses left 50% of the flight"), "{}", found.evidence);
    // Marks reduce it as well, and nothing tells when.
    let marked = DirectionStats { congestion_marks: 1, ..direction(&epochs) };
    assert_eq!(named(&marked, LimitedBy::Congestion), CongestionAlgorithm::Unknown);
}

#[test]
fn seven_tenths_and_the_cubic_are_cubic() {
    // RFC 9438 §4.2: 0.4 (t − K)³ + W, from 0.7 W on.
    let until_peak = libm::cbrt(30.0 / 0.4);
    let flight = |round: f64| {
        let off = round * ROUND.as_secs_f64() - until_peak;
        (100.0 + 0.4 * off * off * off).max(70.0 + 0.53 * round)
    };
    let epochs = sawtooth(4, 100, 40, flight);
    let data = direction(&epochs);
    assert_eq!(named(&data, LimitedBy::Congestion), CongestionAlgorithm::Cubic);
}

#[test]
fn a_flight_that_sinks_without_a_loss_is_bbr() {
    let epoch = CongestionEpoch {
        to: Time::from_secs(3),
        rounds: 75,
        first: 10 * SEGMENT,
        most: 258 * SEGMENT,
        last: 94 * SEGMENT,
        sum: 75 * 104 * SEGMENT,
        flat_rounds: 68,
        ..CongestionEpoch::default()
    };
    let found = CongestionControl::of(&direction(&[epoch]), LimitedBy::Bandwidth, false);
    assert_eq!(found.name, CongestionAlgorithm::Bbr);
    assert!(found.evidence.contains("did not grow in 68 round trips"), "{}", found.evidence);
    // A program that sends less does the same.
    assert_eq!(named(&direction(&[epoch]), LimitedBy::Application), CongestionAlgorithm::Unknown);
}

#[test]
fn a_flight_that_does_not_grow_is_bbr() {
    // Start-up filled the window once; then the flight stays below it.
    let below = CongestionEpoch {
        to: Time::from_secs(2),
        rounds: 50,
        first: 10 * SEGMENT,
        most: 60 * SEGMENT,
        last: 46 * SEGMENT,
        sum: 50 * 45 * SEGMENT,
        flat_rounds: 44,
        is_capped: true,
        ..CongestionEpoch::default()
    };
    let found = CongestionControl::of(&direction(&[below]), LimitedBy::Bandwidth, false);
    assert_eq!(found.name, CongestionAlgorithm::Bbr, "{found:?}");
    assert!(found.evidence.contains("did not grow in 44 round trips"), "{}", found.evidence);
    // A full window does the same with any algorithm.
    let full = CongestionEpoch { sum: 50 * 59 * SEGMENT, last: 60 * SEGMENT, ..below };
    assert_eq!(named(&direction(&[full]), LimitedBy::Bandwidth), CongestionAlgorithm::Unknown);
    // But for a sender that no longer fills it, unless what it was is not known.
    let open = CongestionEpoch { open_rounds: 20, ..full };
    let found = CongestionControl::of(&direction(&[open]), LimitedBy::Bandwidth, false);
    assert!(found.evidence.contains("window open in 20 round trips"), "{}", found.evidence);
    let late = DirectionStats { begins_late: true, ..direction(&[open]) };
    assert_eq!(named(&late, LimitedBy::Bandwidth), CongestionAlgorithm::Unknown);
    // After losses, though what duplicates released came first.
    let mut after = sawtooth(1, 50, 30, |_| 36.0);
    after[1].first = 53 * SEGMENT;
    let found = CongestionControl::of(&direction(&after), LimitedBy::Bandwidth, false);
    assert_eq!(found.name, CongestionAlgorithm::Bbr, "{found:?}");
}

#[test]
fn a_clock_counts_only_on_the_sending_host() {
    let mut bins = Bins::new(Time::ZERO, ROUND);
    for n in 0..100 {
        let bin = bins.at(ROUND.times(n));
        bin.sent_bytes = 100 * SEGMENT;
        bin.clock_time = Time::from_millis(2);
    }
    // The loss left nearly all of the flight: alone that is too little.
    let epochs = sawtooth(1, 10, 3, |_| 9.5);
    let host = DirectionStats { bins, ..direction(&epochs) };
    assert_eq!(named(&host, LimitedBy::Bandwidth), CongestionAlgorithm::Bbr);
    // The program that waits for room in the buffer is such a clock as well.
    assert_eq!(named(&host, LimitedBy::SendBuffer), CongestionAlgorithm::Unknown);
    let router = DirectionStats { path_rtt_min_s: Some(0.042), ..host };
    assert_eq!(named(&router, LimitedBy::Bandwidth), CongestionAlgorithm::Unknown);
}

#[test]
fn slow_start_that_ends_without_a_loss_is_cubic_and_one_that_does_not_is_reno() {
    let ends = CongestionEpoch {
        to: Time::from_secs(3),
        rounds: 42,
        first: 10 * SEGMENT,
        most: 178 * SEGMENT,
        last: 178 * SEGMENT,
        sum: 42 * 78 * SEGMENT,
        ..CongestionEpoch::default()
    };
    assert_eq!(named(&direction(&[ends]), LimitedBy::Bandwidth), CongestionAlgorithm::Cubic);
    let goes_on = CongestionEpoch {
        rounds: 8,
        most: 1090 * SEGMENT,
        last: 1090 * SEGMENT,
        sum: 2180 * SEGMENT,
        by_loss: true,
        ..ends
    };
    let data = DirectionStats { path_rtt_loaded_s: Some(0.4), ..direction(&[goes_on]) };
    assert_eq!(named(&data, LimitedBy::Bandwidth), CongestionAlgorithm::Reno);
    // Without a queue nothing tells slow start to end.
    let data = DirectionStats { path_rtt_loaded_s: Some(0.041), ..direction(&[goes_on]) };
    assert_eq!(named(&data, LimitedBy::Congestion), CongestionAlgorithm::Unknown);
}

#[test]
fn a_clock_of_its_own_speaks_for_bbr() {
    let clocked = |share: u64| {
        let mut bins = Bins::new(Time::ZERO, ROUND);
        for n in 0..100 {
            let bin = bins.at(ROUND.times(n));
            bin.sent_bytes = 100 * SEGMENT;
            bin.clocked_bytes = share * SEGMENT;
            bin.clock_time = Time::from_millis(2);
        }
        // A loss that leaves nearly all of the flight: alone that is too little.
        let epochs = sawtooth(1, 10, 3, |_| 9.5);
        named(&DirectionStats { bins, ..direction(&epochs) }, LimitedBy::Bandwidth)
    };
    assert_eq!(clocked(5), CongestionAlgorithm::Bbr);
    assert_ne!(clocked(98), CongestionAlgorithm::Bbr);
}

/// Ten segments at once, of which the last was lost, have no clock; nor is what follows the loss of the first segment a slow start.
#[test]
fn an_opening_tells_little() {
    let mut bins = Bins::new(Time::ZERO, ROUND);
    bins.at(Time::ZERO).sent_bytes = 10 * SEGMENT;
    let mut short = DirectionStats { bins, ..direction(&[]) };
    short.epochs.opening.rounds[0].bytes = 10 * SEGMENT;
    assert_eq!(named(&short, LimitedBy::Rto), CongestionAlgorithm::Unknown);
    let grows = CongestionEpoch {
        from: Time::from_millis(80),
        to: Time::from_secs(3),
        rounds: 42,
        first: 10 * SEGMENT,
        most: 52 * SEGMENT,
        last: 52 * SEGMENT,
        sum: 42 * 31 * SEGMENT,
        ..CongestionEpoch::default()
    };
    let mut repaired = direction(&[grows]);
    assert_eq!(named(&repaired, LimitedBy::Congestion), CongestionAlgorithm::Cubic);
    let at = Time::from_millis(40);
    repaired.epochs.push_loss(FlightAtLoss { at, ..FlightAtLoss::default() });
    assert_ne!(named(&repaired, LimitedBy::Congestion), CongestionAlgorithm::Cubic);
}

#[test]
fn what_hides_the_flights_is_told() {
    let epochs = sawtooth(6, 40, 21, |round| 20.0 + round);
    // Near the receiver, without timestamps.
    let far = DirectionStats { rtt_min_s: Some(0.000_1), ..direction(&epochs) };
    let found = CongestionControl::of(&far, LimitedBy::Congestion, false);
    assert_eq!((found.name, found.confidence), (CongestionAlgorithm::Unknown, 0.0));
    assert!(found.evidence.contains("timestamps"), "{}", found.evidence);
    // With them flights are the sender's.
    let mut echoed = far;
    echoed.epochs.is_by_echo = true;
    assert_eq!(named(&echoed, LimitedBy::Congestion), CongestionAlgorithm::Reno);
    // Undone reductions leave everything.
    let undone = sawtooth(6, 40, 3, |_| 40.0);
    let data = DirectionStats {
        spurious_retransmissions: 6,
        retransmitted_packets: 6,
        ..direction(&undone)
    };
    assert_eq!(named(&data, LimitedBy::Congestion), CongestionAlgorithm::Unknown);
    // A single loss is too little: BBR may leave any share.
    let mut once = sawtooth(1, 40, 3, |_| 20.0);
    once[0].most = once[0].first;
    let found = CongestionControl::of(&direction(&once), LimitedBy::Congestion, false);
    assert_eq!(found.name, CongestionAlgorithm::Unknown, "{found:?}");
    // Nothing was sent.
    let none = CongestionControl::of(&direction(&[]), LimitedBy::Application, false);
    assert!(none.evidence.contains("no whole round trip"), "{}", none.evidence);
}

/// Below a receive window of four or five segments the congestion window stops one above the flight: of 6 segments Reno keeps 3
/// and CUBIC 4, of 5 they keep 2 and 3.
#[test]
fn a_loss_in_a_full_small_window_tells_them_apart() {
    let full = |flight: u64, left: u64| {
        let mut epochs = sawtooth(6, flight, 12, |round| (left as f64 + round).min(flight as f64));
        for epoch in &mut epochs {
            epoch.is_capped = true;
            epoch.flat_rounds = 10;
        }
        epochs[0].first = flight * SEGMENT;
        named(&direction(&epochs), LimitedBy::ReceiveWindow)
    };
    assert_eq!(full(5, 3), CongestionAlgorithm::Reno);
    assert_eq!(full(5, 4), CongestionAlgorithm::Cubic);
    assert_eq!(full(4, 2), CongestionAlgorithm::Reno);
    assert_eq!(full(4, 3), CongestionAlgorithm::Cubic);
}

/// At the receiver, without timestamps: flights at losses and what was sent between them are numbers of bytes, which need no clock.
#[test]
fn losses_name_it_without_timestamps() {
    let mut epochs = CongestionEpochs::default();
    for (flight, sent, millis) in [(41, 0, 0), (41, 641, 900), (25, 113, 1200), (29, 362, 2100)] {
        epochs.push_loss(FlightAtLoss {
            at: Time::from_millis(millis),
            in_flight: flight * SEGMENT,
            sent_since: sent * SEGMENT,
            resent: 1,
            ..FlightAtLoss::default()
        });
    }
    let far = DirectionStats { rtt_min_s: Some(0.000_1), epochs, ..direction(&[]) };
    let found = CongestionControl::of(&far, LimitedBy::Congestion, false);
    assert_eq!(found.name, CongestionAlgorithm::Reno, "{found:?}");
    assert!(found.evidence.contains("a segment a round trip"), "{}", found.evidence);
}

#[test]
fn a_path_that_is_shorter_than_hosts_take_shows_no_algorithm() {
    let far = direction(&sawtooth(6, 40, 21, |round| 20.0 + round));
    assert_eq!(named(&far, LimitedBy::Congestion), CongestionAlgorithm::Reno);
    let near = DirectionStats { path_rtt_min_s: Some(4e-5), ..far };
    assert_eq!(named(&near, LimitedBy::Congestion), CongestionAlgorithm::Unknown);
}
