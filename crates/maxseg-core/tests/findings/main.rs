//! Where findings begin and how severe they are: numbers on both sides of each border, with the source of the border.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

mod endings;
mod quality;
mod sizes;
mod timer;
mod windows;

use maxseg_core::diagnose::{Finding, FindingKind, Severity, diagnose};
use maxseg_core::evidence::{Cause, Ending, Event, EventKind, Evidence, LossEpisode, PathMtuEvent};
use maxseg_core::units::Time;
use maxseg_testkit::clean;

/// What a case does to the evidence.
type Change = fn(&mut Evidence);

/// The findings of clean evidence with a change.
fn found(change: impl Fn(&mut Evidence)) -> Vec<Finding> {
    let mut evidence = clean();
    change(&mut evidence);
    diagnose(&evidence).findings
}

/// Kinds and severities.
fn severities(change: impl Fn(&mut Evidence)) -> Vec<(FindingKind, Severity)> {
    found(change).iter().map(|finding| (finding.kind, finding.severity)).collect()
}

/// The text of the only finding.
fn text(change: impl Fn(&mut Evidence)) -> String {
    let found = found(change);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].text.clone()
}

fn told_mtu(evidence: &Evidence, mtu_bytes: u32) -> PathMtuEvent {
    PathMtuEvent {
        at: Time::ZERO,
        frame: 3,
        hop: "10.0.0.9".parse().unwrap(),
        mtu_bytes,
        quoted: Some((evidence.client, evidence.server)),
        packet_bytes: 1500,
        connection: Some(0),
    }
}

#[test]
fn clean_evidence_has_no_findings() {
    assert_eq!(severities(|_| ()), []);
}

#[test]
fn findings_follow_from_numbers() {
    let made: [(FindingKind, Change); 8] = [
        (FindingKind::SmallMss, |it| {
            it.forward.mss_used_bytes = Some(524);
            it.reverse.mss_option_bytes = Some(536);
        }),
        (FindingKind::Loss, |it| it.forward.retransmitted_packets = 5),
        (FindingKind::Timeouts, |it| it.forward.timeouts = 1),
        (FindingKind::Reordering, |it| it.forward.out_of_order_packets = 1),
        (FindingKind::ZeroWindow, |it| it.reverse.zero_windows = 1),
        (FindingKind::Fragmentation, |it| it.forward.fragmented_packets = 1),
        (FindingKind::OptionMissing, |it| it.reverse.sack_permitted = false),
        (FindingKind::CaptureQuality, |it| it.marks.one_way = true),
    ];
    for (kind, change) in made {
        let kinds: Vec<FindingKind> = found(change).iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [kind]);
    }
}

/// From 0.1% on losses are more than a full queue's signal, from 1% on they hold loss-based congestion control
/// down (Mathis et al. 1997); two alone are no rate.
#[test]
fn losses_count_by_their_share() {
    let cases = [
        (2, 100, None),
        (3, 3001, None),
        (3, 3000, Some(Severity::Warning)),
        (3, 301, Some(Severity::Warning)),
        (3, 300, Some(Severity::Problem)),
    ];
    for (lost, of, severity) in cases {
        let severities = severities(|it| {
            it.forward.retransmitted_packets = lost;
            it.forward.data_packets = of;
        });
        let wanted: Vec<_> =
            severity.into_iter().map(|severity| (FindingKind::Loss, severity)).collect();
        assert_eq!(severities, wanted, "{lost} of {of}");
    }
}

