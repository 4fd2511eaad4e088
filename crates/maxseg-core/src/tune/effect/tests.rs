//! What may be said of a change, and what may not.

use proptest::prelude::*;

use super::super::plan::Value;
use super::*;

fn period(goodput_bytes_per_s: f64) -> Period {
    Period {
        sending_s: 60.0,
        goodput_bytes_per_s,
        rtt_s: Some(0.05),
        retransmitted_share: Some(0.0),
    }
}

/// Connections with these goodputs before, and so many times that after.
fn compared(count: u32, factor: f64) -> Compared {
    let rates = (0..count).map(|n| 1e6 + f64::from(n) * 1e3);
    let pairs = rates.map(|rate| [period(rate), period(rate * factor)]).collect();
    Compared { pairs, ..Compared::default() }
}

#[test]
fn a_clear_difference_is_told() {
    for (factor, verdict) in [
        (2.0, Verdict::Better),
        (0.5, Verdict::Worse),
        (1.0, Verdict::NoDifference),
        (1.01, Verdict::NoDifference),
    ] {
        let effect = judge(&compared(10, factor));
        assert_eq!(effect.verdict, verdict, "{factor}");
        let goodput = effect.goodput_bytes_per_s.unwrap();
        assert!((goodput.change_pct - (factor - 1.0) * 100.0).abs() < 1e-6, "{goodput:?}");
    }
}

#[test]
fn too_little_is_unknown_with_its_reason() {
    let effect = judge(&compared(9, 2.0));
    assert_eq!((effect.verdict, effect.connections), (Verdict::Unknown, 9));
    assert!(effect.unknown_because.unwrap().starts_with("9 of the connections there"));
    let mut short = compared(10, 2.0);
    short.pairs[3][1].sending_s = 59.9;
    let effect = judge(&short);
    assert_eq!((effect.verdict, effect.connections, effect.too_short), (Verdict::Unknown, 9, 1));
    assert_eq!(effect.goodput_bytes_per_s, None);
}

#[test]
fn those_that_are_left_do_not_speak_for_those_that_ended() {
    let mut most_ended = compared(10, 2.0);
    most_ended.gone_sending_s = vec![60.0; 11];
    let effect = judge(&most_ended);
    assert_eq!((effect.verdict, effect.gone), (Verdict::Unknown, 11));
    most_ended.gone_sending_s = vec![1.0; 1000];
    assert_eq!(judge(&most_ended).verdict, Verdict::Better);
}

#[test]
fn faster_with_longer_round_trips_is_both() {
    let mut both = compared(10, 2.0);
    both.pairs.iter_mut().for_each(|[_, after]| after.rtt_s = Some(0.5));
    assert_eq!(judge(&both).verdict, Verdict::Mixed);
}

#[test]
fn what_is_worse_is_told_with_its_numbers() {
    assert_eq!(judge(&compared(10, 1.0)).worse(), None);
    assert_eq!(judge(&compared(10, 2.0)).worse(), None);
    assert_eq!(judge(&compared(9, 0.5)).worse(), None, "too few");
    let slower = judge(&compared(10, 0.5)).worse().unwrap();
    assert_eq!(slower, "goodput -50.0% to -50.0% (10 connections, 99% intervals)");
    let mut lossy = compared(10, 2.0);
    for [_, after] in &mut lossy.pairs {
        (after.rtt_s, after.retransmitted_share) = (Some(0.1), Some(0.01));
    }
    let worse = judge(&lossy).worse().unwrap();
    assert!(
        worse.starts_with("round-trip time +100.0% to +100.0%, retransmitted +1.00 to +1.00"),
        "{worse}"
    );
}

#[test]
fn connections_that_get_nothing_through_are_worse() {
    let mut stalled = compared(10, 0.0);
    assert_eq!(judge(&stalled).verdict, Verdict::Worse);
    stalled.pairs.truncate(9);
    assert_eq!(judge(&stalled).verdict, Verdict::Unknown);
}

#[test]
fn differences_as_large_as_the_effect_are_unknown() {
    let mut wide = compared(10, 1.0);
    for (at, [_, after]) in wide.pairs.iter_mut().enumerate() {
        after.goodput_bytes_per_s *= if at % 2 == 0 { 3.0 } else { 0.4 };
    }
    let effect = judge(&wide);
    assert_eq!(effect.verdict, Verdict::Unknown);
    assert!(effect.unknown_because.unwrap().contains("differ too much"));
}

