//! Whether a capture is fit to judge a connection by.

use maxseg_core::diagnose::{Diagnosis, FindingKind, LossCause, ReasonCode, diagnose};
use maxseg_core::evidence::Evidence;
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;

use maxseg_testkit::{clean, flight};

type Change = fn(&mut Evidence);

fn diagnosed(change: impl Fn(&mut Evidence)) -> Diagnosis {
    let mut evidence = clean();
    change(&mut evidence);
    diagnose(&evidence)
}

fn codes(diagnosis: &Diagnosis) -> Vec<ReasonCode> {
    diagnosis.quality.reasons.iter().map(|reason| reason.code).collect()
}

#[test]
fn what_was_put_right_is_told_and_hinders_nothing() {
    let plain = diagnosed(|_| ()).limited_by;
    assert_ne!(plain, LimitedBy::Unknown);
    let cases: [(Change, ReasonCode); 6] = [
        (|it| it.forward.capture_duplicates = 9, ReasonCode::CapturedTwice),
        (|it| it.capture.is_split = true, ReasonCode::SplitDirections),
        (|it| it.capture.late_packets = 2, ReasonCode::Unordered),
        (|it| it.capture.acks_before_data = 2, ReasonCode::Unordered),
        (|it| it.capture.clock_steps = 1, ReasonCode::ClockJump),
        (|it| it.forward.offloaded_packets = 5, ReasonCode::Offload),
    ];
    for (change, code) in cases {
        let diagnosis = diagnosed(change);
        assert_eq!((codes(&diagnosis), diagnosis.quality.fit), (vec![code], true));
        assert_eq!((diagnosis.limited_by, diagnosis.quality.wanted), (plain, None), "{code:?}");
    }
}

#[test]
fn what_the_capture_lacks_leaves_the_limit_open() {
    let cases: [(Change, ReasonCode, &str); 9] = [
        (|it| it.forward.beyond_timer = 9, ReasonCode::LostAcknowledgements, "loses nothing"),
        (
            |it| (it.reverse.packets, it.reverse.data_packets) = (9, 9),
            ReasonCode::PayloadOnly,
            "without payload pass",
        ),
        (|it| it.capture.is_merged = true, ReasonCode::Merged, "two files"),
        (|it| it.marks.one_way = true, ReasonCode::OneWay, "both directions"),
        (
            |it| {
                it.marks.mid_stream = true;
                it.forward.path_rtt_min_s = None;
            },
            ReasonCode::MidStream,
            "begins before",
        ),
        (
            |it| {
                it.capture.cut_syn = true;
                it.forward.path_rtt_min_s = None;
            },
            ReasonCode::CutHeaders,
            "256 bytes",
        ),
        (
            |it| {
                it.marks.capture_lost = true;
                it.forward.unseen_bytes = it.forward.unique_bytes;
            },
            ReasonCode::CaptureLoss,
            "loses nothing",
        ),
        (
            |it| it.capture.clock_resolution = Some(Time::from_secs(1)),
            ReasonCode::ClockCoarse,
            "microseconds",
        ),
        (|it| it.capture.clock_steps = 30, ReasonCode::ClockJump, "order of its times"),
    ];
    for (change, code, wanted) in cases {
        let diagnosis = diagnosed(change);
        assert_eq!(codes(&diagnosis), [code]);
        assert!(!diagnosis.quality.fit, "{code:?}");
        assert!(diagnosis.quality.wanted.as_ref().is_some_and(|text| text.contains(wanted)));
        assert_eq!(diagnosis.limited_by, LimitedBy::Unknown);
        let because = diagnosis.unknown_because.unwrap();
        assert!(because.contains(wanted) && because.contains("; it takes "), "{because}");
        assert!(diagnosis.limits.iter().all(|limit| limit.kind == LimitedBy::Unknown));
    }
}

#[test]
fn a_little_loss_of_the_capture_hinders_nothing() {
    let diagnosis = diagnosed(|it| {
        it.marks.capture_lost = true;
        it.forward.unseen_bytes = it.forward.unique_bytes / 100;
    });
    assert_eq!((codes(&diagnosis), diagnosis.quality.fit), (vec![ReasonCode::CaptureLoss], true));
}

#[test]
fn a_syn_that_nobody_answers_is_no_fault_of_the_capture() {
    let diagnosis = diagnosed(|it| {
        it.marks.one_way = true;
        it.forward.data_packets = 0;
        it.forward.acked_bytes = 0;
        it.forward.unique_bytes = 0;
        it.forward.payload_bytes = 0;
        it.reverse.acked_bytes = 0;
    });
    assert_eq!(codes(&diagnosis), []);
}

