//! Retransmission timeouts: each row is the next sample of its sequence.

use std::cell::RefCell;

use maxseg_core::settings::{RtoRule, RtoSettings};
use maxseg_core::tcp::Rto;
use maxseg_core::tcp::rto::{Linux, Rfc6298};
use maxseg_core::units::Time;

use super::row::{Row, Rule};

pub(crate) const RFC6298: Rule = Rule { file: "rto_rfc6298", check: rfc6298 };
pub(crate) const LINUX: Rule = Rule { file: "rto_linux", check: linux };

/// The samples of the sequence that is being read.
#[derive(Default)]
struct Sequence {
    name: String,
    samples: Vec<Time>,
}

thread_local! {
    // A rule sees one row at a time, and these rows go on where the one before ended.
    static SEQUENCE: RefCell<Sequence> = RefCell::default();
}

/// All samples of the row's sequence up to this one.
fn samples(row: &mut Row, sample: Time) -> Vec<Time> {
    let (name, index) = (row.text("sequence"), row.count("index"));
    SEQUENCE.with_borrow_mut(|sequence| {
        if index == 0 {
            *sequence = Sequence { name: name.clone(), samples: Vec::new() };
        }
        assert_eq!(sequence.name, name, "a sequence begins with index 0");
        assert_eq!(sequence.samples.len() as u64, index, "`{name}` has a gap");
        sequence.samples.push(sample);
        sequence.samples.clone()
    })
}

/// The timer that the simulator uses, after these samples.
fn timer(rule: RtoRule, min: Time, max: Time, samples: &[Time]) -> Rto {
    let initial = Time::from_secs(1);
    let mut rto = Rto::new(RtoSettings { rule, initial, min, max, forget_after: None });
    for sample in samples {
        rto.on_sample(Time::ZERO, *sample);
    }
    rto
}

fn rfc6298(row: &mut Row) {
    let sample = Time::from_secs_f64(row.number("sample_rtt_s"));
    let samples = samples(row, sample);
    let bounds = [
        ("rto_s_min1_max60_G0", Time::from_secs(1), Time::from_secs(60), Time::ZERO),
        (
            "rto_s_min0.2_max120_G0.1",
            Time::from_millis(200),
            Time::from_secs(120),
            Time::from_millis(100),
        ),
    ];
    for (column, min, max, granularity) in bounds {
        let mut estimate = Rfc6298::new(granularity);
        for sample in &samples {
            estimate.on_sample(*sample);
        }
        row.expect("srtt_s", estimate.srtt().unwrap());
        row.expect("rttvar_s", estimate.rttvar());
        let exact = estimate.timeout().clamp(min.as_secs_f64(), max.as_secs_f64());
        row.expect(column, exact);
        let rto = timer(RtoRule::Rfc6298 { granularity }, min, max, &samples);
        // The timer runs in whole nanoseconds.
        assert_eq!(rto.current(), Time::from_secs_f64(exact));
    }
}

fn linux(row: &mut Row) {
    let sample = Time::from_nanos(row.count("sample_rtt_us") * 1000);
    let samples = samples(row, sample);
    let (min, jiffy) = (Time::from_millis(200), Time::from_millis(4));
    let mut estimate = Linux::new(min, jiffy);
    for sample in &samples {
        estimate.on_sample(*sample);
    }
    row.expect_count("srtt_us", estimate.srtt_us());
    row.expect_count("mdev_us", estimate.mdev_us());
    row.expect_count("rttvar_us", estimate.rttvar_us());
    row.expect_count("rto_us_unrounded", estimate.timeout_us());
    let rto = timer(RtoRule::Linux { tick: jiffy }, min, Time::from_secs(120), &samples);
    row.expect_count("rto_us_hz250", rto.current().as_nanos() / 1000);
}
