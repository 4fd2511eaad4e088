use super::*;

#[test]
fn time_is_neither_lost_nor_made() {
    let mut bins = Bins::new(Time::from_secs(5), Time::from_millis(1));
    let spans = [(5_000, 5_003), (5_010, 5_100), (5_100, 9_000), (9_000, 800_000)];
    for (from, to) in spans {
        bins.spread(Time::from_millis(from), Time::from_millis(to), |bin, time| {
            bin.idle = bin.idle.saturating_add(time);
        });
    }
    bins.finish(Time::from_millis(800_000));
    let list = bins.as_slice();
    // Three intervals at the beginning and at each of the other instants; what is between is one each.
    assert!(list.len() < 16, "{}", list.len());
    let idle: u64 = list.iter().map(|bin| bin.idle.as_nanos()).sum();
    assert_eq!(idle, (3 + 90 + 3_900 + 791_000) * 1_000_000);
    for pair in list.windows(2) {
        assert_eq!(pair[0].end(), pair[1].at);
    }
    assert_eq!(list.last().unwrap().end(), Time::from_millis(800_000));
}

#[test]
fn there_are_never_too_many() {
    let mut bins = Bins::new(Time::ZERO, Time::from_millis(1));
    for n in 0..100_000 {
        bins.at(Time::from_millis(n)).segments += 1;
    }
    bins.finish(Time::from_millis(100_000));
    let list = bins.as_slice();
    assert!(list.len() <= Bins::MOST && list.len() >= Bins::MOST / 2);
    assert_eq!(list.iter().map(|bin| bin.segments).sum::<u32>(), 100_000);
    for pair in list.windows(2) {
        assert_eq!(pair[0].end(), pair[1].at);
    }
}

/// However many intervals are joined, a window was full for as much of the time.
#[test]
fn joined_intervals_are_full_for_as_much_of_the_time() {
    let full_share = |most: usize, is_full: fn(u64) -> bool| {
        let mut bins = Bins::new(Time::ZERO, Time::from_millis(10));
        for n in 0..2000 {
            let left = if is_full(n) { 0 } else { 1 << 16 };
            bins.at(Time::from_millis(10 * n)).window_left_min = Some(left);
        }
        bins.coarsen(most);
        let list = bins.as_slice();
        let full = list.iter().filter(|bin| bin.window_left_min == Some(0)).count();
        full as f64 / list.len() as f64
    };
    for most in [2000, 1000, 500, 250, 125] {
        // Four standard errors of a share of so many draws, where some are joined.
        let near = |share: f64, wanted: f64| (share - wanted).abs() < 2.0 / (most as f64).sqrt();
        assert!(near(full_share(most, |n| n % 4 == 0), 0.25), "{most}");
        assert!(near(full_share(most, |n| n % 2 == 0), 0.5), "{most}");
        assert!(near(full_share(most, |n| n % 10 != 0), 0.9), "{most}");
    }
}

#[test]
fn the_longer_of_two_stands_for_both_more_often() {
    let second = |n: u64| {
        let begin = Time::from_millis(40 * n);
        let [middle, end] = [10, 40].map(|ms| begin.saturating_add(Time::from_millis(ms)));
        later_stands([begin, middle, end])
    };
    let count = (0..10_000).filter(|n| second(*n)).count();
    assert!((7_200..7_800).contains(&count), "three quarters: {count}");
}

#[test]
fn a_window_of_0_is_shut_at_any_scale() {
    let mut bins = Bins::new(Time::ZERO, Time::from_secs(1));
    let [shut, small] = [0, 1].map(Time::from_secs);
    bins.at(shut).rwnd_limited = Time::from_secs(1);
    bins.at(shut).zero_window = Time::from_secs(1);
    bins.at(small).rwnd_limited = Time::from_secs(1);
    bins.scale_windows(128);
    let left: Vec<Time> = bins.as_slice().iter().map(|bin| bin.rwnd_limited).collect();
    assert_eq!(left, [Time::from_secs(1), Time::ZERO]);
}

/// Acknowledgements that reach the sender behind the last packet count in the last interval: its rate is over all of it.
#[test]
fn the_last_interval_is_as_long_as_the_others() {
    let mut bins = Bins::new(Time::from_secs(5), Time::from_millis(80));
    for n in 0..8 {
        bins.at(Time::from_millis(5_000 + 80 * n)).acked_bytes += 1_000;
    }
    bins.finish(Time::from_millis(5_561));
    assert_eq!(bins.as_slice().last().unwrap().duration, Time::from_millis(1));
    assert!(bins.whole().iter().all(|bin| bin.duration == Time::from_millis(80)));
    assert_eq!(Bins::default().whole(), []);
}

#[test]
fn what_is_far_away_does_not_take_long() {
    let mut bins = Bins::new(Time::ZERO, Time::from_nanos(1));
    bins.spread(Time::ZERO, Time::NEVER, |bin, time| bin.idle = time);
    assert!(bins.as_slice().len() <= Bins::MOST);
}