#[test]
fn retransmissions_of_a_direction_that_was_not_captured_are_unknown() {
    let mut evidence = clean();
    assert_eq!(
        diagnose(&evidence).retransmitted_packets(&evidence, evidence.data_direction()),
        Some(0)
    );
    evidence.marks.one_way = true;
    evidence.forward.payload_bytes = 0;
    let diagnosis = diagnose(&evidence);
    for direction in [evidence.data_direction(), evidence.data_direction().other()] {
        assert_eq!(diagnosis.retransmitted_packets(&evidence, direction), None);
    }
}

/// Two places saw each packet: the second time it looks like one that was sent again.
#[test]
fn nothing_is_counted_as_lost_where_two_captures_are_merged() {
    let change = |it: &mut Evidence| {
        it.capture.is_merged = true;
        it.forward.retransmitted_packets = 4912;
        it.forward.resent.unknown = 4912;
        it.forward.out_of_order_packets = 37;
        it.forward.timeouts = 2;
    };
    let diagnosis = diagnosed(change);
    let kinds: Vec<_> = diagnosis.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::CaptureQuality]);
    assert_eq!(diagnosis.loss.cause, LossCause::Unknown);
    let mut evidence = clean();
    change(&mut evidence);
    assert_eq!(diagnosis.retransmitted_packets(&evidence, evidence.data_direction()), None);
}

/// What the capture lost among the losses looks like them.
#[test]
fn as_many_packets_of_the_capture_as_of_the_path_leave_losses_open() {
    let lossy = |unseen_bytes: u64| {
        diagnosed(|it| {
            it.forward.retransmitted_packets = 3;
            it.forward.resent.sack = 3;
            it.marks.capture_lost = unseen_bytes > 0;
            it.forward.unseen_bytes = unseen_bytes;
            for n in 0..3 {
                it.forward.bins.at(Time::from_millis(240 * n)).losses = 1;
            }
        })
    };
    let seen = lossy(0);
    assert_eq!((seen.limited_by, seen.quality.fit), (LimitedBy::Congestion, true));
    assert!(!lossy(3000).quality.fit, "two of the capture's to three of the path's");
    assert!(lossy(1000).quality.fit);
}

/// The receiver tells that it had them before.
#[test]
fn packets_that_the_network_doubled_were_not_captured_twice() {
    let text = |dsack_acks| {
        let diagnosis = diagnosed(|it| {
            it.forward.capture_duplicates = 9;
            it.reverse.dsack_acks = dsack_acks;
        });
        diagnosis.quality.reason(ReasonCode::CapturedTwice).unwrap().text.clone()
    };
    assert!(text(0).contains("captured twice"), "{}", text(0));
    assert!(text(9).contains("the network doubled them"), "{}", text(9));
}

/// The least scale that holds what a program writes at once makes a full window of it.
#[test]
fn without_the_window_scale_writes_in_steps_fill_no_window() {
    let late = |idle_ms: u64| {
        let mut evidence = flight(|_, bin| {
            bin.window_left_min = Some(100);
            bin.idle = Time::from_millis(idle_ms);
        });
        evidence.marks.mid_stream = true;
        evidence.reverse.window_scale = None;
        diagnose(&evidence).limited_by
    };
    assert_eq!(late(0), LimitedBy::ReceiveWindow);
    assert_ne!(late(30), LimitedBy::ReceiveWindow);
}

/// The pieces of a capture, joined in another order than that of their times: each comes once, and most behind their acknowledgements.
#[test]
fn pieces_of_a_file_in_another_order_are_neither_lost_nor_sent_again() {
    let joined = |clock_steps| {
        let mut evidence = clean();
        evidence.capture.clock_steps = clock_steps;
        evidence.marks.capture_lost = true;
        let data = &mut evidence.forward;
        (data.spurious.acknowledged, data.spurious_retransmissions) = (60, 60);
        (data.retransmitted_packets, data.retransmitted_bytes) = (60, 60 * 1448);
        data.unseen_bytes = 60 * 1448;
        let diagnosis = diagnose(&evidence);
        let counted = diagnosis.retransmitted_packets(&evidence, evidence.data_direction());
        (codes(&diagnosis), diagnosis.quality.wanted, counted)
    };
    let (codes, wanted, counted) = joined(1);
    assert_eq!((codes, counted), (vec![ReasonCode::ClockJump], None));
    assert!(wanted.is_some_and(|wanted| wanted.contains("in the order of its times")));
    let (codes, _, counted) = joined(0);
    assert_eq!((codes, counted), (vec![ReasonCode::CaptureLoss], Some(60)));
}
