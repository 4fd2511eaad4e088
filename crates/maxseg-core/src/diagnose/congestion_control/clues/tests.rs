use super::*;
use crate::evidence::Bins;

/// Flights of 20 round trips behind a loss, in segments of 1000 bytes.
fn is_flat(flight: impl Fn(u32) -> u32) -> bool {
    let most = |round| RoundFlight { most: 1000 * flight(round), acked: 0 };
    has_no_slope(&(0..20).map(most).collect::<Vec<RoundFlight>>(), 1000.0)
}

/// BBR lets more and less out by turns, and drains what its start-up had queued.
#[test]
fn flights_that_fall_or_vary_have_no_slope() {
    assert!(is_flat(|round| [62, 50, 50, 50, 50, 38][round as usize % 6]));
    assert!(is_flat(|round| 90 - 2 * round));
    // Half a segment a round trip, behind a first one with what duplicates had released.
    assert!(!is_flat(|round| if round == 0 { 60 } else { 28 + round / 2 }));
}

/// A send buffer of 64 kB over a path of 12 kB: any sender's flight stays there.
#[test]
fn a_flight_beyond_bbr_is_held_by_a_buffer() {
    let epoch = CongestionEpoch { rounds: 100, sum: 6_500_000, ..CongestionEpoch::default() };
    let over = |path_rtt_min_s| {
        let capacity_bps = Some(3e6);
        let data = DirectionStats { path_rtt_min_s, capacity_bps, ..DirectionStats::default() };
        is_beyond_bbr(&epoch, &data)
    };
    assert!(over(Some(0.03)) && !over(Some(0.09)) && !over(None));
}

/// Replies of a segment each: requests clock them out, whatever the congestion control.
#[test]
fn replies_have_no_clock() {
    let share = |app_limited| {
        let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
        for n in 0..60 {
            let bin = bins.at(Time::from_millis(100 * n));
            (bin.segments, bin.sent_bytes, bin.app_limited) = (1, 1000, app_limited);
        }
        bins.finish(Time::from_secs(6));
        let mss_used_bytes = Some(1000);
        let data =
            DirectionStats { bins, mss_used_bytes, begins_late: true, ..DirectionStats::default() };
        clocked_share(&data)
    };
    assert_eq!(share(Time::ZERO), Some(0.0));
    assert_eq!(share(Time::from_millis(80)), None);
}

#[test]
fn few_flights_show_no_slope() {
    let few = [RoundFlight { most: 30_000, acked: 0 }; 12];
    assert!(!has_no_slope(&few, 1000.0));
}

/// An opening of so many round trips from 10 segments to `most` on a path that holds 20, whose round trips rose to a second.
fn opening(rounds: u32, most: u64, limit: LimitedBy) -> Clues {
    let mut epochs = crate::evidence::CongestionEpochs::default();
    let segments = |count: u64| count * 1000;
    epochs.push(CongestionEpoch {
        rounds,
        first: segments(10),
        most: segments(most),
        last: segments(most),
        by_loss: true,
        ..CongestionEpoch::default()
    });
    let data = DirectionStats {
        mss_used_bytes: Some(1000),
        capacity_bps: Some(3.2e6),
        path_rtt_min_s: Some(0.05),
        path_rtt_loaded_s: Some(1.0),
        epochs,
        ..DirectionStats::default()
    };
    Clues::of(&data, limit, View::Elsewhere)
}

/// 5.7 doublings in eight round trips, of which five were behind a full queue.
#[test]
fn growth_by_half_into_a_full_queue_is_slow_start() {
    let best = |rounds| opening(rounds, 520, LimitedBy::Bandwidth).weights.best().0;
    assert_eq!(best(9), Reno);
    assert_eq!(best(30), Cubic, "nineteen round trips of little growth");
}

/// A buffer that limits all along lets no flight grow to the end.
#[test]
fn a_flight_that_grew_until_its_loss_was_held_by_no_buffer() {
    assert_eq!(opening(30, 520, LimitedBy::SendBuffer).weights.best().0, Cubic);
    assert_eq!(opening(9, 520, LimitedBy::SendBuffer).count(), 0);
    assert_eq!(opening(30, 520, LimitedBy::Application).count(), 0);
}
