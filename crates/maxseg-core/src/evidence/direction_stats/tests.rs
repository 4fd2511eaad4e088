use super::*;

#[test]
fn a_window_that_is_much_lower_for_most_of_the_time_is_of_a_slow_reader() {
    let windows = |least, most, low| DirectionStats {
        window_min_bytes: Some(least),
        window_max_bytes: Some(most),
        low_windows: Some(low),
        ..DirectionStats::default()
    };
    assert!(windows(48_000, 330_000, 0.97).has_slow_reader());
    assert!(!windows(48_000, 330_000, 0.2).has_slow_reader(), "it grew");
    assert!(!windows(10_220, 18_980, 1.0).has_slow_reader(), "what has just arrived");
    assert!(!windows(60_000, 65_535, 0.0).has_slow_reader());
    let unscaled = |least_window, low_windows, full_windows| DirectionStats {
        least_window: Some(least_window),
        low_windows: Some(low_windows),
        full_windows: Some(full_windows),
        ..DirectionStats::default()
    };
    assert!(unscaled(0.2, 0.9, 0.1).has_slow_reader(), "the scale is unknown");
    assert!(!unscaled(0.9, 0.0, 0.1).has_slow_reader());
    let late = |full| DirectionStats { begins_late: true, ..unscaled(0.9, 0.0, full) };
    assert!(late(0.1).has_slow_reader(), "the largest was before the capture");
    assert!(!late(0.9).has_slow_reader(), "a small buffer");
    let shut = DirectionStats { zero_windows: 1, ..DirectionStats::default() };
    assert!(shut.has_slow_reader());
    let times = |window_shut_times, window_shut_briefly| {
        DirectionStats { window_shut_times, window_shut_briefly, ..shut.clone() }.has_slow_reader()
    };
    assert!(times(3, 2), "one of them lasted");
    assert!(!times(3, 3), "behind a repair");
}