/// Without SACK a sender learns of one lost segment in a round trip; and a capture may end before all are repaired.
#[test]
fn a_loss_tells_what_its_repair_took() {
    let told = |is_sack: bool, episodes: u32, resent_at_ms: u64| {
        let found = found(|it| {
            (it.forward.retransmitted_packets, it.forward.data_packets) = (30, 1000);
            (it.forward.sack_permitted, it.ending) = (is_sack, Ending::StillOpen);
            for _ in 0..episodes {
                it.forward.loss_episodes.begin(LossEpisode::default());
            }
            it.forward.outstanding_bytes = 50_000;
            it.forward.path_rtt_loaded_s = Some(0.1);
            it.end = Time::from_secs(10);
            it.forward.bins.at(Time::from_millis(resent_at_ms)).resent_bytes = 1448;
        });
        found.into_iter().find(|finding| finding.kind == FindingKind::Loss).unwrap().text
    };
    let lost = "30 segments were lost and retransmitted: 3.00% of 1000";
    assert_eq!(told(true, 2, 20), lost);
    assert_eq!(told(false, 2, 20), format!("{lost}; without SACK one is repaired in a round trip"));
    assert_eq!(told(false, 20, 20), lost, "most came alone");
    let open = "; the capture ended while losses were repaired, with 50000 bytes outstanding";
    assert_eq!(told(true, 2, 9900), format!("{lost}{open}"));
}

/// Data flows for minutes behind the losses, of which events tell no more than the first.
#[test]
fn losses_end_with_their_last_repair() {
    let found = found(|it| {
        (it.forward.retransmitted_packets, it.forward.data_packets) = (30, 1000);
        it.end = Time::from_secs(600);
        it.forward.last_ack = Some(Time::from_secs(599));
        for ms in [500, 1500] {
            let (kind, at) = (EventKind::Retransmission(Cause::Sack), Time::from_millis(ms));
            it.forward.bins.at(at).resent_bytes = 1448;
            let event = Event { kind, at, frame: 9, offset: 0, bytes: 1448, lasted: Time::ZERO };
            it.forward.events.note(event);
        }
        it.forward.bins.at(Time::from_secs(590));
    });
    let to = found.into_iter().find(|finding| finding.kind == FindingKind::Loss).unwrap().to;
    assert!(to > Time::from_millis(1499) && to < Time::from_secs(3), "{to:?}");
}

/// Spurious retransmissions repeat what was not lost: they are none of the losses.
#[test]
fn spurious_retransmissions_are_no_losses() {
    let severities = severities(|it| {
        it.forward.retransmitted_packets = 12;
        it.forward.spurious_retransmissions = 10;
    });
    assert_eq!(severities, [(FindingKind::SpuriousRetransmission, Severity::Note)]);
}

/// What shows that retransmissions were spurious is counted of all: it is told where all are of one finding.
#[test]
fn what_tells_spurious_retransmissions_is_of_those_of_the_finding() {
    let of = |timeouts| {
        let found = found(|it| {
            (it.forward.retransmitted_packets, it.forward.timeouts) = (10, 10);
            (it.forward.spurious_retransmissions, it.forward.spurious.dsack) = (5, 5);
            it.forward.spurious_timeouts = timeouts;
        });
        let told = |finding: &Finding| finding.evidence.iter().any(|it| it.name == "by_dsack");
        let kinds = [FindingKind::SpuriousRto, FindingKind::SpuriousRetransmission];
        kinds.map(|kind| found.iter().find(|it| it.kind == kind).map(told))
    };
    assert_eq!(of(5), [Some(true), None]);
    assert_eq!(of(0), [None, Some(true)]);
    assert_eq!(of(2), [Some(false), Some(false)]);
}

/// Segments may be lost behind the last acknowledgement.
#[test]
fn losses_end_no_sooner_than_they_begin() {
    let found = found(|it| {
        it.forward.retransmitted_packets = 5;
        (it.begin, it.end) = (Time::ZERO, Time::from_secs(10));
        it.forward.last_ack = Some(Time::from_millis(120));
        for (frame, at) in [(9, 500), (10, 1100)] {
            let (kind, at) = (EventKind::Retransmission(Cause::Rto), Time::from_millis(at));
            let event = Event { kind, at, frame, offset: 0, bytes: 1448, lasted: Time::ZERO };
            it.forward.events.note(event);
        }
    });
    let ends = [found[0].from, found[0].to].map(|at| at.as_nanos() / 1_000_000);
    assert_eq!((found[0].kind, ends), (FindingKind::Loss, [500, 1100]));
}

#[test]
fn reordering_counts_by_its_share() {
    for (packets, severity) in [(100, Severity::Warning), (101, Severity::Note)] {
        let severities = severities(|it| {
            it.forward.out_of_order_packets = 1;
            it.forward.data_packets = packets;
        });
        assert_eq!(severities, [(FindingKind::Reordering, severity)], "1 of {packets}");
    }
}

