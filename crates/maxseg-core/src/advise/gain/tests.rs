//! What is promised of a gain, and how surely.

use super::*;

fn gain(baseline_bps: f64, without_bps: f64) -> Gain {
    Gain {
        observed_bps: 8e6,
        most_bps: 1e9,
        path_uncertainty: 0.06,
        loss_uncertainty: 0.0,
        idle_share: 0.0,
        predictions: vec![Prediction {
            at_worst_bps: None,
            engine: EngineName::Sim,
            baseline_bps,
            without_bps: Some(without_bps),
            baseline_spread: 0.0,
            spread: 0.0,
            runs: [3, 3],
            half_bps: [None, None],
            request_s: [None, None],
            limited_by: None,
            then_limited_by: None,
        }],
        misses: Vec::new(),
        loss: LossModel::Errors,
        loses_as_observed: false,
        shortened_to: None,
        is_bound: false,
    }
}

#[test]
fn idle_times_remain() {
    let gain = Gain { idle_share: 0.5, ..gain(8e6, 80e6) };
    // Half of the time stays; the other half shrinks to a tenth: 1 / 0.55.
    assert!((gain.relative().unwrap() - (1.0 / 0.55 - 1.0)).abs() < 1e-9);
}

#[test]
fn the_interval_holds_what_the_baseline_missed_and_what_chance_does() {
    let exact = gain(8e6, 16e6).relative_interval().unwrap();
    let missed = gain(7.2e6, 16e6).relative_interval().unwrap();
    // With the miss in both runs, or in the first alone.
    assert!(missed.0 < 1.0 && missed.1 > 16.0 / 7.2 - 1.0, "{missed:?}");
    // The same miss, by chance.
    let mut chance = gain(7.2e6, 16e6);
    chance.predictions[0].baseline_spread = 0.12;
    assert!((chance.expected().unwrap().goodput_bps - 16e6).abs() < 1.0);
    let mut random = gain(8e6, 16e6);
    random.predictions[0].spread = 0.1;
    let random = random.relative_interval().unwrap();
    assert!(random.0 < exact.0 && random.1 > exact.1, "{random:?} {exact:?}");
}

/// Behind a small window few packets are lost; what limits behind a larger one is their share.
#[test]
fn few_losses_that_limit_next_widen_the_interval() {
    let by = |limited_by, then_limited_by| {
        let mut few = Gain { loss_uncertainty: 0.25, ..gain(8e6, 24e6) };
        few.predictions[0].limited_by = Some(limited_by);
        few.predictions[0].then_limited_by = Some(then_limited_by);
        few.relative_interval().unwrap()
    };
    let many = by(LimitedBy::ReceiveWindow, LimitedBy::Bandwidth);
    assert_eq!(many, gain(8e6, 24e6).relative_interval().unwrap());
    let few = by(LimitedBy::ReceiveWindow, LimitedBy::Congestion);
    assert!(few.0 < 1.2 && few.1 > 3.0, "{few:?}");
    // What was observed had as many of them.
    assert_eq!(by(LimitedBy::Congestion, LimitedBy::Congestion), many);
}

#[test]
fn nothing_is_promised_that_may_be_a_loss() {
    assert_eq!(gain(8e6, 8.1e6).missing(), Some(NoGain::TooSmall));
    assert!(matches!(gain(8e6, 8.4e6).missing(), Some(NoGain::Uncertain { .. })));
    assert_eq!(gain(8e6, 10e6).missing(), None);
}

#[test]
fn a_baseline_with_more_than_was_observed_gives_a_lower_bound() {
    let miss = Miss { of: Measured::Goodput, observed: 8e6, rerun: 12e6 };
    let missed = Gain { misses: vec![miss], is_bound: true, ..gain(12e6, 24e6) };
    assert!(!missed.explains());
    // All of what was missed, and how well the path is known.
    let expected = missed.expected().unwrap();
    assert!((expected.goodput_bps - 16e6 * libm::exp(-0.06)).abs() < 1.0, "{expected:?}");
    assert_eq!(missed.missing(), None);
    let less = Gain { misses: vec![miss], ..gain(12e6, 12.1e6) };
    assert_eq!(less.missing(), Some(NoGain::BaselineMisses { misses: vec![miss] }));
}

#[test]
fn either_of_two_explanations_may_hold() {
    let both = gain(8e6, 16e6).or(&gain(8e6, 12e6));
    let (low, high) = both.relative_interval().unwrap();
    let alone = |without| gain(8e6, without).relative_interval().unwrap();
    assert!((low - alone(12e6).0).abs() < 1e-9 && (high - alone(16e6).1).abs() < 1e-9);
    let nothing = gain(8e6, 16e6).or(&gain(8e6, 8e6));
    assert!(matches!(nothing.missing(), Some(NoGain::Uncertain { .. })));
}

#[test]
fn no_more_than_the_line_carries() {
    let full = Gain { most_bps: 20e6, ..gain(8e6, 30e6) };
    let expected = full.expected().unwrap();
    assert!((expected.goodput_bps - 20e6).abs() < 1.0, "{expected:?}");
    assert!(expected.high_bps < 1.07 * 20e6, "{expected:?}");
}
