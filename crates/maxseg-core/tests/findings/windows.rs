//! Windows: closed, or too small for the path.

use maxseg_core::diagnose::{FindingKind, Severity, diagnose};
use maxseg_core::evidence::Evidence;
use maxseg_core::units::Time;
use maxseg_testkit::{ROUND_TRIP, clean};

use super::{Change, severities};

/// 65 535 bytes are the most without window scaling (RFC 9293 §3.1, RFC 7323 §2): on a path that holds more, a
/// connection that fills them is held back by the missing scale.
#[test]
fn a_window_without_scaling_is_a_clamp_on_a_path_that_holds_more() {
    let full = |it: &mut Evidence| {
        it.reverse.window_scale = Some(0);
        it.reverse.window_max_bytes = Some(65_535);
        it.forward.in_flight_max_bytes = 60_000;
    };
    let clamp = [(FindingKind::WindowClamped, Severity::Problem)];
    assert_eq!(severities(full), clamp);
    let changes: [(&str, Change, bool); 9] = [
        ("scaled", |it| it.reverse.window_scale = Some(1), false),
        ("above 16 bits", |it| it.reverse.window_max_bytes = Some(65_536), false),
        ("85% in flight", |it| it.forward.in_flight_max_bytes = 55_705, true),
        ("less", |it| it.forward.in_flight_max_bytes = 55_704, false),
        // 8.192 Mbit/s × 64 ms are 65 536 bytes.
        ("a path of just more", |it| it.forward.capacity_bps = Some(8_192_000.0), true),
        ("a path of less", |it| it.forward.capacity_bps = Some(8_190_000.0), false),
        (
            "the first flight's rate",
            |it| {
                it.forward.capacity_bps = None;
                it.forward.first_flight_bps = Some(20e6);
            },
            true,
        ),
        ("no rate", |it| it.forward.capacity_bps = None, false),
        (
            "no window",
            |it| {
                it.reverse.window_max_bytes = Some(0);
                it.forward.in_flight_max_bytes = 0;
            },
            false,
        ),
    ];
    for (what, change, is_clamp) in changes {
        let severities = severities(|it| {
            full(it);
            change(it);
        });
        assert_eq!(severities, if is_clamp { &clamp[..] } else { &[] }, "{what}");
    }
}

/// A buffer of a few kB offers as much with a scale as without.
#[test]
fn a_small_buffer_is_no_clamp_for_want_of_the_option() {
    let is_clamp = |window| {
        let mut evidence = clean();
        evidence.reverse.window_scale = None;
        evidence.reverse.window_max_bytes = Some(window);
        evidence.forward.in_flight_max_bytes = window;
        let findings = diagnose(&evidence).findings;
        findings.iter().any(|finding| finding.kind == FindingKind::WindowClamped)
    };
    assert!(is_clamp(65_535) && is_clamp(40_000));
    assert!(!is_clamp(8760));
}

/// A window that is shut for more than a twentieth of the transfer is a problem; less is a warning.
#[test]
fn a_closed_window_is_severe_by_its_share_of_the_time() {
    let shut = |time: Time| {
        severities(|it| {
            it.forward.first_data = Some(Time::ZERO);
            it.forward.last_ack = Some(ROUND_TRIP.times(10)); // 640 ms
            it.forward.bins.at(Time::ZERO).rwnd_limited = time;
            it.reverse.zero_windows = 1;
        })
    };
    let zero = |severity| [(FindingKind::ZeroWindow, severity)];
    assert_eq!(shut(Time::from_millis(31)), zero(Severity::Warning));
    assert_eq!(shut(Time::from_millis(32)), zero(Severity::Warning));
    assert_eq!(shut(Time::from_millis(33)), zero(Severity::Problem));
}