#[test]
fn a_count_is_said_in_words() {
    assert!(text(|it| it.forward.timeouts = 1).contains(" once"));
    assert!(text(|it| it.forward.timeouts = 3).contains("3 times"));
    let one = |it: &mut Evidence| (it.forward.timeouts, it.forward.resent.rto) = (1, 1);
    assert!(text(one).contains("once: 1 segment retransmitted"), "{}", text(one));
    let late = |it: &mut Evidence| it.forward.out_of_order_packets = 1;
    assert!(text(late).contains("1 segment arrived"), "{}", text(late));
    let needless = |it: &mut Evidence| it.forward.spurious_retransmissions = 1;
    assert_eq!(text(needless), "1 retransmission was spurious");
    let lost = |it: &mut Evidence| (it.marks.capture_lost, it.forward.unseen_bytes) = (true, 1);
    assert_eq!(
        text(lost),
        "The capture lost packets of 1 acknowledged byte: what was in flight and sent again there is not counted"
    );
    let shut = |times| {
        text(|it| {
            it.reverse.zero_windows = 5;
            it.reverse.window_shut_times = times;
        })
    };
    assert!(shut(1).contains(" once"), "{}", shut(1));
    assert!(shut(4).contains("4 times"), "{}", shut(4));
}

/// Round trips of three times the least, and of 50 ms more, are a queue; less is not worth a word.
#[test]
fn a_long_queue_is_long_in_both_ways() {
    let cases = [
        (0.031_25, 0.093_75, true),
        (0.031_25, 0.093_7, false),  // less than three times
        (0.015_625, 0.062_5, false), // four times, and 47 ms more
        (0.015_625, 0.078_125, true),
    ];
    for (least, median, is_long) in cases {
        let severities = severities(|it| {
            it.forward.path_rtt_min_s = Some(least);
            it.forward.path_rtt_loaded_s = Some(median);
            for _ in 0..10 {
                it.forward.loaded_round_trips.add(Time::from_secs_f64(median));
            }
        });
        let wanted: &[_] =
            if is_long { &[(FindingKind::Bufferbloat, Severity::Warning)] } else { &[] };
        assert_eq!(severities, wanted, "{least} s, {median} s");
    }
}

/// A few late acknowledgements are no queue.
#[test]
fn a_queue_is_seen_in_ten_round_trips() {
    let severities = severities(|it| {
        it.forward.path_rtt_min_s = Some(0.03);
        it.forward.path_rtt_loaded_s = Some(0.3);
        for _ in 0..9 {
            it.forward.loaded_round_trips.add(Time::from_millis(300));
        }
    });
    assert_eq!(severities, []);
}

/// What a SYN must agree on (RFC 7323 §1.3, RFC 2018 §2): one option alone is a note.
#[test]
fn each_option_that_is_missing_counts() {
    let changes: [fn(&mut Evidence); 6] = [
        |it| it.forward.window_scale = None,
        |it| it.reverse.window_scale = None,
        |it| it.forward.sack_permitted = false,
        |it| it.reverse.sack_permitted = false,
        |it| it.forward.timestamps = false,
        |it| it.reverse.timestamps = false,
    ];
    for (n, change) in changes.iter().enumerate() {
        assert_eq!(severities(change), [(FindingKind::OptionMissing, Severity::Note)], "{n}");
    }
    let two = severities(|it| {
        it.forward.timestamps = false;
        it.reverse.sack_permitted = false;
    });
    assert_eq!(two, [(FindingKind::OptionMissing, Severity::Warning)]);
    // Half a handshake tells nothing.
    let unseen: [fn(&mut Evidence); 2] =
        [|it| it.handshake.syn = false, |it| it.handshake.syn_ack = false];
    for change in unseen {
        let severities = severities(|it| {
            it.forward.timestamps = false;
            change(it);
        });
        assert_eq!(severities, []);
    }
}