#[test]
fn connections_are_paired_by_cookie_and_rates_are_of_the_time_between() {
    let one = |sending_s, acked_bytes, data_segments, retransmitted| Counters {
        sending_s,
        acked_bytes,
        data_segments,
        retransmitted,
        rtt_s: None,
    };
    let before = Sample::from([(1, one(100.0, 1000, u32::MAX - 9, 0)), (2, one(70.0, 1, 1, 0))]);
    let after = Sample::from([(1, one(150.0, 3000, 90, 10)), (3, one(5.0, 1, 1, 0))]);
    let compared = Compared::of(&before, &after);
    assert_eq!((compared.gone_sending_s, compared.new), (vec![70.0], 1));
    let [[first, last]] = compared.pairs[..] else { panic!("{:?}", compared.pairs) };
    assert_eq!((first.sending_s, first.goodput_bytes_per_s), (100.0, 10.0));
    assert_eq!((last.sending_s, last.goodput_bytes_per_s), (50.0, 40.0));
    // The count of segments has passed its 32 bits.
    assert_eq!(last.retransmitted_share, Some(0.1));
}

#[test]
fn what_running_connections_do_not_feel_is_not_compared() {
    let step = |target: &str, before: &str, after: &str| Step {
        target: target.parse().unwrap(),
        before: Value::of(before),
        after: Value::of(after),
        image: None,
    };
    assert_eq!(incomparable(&step("route.10.0.0.0/8.mtu", "unset", "1280")), None);
    assert_eq!(incomparable(&step("route.10.0.0.0/8.rto_min", "300", "200")), None);
    let larger = step("sysctl.net.ipv4.tcp_wmem", "4096 16384 4194304", "4096 16384 8388608");
    assert_eq!(incomparable(&larger), None);
    for (target, before, after) in [
        ("route.10.0.0.0/8.rto_min", "200", "300"),
        ("route.10.0.0.0/8.rto_min", "unset", "300"),
        ("route.10.0.0.0/8.initcwnd", "10", "20"),
        ("clamp.eth0", "unset", "1200"),
        ("sysctl.net.ipv4.tcp_wmem", "4096 16384 4194304", "4096 16384 20000"),
        ("sysctl.net.ipv4.tcp_wmem", "4096 16384 4194304", "4096 20000 4194304"),
    ] {
        assert!(incomparable(&step(target, before, after)).is_some(), "{target}");
    }
}

fn pairs() -> impl Strategy<Value = Vec<[Period; 2]>> {
    let of = (
        prop_oneof![Just(60.0), 0.0..200.0_f64],
        0.0..1e9_f64,
        proptest::option::of(0.0..10.0_f64),
        proptest::option::of(0.0..1.0_f64),
    );
    let one = of.prop_map(|(sending_s, goodput_bytes_per_s, rtt_s, retransmitted_share)| Period {
        sending_s,
        goodput_bytes_per_s,
        rtt_s,
        retransmitted_share,
    });
    // Multiples of all of one side beside any: else there is hardly ever a verdict.
    let scaled = (proptest::collection::vec(one.clone(), 0..30), 0.1..10.0_f64);
    let scaled = scaled.prop_map(|(sides, factor)| {
        let of = |before: Period| {
            let goodput_bytes_per_s = before.goodput_bytes_per_s * factor;
            [before, Period { goodput_bytes_per_s, ..before }]
        };
        sides.into_iter().map(of).collect()
    });
    prop_oneof![proptest::collection::vec([one.clone(), one], 0..30), scaled]
}

proptest! {
    #[test]
    fn swapped_sides_swap_the_sign(pairs in pairs(), new in 0_usize..5) {
        let swapped = pairs.iter().map(|[before, after]| [*after, *before]).collect();
        let of = |pairs| judge(&Compared { pairs, gone_sending_s: Vec::new(), new });
        let (one, other) = (of(pairs), of(swapped));
        let wanted = match one.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            same @ (Verdict::Unknown | Verdict::NoDifference | Verdict::Mixed) => same,
        };
        prop_assert_eq!(other.verdict, wanted);
        let change = |effect: &Effect| effect.retransmitted_share.map(|share| share.change);
        prop_assert_eq!(change(&other), change(&one).map(|change| -change));
    }

    #[test]
    fn below_the_floor_it_is_always_unknown(pairs in pairs(), gone_sending_s in proptest::collection::vec(0.0..200.0_f64, 0..40)) {
        let is_long = |pair: &&[Period; 2]| pair.iter().all(|one| one.sending_s >= LEAST_SENDING_S);
        let long = pairs.iter().filter(is_long).count();
        let effect = judge(&Compared { pairs, gone_sending_s, new: 0 });
        prop_assert_eq!(effect.connections, long);
        prop_assert_eq!(effect.unknown_because.is_some(), effect.verdict == Verdict::Unknown);
        if long < LEAST_CONNECTIONS {
            prop_assert_eq!(effect.verdict, Verdict::Unknown);
            prop_assert!(effect.goodput_bytes_per_s.is_none() && effect.rtt_s.is_none());
        }
    }

    #[test]
    fn the_same_on_both_sides_is_never_a_difference(pairs in pairs()) {
        let pairs = pairs.into_iter().map(|[before, _]| [before, before]).collect();
        let effect = judge(&Compared { pairs, ..Compared::default() });
        prop_assert!(matches!(effect.verdict, Verdict::Unknown | Verdict::NoDifference));
    }
}
