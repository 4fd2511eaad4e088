//! Metrics of made-up samples.

use super::*;

/// A sender at 8 Mbit/s from the second on in which slow start ends, at half of that before.
fn points(slow_start_s: f64, resent_every: u64) -> Vec<SenderPoint> {
    let mut bytes = 0;
    (0..=100)
        .map(|step| {
            let at_s = f64::from(step) / 10.0;
            let is_in_slow_start = at_s < slow_start_s;
            let window_bytes = Some(if is_in_slow_start { 300_000 } else { 50_000 });
            bytes += if is_in_slow_start { 50_000 } else { 100_000 };
            SenderPoint {
                at_s,
                acked_bytes: bytes,
                sent_bytes: bytes + bytes / resent_every,
                resent_bytes: bytes / resent_every,
                rtt_s: Some(if is_in_slow_start { 0.5 } else { 0.030 }),
                is_in_slow_start: Some(is_in_slow_start),
                window_bytes,
                ..SenderPoint::default()
            }
        })
        .collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.001 * b.abs()
}

#[test]
fn slow_start_does_not_count() {
    let mut run = measure(&[points(2.0, 50)], 10.0, Some(0.020)).unwrap();
    run.expect(Some(8e6));
    assert!(run.equilibrium.is_after_slow_start);
    assert!(near(run.equilibrium.from_s, 2.12), "four round trips of 30 ms after: {run:?}");
    assert!(near(run.throughput_bps, 8e6), "{run:?}");
    assert!(near(run.transfer_time_ratio.unwrap(), 1.0));
    assert!(near(run.efficiency.unwrap(), 50.0 / 51.0), "{run:?}");
    assert!(near(run.buffer_delay.unwrap(), 0.5), "{run:?}");
    assert_eq!((run.seconds.len(), run.window_bytes), (10, Some(50_000)));
    assert!(near(run.seconds[9].throughput_bps, 8e6));
}

#[test]
fn a_round_trip_that_rises_counts_with_its_middle() {
    let mut rising = points(0.0, 50);
    for point in &mut rising {
        point.rtt_s = Some(0.040 + 0.020 * point.at_s);
    }
    let run = measure(&[rising], 10.0, Some(0.040)).unwrap();
    let from = run.equilibrium.from_s;
    let middle = 0.040 + 0.020 * f64::midpoint(from, 10.0);
    assert!((run.rtt_mean_s.unwrap() - middle).abs() < 1e-9, "{run:?}");
    // Within a sample.
    let late = 0.040 + 0.020 * (from + 0.9 * (10.0 - from));
    assert!((run.rtt_p90_s.unwrap() - late).abs() < 0.005, "{run:?}");
    // A second that begins between two samples, too.
    assert!((run.seconds[4].rtt_s.unwrap() - 0.130).abs() < 1e-9, "{run:?}");
}

#[test]
fn slow_start_without_end_is_said() {
    let rising: Vec<SenderPoint> = (0..=100)
        .map(|step| SenderPoint {
            at_s: f64::from(step) / 10.0,
            acked_bytes: 1000 * u64::try_from(step * step).unwrap(),
            is_in_slow_start: Some(true),
            ..SenderPoint::default()
        })
        .collect();
    let run = measure(&[rising], 10.0, None).unwrap();
    assert!(!run.equilibrium.is_after_slow_start);
    assert!(near(run.equilibrium.from_s, 10.0 / 3.0));
    assert_eq!((run.efficiency, run.buffer_delay), (None, None), "unknown is not zero");
}

#[test]
fn a_third_is_left_out_where_slow_start_is_not_known() {
    let mut points = points(2.0, 50);
    for point in &mut points {
        point.is_in_slow_start = None;
    }
    let run = measure(&[points], 10.0, None).unwrap();
    assert!(!run.equilibrium.is_after_slow_start);
    assert!(near(run.equilibrium.from_s, 10.0 / 3.0));
    assert!(near(run.throughput_bps, 8e6), "{run:?}");
}

#[test]
fn losses_of_slow_start_are_not_those_of_the_path() {
    // A tenth is sent again in the first three seconds, nothing later; and a fiftieth all the time.
    let mut early = points(0.0, 10);
    let lost = early[30];
    for point in early.iter_mut().filter(|point| point.at_s > 3.0) {
        point.resent_bytes = lost.resent_bytes;
        point.sent_bytes = point.acked_bytes + lost.resent_bytes;
    }
    for (mut points, want) in [(early, 0.0), (points(0.0, 50), 1.0 / 51.0)] {
        for point in &mut points {
            point.is_in_slow_start = None;
        }
        let run = measure(&[points], 10.0, None).unwrap();
        let (share, _) = run.lasting_loss(0.030).unwrap();
        assert!((share - want).abs() < 1e-3, "{share}, not {want}");
        assert_eq!(run.lasting_loss(1.0), None, "slow start may have lasted to the end");
    }
    let known = measure(&[points(2.0, 50)], 10.0, None).unwrap();
    assert!(near(known.lasting_loss(1.0).unwrap().0, 1.0 / 51.0));
}

#[test]
fn a_window_holds_a_connection_that_never_leaves_slow_start() {
    let steady: Vec<SenderPoint> = (0..=100)
        .map(|step| SenderPoint {
            at_s: f64::from(step) / 10.0,
            acked_bytes: 100_000 * u64::try_from(step).unwrap(),
            is_in_slow_start: Some(true),
            ..SenderPoint::default()
        })
        .collect();
    let run = measure(&[steady.clone(), steady], 10.0, None).unwrap();
    assert!(run.equilibrium.is_after_slow_start, "{run:?}");
    assert!(near(run.throughput_bps, 16e6), "{run:?}");
    assert_eq!(run.connection_bps.len(), 2);
}

#[test]
fn each_connection_has_its_efficiency() {
    let run = measure(&[points(0.0, 50), points(0.0, 10)], 10.0, None).unwrap();
    let each: Vec<f64> = run.connection_efficiency.iter().map(|share| share.unwrap()).collect();
    assert!(near(each[0], 50.0 / 51.0) && near(each[1], 10.0 / 11.0), "{each:?}");
    assert!(near(run.efficiency.unwrap(), 2.0 / (1.02 + 1.1)), "of the bytes of both");
}

#[test]
fn nothing_is_made_of_no_samples() {
    assert_eq!(measure(&[], 10.0, None), None);
    assert_eq!(measure(&[Vec::new()], 10.0, None), None);
    assert_eq!(measure(&[vec![SenderPoint::default()]], 10.0, None), None);
}