/// A shift above 14 counts as 14 (RFC 7323 §2.3); without an MSS option 536 bytes are assumed over IPv4, 1220 over
/// IPv6 (RFC 9293 §3.7.1), and options take some.
#[test]
fn options_out_of_range_are_named() {
    let bad = [(FindingKind::BadOption, Severity::Warning)];
    assert_eq!(severities(|it| it.forward.window_scale = Some(15)), bad);
    assert_eq!(severities(|it| it.forward.window_scale = Some(14)), []);
    assert_eq!(severities(|it| it.forward.mss_option_bytes = Some(499)), bad);
    assert_eq!(severities(|it| it.forward.mss_option_bytes = Some(500)), []);
    let of_ipv6 = |mss: u16| {
        found(|it| {
            it.client = "[2001:db8::1]:40000".parse().unwrap();
            it.server = "[2001:db8::2]:80".parse().unwrap();
            it.forward.mss_option_bytes = Some(mss);
        })
    };
    assert_eq!(of_ipv6(1184), []);
    let below = "announces an MSS of 1183, below 1220, which is assumed without the option";
    assert!(of_ipv6(1183)[0].text.contains(below), "{:?}", of_ipv6(1183));
    // A path that takes no more explains a small MSS, up to 200 bytes of headers and options.
    let explained = |mtu: u32| {
        let found = found(|it| {
            it.forward.mss_option_bytes = Some(400);
            it.path_mtu_events = vec![told_mtu(it, mtu)];
        });
        !found.iter().any(|finding| finding.kind == FindingKind::BadOption)
    };
    assert!(explained(599));
    assert!(!explained(600));
}

/// A SYN that is never answered is the whole problem; one that is, a warning (RFC 9293 §3.8.1).
#[test]
fn a_syn_sent_again_is_severe_where_none_is_answered() {
    let again = |answered: bool| {
        severities(|it| {
            it.handshake.syn_packets = 2;
            it.handshake.syn_ack = answered;
        })
    };
    assert_eq!(again(true), [(FindingKind::SynRetransmission, Severity::Warning)]);
    assert_eq!(again(false), [(FindingKind::SynRetransmission, Severity::Problem)]);
    let both = found(|it| {
        it.handshake.syn_packets = 3;
        it.handshake.syn_ack_packets = 2;
        it.handshake.done = Some(it.begin);
    });
    let text = &both[0].text;
    assert!(text.contains("3 times") && text.contains("its answer 2 times"), "{text}");
    let fin = severities(|it| it.forward.resent.control = 1);
    assert!(fin.is_empty(), "a FIN delays no first byte: {fin:?}");
}

#[test]
fn a_handshake_that_took_longest_is_the_story() {
    let after = |done_s: u64| {
        let found = found(|it| {
            it.forward.resent.control = 3;
            it.handshake.syn_packets = 4;
            it.handshake.syn_ack_packets = 1;
            it.handshake.done = Some(Time::from_secs(done_s));
            it.end = Time::from_secs(10);
        });
        assert!(found[0].text.contains("the SYN was sent 4 times"), "{}", found[0].text);
        found[0].severity
    };
    assert_eq!(after(7), Severity::Problem);
    assert_eq!(after(3), Severity::Warning);
}

#[test]
fn endings_marks_and_fragments_are_told() {
    let cases: [(FindingKind, Severity, Change); 6] = [
        (FindingKind::Reset, Severity::Note, |it| it.ending = Ending::ResetByServer),
        (FindingKind::CongestionMarked, Severity::Note, |it| it.forward.congestion_marks = 1),
        (FindingKind::Fragmentation, Severity::Warning, |it| it.forward.fragmented_packets = 1),
        (FindingKind::CaptureQuality, Severity::Note, |it| it.reverse.capture_duplicates = 1),
        (FindingKind::CaptureQuality, Severity::Note, |it| it.forward.offloaded_packets = 1),
        (FindingKind::CaptureQuality, Severity::Warning, |it| {
            it.marks.capture_lost = true;
            it.forward.unseen_bytes = 1;
        }),
    ];
    for (kind, severity, change) in cases {
        assert_eq!(severities(change), [(kind, severity)]);
    }
    // Bytes that were not seen are a fault of the capture only where it says that it lost some.
    assert_eq!(severities(|it| it.forward.unseen_bytes = 1), []);
}
