use super::*;

fn exposure(bytes: u32, frame: u32) -> Exposure {
    Exposure {
        bytes,
        frames: bytes.div_ceil(frame),
        airtime: Time::from_nanos(u64::from(bytes) * 4_000), // 2 Mbit/s
    }
}

fn p(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn chain(clock: Clock, rate: f64, good: f64, bad: f64) -> ErrorModel {
    ErrorModel::GilbertElliott(GilbertElliott { clock, rate: p(rate), good: p(good), bad: p(bad) })
}

#[test]
fn more_frames_die_more_often() {
    let model = ErrorModel::Uniform { per: Per::Frame, rate: p(0.01) };
    let cases = [(128, 1), (640, 5), (641, 6), (1500, 12)];
    for (bytes, frames) in cases {
        let want = 1.0 - 0.99_f64.powi(frames);
        let got = model.chance(&exposure(bytes, 128)).get();
        assert!((got - want).abs() < 1e-14, "{bytes} bytes: {got} is not {want}");
    }
}

#[test]
fn a_chain_without_memory_is_uniform() {
    // Runs of 1/(1 − rate) units are what independent draws give.
    let clock = Clock::Units { per: Per::Frame, burst: 1.0 / 0.9 };
    let bursty = chain(clock, 0.1, 0.0, 1.0).chance(&exposure(1500, 128)).get();
    let uniform =
        ErrorModel::Uniform { per: Per::Frame, rate: p(0.1) }.chance(&exposure(1500, 128)).get();
    assert!((bursty - uniform).abs() < 1e-12, "{bursty} against {uniform}");
}

#[test]
fn a_chain_whose_states_err_alike_is_uniform() {
    let clock = Clock::Units { per: Per::Frame, burst: 4.0 };
    let bursty = chain(clock, 0.3, 0.2, 0.2).chance(&exposure(1500, 128)).get();
    assert!((bursty - (1.0 - 0.8_f64.powi(12))).abs() < 1e-12, "{bursty}");
}

#[test]
fn what_is_drawn_is_what_the_chance_says() {
    let by_frame = |burst| Clock::Units { per: Per::Frame, burst };
    let by_time = Clock::Time { burst: Time::from_millis(10) };
    let by_short_time = Clock::Time { burst: Time::from_nanos(100_000) };
    let models = [
        ("uniform frames", ErrorModel::Uniform { per: Per::Frame, rate: p(0.02) }),
        ("uniform packets", ErrorModel::Uniform { per: Per::Packet, rate: p(0.1) }),
        ("uniform bytes", ErrorModel::Uniform { per: Per::Byte, rate: p(1e-4) }),
        ("burst 4", chain(by_frame(4.0), 0.05, 0.0, 1.0)),
        ("burst 16, soft states", chain(by_frame(16.0), 0.2, 0.001, 0.5)),
        ("always bad", chain(by_frame(4.0), 1.0, 0.0, 1.0)),
        ("10 ms by time", chain(by_time, 0.05, 0.0, 1.0)),
        ("0.1 ms by time: forgotten between packets", chain(by_short_time, 0.2, 0.0, 1.0)),
        ("always bad by time", chain(by_time, 1.0, 0.0, 1.0)),
        ("10 ms by time, soft states", chain(by_time, 0.05, 0.01, 0.3)),
    ];
    let n = 400_000_u64;
    for (name, model) in models {
        for bytes in [40, 640, 1500] {
            let exposure = exposure(bytes, 128);
            let mut process = ErrorProcess::start(&Schedule::constant(model.clone()), 1, name);
            let damaged = (0..n)
                .filter(|k| process.draw(&exposure, Time::from_nanos(k * 6_000_000)))
                .count() as f64;
            let want = model.chance(&exposure).get();
            // Bursts make neighbours alike: the effective sample shrinks by about twice the burst.
            let spread = (want * (1.0 - want) * 32.0 / n as f64).sqrt();
            let got = damaged / n as f64;
            assert!((got - want).abs() <= 4.5 * spread, "{name} {bytes} B: {got} is not {want}");
        }
    }
}

#[test]
fn bad_runs_have_their_mean_length() {
    for burst in [1.0, 4.0, 16.0] {
        let model = chain(Clock::Units { per: Per::Packet, burst }, 0.1, 0.0, 1.0);
        let mut process = ErrorProcess::start(&Schedule::constant(model), 5, "runs");
        let damaged: Vec<bool> =
            (0..1_000_000).map(|_| process.draw(&exposure(40, 128), Time::ZERO)).collect();
        let runs = damaged.windows(2).filter(|pair| pair[0] && !pair[1]).count();
        let mean = damaged.iter().filter(|&&d| d).count() as f64 / runs as f64;
        assert!((mean / burst - 1.0).abs() < 0.05, "burst {burst}: mean run {mean}");
    }
}

#[test]
fn a_schedule_changes_the_model_in_time() {
    let schedule = Schedule(vec![
        (Time::ZERO, ErrorModel::None),
        (Time::from_secs(60), ErrorModel::Uniform { per: Per::Packet, rate: p(1.0) }),
        (Time::from_secs(120), ErrorModel::None),
    ]);
    let mut process = ErrorProcess::start(&schedule, 1, "link");
    let at = [0, 59, 60, 119, 120, 500];
    let fates: Vec<bool> =
        at.iter().map(|s| process.draw(&exposure(40, 128), Time::from_secs(*s))).collect();
    assert_eq!(fates, [false, false, true, true, false, false]);
    let mean = schedule.mean_chance(&exposure(40, 128), Time::from_secs(240)).get();
    assert!((mean - 0.25).abs() < 1e-12, "{mean}");
}

/// The chain is bad for `rate` of the time, and the mean weighs both states by that (Elliott 1963).
#[test]
fn the_mean_of_a_chain_weighs_its_states() {
    let clock = Clock::Units { per: Per::Packet, burst: 4.0 };
    let chain = GilbertElliott { clock, rate: p(0.2), good: p(0.01), bad: p(0.5) };
    assert!((chain.mean().get() - 0.108).abs() < 1e-15, "{}", chain.mean());
    assert!((GilbertElliott { rate: p(0.0), ..chain }.mean().get() - 0.01).abs() < 1e-15);
    assert!((GilbertElliott { rate: p(1.0), ..chain }.mean().get() - 0.5).abs() < 1e-15);
}

/// A model that can damage nothing draws nothing: a path of such links is not random.
#[test]
fn a_model_is_active_where_any_packet_can_die() {
    let clock = Clock::Units { per: Per::Packet, burst: 1.0 };
    let cases = [
        (ErrorModel::None, false),
        (ErrorModel::Uniform { per: Per::Byte, rate: p(0.0) }, false),
        (ErrorModel::Uniform { per: Per::Byte, rate: p(1e-9) }, true),
        (chain(clock, 0.0, 0.0, 1.0), false), // never bad
        (chain(clock, 0.1, 0.0, 0.0), false), // bad states that damage nothing
        (chain(clock, 0.1, 0.0, 0.1), true),
        (chain(clock, 0.0, 0.1, 0.0), true), // errors of the good state
        (ErrorModel::List { lost: [].into() }, false),
        (ErrorModel::List { lost: [7].into() }, true),
    ];
    for (model, is_active) in cases {
        assert_eq!(model.is_active(), is_active, "{model:?}");
    }
}

#[test]
fn another_link_draws_other_numbers() {
    let schedule = Schedule::constant(ErrorModel::Uniform { per: Per::Packet, rate: p(0.5) });
    let fates = |name: &str| {
        let mut process = ErrorProcess::start(&schedule, 1, name);
        (0..64).map(|_| process.draw(&exposure(40, 128), Time::ZERO)).collect::<Vec<_>>()
    };
    assert_eq!(fates("hop.radio"), fates("hop.radio"));
    assert_ne!(fates("hop.radio"), fates("hop.wired"));
}

#[test]
fn a_list_names_its_packets() {
    let schedule = Schedule::constant(ErrorModel::List { lost: [0, 3, 4].into() });
    let mut process = ErrorProcess::start(&schedule, 1, "link");
    let fates: Vec<bool> = (0..6).map(|_| process.draw(&exposure(40, 128), Time::ZERO)).collect();
    assert_eq!(fates, [true, false, false, true, true, false]);
    assert!(!schedule.is_random());
}

#[test]
fn a_schedule_begins_at_zero_and_rises() {
    let faults = |times: &[&str]| {
        let entry = |at: &&str| -> ErrorSpec {
            toml::from_str(&format!("model = 'none'\nat = '{at}'")).unwrap()
        };
        ErrorsSpec::Schedule(times.iter().map(entry).collect())
            .resolve()
            .map_err(|error| error.what)
    };
    assert!(faults(&["0 s", "10 s", "20 s"]).is_ok());
    assert_eq!(faults(&["1 s", "10 s"]).unwrap_err(), "the schedule begins at 1 s");
    assert_eq!(faults(&["0 s", "10 s", "10 s"]).unwrap_err(), "10 s does not come after 10 s");
    assert_eq!(faults(&["0 s", "10 s", "9 s"]).unwrap_err(), "9 s does not come after 10 s");
    assert!(faults(&[]).is_err());
}

#[test]
fn impossible_models_are_refused_with_a_hint() {
    let cases = [
        ("model = 'uniform'", "the error model has no rate"),
        ("model = 'uniform'\nrate = 0.1\nburst = 4", "the model `uniform` has no `burst`"),
        ("model = 'uniform'\nrate = 0.1\nper = 'time'", "uniform errors cannot be clocked by time"),
        ("model = 'gilbert-elliott'\nrate = 0.1", "the chain has no `burst`, its mean bad run"),
        (
            "model = 'gilbert-elliott'\nrate = 0.9\nburst = 4",
            "90% of units cannot be bad in runs of 4 on average",
        ),
        ("model = 'list'\nlost = [4, 3]", "the numbers of lost packets do not rise"),
        ("model = 'none'\nrate = 0.1", "the model `none` has no `rate`"),
        (
            "model = 'gilbert-elliott'\nrate = 0.1\nburst = '10 ms'",
            "this chain is clocked by units, its burst is a time",
        ),
    ];
    for (text, want) in cases {
        let spec: ErrorSpec = toml::from_str(text).unwrap();
        let error = ErrorsSpec::One(Box::new(spec)).resolve().unwrap_err();
        assert_eq!(error.what, want, "{text}");
        assert!(!error.hint.is_empty());
    }
}

/// Bad runs of one unit, each followed by one good unit, are half of all units: the most that runs of one can be.
#[test]
fn the_shortest_runs_that_a_rate_allows_are_taken() {
    let resolve = |rate: f64, burst: f64| {
        let text = format!("model = 'gilbert-elliott'\nrate = {rate}\nburst = {burst}");
        ErrorsSpec::One(Box::new(toml::from_str(&text).unwrap())).resolve()
    };
    assert!(resolve(0.5, 1.0).is_ok());
    let error = resolve(0.75, 1.0).unwrap_err();
    assert!(error.hint.contains("at least 3.00"), "{}", error.hint);
    assert!(resolve(0.75, 3.0).is_ok());
}

/// A list decides by itself; the other models by chance, wherever in the schedule they stand.
#[test]
fn a_schedule_is_random_where_any_of_its_models_is() {
    let uniform = ErrorModel::Uniform { per: Per::Packet, rate: p(0.5) };
    let later = Schedule(vec![(Time::ZERO, ErrorModel::None), (Time::from_secs(1), uniform)]);
    assert!(later.is_random());
    assert_eq!(later.entries().len(), 2);
    assert!(!Schedule::default().is_random());
}
